//! Files and folders named on the command line, read in their order; what cannot be read is named and counted.

mod ahead;
mod folders;
mod indexes;

use std::io::Read;
use std::ops::AddAssign;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use pericope::Missed;
use pericope_api::Document;
use pericope_learn::corpus::Skipped;
use pericope_read::{
    Found, ReadError, ReadOptions, Reader, WalkOptions, check_globs, document_id, document_path, find, formats,
    read_bytes, read_each, reader,
};
use pericope_util::time_limit;

pub use self::folders::Folders;
pub use self::indexes::inside_index;
use self::indexes::{indexes_below, others};
use crate::limited::{Hand, Stopped};
use crate::project::is_own;
use crate::resources::shown;
use crate::status::Failure;
use crate::terminal::{Line, Style, is_quiet, name};
use crate::worker::{ReadLimits, pool};

/// Links and pages that are named in a note on many.
const NAMED: usize = 3;

/// A part of the input that gives no document.
pub enum LeftOut {
    /// A page without text, by its name. That is no fault.
    Empty(String),
    /// What cannot be read, and why.
    Bad(String),
    /// A file of which a part is missing, and why. The rest of it is a document.
    InPart(String),
}

impl LeftOut {
    /// The rest of a file whose reading had no end.
    fn unfinished(path: &Path, stopped: Stopped, limit: Option<Duration>) -> Self {
        Self::Bad(format!("{}: {}", shown(path), stopped.why(limit)))
    }
}

/// The parts of the input that gave no document.
#[derive(Default)]
pub struct AllLeftOut {
    /// Pages without text.
    pub empty: Vec<String>,
    /// A line for each part that cannot be read.
    pub bad: Vec<String>,
    /// A line for each file that was read in part.
    pub in_part: Vec<String>,
}

impl AllLeftOut {
    /// Adds one.
    pub fn add(&mut self, one: LeftOut) {
        match one {
            LeftOut::Empty(name) => self.empty.push(name),
            LeftOut::Bad(problem) => self.bad.push(problem),
            LeftOut::InPart(problem) => self.in_part.push(problem),
        }
    }

    /// Names what could not be read, or not in full; returns how much that is.
    pub fn report(&self) -> Unread {
        for problem in &self.in_part {
            Line::styled(Style::Warning, "incomplete:").and(format_args!(" {}", name(problem))).tell();
        }
        Unread { left_out: report(&self.bad), in_part: self.in_part.len() }
    }
}

/// How much of the input could not be read.
#[derive(Clone, Copy, Default)]
pub struct Unread {
    /// Parts that gave no document.
    pub left_out: usize,
    /// Files that were read in part.
    pub in_part: usize,
}

impl Unread {
    /// Both together: what makes a command end with status 1.
    pub fn total(self) -> usize {
        self.left_out + self.in_part
    }
}

impl AddAssign for Unread {
    fn add_assign(&mut self, more: Self) {
        self.left_out += more.left_out;
        self.in_part += more.in_part;
    }
}

