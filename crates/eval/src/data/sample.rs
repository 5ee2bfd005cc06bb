use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

use super::QuestionSet;

/// How many documents and questions to keep, and the seed that picks them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sampling {
    /// Documents to keep; 0 keeps all. Those that hold a sampled question always stay.
    pub documents: usize,
    /// Questions to keep; 0 keeps all.
    pub questions: usize,
    /// Seed.
    pub seed: u64,
}

impl QuestionSet {
    /// A sample of the set; order stays that of the file, and the same seed gives the same sample.
    ///
    /// Where fewer documents are asked for than hold the sampled questions, those documents stay all the same.
    #[must_use]
    pub fn sample(mut self, sampling: Sampling) -> Self {
        let mut rng = ChaCha8Rng::seed_from_u64(sampling.seed);
        if sampling.questions > 0 && sampling.questions < self.questions.len() {
            let mut order: Vec<usize> = (0..self.questions.len()).collect();
            order.shuffle(&mut rng);
            order.truncate(sampling.questions);
            order.sort_unstable();
            self.questions = order.into_iter().map(|i| self.questions[i].clone()).collect();
        }
        if sampling.documents > 0 && sampling.documents < self.documents.len() {
            let mut keep = vec![false; self.documents.len()];
            for question in &self.questions {
                question.places().for_each(|(document, _)| keep[document] = true);
            }
            let held = keep.iter().filter(|k| **k).count();
            let mut others: Vec<usize> = (0..keep.len()).filter(|&i| !keep[i]).collect();
            others.shuffle(&mut rng);
            for &i in others.iter().take(sampling.documents.saturating_sub(held)) {
                keep[i] = true;
            }
            let mut place = vec![0; keep.len()];
            let mut kept = Vec::new();
            for (i, document) in std::mem::take(&mut self.documents).into_iter().enumerate() {
                if keep[i] {
                    place[i] = kept.len();
                    kept.push(document);
                }
            }
            self.documents = kept;
            for question in &mut self.questions {
                question.document = place[question.document];
                question.elsewhere.iter_mut().for_each(|(document, _)| *document = place[*document]);
            }
        }
        self
    }
}

#[cfg(test)]
mod tests {
    use pericope_api::{Document, Span};

    use super::super::{Question, QuestionSet};
    use super::Sampling;

    fn set() -> QuestionSet {
        let documents = (0..20).map(|i| Document::from_sentences(&format!("d{i}"), &[format!("Text {i}.")])).collect();
        let question = |i: usize| Question {
            id: format!("q{i}"),
            text: "?".into(),
            document: i % 10,
            gold: vec![Span::new(0, 4)],
            elsewhere: vec![(10 + i % 2, Span::new(0, 4))],
            answer: "Text".into(),
        };
        QuestionSet { documents, questions: (0..30).map(question).collect(), ..QuestionSet::default() }
    }

    #[test]
    fn questions_keep_their_documents() {
        let sampled = set().sample(Sampling { documents: 12, questions: 5, seed: 7 });
        assert_eq!((sampled.documents.len(), sampled.questions.len()), (12, 5));
        for q in &sampled.questions {
            let number: usize = q.id[1..].parse().unwrap_or(99);
            assert_eq!(sampled.documents[q.document].id, format!("d{}", number % 10));
            assert_eq!(sampled.documents[q.elsewhere[0].0].id, format!("d{}", 10 + number % 2));
        }
        let again = set().sample(Sampling { documents: 12, questions: 5, seed: 7 });
        assert_eq!(sampled.questions, again.questions);
        let other = set().sample(Sampling { documents: 12, questions: 5, seed: 8 });
        assert_ne!(sampled.questions, other.questions);
    }

    #[test]
    fn zero_keeps_all() {
        let all = set().sample(Sampling { documents: 0, questions: 0, seed: 1 });
        assert_eq!((all.documents.len(), all.questions.len()), (20, 30));
        let few = set().sample(Sampling { documents: 1, questions: 0, seed: 1 });
        assert_eq!(few.documents.len(), 12, "documents with questions stay");
    }
}
