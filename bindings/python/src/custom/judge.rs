use pericope::eval::answer::{self, JudgeRequest, Judged, Missing};
use pericope::eval::record::Judgement;
use pyo3::prelude::*;

use super::{Raised, fingerprint_or_name, method_or_function};
use crate::errors::usage;

/// The best score.
const MOST: f64 = 10.0;

/// A judge in Python: an object with the method `judge`, or a function, of a question, the gold answer, an answer, and the
/// passages that it was made from. It gives a score from 0 to 10, or that and a reason.
pub struct Judge {
    object: Py<PyAny>,
    fingerprint: String,
    raised: Raised,
}

impl Judge {
    pub fn new(object: &Bound<'_, PyAny>, raised: Raised) -> PyResult<Self> {
        let call = method_or_function(object, "judge", "judge")?;
        Ok(Self { object: call.unbind(), fingerprint: fingerprint_or_name(object)?, raised })
    }

    fn one(&self, asked: &JudgeRequest<'_>) -> Result<Judgement, String> {
        self.raised.call(|py| {
            let arguments = (asked.question, asked.gold, asked.answer, asked.context.clone());
            let answer = self.object.bind(py).call1(arguments)?;
            let (score, reason) = match answer.extract::<f64>() {
                Ok(score) => (score, String::new()),
                Err(_) => answer.extract::<(f64, String)>()?,
            };
            if !(0.0..=MOST).contains(&score) {
                return Err(usage(format!("the judge gave {score}: scores lie in 0..=10")));
            }
            Ok(Judgement { score, reason, votes: vec![score], failed_votes: 0 })
        })
    }
}

impl answer::Judge for Judge {
    fn fingerprint(&self) -> String {
        self.fingerprint.clone()
    }

    fn judge_all(&self, answers: &[JudgeRequest<'_>], done: &(dyn Fn() + Sync)) -> Vec<Result<Judged, Missing>> {
        let mut stopped: Option<String> = None;
        let one = |asked: &JudgeRequest<'_>| {
            if let Some(problem) = &stopped {
                return Err(Missing::Run(problem.clone()));
            }
            let found = self.one(asked);
            done();
            found.map(|judgement| Judged { judgement, ..Judged::default() }).map_err(|problem| {
                stopped = Some(problem.clone());
                Missing::Run(problem)
            })
        };
        answers.iter().map(one).collect()
    }
}
