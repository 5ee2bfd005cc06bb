//! `--follow`: passes over files beside the server, each with the settings that its index was built with.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use clap::Parser;
use pericope_segment::registry::is_outside;
use pericope_segment::spec::Spec;
use pericope_serve::service::{NamedPlace, Service, is_name};
use pericope_util::visible_line;

use crate::args::{Cli, Command};
use crate::commands::index::{self, IndexArgs};
use crate::status::Failure;
use crate::{interrupt, stores};

/// The threads that follow files.
pub struct Followers(Vec<JoinHandle<()>>);

impl Followers {
    /// Starts a thread for each index that follows files. A refresh that is asked for makes it look at once.
    pub fn start(follow: &[String], indexes: &[String], service: &Service) -> Result<Self, Failure> {
        let places: Vec<NamedPlace> = indexes.iter().filter_map(|text| NamedPlace::parse(text).ok()).collect();
        let mut paths: BTreeMap<usize, Vec<String>> = BTreeMap::new();
        for text in follow {
            let named = text.split_once('=').filter(|(name, _)| is_name(name));
            let at = named.and_then(|(name, _)| places.iter().position(|place| place.name == name));
            // A path may hold an equals sign.
            let (at, path) = match (at, named) {
                (Some(at), Some((_, path))) => (at, path),
                _ => (0, text.as_str()),
            };
            if path.is_empty() || std::fs::symlink_metadata(path).is_err() {
                return Err(Failure::usage(format!("--follow: {path}: no such file or folder")));
            }
            paths.entry(at).or_default().push(path.to_owned());
        }
        let mut threads = Vec::new();
        for (at, paths) in paths {
            let Some(place) = places.get(at) else { continue };
            let wake = Arc::new(AtomicBool::new(false));
            let order = Arc::clone(&wake);
            let name = place.name.clone();
            let ordered = service.on_refresh(Some(&place.name), move || order.store(true, Ordering::Relaxed));
            ordered.map_err(|problem| Failure::usage(problem.detail))?;
            let (args, place, stop) = (settings(&place.place, &paths)?, place.clone(), interrupt::flag()?);
            let follow = move || keep_following(args, &place, &paths, &wake, &stop);
            let thread = std::thread::Builder::new().name(format!("follow-{name}")).spawn(follow);
            threads.push(thread.map_err(Failure::runtime)?);
        }
        Ok(Self(threads))
    }

    /// Waits for the passes that are running: they end soon after an interrupt.
    pub fn join(self) {
        for thread in self.0 {
            // A thread that panicked has said so.
            let _ = thread.join();
        }
    }
}

/// Follows the files of an index, with the settings that it has by then where another takes its place.
fn keep_following(
    args: IndexArgs,
    NamedPlace { name, place }: &NamedPlace,
    paths: &[String],
    wake: &Arc<AtomicBool>,
    stop: &AtomicBool,
) {
    let (mut args, mut said) = (Ok(args), String::new());
    while !stop.load(Ordering::Relaxed) {
        let Err(failure) = args.and_then(|args| index::follow(args, Arc::clone(wake))) else { return };
        let why = failure.to_string();
        if said != why {
            tell!(
                "{name}: its files are not followed for now: {why}; trying again with the settings that the index has then"
            );
            said = why;
        }
        index::wait_to_try_again(stop);
        args = settings(place, paths);
    }
}

/// The flags of `pericope index` that made an index.
fn settings(place: &str, paths: &[String]) -> Result<IndexArgs, Failure> {
    let opened = stores::open(place)?;
    let meta = &opened.about().meta;
    let spec = Spec::parse(&meta.segmenter).map_err(Failure::usage)?;
    if is_outside(&spec) {
        // An index may come from anybody, and what it says it was cut with is not obeyed.
        return Err(Failure::usage(format!(
            "--follow: {} says that it was cut by {}, which names a file, a program or a service: follow its files with `pericope index \
             --watch --segmenter ...`",
            opened.about().name,
            visible_line(&meta.segmenter)
        )));
    }
    if meta.context.is_some() {
        return Err(Failure::usage(format!(
            "--follow: a language model wrote the contexts of the chunks of {}, and the server knows no model: follow its files \
             with `pericope index --watch --context-llm ...`",
            opened.about().name
        )));
    }
    let embedder = opened.about().embedder().unwrap_or("none");
    let flags = ["pericope", "--quiet", "index", "--into", place, "--segmenter", &meta.segmenter];
    let more = ["--tokenizer", &meta.tokenizer, "--embedder", embedder];
    let read = meta.embedder.as_ref();
    let on_off = [
        (read.is_some_and(|embedder| embedder.prefix_headings), "--prefix-headings"),
        (read.is_some_and(|embedder| embedder.late_chunking), "--late-chunking"),
    ];
    let last = on_off.iter().filter(|(on, _)| *on).map(|(_, flag)| flag).chain(&["--"]);
    let all =
        flags.iter().chain(&more).chain(last).copied().chain(paths.iter().map(String::as_str)).map(OsString::from);
    match Cli::try_parse_from(all).map(|cli| cli.command) {
        Ok(Command::Index(args)) => Ok(args),
        Ok(_) => Err(Failure::runtime("the settings of the index are those of another command")),
        Err(error) => Err(Failure::usage(format!("--follow: the index cannot be written as it was made: {error}"))),
    }
}
