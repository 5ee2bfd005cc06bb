use super::data::PreparedQuestion;
use super::events::Ranking;
use super::options::TrainError;
use crate::weswin::WeSWin;

/// Returns the ranks that a model gives the sentences that answer; `None` without a retrieval head or without a question that has one.
pub(super) fn ranking(model: &WeSWin, asked: &[PreparedQuestion]) -> Result<Option<Ranking>, TrainError> {
    let mut ranks = Vec::new();
    for PreparedQuestion { sentences, relevant, question } in asked.iter().filter(|one| one.relevant.contains(&true)) {
        let Some(scores) = model.relevance_to(sentences, question)? else { return Ok(None) };
        ranks.extend(rank(&scores, relevant));
    }
    let questions = ranks.len();
    if questions == 0 {
        return Ok(None);
    }
    let mrr = ranks.iter().map(|&rank| 1.0 / rank as f64).sum::<f64>() / questions as f64;
    let hits = ranks.iter().filter(|&&rank| rank == 1).count();
    Ok(Some(Ranking { questions, mrr, hit_at_1: hits as f64 / questions as f64 }))
}

/// The rank, from 1 on, of the first relevant sentence; of equal scores the others come first.
fn rank(scores: &[f32], relevant: &[bool]) -> Option<usize> {
    let all = || scores.iter().zip(relevant);
    let best = all().filter(|(_, relevant)| **relevant).map(|(&score, _)| score).reduce(f32::max)?;
    Some(1 + all().filter(|(score, relevant)| !**relevant && **score >= best).count())
}

#[cfg(test)]
mod tests {
    use super::rank;

    #[test]
    fn ranks_by_hand() {
        let relevant = [false, true, true, false];
        assert_eq!(rank(&[0.1, 0.2, 0.9, 0.8], &relevant), Some(1));
        assert_eq!(rank(&[0.9, 0.3, 0.2, 0.8], &relevant), Some(3));
        // A head that says the same of every sentence has learnt nothing.
        assert_eq!(rank(&[0.5; 4], &relevant), Some(3));
        assert_eq!(rank(&[0.5; 4], &[false; 4]), None);
    }
}
