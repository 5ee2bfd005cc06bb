//! Before a run: the judge must know the gold answer from an unrelated one, or its scores mean nothing.

use pericope_api::Span;
use pericope_util::one_line;

use super::score::Scorer;
use super::{Corpus, RunError};
use crate::answer::{Context, Extractive, Generated, Judge, JudgeRequest, Missing};
use crate::data::Question;

/// Questions that are tried.
const TRIED: usize = 20;
/// So many where every judgement may cost something.
pub(super) const ASKED_TRIED: usize = 5;
/// Gold against itself scores at least this.
const GOLD: f64 = 9.0;
/// Gold against an answer from elsewhere scores at most this, on average.
const UNRELATED: f64 = 2.0;

/// Judges gold answers against themselves and against the answer to another document's question, as the run will judge.
pub(super) fn lexical(corpus: &Corpus, scorer: &Scorer<'_>, reader: &mut Extractive) -> Result<(), RunError> {
    let questions = &corpus.set.questions;
    let tried = tried(questions, TRIED);
    let gold: Vec<Context> = (tried.iter().filter_map(|&q| questions.get(q)))
        .flat_map(|q| q.gold.iter().map(|&span| Context { document: q.document, span }))
        .collect();
    reader.warm(gold.iter())?;
    // The gold answer of one question, given to another.
    let score = |(answer, question): &(usize, usize)| {
        let from = &questions[*answer];
        let span: Option<Span> = from.gold.iter().copied().reduce(|a, b| a.hull(&b));
        let place = span.map(|span| (from.document, span));
        let generated = Generated { text: from.answer.clone(), place, ..Generated::default() };
        (scorer.answer(*question, &generated, true, Some(reader), None).judge(), String::new())
    };
    let (own, unrelated) = pairs(questions, &tried);
    verdict(questions, &own, own.iter().map(score).collect(), &unrelated, unrelated.iter().map(score).collect())
}

/// The same for a judge that is asked in words; what it said is part of the error.
pub(super) fn asked(corpus: &Corpus, judge: &dyn Judge) -> Result<(), RunError> {
    let questions = &corpus.set.questions;
    let tried = tried(questions, ASKED_TRIED);
    let (own, unrelated) = pairs(questions, &tried);
    let scores = |pairs: &[(usize, usize)]| -> Result<Vec<(f64, String)>, RunError> {
        let answers: Vec<JudgeRequest<'_>> = (pairs.iter())
            .map(|&(a, q)| JudgeRequest {
                question: &questions[q].text,
                gold: &questions[q].answer,
                answer: &questions[a].answer,
                context: Vec::new(),
            })
            .collect();
        (judge.judge_all(&answers, &|| ()).into_iter())
            .map(|judged| match judged {
                Ok(judged) => Ok((judged.judgement.score, judged.judgement.reason)),
                Err(Missing::Run(problem)) => Err(RunError::Stopped(problem)),
                Err(Missing::Item(problem)) => {
                    Err(RunError::Stopped(format!("the judge could not be checked: {problem}")))
                }
            })
            .collect()
    };
    verdict(questions, &own, scores(&own)?, &unrelated, scores(&unrelated)?)
}

/// Questions with an answer, spread over the set.
fn tried(questions: &[Question], at_most: usize) -> Vec<usize> {
    let answered: Vec<usize> = (0..questions.len()).filter(|&q| !questions[q].answer.is_empty()).collect();
    let step = (answered.len() / at_most).max(1);
    answered.into_iter().step_by(step).take(at_most).collect()
}

type Pairs = Vec<(usize, usize)>;

/// (answer of, question): each question with its own gold answer, and with that of a question on another document.
fn pairs(questions: &[Question], tried: &[usize]) -> (Pairs, Pairs) {
    let other = |i: usize| {
        (1..tried.len())
            .map(|d| tried[(i + d) % tried.len()])
            .find(|&other| questions[other].document != questions[tried[i]].document)
    };
    let own = tried.iter().map(|&q| (q, q)).collect();
    (own, (0..tried.len()).filter_map(|i| Some((other(i)?, tried[i]))).collect())
}

