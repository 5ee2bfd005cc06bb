use std::fmt::Write;

use super::LlmJudge;
use crate::budget::Spent;
use crate::error::LlmError;
use crate::items::each;

/// The gold answer against itself scores at least this, each time.
const GOLD: f64 = 9.0;
/// An unrelated answer scores at most this, on average.
const UNRELATED: f64 = 2.0;

/// A question to try a judge on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// The question.
    pub question: String,
    /// Its gold answer.
    pub gold: String,
    /// The gold answer to a question about something else.
    pub unrelated: String,
}

/// What a judge said when it was tried.
#[derive(Debug, Clone, PartialEq)]
pub struct Transcript {
    /// Everything asked and answered.
    pub text: String,
    /// Mean score of gold answers against themselves.
    pub gold: f64,
    /// Mean score of unrelated answers.
    pub unrelated: f64,
    /// Tokens and money.
    pub spent: Spent,
}

impl LlmJudge {
    /// Before a run: a judge whose scores mean anything gives every gold answer at least 9 against itself, and unrelated
    /// answers at most 2 on average.
    ///
    /// # Errors
    /// [`LlmError::Judge`] with the transcript; other errors where the judge cannot be asked.
    pub fn check(&self, pairs: &[Pair], workers: usize) -> Result<Transcript, LlmError> {
        let tried = each(workers, pairs, |_, pair| {
            let own = self.judge(&pair.question, &pair.gold, &pair.gold)?;
            Ok((own, self.judge(&pair.question, &pair.gold, &pair.unrelated)?))
        });
        if let Some(error) = tried.stopped {
            return Err(error);
        }
        let mut transcript = Transcript { text: String::new(), gold: 0.0, unrelated: 0.0, spent: Spent::default() };
        let mut problem = None;
        let mut asked = 0_usize;
        for (pair, result) in pairs.iter().zip(tried.results) {
            let Some(result) = result else { continue };
            let (own, other) = result?;
            for (answer, judgement) in [(&pair.gold, &own), (&pair.unrelated, &other)] {
                let reasons: Vec<&str> = judgement.votes.iter().map(|vote| vote.reason.as_str()).collect();
                // Writing to a string cannot fail.
                let _ = writeln!(
                    transcript.text,
                    "question: {}\ngold: {}\nanswer: {answer}\nscore: {:.1} ({})\n",
                    pair.question,
                    pair.gold,
                    judgement.mean,
                    reasons.join(" | ")
                );
                transcript.spent += judgement.spent;
            }
            if own.mean < GOLD {
                problem.get_or_insert_with(|| {
                    let question = &pair.question;
                    format!("the gold answer to '{question}' scores {:.1} against itself, not {GOLD} or more", own.mean)
                });
            }
            transcript.gold += own.mean;
            transcript.unrelated += other.mean;
            asked += 1;
        }
        transcript.gold /= asked.max(1) as f64;
        transcript.unrelated /= asked.max(1) as f64;
        if problem.is_none() && transcript.unrelated > UNRELATED {
            let mean = transcript.unrelated;
            problem = Some(format!("unrelated answers score {mean:.1} on average, not {UNRELATED} or less"));
        }
        match problem {
            None => Ok(transcript),
            Some(problem) => {
                let model = self.client.provider().model().to_owned();
                Err(LlmError::Judge { model, problem, transcript: transcript.text })
            }
        }
    }
}
