//! Before a run: the judge must know the gold answer from an unrelated one, or its scores mean nothing.

use pericope_api::{SentenceEncoder, Span};

use super::RunError;
use crate::data::QuestionSet;
use crate::metrics::answers::{AnswerScores, Place, answer_iou, cosine};

/// Questions that are tried.
const TRIED: usize = 20;
/// Gold against itself scores at least this.
const GOLD: f64 = 9.0;
/// Gold against an answer from elsewhere scores at most this, on average.
const UNRELATED: f64 = 2.0;

/// Judges gold answers against themselves and against the answer to another document's question.
pub(super) fn run(set: &QuestionSet, encoder: Option<&dyn SentenceEncoder>) -> Result<(), RunError> {
    let step = (set.questions.len() / TRIED).max(1);
    let tried: Vec<_> = set.questions.iter().step_by(step).take(TRIED).collect();
    let texts: Vec<&str> = tried.iter().map(|q| q.answer.as_str()).collect();
    let vectors = encoder.map(|e| e.encode(&texts)).transpose()?;
    let likeness = |a: usize, b: usize| vectors.as_ref().map(|v| cosine(v.row(a), v.row(b)));
    let place = |i: usize| {
        let span = tried[i].gold.iter().copied().reduce(|a, b| a.hull(&b)).unwrap_or(Span::new(0, 0));
        Place { document: tried[i].document, span }
    };
    let score = |a: usize, b: usize| {
        let iou = Some(answer_iou(&place(a), &place(b)));
        AnswerScores::of(texts[a], texts[b], iou, likeness(a, b)).judge()
    };
    for (i, question) in tried.iter().enumerate() {
        let own = score(i, i);
        if own < GOLD {
            return Err(RunError::Judge(format!(
                "the gold answer to '{}' scores {own:.1} against itself, not {GOLD} or more",
                question.text
            )));
        }
    }
    let unrelated: Vec<f64> = (0..tried.len())
        .filter_map(|i| {
            (1..tried.len())
                .map(|d| (i + d) % tried.len())
                .find(|&j| tried[j].document != tried[i].document)
                .map(|j| score(j, i))
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
    use crate::data::Question;
    use pericope_api::Document;

    fn set(answers: &[&str]) -> QuestionSet {
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
        QuestionSet { documents, questions, ..QuestionSet::default() }
    }

    #[test]
    fn answers_that_are_all_alike_stop_the_run() {
        assert!(
            run(&set(&["Bees gather nectar from flowers.", "A fuse melts when current is too high."]), None).is_ok()
        );
        let same = run(&set(&["Bees gather nectar.", "Bees gather nectar.", "Bees gather nectar."]), None);
        assert!(matches!(same, Err(RunError::Judge(_))));
    }
}
