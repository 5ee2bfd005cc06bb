//! `pericope dataset validate`

use pericope_eval::data::validate::{Validation, Verdict, validate};
use pericope_eval::format::{percent, plural};

use super::args::ValidateArgs;
use crate::commands::print_json;
use crate::resources::shown;
use crate::status::{Failure, Outcome, Status};
use crate::terminal::name;

/// Doubtful questions that are named; broken ones all are.
const NAMED: usize = 20;

/// Runs the command.
pub fn run(args: &ValidateArgs, quiet: bool) -> Outcome {
    let found = validate(&args.questions).map_err(Failure::usage)?;
    if args.json {
        print_json(&found)?;
    } else {
        tell(args, &found, quiet)?;
    }
    Ok(if found.broken > 0 { Status::Incomplete } else { Status::Done })
}

fn tell(args: &ValidateArgs, found: &Validation, quiet: bool) -> std::io::Result<()> {
    let unanswerable = match found.unanswerable {
        0 => String::new(),
        some => format!(", {some} without an answer on purpose"),
    };
    say!(
        "{}: {} about {}: {} fine, {} doubtful, {} broken{unanswerable}",
        shown(&args.questions),
        plural(found.questions, "question"),
        plural(found.documents, "document"),
        found.fine,
        found.doubtful,
        found.broken
    );
    let hard = &found.hardness;
    say!(
        "By words alone (BM25) the document comes first for {} and among ten for {}; a passage of the answer comes first for \
         {} and among ten for {}; for {} none is found",
        percent(hard.document_first),
        percent(hard.document_in_ten),
        percent(hard.passage_first),
        percent(hard.passage_in_ten),
        percent(hard.not_found)
    );
    for problem in &found.documents_broken {
        say!("broken: {}", name(problem));
    }
    let mut left = if quiet { 0 } else { NAMED };
    let mut more = 0;
    let is_named = |verdict: Verdict| matches!(verdict, Verdict::Doubtful | Verdict::Broken);
    for item in found.items.iter().filter(|item| is_named(item.verdict)) {
        let is_broken = item.verdict == Verdict::Broken;
        if !is_broken && left == 0 {
            more += 1;
            continue;
        }
        left -= usize::from(!is_broken);
        say!(
            "{}: question {} '{}' of {}: {}",
            if is_broken { "broken" } else { "doubtful" },
            item.number,
            name(&item.question),
            name(&item.document),
            name(&item.problems.join("; "))
        );
    }
    if more > 0 {
        say!("doubtful: {more} more (--json has all)");
    }
    Ok(())
}
