//! Files and folders named on the command line, read one after the other; what cannot be read is named and counted.

mod indexes;

use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pericope_api::Document;
use pericope_read::{
    Found, ReadOptions, Reader, WalkOptions, check_globs, document_id, document_path, find, formats, read_bytes,
    read_each, reader,
};
use pericope_util::time_limit;

use self::indexes::Indexes;
pub use self::indexes::inside_index;
use crate::limited::Hand;
use crate::resources::shown;
use crate::status::Failure;
use crate::terminal::{Line, Style, name};
use crate::worker::{ReadLimits, pool};

/// Links that are named in the note on those that were not followed.
const LINKS_NAMED: usize = 3;

/// Files to read, in a fixed order, and what was left out while they were looked for.
pub struct Input {
    files: Vec<PathBuf>,
    options: Arc<ReadOptions>,
    time: Duration,
    hand: Hand,
    problems: Vec<String>,
    /// Indexes among the files.
    indexes: Vec<PathBuf>,
    /// Where these problems are, as documents are called: nobody knows what lies there or below.
    missed: Vec<String>,
    /// Links that lead out of the folders and were not followed.
    outside: Vec<PathBuf>,
    /// Paths of what is found under another one.
    twice: Vec<PathBuf>,
    /// Folders behind links that were followed.
    linked: Vec<PathBuf>,
}

impl Input {
    /// Looks for the files below `paths`.
    ///
    /// # Errors
    /// A usage failure where a path is not there at all.
    pub fn find(paths: &[PathBuf], follow_links: bool, limits: ReadLimits) -> Result<Self, Failure> {
        Self::search(paths, &WalkOptions { follow_links, ..WalkOptions::default() }, 0, limits, None)
    }

    /// The same, with a say in which files of a folder count. Larger ones than `max_bytes` are refused when read (0: no
    /// limit). The index that is being written may lie among them: nothing is said of it.
    ///
    /// # Errors
    /// As [`find`](Self::find), and where a glob is none.
    pub fn search(
        paths: &[PathBuf],
        options: &WalkOptions,
        max_bytes: u64,
        limits: ReadLimits,
        written: Option<&Path>,
    ) -> Result<Self, Failure> {
        check_globs(&options.globs).map_err(Failure::usage)?;
        for path in paths {
            // A dangling link inside a folder is one bad file among others; a path that was typed is a mistake.
            if path.symlink_metadata().is_err() {
                return Err(Failure::usage(format!("{}: no such file or folder", shown(path))));
            }
        }
        let Found { files: found, outside, twice, linked } = find(paths, options);
        let mut indexes = Indexes::below(paths);
        let mut files = Vec::new();
        let (mut problems, mut missed) = (Vec::new(), Vec::new());
        for found in found {
            match found {
                // An index that lies among the documents is none of them.
                Ok(path) if indexes.hold(&path) => {}
                Ok(path) => files.push(path),
                Err(skipped) if skipped.path().is_some_and(|path| indexes.hold(path)) => {}
                Err(skipped) => {
                    // Without a path it may be about any file.
                    missed.push(skipped.path().map(document_id).unwrap_or_default());
                    problems.push(skipped.to_string());
                }
            }
        }
        let indexes = indexes.met(written);
        missed.extend(indexes.iter().map(document_id));
        let options = Arc::new(ReadOptions { max_bytes, ..read_options(limits) });
        let (time, hand) = (limits.time, Hand::default());
        Ok(Self { files, options, time, hand, problems, indexes, missed, outside, twice, linked })
    }

    /// The files, in order.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Larger files are refused; 0: none.
    pub fn max_bytes(&self) -> u64 {
        self.options.max_bytes
    }

    /// True where nothing was left out while the files were looked for.
    pub fn saw_all(&self) -> bool {
        self.problems.is_empty() && self.indexes.is_empty()
    }

    /// Names what was left out while the files were looked for; returns how much that is.
    pub fn report(&self) -> usize {
        for index in &self.indexes {
            let line = Line::styled(Style::Warning, "left out:");
            line.and(format_args!(" {}: is an index of Pericope", shown(index))).tell();
        }
        report(&self.problems) + self.indexes.len()
    }

    /// Says which links were not followed. That is a rule and no failure.
    pub fn tell_links(&self) {
        let (count, named) = (self.outside.len(), self.outside.iter().take(LINKS_NAMED));
        if count > 0 {
            let named: Vec<String> = named.map(|link| shown(link)).collect();
            let more = if count > named.len() { ", ..." } else { "" };
            let links = if count == 1 { "1 link leads" } else { &format!("{count} links lead") };
            let was = if count == 1 { "was" } else { "were" };
            tell!("{links} out of the folder and {was} not followed (--follow-links): {}{more}", named.join(", "));
        }
    }

