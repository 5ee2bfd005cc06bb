//! Before a run: the judge must know the gold answer from an unrelated one, or its scores mean nothing.

use pericope_api::Span;

use super::score::Scorer;
use super::{Corpus, RunError};
use crate::answer::{Context, Extractive, Generated};

/// Questions that are tried.
const TRIED: usize = 20;
/// Gold against itself scores at least this.
const GOLD: f64 = 9.0;
/// Gold against an answer from elsewhere scores at most this, on average.
const UNRELATED: f64 = 2.0;

/// Judges gold answers against themselves and against the answer to another document's question, as the run will judge.
pub(super) fn run(corpus: &Corpus, scorer: &Scorer<'_>, reader: &mut Extractive) -> Result<(), RunError> {
    let questions = &corpus.set.questions;
    let step = (questions.len() / TRIED).max(1);
    let tried: Vec<usize> = (0..questions.len()).step_by(step).take(TRIED).collect();
    let gold: Vec<Context> = (tried.iter().map(|&q| &questions[q]))
        .flat_map(|q| q.gold.iter().map(|&span| Context { document: q.document, span }))
        .collect();
    reader.warm(gold.iter())?;
    // The gold answer of one question, given to another.
    let score = |answer: usize, question: usize| {
        let from = &questions[answer];
        let span: Option<Span> = from.gold.iter().copied().reduce(|a, b| a.hull(&b));
        let generated = Generated { text: from.answer.clone(), place: span.map(|span| (from.document, span)) };
        scorer.answer(question, &generated, Some(reader)).judge()
    };
    for &q in &tried {
        let own = score(q, q);
        if own < GOLD {
            return Err(RunError::Judge(format!(
                "the gold answer to '{}' scores {own:.1} against itself, not {GOLD} or more",
                questions[q].text
            )));
        }
    }
    let unrelated: Vec<f64> = (0..tried.len())
        .filter_map(|i| {
            (1..tried.len())
                .map(|d| tried[(i + d) % tried.len()])
                .find(|&other| questions[other].document != questions[tried[i]].document)
                .map(|other| score(other, tried[i]))
        })
        .collect();
    if unrelated.is_empty() {
        return Ok(());
    }
    let mean = unrelated.iter().sum::<f64>() / unrelated.len() as f64;
    if mean > UNRELATED {
        return Err(RunError::Judge(format!(
            "answers to other questions score {mean:.1} on average, not {UNRELATED} or less"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::answer::ExtractiveOptions;
    use crate::data::{Question, QuestionSet};
    use pericope_api::Document;

    fn judged(answers: &[&str]) -> Result<(), RunError> {
        let documents =
            answers.iter().enumerate().map(|(i, a)| Document::from_sentences(&format!("{i}"), &[a])).collect();
        let questions = answers
            .iter()
            .enumerate()
            .map(|(i, a)| Question {
                id: format!("{i}"),
                text: "?".into(),
                document: i,
                gold: vec![Span::new(0, a.len())],
                answer: (*a).to_owned(),
            })
            .collect();
        let corpus = Corpus::new(QuestionSet { documents, questions, ..QuestionSet::default() });
        let mut reader = Extractive::new(corpus.documents.clone(), None, ExtractiveOptions::default());
        run(&corpus, &Scorer::new(&corpus, true), &mut reader)
    }

    #[test]
    fn answers_that_are_all_alike_stop_the_run() {
        assert!(judged(&["Bees gather nectar from flowers.", "A fuse melts when current is too high."]).is_ok());
        let same = judged(&["Bees gather nectar.", "Bees gather nectar.", "Bees gather nectar."]);
        assert!(matches!(same, Err(RunError::Judge(_))));
    }
}
