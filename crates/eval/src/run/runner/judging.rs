//! Judgements of answers.

use super::super::RunError;
use super::answers::collect_results;
use crate::answer::{Judge, JudgeRequest};
use crate::metric::Metric;
use crate::record::{Item, Status};

/// Has the answers judged; an answer that cannot be judged makes its item a failed one.
pub(super) fn judged(judge: &dyn Judge, items: &mut [Item], done: &(dyn Fn() + Sync)) -> Result<(), RunError> {
    let open: Vec<usize> = (items.iter().enumerate())
        .filter(|(_, item)| item.status == Status::Ok && item.answer.is_some() && !item.gold.text.is_empty())
        .map(|(at, _)| at)
        .collect();
    let asked: Vec<JudgeRequest<'_>> = (open.iter().map(|&at| &items[at]))
        .map(|item| {
            let answer = item.answer.as_ref().map_or("", |answer| answer.text.as_str());
            let read = item.retrieved.len() - item.dropped.min(item.retrieved.len());
            let context = item.retrieved.iter().take(read).map(|chunk| chunk.text.as_str()).collect();
            JudgeRequest { question: &item.question, gold: &item.gold.text, answer, context }
        })
        .collect();
    let results = collect_results(judge.judge_all(&asked, done))?;
    for (at, result) in open.into_iter().zip(results) {
        let item = &mut items[at];
        match result {
            Ok(judged) => {
                let more = [("faithfulness", judged.faithfulness), ("context_relevance", judged.context_relevance)];
                let more = more.into_iter().filter_map(|(name, value)| Some((name, value?)));
                for (name, value) in [("judge", judged.judgement.score)].into_iter().chain(more) {
                    item.metrics.insert(Metric::named(name), value);
                }
                item.judgement = Some(judged.judgement);
                if let Some(cost) = judged.cost {
                    *item.cost.get_or_insert_default() += cost;
                }
            }
            Err(problem) => {
                item.status = Status::Failed;
                item.error = Some(format!("no judgement: {problem}"));
            }
        }
    }
    Ok(())
}