    /// Folders behind links that were followed.
    pub fn linked(&self) -> &[PathBuf] {
        &self.linked
    }

    /// True for the name of a file that is read under another name: a link led to it.
    pub fn is_twice(&self, name: &str) -> bool {
        let path = document_path(name);
        self.twice.iter().any(|twice| path.starts_with(twice))
    }

    /// True for the name of a file that may be there although it was not found: something on the way to it could not be
    /// looked at.
    pub fn may_miss(&self, name: &str) -> bool {
        self.missed.iter().any(|missed| Path::new(name).starts_with(missed))
    }

    /// Reads one file: its documents, and a line for each part of it that cannot be read. However long it takes.
    pub fn read(&self, path: &Path, each: &mut dyn FnMut(Result<Document, String>)) {
        read_with(path, &self.options, each);
    }

    /// Reads one file, does something with each document of it, and hands over the results. A file that takes too long, or
    /// panics, ends with a line that says so.
    pub fn read_in_time<T: Send + 'static>(
        &self,
        path: &Path,
        work: impl Fn(Document) -> T + Send + 'static,
        each: &mut dyn FnMut(Result<T, String>),
    ) {
        let bytes = path.metadata().map_or(0, |about| about.len());
        let patience = if is_guarded(path) { GUARDED } else { 1 };
        let limit = time_limit(self.time, bytes).map(|time| time.saturating_mul(patience));
        let (file, options) = (path.to_owned(), Arc::clone(&self.options));
        let read = move |say: &mut dyn FnMut(Result<T, String>)| {
            read_with(&file, &options, &mut |read| say(read.map(&work)));
        };
        if let Err(stopped) = self.hand.run(limit, read, each) {
            each(Err(format!("{}: {}", shown(path), stopped.why(limit))));
        }
    }
}

/// So many times the limit may a file take whose reading has limits of its own: it may be tried twice.
const GUARDED: u32 = 10;

/// Whether a worker reads files of this name, with limits of its own.
pub fn is_guarded(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    reader(&extension).is_some_and(Reader::needs_isolation)
}

/// What cannot be trusted is read by workers.
fn read_options(limits: ReadLimits) -> ReadOptions {
    ReadOptions { isolation: Some(Arc::new(pool(limits))), ..ReadOptions::default() }
}

fn read_with(path: &Path, options: &ReadOptions, each: &mut dyn FnMut(Result<Document, String>)) {
    read_each(path, options, &mut |read| {
        if let Ok(read) = &read {
            note_encoding(&shown(path), read);
        }
        each(read.map_err(|e| e.to_string()));
    });
}

/// Standard input: its documents, and a line for each part of it that cannot be read.
///
/// # Errors
/// A format that nobody knows, and a stream that breaks off.
pub fn standard_input(format: &str, limits: ReadLimits) -> Result<(Vec<Document>, Vec<String>), Failure> {
    if reader(format).is_none() {
        let known: Vec<&str> = formats().map(|f| f.name()).collect();
        return Err(Failure::usage(format!("--stdin-format {format}: choose from {}", known.join(", "))));
    }
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes)?;
    let (mut documents, mut problems) = (Vec::new(), Vec::new());
    if bytes.trim_ascii().is_empty() {
        problems.push("standard input is empty".to_owned());
        return Ok((documents, problems));
    }
    let limit = time_limit(limits.time, bytes.len() as u64);
    let format = format.to_owned();
    let read = move |say: &mut dyn FnMut(_)| read_bytes("-", &format, bytes, &read_options(limits), say);
    let stopped = Hand::default().run(limit, read, &mut |read| match read {
        Ok(document) => {
            note_encoding("standard input", &document);
            documents.push(document);
        }
        Err(e) => problems.push(e.to_string()),
    });
    problems.extend(stopped.err().map(|stopped| format!("standard input: {}", stopped.why(limit))));
    Ok((documents, problems))
}

/// Says what a document was decoded from, where that was not UTF-8.
fn note_encoding(source: &str, document: &Document) {
    if let Some(encoding) = &document.encoding {
        tell!("{}: decoded from {encoding}", name(source));
    }
}

/// Names problems on standard error, each on a line; returns how many there are.
pub fn report(problems: &[String]) -> usize {
    for problem in problems {
        Line::styled(Style::Warning, "skipped:").and(format_args!(" {}", name(problem))).tell();
    }
    problems.len()
}
