//! `pericope dataset review`

use pericope_eval::data::review::{apply, open};
use pericope_eval::format::plural;
use pericope_report::review::page;
use serde_json::json;

use super::args::ReviewArgs;
use super::documents::save_named;
use crate::commands::print_json;
use crate::places::check_out;
use crate::resources::shown;
use crate::status::{Failure, Outcome, Status};

/// Runs the command.
pub fn run(args: &ReviewArgs) -> Outcome {
    let read: Vec<_> = [&args.questions].into_iter().chain(&args.apply).cloned().collect();
    check_out("--out", &args.out, &read)?;
    if let Some(decisions) = &args.apply {
        let applied = apply(&args.questions, decisions, !args.drop_undecided).map_err(Failure::usage)?;
        save_named(&args.out, &applied.text)?;
        if args.json {
            return print_json(&json!({"file": shown(&args.out), "applied": applied}));
        }
        let undecided = if args.drop_undecided { "left out" } else { "kept" };
        say!(
            "{}: {} kept, {} mended, {} dropped, {} undecided ({undecided})",
            shown(&args.out),
            applied.kept,
            applied.mended,
            applied.dropped,
            applied.undecided
        );
        return Ok(Status::Done);
    }
    let review = open(&args.questions).map_err(Failure::usage)?;
    save_named(&args.out, &page(&review).map_err(Failure::runtime)?)?;
    if args.json {
        return print_json(&json!({"file": shown(&args.out), "questions": review.entries.len()}));
    }
    say!("{}: {} to read; open it in a browser", shown(&args.out), plural(review.entries.len(), "question"));
    Ok(Status::Done)
}