fn verdict(
    questions: &[Question],
    own: &[(usize, usize)],
    of_own: Vec<(f64, String)>,
    unrelated: &[(usize, usize)],
    of_unrelated: Vec<(f64, String)>,
) -> Result<(), RunError> {
    let said = |(answer, question): (usize, usize), (score, reason): &(f64, String)| {
        let short = |text: &str| -> String { one_line(text).chars().take(200).collect() };
        let reason = if reason.is_empty() { String::new() } else { format!("\n  the judge: {}", short(reason)) };
        format!(
            "\n  question: {}\n  gold: {}\n  answer: {}\n  score: {score:.1}{reason}",
            short(&questions[question].text),
            short(&questions[question].answer),
            short(&questions[answer].answer)
        )
    };
    if let Some((pair, judged)) = own.iter().zip(&of_own).find(|(_, judged)| judged.0 < GOLD) {
        let what = "a gold answer does not score";
        return Err(RunError::Judge(format!("{what} {GOLD} or more against itself{}", said(*pair, judged))));
    }
    let mean = of_unrelated.iter().map(|(score, _)| score).sum::<f64>() / of_unrelated.len().max(1) as f64;
    if mean > UNRELATED {
        let worst = (unrelated.iter().zip(&of_unrelated)).max_by(|(_, a), (_, b)| a.0.total_cmp(&b.0));
        let worst = worst.map(|(pair, judged)| said(*pair, judged)).unwrap_or_default();
        let what = "answers to other questions score";
        return Err(RunError::Judge(format!(
            "{what} {mean:.2} on average, not {UNRELATED} or less; the highest:{worst}"
        )));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use crate::answer::ExtractiveOptions;
    use crate::answer::Judged;
    use crate::data::QuestionSet;
    use crate::record::Judgement;
    use pericope_api::Document;

    fn judged(answers: &[&str]) -> Result<(), RunError> {
        let corpus = corpus(answers);
        let mut reader = Extractive::new(corpus.documents.clone(), None, ExtractiveOptions::default());
        lexical(&corpus, &Scorer::new(&corpus, Some("judge")), &mut reader)
    }

    fn corpus(answers: &[&str]) -> Corpus {
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
                elsewhere: Vec::new(),
                answer: (*a).to_owned(),
            })
            .collect();
        Corpus::new(QuestionSet { documents, questions, ..QuestionSet::default() })
    }

    /// Gives every answer the same score, or knows the gold answer.
    struct Stubborn(Option<f64>);

    impl Judge for Stubborn {
        fn judge_all(&self, answers: &[JudgeRequest<'_>], _: &(dyn Fn() + Sync)) -> Vec<Result<Judged, Missing>> {
            let judged = |asked: &JudgeRequest<'_>| {
                let score = self.0.unwrap_or(if asked.gold == asked.answer { 10.0 } else { 0.0 });
                let judgement = Judgement { score, reason: "it pleases me".to_owned(), ..Judgement::default() };
                Ok(Judged { judgement, ..Judged::default() })
            };
            answers.iter().map(judged).collect()
        }
    }

    #[test]
    fn a_judge_that_is_always_pleased_or_never_stops_the_run_with_what_it_said() {
        let corpus = corpus(&["Bees gather nectar from flowers.", "A fuse melts when current is too high."]);
        assert!(asked(&corpus, &Stubborn(None)).is_ok());
        for score in [8.0, 10.0] {
            let error = asked(&corpus, &Stubborn(Some(score))).unwrap_err().to_string();
            assert!(error.contains("it pleases me") && error.contains("Bees gather"), "{error}");
            assert!(error.contains("`judge.checks = false`") && error.contains("`judge.kind = \"none\"`"), "{error}");
        }
    }

    #[test]
    fn answers_that_are_all_alike_stop_the_run() {
        assert!(judged(&["Bees gather nectar from flowers.", "A fuse melts when current is too high."]).is_ok());
        let same = judged(&["Bees gather nectar.", "Bees gather nectar.", "Bees gather nectar."]);
        assert!(matches!(same, Err(RunError::Judge(_))));
    }
}