/// Files to read, in a fixed order, and what was left out while they were looked for.
pub struct Input {
    files: Vec<PathBuf>,
    options: Arc<ReadOptions>,
    time: Duration,
    hand: Hand,
    problems: Vec<String>,
    /// Indexes among the files.
    indexes: Vec<PathBuf>,
    /// Where these problems are: nobody knows what lies there or below.
    missed: Missed,
    /// Links that lead out of the folders and were not followed.
    outside: Vec<PathBuf>,
    /// Paths of what is found under another one.
    twice: Vec<PathBuf>,
    /// Folders behind links that were followed.
    linked: Vec<PathBuf>,
    /// Pictures, fonts and the like in folders.
    media: Vec<PathBuf>,
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
        let Found { files: found, outside, twice, linked, media } = find(paths, options);
        let mut indexes = indexes_below(paths);
        // What lies in a project's own folder is no document, unless it is named itself.
        let is_ours = |path: &Path| is_own(path) && !paths.iter().any(|root| is_own(root));
        let mut files = Vec::new();
        let (mut problems, mut missed) = (Vec::new(), Missed::default());
        for found in found {
            match found {
                Ok(path) if is_ours(&path) => {}
                Err(skipped) if skipped.path().is_some_and(is_ours) => {}
                // An index that lies among the documents is none of them.
                Ok(path) if indexes.hold(&path) => {}
                Ok(path) => files.push(path),
                Err(skipped) if skipped.path().is_some_and(|path| indexes.hold(path)) => {}
                Err(skipped) => {
                    // Without a path it may be about any file.
                    missed.note_place(skipped.path());
                    problems.push(skipped.to_string());
                }
            }
        }
        let indexes = others(indexes, written);
        indexes.iter().for_each(|index| missed.note_place(Some(index)));
        let options = Arc::new(ReadOptions { max_bytes, ..read_options(limits) });
        let (time, hand) = (limits.time, Hand::default());
        Ok(Self { files, options, time, hand, problems, indexes, missed, outside, twice, linked, media })
    }

    /// The files, in order.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Larger files are refused; 0: none.
    pub fn max_bytes(&self) -> u64 {
        self.options.max_bytes
    }

    /// What was left out while the files were looked for: files may be there although they were not found, since something
    /// on the way to them could not be looked at.
    pub fn missed(&self) -> &Missed {
        &self.missed
    }

    /// Names what was left out while the files were looked for; returns how much that is.
    pub fn report(&self) -> usize {
        for index in &self.indexes {
            let line = Line::styled(Style::Warning, "left out:");
            line.and(format_args!(" {}: is an index of Pericope", shown(index))).tell();
        }
        report(&self.problems) + self.indexes.len()
    }

    /// Says which links were not followed, and how much beside the documents holds nothing to read. These are rules and no failures.
    pub fn tell_rules(&self) {
        if is_quiet() {
            return;
        }
        let media = self.media.len();
        if media > 0 {
            let (files, were) = if media == 1 { ("file that holds", "was") } else { ("files that hold", "were") };
            tell!("{media} {files} no document (pictures, fonts, style sheets and the like) {were} left out");
        }
        let count = self.outside.len();
        if count > 0 {
            let links = if count == 1 { "1 link leads" } else { &format!("{count} links lead") };
            let was = if count == 1 { "was" } else { "were" };
            tell!(
                "{links} out of the folder and {was} not followed (--follow-links): {}",
                some(self.outside.iter().map(|link| shown(link)))
            );
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

    /// Reads one file: its documents, and what gives none. However long it takes.
    pub fn read(&self, path: &Path, each: &mut dyn FnMut(Result<Document, LeftOut>)) {
        read_with(path, &self.options, &mut |note, read| {
            tell_note(note);
            each(read);
        });
    }

    /// Reads one file, does something with each document of it, and hands over the results. A file that takes too long, or
    /// panics, ends with a line that says so.
    pub fn read_in_time<T: Send + 'static>(
        &self,
        path: &Path,
        work: impl Fn(Document) -> T + Send + Sync + 'static,
        each: &mut dyn FnMut(Result<T, LeftOut>),
    ) {
        let limit = self.limit(path);
        let done = self.hand.run(limit, self.job(path, 1, work), &mut |(note, read)| {
            tell_note(note);
            each(read);
        });
        if let Err(stopped) = done {
            each(Err(LeftOut::unfinished(path, stopped, limit)));
        }
    }

    /// The time that a file may take to its next document.
    fn limit(&self, path: &Path) -> Option<Duration> {
        let bytes = path.metadata().map_or(0, |about| about.len());
        let patience = if is_guarded(path) { GUARDED } else { 1 };
        time_limit(self.time, bytes).map(|time| time.saturating_mul(patience))
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

/// Calls `each` with every document and what is to be said of it.
fn read_with(path: &Path, options: &ReadOptions, each: &mut dyn FnMut(Option<String>, Result<Document, LeftOut>)) {
    read_each(path, options, &mut |read| {
        let note = read.as_ref().ok().and_then(|read| note_on_encoding(&shown(path), read));
        each(note, with_text(read));
    });
}

/// What was read, where it holds text.
fn with_text(read: Result<Document, ReadError>) -> Result<Document, LeftOut> {
    match read {
        Ok(document) if document.has_text() => Ok(document),
        Ok(document) => Err(LeftOut::Empty(document.id)),
        Err(ReadError::Empty { path }) => Err(LeftOut::Empty(document_id(path))),
        Err(error @ ReadError::InPart { .. }) => Err(LeftOut::InPart(error.to_string())),
        Err(error) => Err(LeftOut::Bad(error.to_string())),
    }
}

/// What messages call it.
const STANDARD_INPUT: &str = "standard input";

/// Standard input: its documents, and what gives none.
///
/// # Errors
/// A format that nobody knows, and a stream that breaks off.
pub fn standard_input(format: &str, limits: ReadLimits) -> Result<(Vec<Document>, AllLeftOut), Failure> {
    if reader(format).is_none() {
        let known: Vec<&str> = formats().map(|f| f.name()).collect();
        return Err(Failure::usage(format!("--stdin-format {format}: choose from {}", known.join(", "))));
    }
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes)?;
    let (mut documents, mut left_out) = (Vec::new(), AllLeftOut::default());
    if bytes.trim_ascii().is_empty() {
        left_out.empty.push(STANDARD_INPUT.to_owned());
        return Ok((documents, left_out));
    }
    let limit = time_limit(limits.time, bytes.len() as u64);
    let format = format.to_owned();
    let read = move |say: &mut dyn FnMut(_)| read_bytes("-", &format, bytes, &read_options(limits), say);
    let stopped = Hand::default().run(limit, read, &mut |read| match with_text(read) {
        Ok(document) => {
            tell_note(note_on_encoding(STANDARD_INPUT, &document));
            documents.push(document);
        }
        // Its document is called `-`, and so would be a page of marks and blanks.
        Err(LeftOut::Empty(id)) if id == "-" => left_out.empty.push(STANDARD_INPUT.to_owned()),
        Err(one) => left_out.add(one),
    });
    left_out.bad.extend(stopped.err().map(|stopped| format!("{STANDARD_INPUT}: {}", stopped.why(limit))));
    Ok((documents, left_out))
}

/// What a document was decoded from, where that was not UTF-8.
fn note_on_encoding(source: &str, document: &Document) -> Option<String> {
    document.encoding.as_ref().map(|encoding| format!("{}: decoded from {encoding}", name(source)))
}

fn tell_note(note: Option<String>) {
    if let Some(note) = note.filter(|_| !is_quiet()) {
        tell!("{note}");
    }
}

/// Names problems on standard error, each on a line; returns how many there are.
pub fn report(problems: &[String]) -> usize {
    for problem in problems {
        Line::styled(Style::Warning, "skipped:").and(format_args!(" {}", name(problem))).tell();
    }
    problems.len()
}

/// Says what of the training data is left out, and how many problems are beyond those that were kept in words.
pub fn report_skipped(skipped: &Skipped) -> usize {
    let told = report(&skipped.problems);
    if skipped.count > told {
        Line::styled(Style::Warning, "skipped:").and(format_args!(" {} more", skipped.count - told)).tell();
    }
    skipped.count
}

/// Notes which pages hold no text. That is no failure.
pub fn tell_empty(pages: &[String]) {
    if !pages.is_empty() && !is_quiet() {
        let hold = if pages.len() == 1 { "1 page holds" } else { &format!("{} pages hold", pages.len()) };
        tell!("{hold} no text: {}", some(pages.iter().map(|page| name(page).into_owned())));
    }
}

/// The first names of a list.
fn some(mut names: impl Iterator<Item = String>) -> String {
    let named: Vec<String> = names.by_ref().take(NAMED).collect();
    let more = if names.next().is_some() { ", ..." } else { "" };
    named.join(", ") + more
}
