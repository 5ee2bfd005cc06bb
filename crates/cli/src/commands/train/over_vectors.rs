//! What the trainings over sentence vectors share: their data, and the watch over them.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::Ordering;

use clap::Args;
use pericope_encode::registry::CHANGED;
use pericope_learn::corpus::{Corpus, SentenceVectors, load};
use pericope_learn::training::{Event, TrainError, TrainReport};

use super::report::failure;
use super::shared::HoldoutArgs;
use super::watch::Watch;
use crate::commands::dataset::{corpus_failure, shown_report};
use crate::resources::{EMBEDDER, shown};
use crate::status::Failure;
use crate::{input, interrupt, places};

/// What every training over sentence vectors takes.
#[derive(Debug, Args)]
pub struct OverVectorsArgs {
    /// Documents with known boundaries: files, or folders with files *.jsonl and *.jsonl.gz at any depth; may be given
    /// several times
    #[arg(long, required = true, num_args = 1.., value_name = "PATH", value_parser = places::path())]
    pub data: Vec<PathBuf>,
    /// Folder of the sentences' vectors, made by `pericope train embed`
    #[arg(long, value_name = "DIR", value_parser = places::path())]
    pub vectors: PathBuf,
    /// Folder of the model and of the state that an interrupted training goes on from
    #[arg(long, value_name = "DIR", value_parser = places::path())]
    pub out: PathBuf,
    /// Go on from a trained model: a checkpoint's file or folder; --out must be another folder
    #[arg(long, value_name = "MODEL", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub start: Option<String>,
    #[command(flatten)]
    pub holdout: HoldoutArgs,
}

impl OverVectorsArgs {
    /// Opens the folder of vectors.
    pub(super) fn vectors(&self) -> Result<SentenceVectors, Failure> {
        let vectors = SentenceVectors::open(&self.vectors).map_err(corpus_failure)?;
        let encoder = vectors.encoder();
        if encoder != EMBEDDER && !encoder.starts_with(CHANGED) {
            tell!(
                "warning: {} holds vectors of {encoder}, and the command reads with {EMBEDDER} when it cuts: a model on them is for \
                 programs of your own that bring that encoder",
                shown(&self.vectors)
            );
        }
        Ok(vectors)
    }

    /// Reads the documents and parts them; names what cannot be read.
    pub(super) fn corpus(&self) -> Result<Corpus, Failure> {
        let corpus = load(&self.data, &self.holdout.split.held_out, &self.holdout.options());
        let corpus = corpus.map_err(corpus_failure)?;
        input::report_skipped(&corpus.skipped);
        Ok(corpus)
    }
}

/// Refuses texts of which one has no vector.
pub(super) fn check_vectors<'a>(
    vectors: &SentenceVectors,
    mut texts: impl Iterator<Item = &'a str>,
) -> Result<(), Failure> {
    match texts.find(|text| !vectors.contains(text)) {
        // It says which text it is, and how to embed it.
        Some(text) => vectors.rows([text]).map(drop).map_err(corpus_failure),
        None => Ok(()),
    }
}

/// Is told what a training does.
type Tell<'a> = dyn FnMut(Event) -> ControlFlow<()> + 'a;

/// Shows a training until it is done; nothing where Ctrl-C ended it, with its state on disk.
pub(super) fn watched(
    corpus: &Corpus,
    quiet: bool,
    train: impl FnOnce(&mut Tell<'_>) -> Result<TrainReport, TrainError>,
) -> Result<Option<TrainReport>, Failure> {
    let mut watch = Watch::new(quiet);
    // A judge may be trained on questions alone.
    if corpus.report.all.documents > 0 {
        watch.note(&shown_report(&corpus.report));
    }
    let interrupted = interrupt::flag()?;
    let report = train(&mut |event| {
        let told = watch.see(event);
        if interrupted.load(Ordering::Relaxed) { ControlFlow::Break(()) } else { told }
    });
    watch.finish();
    match report {
        Err(error @ TrainError::Interrupted { .. }) => {
            tell!("{error}");
            Ok(None)
        }
        report => report.map(Some).map_err(failure),
    }
}
