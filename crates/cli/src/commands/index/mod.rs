//! `pericope index`

mod args;
mod dry_run;
mod files;
mod job;
mod plan;
mod sight;
mod tell;
mod tools;
mod verify;
mod watch;

pub use args::{INDEX_EXAMPLES, IndexArgs};

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use pericope::encode::registry::{counter, tokenizer_of};
use pericope::stores::is_server;
use pericope_api::Document;
use pericope_index::pipeline::{self, Options};
use pericope_index::{foreign_files, is_index};
use pericope_read::document_id;
use pericope_store::StoreMeta;

use self::job::{Job, is_gone, limits, search};
use self::plan::Plan;
use self::tools::Tools;
use crate::input::Input;
use crate::resources::{EMBEDDER, asks_model, engine, is_static, loading, patient, shown};
use crate::status::{Failure, Outcome, Status};
use crate::stores;
use crate::unanswered::Unanswered;

/// Runs the command.
pub fn run(args: IndexArgs, quiet: bool) -> Outcome {
    if let Some(dir) = &args.verify {
        return verify::run(dir, args.json);
    }
    work(args, quiet, None)
}

/// Keeps an index up to date until the user interrupts, and looks at all files at once whenever the flag is set. Ends with a
/// failure of usage where the index cannot be written with these settings any more: another may have taken its place.
pub fn follow(args: IndexArgs, wake: Arc<AtomicBool>) -> Outcome {
    work(args, true, Some(wake))
}

/// Waits for what a pass that failed waits for before it is tried again, unless the user interrupts.
pub fn wait_to_try_again(stop: &AtomicBool) {
    watch::wait(stop, watch::AGAIN);
}

fn work(mut args: IndexArgs, quiet: bool, follow: Option<Arc<AtomicBool>>) -> Outcome {
    let plan = Plan::of(&mut args)?;
    if args.policy.segment_embedder.is_none() && is_static(&plan.embedder) {
        args.policy.segment_embedder = Some(plan.embedder.clone());
    }
    let name = stores::name(&plan.into)?;
    // With --prune, what is gone by its own name leaves the index as what is gone below a folder does.
    let (there, gone): (Vec<PathBuf>, Vec<PathBuf>) =
        plan.paths.iter().cloned().partition(|path| !args.prune || path.is_dir() || !is_gone(path));
    let found = search(&args, &plan, &there)?;
    // What was said when the index was made holds for all that is added to it.
    let before = if args.rebuild { None } else { stores::built_with(&plan.into)? };
    args.policy.tokenizer = tokenizer(&args, &plan, before.as_ref());
    let counter = loading(&args.policy, &plan.embedder);
    let corpus = |visit: &mut dyn FnMut(&Document)| {
        for path in found.files() {
            // What cannot be read is named by the pass over the files.
            found.read_in_time(path, |document| document, &mut |read| drop(read.map(|document| visit(&document))));
        }
    };
    let engine = engine(&args.policy, &plan.embedder).with_loading(counter).with_corpus(&corpus);
    let engine = engine.with_reference(before.as_ref().and_then(|before| before.reference.clone()));
    if args.dry_run {
        return dry_run::run(&args, &plan, &found, engine, before.as_ref());
    }
    let Tools { chunker, contexts, cache, spec } = Tools::open(&args, &plan, engine, before.as_ref(), quiet)?;
    let options = Options {
        memory: (args.memory as usize).saturating_mul(1_000_000),
        time: patient(limits(&args).time, &args.policy, contexts.is_some() || asks_model(&args.policy)),
        trust_stamps: args.trust_mtime,
        cache,
        stop: crate::interrupt::flag()?,
        ..Options::default()
    };
    let (wake, served) = (follow.clone().unwrap_or_default(), follow.is_some());
    let unanswered = Arc::<Unanswered>::default();
    let (args, plan, rebuilding) = (&args, &plan, false);
    let mut job =
        Job { args, plan, name, spec, chunker, contexts, options, quiet, wake, rebuilding, served, unanswered };
    if !args.rebuild && stores::has_old_vectors(&plan.into) {
        tell!(
            "{} holds vectors of an earlier version, which this version does not read: its texts are embedded again",
            job.name
        );
    }
    if follow.is_some() {
        return watch::follow(&mut job, found.linked(), &[]);
    }
    once(&mut job, &found, &gone)
}

/// What counts tokens where no flag says so: what did when the index was made.
fn tokenizer(args: &IndexArgs, plan: &Plan, before: Option<&StoreMeta>) -> Option<String> {
    let named = args.policy.tokenizer.clone().or_else(|| Some(before?.tokenizer.clone()));
    if named.is_some() || !args.dry_run {
        return named;
    }
    // An estimate does without the model of another embedder.
    let own = tokenizer_of(&plan.embedder).filter(|own| own != EMBEDDER);
    own.filter(|own| counter(own).is_err()).map(|_| "words".to_owned())
}

/// A pass over the files, and with --watch what follows; `gone` are paths of the command line that are not there.
fn once(job: &mut Job<'_>, found: &Arc<Input>, gone: &[PathBuf]) -> Outcome {
    let args = job.args;
    if args.rebuild {
        tell_foreign(&job.plan.into)?;
    }
    let pass = job.pass(found, args.rebuild, args.prune)?;
    job.tell(&pass)?;
    if pass.report.interrupted {
        tell!("interrupted: the same command goes on from here");
        return Ok(Status::Interrupted);
    }
    // A name that the index never had is a mistake. What a new index or another worker had is not known.
    let was_there = |path: &PathBuf| pass.pruned.iter().any(|name| pipeline::is_under(name, &document_id(path)));
    if !args.rebuild
        && !args.watch
        && args.shard.is_none()
        && let Some(path) = gone.iter().find(|path| !was_there(path))
    {
        return Err(Failure::usage(format!("{}: no such file or folder, and none in the index", shown(path))));
    }
    found.tell_rules();
    if args.watch {
        return watch::follow(job, found.linked(), gone);
    }
    let were = |n: usize| if n == 1 { "was" } else { "were" };
    if pass.bad.left_out > 0 {
        tell!("{} of the inputs {} left out (named above)", pass.bad.left_out, were(pass.bad.left_out));
    }
    if pass.bad.in_part > 0 {
        tell!("{} of the inputs {} read in part (named above)", pass.bad.in_part, were(pass.bad.in_part));
    }
    if let Some(failure) = job.unanswered.failure(args.policy.offline) {
        return Err(failure);
    }
    Ok(if pass.bad.total() > 0 { Status::Incomplete } else { Status::Done })
}

/// Says which files a rebuild leaves in the index's folders, since others put them there.
fn tell_foreign(into: &str) -> Result<(), Failure> {
    if !is_server(into) && is_index(Path::new(into)) {
        for file in foreign_files(Path::new(into)).map_err(Failure::runtime)? {
            tell!("left alone: {}: not written by Pericope", shown(&file));
        }
    }
    Ok(())
}
