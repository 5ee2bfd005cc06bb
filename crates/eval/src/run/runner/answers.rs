//! Answers from what was found.

use std::time::Instant;

use super::super::cut::Cut;
use super::super::found::Given;
use super::super::retrieve::Ranking;
use super::super::{Corpus, Observer, RunError};
use super::Runner;
use crate::answer::{Context, Generated, Generator, Missing, Passage, Request};
use crate::config::GeneratorKind;
use crate::data::Question;
use crate::metrics::answers::AnswerScores;

/// The answer to a question with its scores, nothing where none is asked for, or why there is none.
pub(super) type Answered = Result<Option<(Generated, AnswerScores)>, String>;

/// What a generator made of a question, or why it made nothing.
type Made = Result<Generated, String>;

impl Runner<'_> {
    /// Why questions cannot be answered, whatever the setting.
    pub(super) fn problems(&self, cut: &Cut, ranking: &Ranking) -> Vec<Option<String>> {
        let of_question = |(q, question): (usize, &Question)| {
            let cutting = || cut.failure(question.places().map(|(document, _)| document)).map(str::to_owned);
            ranking.failed.get(&q).cloned().or_else(cutting)
        };
        self.corpus.set.questions.iter().enumerate().map(of_question).collect()
    }

    /// What makes the answers, if anything does.
    pub(super) fn generator(&self, cut: &Cut) -> Option<&dyn Generator> {
        match self.experiment.generator(cut.generator) {
            GeneratorKind::None => None,
            GeneratorKind::Best => self.best.as_ref().map(|best| best as &dyn Generator),
            GeneratorKind::Extractive => self.reader.as_ref().map(|reader| reader as &dyn Generator),
            GeneratorKind::Cogltx => self.spans.as_ref().map(|spans| spans as &dyn Generator),
            GeneratorKind::Llm => self.setup.models.generator.as_deref(),
        }
    }

    /// An answer with its scores for each question (none where none is asked for), or why there is none; and the seconds that one
    /// took the generator. `own` are answers that came with the ranking.
    pub(super) fn answers(
        &self,
        cut: &Cut,
        picked: &[Vec<Given>],
        own: &[Option<String>],
        problems: &[Option<String>],
        observer: &dyn Observer,
    ) -> Result<(Vec<Answered>, Option<f64>), RunError> {
        let questions = self.corpus.set.questions.len();
        let mut found: Vec<Answered> = problems.iter().map(|problem| problem.clone().map_or(Ok(None), Err)).collect();
        let Some(generator) = self.generator(cut) else { return Ok((found, None)) };
        let own = |q: usize| own.get(q).and_then(Option::as_ref);
        let open: Vec<usize> = (0..questions).filter(|&q| problems[q].is_none() && own(q).is_none()).collect();
        observer.advance(questions - open.len());
        let (generated, seconds) = self.generated(generator, cut, picked, &open, observer)?;
        // Who brings an answer along needs no generator.
        let brought = (0..questions).filter(|&q| problems[q].is_none()).filter_map(|q| {
            let text = own(q)?.clone();
            Some((q, Ok(Generated { text, ..Generated::default() })))
        });
        let answered: Vec<(usize, Made)> = open.into_iter().zip(generated).chain(brought).collect();
        let free: Vec<&str> = (answered.iter().filter_map(|(_, answer)| answer.as_ref().ok()))
            .filter(|generated| generated.is_free_text())
            .map(|generated| generated.text.as_str())
            .collect();
        let mut vectors = match &self.reader {
            Some(reader) => reader.text_vectors(&free)?.into_iter(),
            None => Vec::new().into_iter(),
        };
        let quotes = self.experiment.generator(cut.generator).quotes();
        for (q, answer) in answered {
            found[q] = answer.map(|generated| {
                let vector = if generated.is_free_text() { vectors.next().flatten() } else { None };
                let quotes = quotes && own(q).is_none();
                let scores = self.scorer.answer(q, &generated, quotes, self.reader.as_ref(), vector.as_deref());
                Some((generated, scores))
            });
        }
        Ok((found, seconds))
    }

    /// Has the `open` questions answered, and gives the seconds that one took.
    fn generated(
        &self,
        generator: &dyn Generator,
        cut: &Cut,
        picked: &[Vec<Given>],
        open: &[usize],
        observer: &dyn Observer,
    ) -> Result<(Vec<Made>, Option<f64>), RunError> {
        let questions = &self.corpus.set.questions;
        let given: Vec<(Vec<Context>, Vec<Passage<'_>>)> = (open.iter().map(|&q| &picked[q]))
            .map(|hits| {
                let places = hits.iter().filter_map(|given| place(self.corpus, given));
                (places.collect(), hits.iter().map(|given| self.passage(cut, given)).collect())
            })
            .collect();
        let requests: Vec<Request<'_>> = (open.iter().zip(&given))
            .map(|(&q, (contexts, passages))| Request {
                question: &questions[q].text,
                asked: &self.asked[q],
                contexts,
                passages,
            })
            .collect();
        let clock = Instant::now();
        let answered = collect_results(generator.answer_all(&requests, &|| observer.advance(1)))?;
        let seconds = (!requests.is_empty()).then(|| clock.elapsed().as_secs_f64() / requests.len() as f64);
        Ok((answered, seconds))
    }

    /// A hit as generators get it.
    fn passage<'c>(&'c self, cut: &'c Cut, given: &Given) -> Passage<'c> {
        let document = cut.document(&self.corpus.documents, &given.hit);
        Passage {
            document: document.map_or("", |document| &document.id),
            heading_path: &cut.chunk(&given.hit).heading_path,
            text: document.map_or("", |document| document.text(given.span)),
        }
    }
}

/// Where a hit lies; `None` for a text that stands in no document.
pub(super) fn place(corpus: &Corpus, given: &Given) -> Option<Context> {
    let document = given.hit.document;
    (document < corpus.documents.len()).then_some(Context { document, span: given.span })
}

/// Item failures stay with their items; what concerns all of them ends the run.
pub(super) fn collect_results<T>(results: Vec<Result<T, Missing>>) -> Result<Vec<Result<T, String>>, RunError> {
    (results.into_iter())
        .map(|result| match result {
            Ok(value) => Ok(Ok(value)),
            Err(Missing::Item(problem)) => Ok(Err(problem)),
            Err(Missing::Run(problem)) => Err(RunError::Stopped(problem)),
        })
        .collect()
}
