//! Where in its text an answer stands.

use pericope_api::Span;

use super::Qa;
use crate::data::CodePoints;

/// How the place of a [gold] span differs from what the file says; nothing where it does not.
pub(super) fn moved(points: &CodePoints, qa: &Qa, span: Span) -> Option<String> {
    let answer = qa.answers.first()?;
    let lead = answer.text.len() - answer.text.trim_start().len();
    let is_there = points.byte(answer.answer_start).is_some_and(|start| start + lead == span.start);
    (!is_there).then(|| format!("its answer is not at {} but at {}", answer.start(), points.index(span.start)))
}

/// The first answer's span; where the offset does not fit, the only place where the text stands.
pub(in crate::data) fn gold(context: &str, points: &CodePoints, qa: &Qa) -> Result<Span, String> {
    let answer = qa.answers.first().ok_or("it has no answer")?;
    let body = answer.text.trim();
    if body.is_empty() {
        return Err("its answer is empty".into());
    }
    let lead = answer.text.len() - answer.text.trim_start().len();
    if let Some(start) = points.byte(answer.answer_start)
        && context[start..].starts_with(&answer.text)
    {
        return Ok(Span::new(start + lead, start + lead + body.len()));
    }
    let mut places = context.match_indices(body);
    match (places.next(), places.next()) {
        (Some((start, _)), None) => Ok(Span::new(start, start + body.len())),
        (Some(_), Some(_)) => Err(format!("{} is wrong, and the text stands in several places", answer.start())),
        (None, _) => Err(format!("its answer is not in the text, {}", answer.start())),
    }
}
