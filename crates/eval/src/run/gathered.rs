//! What a run has measured of its chunkers and retrievers, and how far that is written down.

use super::compare::Scores;
use super::cut::Cut;
use super::done::Done;
use super::folder::RunFolder;
use super::runner::Runner;
use super::{Corpus, ItemSink, Observer, RunError, lines};
use crate::config::RetrieverConfig;
use crate::record::{Cell, ChunkerRow, Item};

/// What is not done yet.
pub(super) enum Open<'a> {
    Chunker(Box<Cut>),
    Retriever(&'a RetrieverConfig),
}

/// What is measured of one chunker or retriever: its row, and its items without their texts, which are in the file.
pub(super) type Measured = (ChunkerRow, Vec<Item>);

/// What is measured of all that are through.
pub(super) struct Gathered<'a> {
    folder: &'a RunFolder,
    sink: &'a mut dyn ItemSink,
    /// The number of items that each must have.
    expected: usize,
    /// Where the file of items ends: what an earlier session left stands before.
    end: u64,
    pub(super) rows: Vec<ChunkerRow>,
    pub(super) cells: Vec<Cell>,
    pub(super) scores: Scores,
}

impl<'a> Gathered<'a> {
    /// Nothing yet; `settings` is the number of settings in which every question is asked.
    pub(super) fn new(
        folder: &'a RunFolder,
        sink: &'a mut dyn ItemSink,
        corpus: &Corpus,
        settings: usize,
        done: &Done,
    ) -> Self {
        let questions = &corpus.set.questions;
        let unanswered = questions.iter().filter(|question| question.answer.is_empty());
        Self {
            folder,
            sink,
            expected: settings * questions.len(),
            end: done.bytes(),
            rows: Vec::new(),
            cells: Vec::new(),
            scores: Scores::new(unanswered.map(|question| question.id.as_str())),
        }
    }

    /// Measures a chunker or retriever; its items are written down mode by mode, and its row at the end.
    pub(super) fn measure(
        &mut self,
        open: Open<'_>,
        runner: &mut Runner<'_>,
        observer: &dyn Observer,
    ) -> Result<Measured, RunError> {
        let mut items: Vec<Item> = Vec::new();
        let folder = self.folder;
        let mut take = |of_mode: Vec<Item>| {
            let lengths = lines::append(&folder.items(), &of_mode)?;
            for (item, length) in of_mode.into_iter().zip(lengths) {
                self.sink.take(&item, self.end);
                items.push(item.without_texts());
                self.end += length;
            }
            Ok(())
        };
        let row = match open {
            Open::Chunker(cut) => runner.chunker(&cut, folder.path(), observer, &mut take)?,
            Open::Retriever(config) => runner.retriever(config, observer, &mut take)?,
        };
        lines::append(&folder.chunkers(), std::slice::from_ref(&row))?;
        Ok((row, items))
    }

    /// Reads what an earlier session measured.
    pub(super) fn read(&mut self, name: &str, done: &Done) -> Result<Measured, RunError> {
        let mut items: Vec<Item> = Vec::new();
        done.each_item(name, |item, start| {
            self.sink.take(&item, start);
            items.push(item.without_texts());
        })?;
        let row = done.row(name).cloned();
        let row = row.ok_or_else(|| self.incomplete(format!("chunker '{name}' has no results")))?;
        Ok((row, items))
    }

    /// Takes up what was measured of a chunker or retriever.
    pub(super) fn add(&mut self, name: &str, (row, items): Measured, runner: &Runner<'_>) -> Result<(), RunError> {
        if items.len() != self.expected {
            let problem = format!("chunker '{name}' has {} of {} items", items.len(), self.expected);
            return Err(self.incomplete(problem));
        }
        self.cells.extend(runner.cells(&row, &items));
        items.into_iter().for_each(|item| self.scores.add(item));
        self.rows.push(row);
        Ok(())
    }

    /// Checks that the file of items holds what the run wrote: nothing is called finished whose items are not there.
    pub(super) fn check_file(&self) -> Result<(), RunError> {
        let path = self.folder.items();
        let found = std::fs::metadata(&path).map_err(RunError::io(&path))?.len();
        if found == self.end {
            return Ok(());
        }
        Err(self.incomplete(format!("it has {found} bytes where the run wrote {}", self.end)))
    }

    fn incomplete(&self, problem: String) -> RunError {
        RunError::Incomplete { path: self.folder.items(), problem }
    }
}
