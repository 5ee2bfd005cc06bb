use std::path::{Path, PathBuf};
use std::time::Instant;

use pericope_eval::answer::Ledger;
use pericope_eval::config::Experiment;
use pericope_eval::format::seconds;
use pericope_eval::record::Summary;
use pericope_report::run::{Report, table, write};
use pericope_util::{FolderLock, now_rfc3339};
use serde::Serialize;

use super::args::{CompareArgs, quoted};
use super::chunkers::chunkers;
use super::experiment::{CONFIG, QUESTIONS, RUN, parse, text};
use super::kinds::{self, OfKind, by_kind};
use super::outputs::{self, Done};
use super::own::Own;
use super::price::say_price;
use crate::commands::dataset::{self, Drafting};
use crate::commands::print_json;
use crate::resources::shown;
use crate::session::{Finished, Session, can_be_folder, check_models, is_incomplete, not_held, not_written, one};
use crate::status::{Failure, Outcome, Status};
use crate::terminal;

/// So many times as many questions are proposed where the verdict is open.
const MORE: usize = 3;

/// What programs are told.
#[derive(Serialize)]
struct Compared<'a> {
    /// What the comparison comes to, in a sentence.
    sentence: &'a str,
    /// What was drafted; absent where the questions came with a file.
    #[serde(skip_serializing_if = "Option::is_none")]
    drafted: Option<&'a Drafting>,
    /// Files that could not be read.
    skipped: usize,
    /// Pages without text.
    empty: usize,
    questions: String,
    experiment: String,
    report: String,
    seconds: f64,
    /// The means by kind of question, at the setting that decides.
    kinds: &'a [OfKind],
    summary: &'a Summary,
}

/// What the documents and the questions are.
struct Asked {
    questions: PathBuf,
    drafting: Option<Drafting>,
    skipped: usize,
    empty: usize,
}

/// Runs the command.
pub fn run(args: &CompareArgs, quiet: bool) -> Outcome {
    let (clock, started) = (Instant::now(), now_rfc3339());
    let (embedder, cuts) = models(args, quiet);
    let chunkers = chunkers(&args.chunker, args.only, cuts)?;
    if args.drafting.dry_run {
        return say_price(args, &chunkers, &embedder, quiet);
    }
    // What it writes there has names of its own, and what others wrote under those is refused below.
    can_be_folder(&args.out)?;
    let _held = FolderLock::take(&args.out).map_err(not_held)?;
    let mut own = Own::open(&args.out, &[&[QUESTIONS, CONFIG][..], &outputs::FILES].concat(), &[RUN])?;
    let config = args.out.join(CONFIG);
    let questions = args.questions_file.clone().unwrap_or_else(|| args.out.join(QUESTIONS));
    let text = text((&args.out, args.drafting.seed), &questions, &chunkers, &embedder, &args.retrieval())?;
    let experiment = parse(text.clone(), config.clone())?;
    if args.drafting.llm.is_some() {
        check_models(&experiment, args.drafting.offline)?;
    }
    let asked = asked(args, &mut own, quiet)?;
    own.write(CONFIG, &text)?;
    let out = own.fill(RUN)?;
    let Some(report) = measured(&experiment, &out, args, quiet)? else { return Ok(Status::Incomplete) };
    let page = out.join("index.html");
    let sentence = sentence(&report.summary);
    let kinds = by_kind(&asked.questions, &out, &report.summary)?;
    let done = Done {
        summary: &report.summary,
        experiment: &experiment,
        skipped: asked.skipped,
        started: &started,
        seconds: clock.elapsed().as_secs_f64(),
    };
    outputs::write(&mut own, &done)?;
    if args.json {
        print_json(&Compared {
            sentence: &sentence,
            drafted: asked.drafting.as_ref(),
            skipped: asked.skipped,
            empty: asked.empty,
            questions: shown(&asked.questions),
            experiment: shown(&config),
            report: shown(&page),
            seconds: clock.elapsed().as_secs_f64(),
            kinds: &kinds,
            summary: &report.summary,
        })?;
    } else {
        // The verdict is its first sentence.
        say!("{}", table(&report.summary, terminal::width()));
        if !kinds.is_empty() {
            say!("{}\n", kinds::table(&kinds, &report.summary));
        }
        say!("Report: {} (all in {})", shown(&page), seconds(clock.elapsed().as_secs_f64()));
        next(args, &asked, &config, (&out, &embedder), &report.summary)?;
    }
    let incomplete = is_incomplete(&report.summary, &experiment);
    Ok(if incomplete || asked.skipped > 0 { Status::Incomplete } else { Status::Done })
}

