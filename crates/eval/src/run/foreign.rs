//! Retrievers of others: asked, and brought into the shape of a chunker that was searched.

use std::collections::HashSet;
use std::sync::Arc;

use pericope_api::{Document, Embeddings};
use pericope_segment::fixed::MeanWords;

use super::cut::Cut;
use super::found::Hit;
use super::retrieve::Ranking;
use super::{Corpus, Observer, RunError, Setup};
use crate::answer::Missing;
use crate::config::{RetrieverConfig, shown_retriever};
use crate::record::RetrieverRow;
use crate::retriever::{self, Located, Locator, PassageFinder, Query, Reading};

/// What a retriever found.
pub(super) struct Asked {
    /// The passages as chunks of their documents.
    pub(super) cut: Cut,
    /// Its ranking, under no mode's name yet.
    pub(super) ranking: Ranking,
    /// Answers of its own, by question.
    pub(super) answers: Vec<Option<String>>,
    pub(super) row: RetrieverRow,
}

/// Asks every question, one after the other: what is timed is one answer, not the wait for the others.
pub(super) fn ask(
    config: &RetrieverConfig,
    corpus: &Corpus,
    setup: &Setup<'_>,
    vectors: Option<&Embeddings>,
    k: usize,
    observer: &dyn Observer,
) -> Result<Asked, RunError> {
    let named = |problem: String| named(config, &problem);
    let finder = open(config, &corpus.documents, setup)?;
    let questions = &corpus.set.questions;
    observer.stage(&format!("{}: asking", config.name), questions.len());
    let mut locator = Locator::new(&corpus.documents, setup.counter.as_ref()).with_originals(&corpus.set.originals);
    let mut ranking = Ranking::default();
    let mut answers = Vec::with_capacity(questions.len());
    for (at, question) in questions.iter().enumerate() {
        let query = Query { question: &question.text, k, vector: vectors.map(|vectors| vectors.row(at)) };
        let found = one(finder.as_ref(), &query, config, &mut locator);
        observer.advance(1);
        let (hits, answer) = match found {
            Ok((hits, answer, seconds)) => {
                ranking.seconds.push(Some(seconds));
                (hits, answer)
            }
            Err(Missing::Item(problem)) => {
                ranking.seconds.push(None);
                ranking.failed.insert(at, format!("the retriever failed: {problem}"));
                (Vec::new(), None)
            }
            Err(Missing::Run(problem)) => return Err(RunError::Stopped(named(problem))),
        };
        ranking.hits.push(hits);
        answers.push(answer);
    }
    let Located { chunks, lost, hits, unplaced, examples } = locator.finish();
    if unplaced > 0 {
        observer.note(&named(format!(
            "{unplaced} of {hits} passages stand in no document of the data; they count as retrieved and hold no answer. The first: {}",
            examples.join(", ")
        )));
    }
    let mut mean = MeanWords::default();
    corpus.documents.iter().zip(&chunks).for_each(|(document, chunks)| mean.add(document, chunks));
    let spec = shown_retriever(&config.spec);
    let cut = Cut::of_passages(&config.name, &spec, Arc::new(chunks), lost, mean.value().unwrap_or(0.0));
    Ok(Asked { cut, ranking, answers, row: RetrieverRow { passages: hits, unplaced } })
}

/// Whether a retriever can be opened, and asked where a question is given; what it would read of the documents is not read.
pub(super) fn check(config: &RetrieverConfig, setup: &Setup<'_>, query: Option<&Query<'_>>) -> Result<(), RunError> {
    let finder = open(config, &[], setup)?;
    let asked = query.map_or(Ok(()), |query| finder.check(query));
    asked.map_err(|problem| RunError::Stopped(format!("{}; what the folder holds stays", named(config, &problem))))
}

fn open<'a>(
    config: &RetrieverConfig,
    documents: &'a [Document],
    setup: &'a Setup<'_>,
) -> Result<Box<dyn PassageFinder + 'a>, RunError> {
    let reading = Reading { documents, reader: setup.models.reader.as_deref() };
    retriever::open(config, setup.stores, reading, &setup.models.finders)
        .map_err(|problem| RunError::Config(named(config, &problem)))
}

fn named(config: &RetrieverConfig, problem: &str) -> String {
    format!("retriever '{}': {problem}", config.name)
}

/// The hits of one question, the answer where there is one, and the seconds that it took.
fn one(
    finder: &dyn PassageFinder,
    query: &Query<'_>,
    config: &RetrieverConfig,
    locator: &mut Locator<'_>,
) -> Result<(Vec<Hit>, Option<String>, f64), Missing> {
    let (reply, took) = finder.find(query)?;
    let offsets = reply.offsets.unwrap_or(config.offsets);
    let mut hits = Vec::with_capacity(reply.hits.len().min(query.k));
    // A passage that is named twice was found once.
    let mut seen = HashSet::new();
    for (rank, given) in reply.hits.iter().take(query.k).enumerate() {
        let place =
            locator.locate(given, offsets).map_err(|problem| Missing::Item(format!("hit {rank}: {problem}")))?;
        if seen.insert(place) {
            let score = given.score.filter(|score| score.is_finite()).unwrap_or(1.0 / (rank + 1) as f64);
            hits.push(Hit { document: place.0, ordinal: place.1, score, run: None });
        }
    }
    Ok((hits, reply.answer, took.as_secs_f64()))
}
