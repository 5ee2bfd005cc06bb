//! `pericope train topic --adapt`: how much of a model is worth fitting to documents of one's own.

use std::path::Path;

use pericope_eval::record::FEW_DOCUMENTS;
use pericope_eval::stats::{Standing, cheapest_as_good};
use pericope_learn::corpus::{Corpus, SentenceVectors};
use pericope_learn::topic::{CHECKPOINT, Checkpoint};
use pericope_learn::training::{Part, TopicData, TopicOptions, check_target, topic_f1, train_topic};
use serde::Serialize;

use super::over_vectors::watched;
use super::report::failure;
use crate::commands::dataset::save;
use crate::commands::print_json;
use crate::resources::shown;
use crate::status::{Failure, Outcome, Status};

/// Seed of the intervals.
const SEED: u64 = 7;

/// A model on the documents that nothing was fitted on.
#[derive(Serialize)]
struct Row {
    /// What was fitted: nothing, numbers, heads or all.
    fitted: &'static str,
    /// The folder of the model; nothing for the one that was begun with.
    #[serde(skip_serializing_if = "Option::is_none")]
    model: Option<String>,
    /// Mean F1 of the documents, 0 to 1, and its 95 % interval; none with one document.
    f1: f64,
    interval: Option<[f64; 2]>,
    /// Its F1 less that of the best row, and the 95 % interval of that; none for the best row and with one document.
    behind_best: Option<[f64; 3]>,
    seconds: f64,
}

#[derive(Serialize)]
struct Adapted<'a> {
    /// Documents that were measured on.
    documents: usize,
    /// The cheapest that may be as good as the best.
    recommended: &'a str,
    rows: &'a [Row],
    model: String,
}

/// What is adapted, and to what.
pub(super) struct Adapting<'a> {
    pub(super) start: &'a Checkpoint,
    pub(super) corpus: &'a Corpus,
    pub(super) vectors: &'a SentenceVectors,
    pub(super) options: TopicOptions,
    pub(super) out: &'a Path,
    pub(super) notes: String,
    pub(super) quiet: bool,
    pub(super) json: bool,
}

impl Adapting<'_> {
    /// Fits each part, measures all on the test documents, and writes the one to take into the folder.
    pub(super) fn run(&self) -> Outcome {
        let Self { start, corpus, vectors, .. } = *self;
        if corpus.test.len() < 2 {
            return Err(Failure::usage(
                "--adapt needs two documents or more to test on: give more data, or --test SHARE",
            ));
        }
        let target = self.out.join(CHECKPOINT);
        check_target(Some(start), &target).map_err(failure)?;
        let f1 = |checkpoint: &Checkpoint| topic_f1(checkpoint, &corpus.test, vectors).map_err(failure);
        let mut measured = vec![("nothing", None, f1(start)?, 0.0)];
        for (name, part) in [("numbers", Part::Numbers), ("heads", Part::Heads), ("all", Part::All)] {
            let out = self.out.join(name);
            let Some(seconds) = self.fit(part, &out)? else { return Ok(Status::Interrupted) };
            let file = out.join(CHECKPOINT);
            let checkpoint = Checkpoint::read(&file).map_err(Failure::runtime)?;
            measured.push((name, Some(out), f1(&checkpoint)?, seconds));
        }
        let scores: Vec<&[f64]> = measured.iter().map(|(_, _, f1, _)| f1.as_slice()).collect();
        let (standings, chosen) = cheapest_as_good(&scores, SEED);
        let rows: Vec<Row> = (measured.iter().zip(standings))
            .map(|((fitted, model, _, seconds), Standing { mean, interval, behind_best })| Row {
                fitted,
                model: model.as_deref().map(shown),
                f1: mean,
                interval,
                behind_best,
                seconds: *seconds,
            })
            .collect();
        let recommended = rows.get(chosen).map_or("nothing", |row| row.fitted);
        match recommended {
            "nothing" => start.write(&target, true).map_err(Failure::runtime)?,
            name => {
                let from = self.out.join(name).join(CHECKPOINT);
                let bytes = std::fs::read(&from).map_err(|e| Failure::runtime(format!("{}: {e}", shown(&from))))?;
                pericope_util::replace_file(&target, &bytes)
                    .map_err(|e| Failure::runtime(format!("{}: {e}", shown(&target))))?;
            }
        }
        let adapted = Adapted { documents: corpus.test.len(), recommended, rows: &rows, model: shown(&target) };
        let text = serde_json::to_string_pretty(&adapted).map_err(anyhow::Error::from)?;
        save(&self.out.join("adapted.json"), &format!("{text}\n"))?;
        if self.json {
            print_json(&adapted)?;
        } else {
            adapted.show()?;
            say!("Use it: pericope segment FILE --segmenter topic:model={}", shown(self.out));
        }
        Ok(if corpus.skipped.count > 0 { Status::Incomplete } else { Status::Done })
    }

    /// Fits a part; its seconds, or nothing where Ctrl-C ended it.
    fn fit(&self, part: Part, out: &Path) -> Result<Option<f64>, Failure> {
        let Corpus { train, validation, .. } = self.corpus;
        // Three numbers need no documents of their own to say when to stop.
        let both = [train.as_slice(), validation.as_slice()].concat();
        let validation = if part == Part::Numbers { &both } else { validation };
        let data = TopicData { train, validation, vectors: self.vectors };
        let options = TopicOptions { part, ..self.options.clone() };
        let began = std::time::Instant::now();
        let done = watched(self.corpus, self.quiet, |tell| {
            train_topic(Some(self.start), &data, &options, out, &self.notes, tell)
        })?;
        Ok(done.map(|_| began.elapsed().as_secs_f64()))
    }
}

impl Adapted<'_> {
    fn show(&self) -> Result<(), Failure> {
        let recommended = match self.recommended {
            "nothing" => "Keep the model as it is: nothing that was fitted is surely better".to_owned(),
            part => format!("Take what was fitted with {part}: nothing that takes less is as good as the best"),
        };
        say!("{recommended} ({} documents that nothing was fitted on).", self.documents);
        if self.documents < FEW_DOCUMENTS {
            tell!(
                "{} documents are too few for intervals to be trusted: add pages, or give a larger --test",
                self.documents
            );
        }
        say!("{:<8}  {:>5}  {:>13}  {:>22}  {:>8}", "fitted", "F1", "95 %", "behind the best", "seconds");
        let percent = |x: f64| format!("{:.1}", 100.0 * x);
        for row in self.rows {
            let interval =
                row.interval.map_or(String::new(), |[low, high]| format!("{} to {}", percent(low), percent(high)));
            let behind = row.behind_best.map_or(String::from("-"), |[behind, low, high]| {
                format!("{} ({} to {})", percent(behind), percent(low), percent(high))
            });
            say!("{:<8}  {:>5}  {interval:>13}  {behind:>22}  {:>8.0}", row.fitted, percent(row.f1), row.seconds);
        }
        Ok(())
    }
}