/// The model that finds chunks: the one that is named, else MiniLM where it is installed. And whether semantic chunkers, which read with
/// MiniLM, are among the usual ones.
fn models(args: &CompareArgs, quiet: bool) -> (String, bool) {
    let installed = pericope_encode::models::locate("minilm").is_ok();
    let wanted = args.embedder.as_deref() != Some("none");
    let (embedder, missed) = match &args.embedder {
        Some(named) => (named.as_str(), (wanted && !installed && !args.only).then_some("")),
        None if installed => ("minilm", None),
        None => ("none", Some("chunks are found by words alone (BM25), and ")),
    };
    if let Some(missed) = missed.filter(|_| !quiet) {
        tell!(
            "the model minilm is not installed: {missed}no semantic chunker is compared; `pericope models pull minilm` \
             changes that"
        );
    }
    (embedder.to_owned(), wanted && installed)
}

/// The questions: drafted and written, or those of the file.
fn asked(args: &CompareArgs, own: &mut Own, quiet: bool) -> Result<Asked, Failure> {
    if let Some(questions) = &args.questions_file {
        return Ok(Asked { questions: questions.clone(), drafting: None, skipped: 0, empty: 0 });
    }
    let read = dataset::read(&args.paths, &args.source, &[&args.out], quiet)?;
    let cache = args.out.join("responses.sqlite");
    let (mut file, drafting) = dataset::make(&read.documents, &args.drafting, &cache, quiet)?;
    dataset::note_paths(&mut file, &args.paths);
    own.write(QUESTIONS, &dataset::text(&file)?)?;
    let questions = args.out.join(QUESTIONS);
    if !quiet {
        tell!("{}: {}", shown(&questions), drafting.sentence());
    }
    Ok(Asked { questions, drafting: Some(drafting), skipped: read.skipped, empty: read.empty })
}

/// Runs the experiment and writes its report; nothing where a judge could not be trusted.
fn measured(experiment: &Experiment, out: &Path, args: &CompareArgs, quiet: bool) -> Result<Option<Report>, Failure> {
    let ledger = Ledger::of_run(experiment, out, false);
    let session = Session { offline: args.drafting.offline, ..Session::default() };
    let Some(Finished { report, folder }) = one(experiment, out, session, ledger, quiet)? else { return Ok(None) };
    write(out, &report).map_err(not_written(out))?;
    drop(folder);
    Ok(Some(report))
}

/// The verdict; where there is none, that.
fn sentence(summary: &Summary) -> String {
    match &summary.verdict {
        Some(verdict) => verdict.sentence.clone(),
        None => "Nothing could be compared.".to_owned(),
    }
}

/// What can be typed next.
fn next(
    args: &CompareArgs,
    asked: &Asked,
    config: &Path,
    (out, embedder): (&Path, &str),
    summary: &Summary,
) -> std::io::Result<()> {
    let questions = shown(&asked.questions);
    say!("Next:");
    say!("  pericope dataset review {questions} --out {}", shown(&args.out.join("review.html")));
    say!("      to read the questions and keep, drop or mend them");
    say!("  pericope eval run {} --out {}", shown(config), shown(out));
    say!("      to run it again, after a change of that file");
    let more = asked.drafting.as_ref().filter(|drafting| drafting.questions >= args.drafting.questions as usize);
    let is_open = summary.verdict.as_ref().is_some_and(|verdict| verdict.possible.len() > 1);
    if let (Some(drafting), true, true) = (more, args.is_plain(), is_open) {
        let more = drafting.questions.saturating_mul(MORE);
        let words = args.again().join(" ");
        say!("  pericope compare {words} --questions {more} --out {}", quoted(&shown(&args.out)));
        say!("      for a firmer verdict from more questions");
    }
    let best = summary.verdict.as_ref().map(|verdict| verdict.recommended.as_str());
    let spec = summary
        .chunkers
        .iter()
        .find(|row| Some(row.name.as_str()) == best)
        .map(|row| row.resolved.as_ref().unwrap_or(&row.spec));
    if let (Some(spec), false) = (spec, args.paths.is_empty()) {
        let paths: Vec<String> = args.paths.iter().map(|path| quoted(&shown(path))).collect();
        let (paths, spec) = (paths.join(" "), quoted(spec));
        // As it was measured.
        say!("  pericope index {paths} --into docs.idx --segmenter {spec} --embedder {}", quoted(embedder));
        say!("      to index the documents with what is recommended");
    }
    Ok(())
}
