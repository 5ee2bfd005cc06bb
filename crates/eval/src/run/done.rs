//! What an earlier session of a run left: the chunkers that are done.

use std::collections::{HashMap, HashSet};
use std::path::PathBuf;

use super::folder::RunFolder;
use super::lines::{each_line, ends_with_line, keep_lines, rewrite};
use super::{Observer, RunError};
use crate::cell::Setting;
use crate::data::Question;
use crate::record::{ChunkerRow, Item, ItemSeeker, Status};

/// The items that each chunker must have: one a question and setting.
pub(super) struct Shape<'a> {
    pub(super) settings: &'a [Setting],
    pub(super) questions: &'a [Question],
}

/// The chunkers that an earlier session finished. Their items stay in their file and are read one by one.
#[derive(Default)]
pub(super) struct Done {
    rows: Vec<ChunkerRow>,
    /// By chunker, the bytes at which its items begin.
    starts: HashMap<String, Vec<u64>>,
    path: PathBuf,
    bytes: u64,
}

impl Done {
    /// The row of a chunker that is done.
    pub(super) fn row(&self, name: &str) -> Option<&ChunkerRow> {
        self.rows.iter().find(|row| row.name == name)
    }

    /// Length of `items.jsonl` as it was taken over.
    pub(super) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Calls `f` with every item of a chunker that is done, and the byte at which its line begins.
    pub(super) fn each_item(&self, name: &str, mut f: impl FnMut(Item, u64)) -> Result<(), RunError> {
        let Some(starts) = self.starts.get(name) else { return Ok(()) };
        let mut items = ItemSeeker::open(&self.path)?;
        for &start in starts {
            f(items.at(start)?, start);
        }
        Ok(())
    }

    /// Reads what is whole of a run, and removes the rest from its files: lines that are damaged or were cut off, and the
    /// items of chunkers that are not done, or of which an item failed.
    pub(super) fn read(folder: &RunFolder, shape: &Shape<'_>, observer: &dyn Observer) -> Result<Self, RunError> {
        let (rows, damaged_rows) = rows(folder)?;
        let path = folder.items();
        let found = Found::read(folder, shape)?;
        if found.damaged + damaged_rows > 0 {
            observer.note(&format!(
                "{} damaged lines in {} and {} are left out; what they were part of is measured again",
                found.damaged + damaged_rows,
                path.display(),
                folder.chunkers().display()
            ));
        }
        let whole = |name: &str| found.chunkers.get(name).is_some_and(|tally| tally.is_whole(shape));
        let failed = |name: &str| found.chunkers.get(name).is_some_and(|tally| tally.failed);
        // An item may have failed for a reason that is gone by now, and what succeeded is in the cache of answers.
        let again: Vec<&str> =
            rows.iter().map(|row| row.name.as_str()).filter(|name| whole(name) && failed(name)).collect();
        if !again.is_empty() {
            observer.note(&format!("again, since items failed: {}", again.join(", ")));
        }
        let before = rows.len() + damaged_rows;
        let usable = |row: &ChunkerRow| whole(&row.name) && !failed(&row.name);
        let kept: Vec<ChunkerRow> = rows.iter().filter(|row| usable(row)).cloned().collect();
        let done = found.take_over(folder, kept)?;
        if done.rows.len() != before || !ends_with_line(&folder.chunkers())? {
            rewrite(&folder.chunkers(), &done.rows)?;
        }
        let are = if done.rows.len() == 1 { "chunker is" } else { "chunkers are" };
        observer.note(&format!("resuming: {} {are} done already", done.rows.len()));
        Ok(done)
    }
}

/// The rows of the chunkers that are done, of each the last one, and the number of lines that are no row.
fn rows(folder: &RunFolder) -> Result<(Vec<ChunkerRow>, usize), RunError> {
    let (mut rows, mut damaged) = (Vec::<ChunkerRow>::new(), 0);
    each_line(&folder.chunkers(), |line, _| {
        match serde_json::from_slice::<ChunkerRow>(line) {
            Ok(row) => {
                rows.retain(|earlier| earlier.name != row.name);
                rows.push(row);
            }
            Err(_) => damaged += 1,
        }
        Ok(())
    })?;
    Ok((rows, damaged))
}

/// What `items.jsonl` holds.
struct Found {
    chunkers: HashMap<String, Tally>,
    damaged: usize,
    /// Bytes of all lines, their ends included.
    bytes: u64,
}

/// What it holds of one chunker.
#[derive(Default)]
struct Tally {
    /// Setting and question of every item.
    seen: HashSet<(usize, usize)>,
    /// Where each begins, and how long it is with its end.
    lines: Vec<(u64, u64)>,
    failed: bool,
    /// An item that the run does not have, or has twice.
    foreign: bool,
}

impl Tally {
    fn is_whole(&self, shape: &Shape<'_>) -> bool {
        !self.foreign && self.seen.len() == shape.settings.len() * shape.questions.len()
    }
}

impl Found {
    fn read(folder: &RunFolder, shape: &Shape<'_>) -> Result<Self, RunError> {
        let questions: HashMap<&str, usize> =
            shape.questions.iter().enumerate().map(|(i, question)| (question.id.as_str(), i)).collect();
        let mut found = Self { chunkers: HashMap::new(), damaged: 0, bytes: 0 };
        each_line(&folder.items(), |line, start| {
            found.bytes = start + line.len() as u64 + 1;
            // The whole item is parsed: each that is counted here can be read again.
            let Ok(item) = serde_json::from_slice::<Item>(line) else {
                found.damaged += 1;
                return Ok(());
            };
            let setting = shape.settings.iter().position(|setting| item.is_at(setting));
            let question = questions.get(item.question_id.as_str()).copied();
            let tally = found.chunkers.entry(item.chunker).or_default();
            let is_new = setting.zip(question).is_some_and(|place| tally.seen.insert(place));
            tally.foreign |= !is_new;
            tally.failed |= item.status == Status::Failed;
            tally.lines.push((start, line.len() as u64 + 1));
            Ok(())
        })?;
        Ok(found)
    }

    /// Leaves the items of these chunkers in the file, in their order.
    fn take_over(mut self, folder: &RunFolder, rows: Vec<ChunkerRow>) -> Result<Done, RunError> {
        let path = folder.items();
        self.chunkers.retain(|name, _| rows.iter().any(|row| row.name == *name));
        let mut kept: Vec<(u64, u64)> = self.chunkers.values().flat_map(|tally| tally.lines.iter().copied()).collect();
        kept.sort_unstable();
        let bytes = kept.iter().map(|(_, length)| length).sum();
        if bytes != self.bytes || !ends_with_line(&path)? {
            keep_lines(&path, &|start| kept.binary_search_by_key(&start, |(start, _)| *start).is_ok())?;
        }
        // Where each line of the old file begins in the new one.
        let mut end = 0;
        let moved: Vec<(u64, u64)> = (kept.iter())
            .map(|&(start, length)| {
                let place = (start, end);
                end += length;
                place
            })
            .collect();
        let place = |start: u64| {
            moved.binary_search_by_key(&start, |(old, _)| *old).ok().and_then(|at| moved.get(at)).map(|(_, new)| *new)
        };
        let starts = (self.chunkers.into_iter())
            .map(|(name, tally)| (name, tally.lines.iter().filter_map(|(start, _)| place(*start)).collect()))
            .collect();
        Ok(Done { rows, starts, path, bytes })
    }
}
