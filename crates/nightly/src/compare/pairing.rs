use std::collections::HashMap;

use crate::night::NightlyRun;
use pericope_eval::format;

/// Which questions of two nights are the same.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Pairing {
    /// Places of the questions that are the same, in the earlier night and in the later one.
    pub common: Vec<(usize, usize)>,
    /// Ids of questions that only the later night has.
    pub added: Vec<String>,
    /// Ids of questions that only the earlier night has.
    pub removed: Vec<String>,
    /// Ids of questions whose words, gold answer or document is another.
    pub changed: Vec<String>,
}

impl Pairing {
    /// Pairs the questions of two nights by id; they are the same where question, gold answer and document are.
    #[must_use]
    pub fn between(before: &NightlyRun, tonight: &NightlyRun) -> Self {
        let earlier: HashMap<&str, usize> =
            before.questions.iter().enumerate().map(|(i, q)| (q.id.as_str(), i)).collect();
        let mut found = Self::default();
        let mut met = vec![false; before.questions.len()];
        for (now, question) in tonight.questions.iter().enumerate() {
            let then = earlier.get(question.id.as_str()).copied();
            match then.and_then(|then| Some((then, before.questions.get(then)?))) {
                None => found.added.push(question.id.clone()),
                Some((then, old)) => {
                    if let Some(flag) = met.get_mut(then) {
                        *flag = true;
                    }
                    if old.sum == question.sum {
                        found.common.push((then, now));
                    } else {
                        found.changed.push(question.id.clone());
                    }
                }
            }
        }
        let gone = before.questions.iter().zip(&met).filter(|(_, met)| !**met);
        found.removed.extend(gone.map(|(question, _)| question.id.clone()));
        found
    }

    /// True where every question pairs up.
    #[must_use]
    pub fn is_whole(&self) -> bool {
        self.added.is_empty() && self.removed.is_empty() && self.changed.is_empty()
    }

    /// False where no question pairs up: then nothing can be compared.
    #[must_use]
    pub fn is_comparable(&self) -> bool {
        !self.common.is_empty()
    }

    /// The questions that do not pair up: `27 questions gone, 3 new`; none where all do.
    #[must_use]
    pub fn moved(&self) -> Option<String> {
        let ways = [(&self.removed, "gone"), (&self.added, "new"), (&self.changed, "changed")];
        let mut parts = ways.into_iter().filter(|(ids, _)| !ids.is_empty());
        let (ids, way) = parts.next()?;
        let mut words = format!("{} {way}", format::plural(ids.len(), "question"));
        for (ids, way) in parts {
            words.push_str(&format!(", {} {way}", format::count(ids.len())));
        }
        Some(words)
    }

    /// How the nights were paired, in words.
    #[must_use]
    pub fn words(&self) -> String {
        let all = self.common.len() + self.added.len() + self.changed.len();
        if self.is_whole() {
            return format!("paired by question: the same {} on both nights", format::plural(all, "question"));
        }
        let mut parts = Vec::new();
        for (list, what) in [(&self.added, "added"), (&self.removed, "gone"), (&self.changed, "changed")] {
            if !list.is_empty() {
                parts.push(format!("{} {what}", format::count(list.len())));
            }
        }
        if !self.is_comparable() {
            return format!("not comparable: the nights have no question in common ({})", parts.join(", "));
        }
        format!(
            "paired on the {} that both nights have ({})",
            format::plural(self.common.len(), "question"),
            parts.join(", ")
        )
    }
}

#[cfg(test)]
mod tests {
    use super::Pairing;
    use crate::night::{Asked, NightlyRun};

    fn night(questions: &[(&str, &str)]) -> NightlyRun {
        let asked = |(id, sum): &(&str, &str)| Asked {
            id: (*id).into(),
            text: String::new(),
            document: String::new(),
            sum: (*sum).into(),
        };
        NightlyRun { questions: questions.iter().map(asked).collect(), ..NightlyRun::default() }
    }

    #[test]
    fn questions_pair_by_id_and_content() {
        let before = night(&[("a", "1"), ("b", "2"), ("c", "3")]);
        let pairing = Pairing::between(&before, &night(&[("c", "3"), ("b", "x"), ("d", "4")]));
        assert_eq!(pairing.common, [(2, 0)]);
        assert_eq!(
            (pairing.added.join(""), pairing.removed.join(""), pairing.changed.join("")),
            ("d".into(), "a".into(), "b".into())
        );
        assert_eq!(
            pairing.words().replace('\u{a0}', " "),
            "paired on the 1 question that both nights have (1 added, 1 gone, 1 changed)"
        );
        let moved = pairing.moved().map(|words| words.replace('\u{a0}', " "));
        assert_eq!(moved.as_deref(), Some("1 question gone, 1 new, 1 changed"));
        assert!(Pairing::between(&before, &before).is_whole() && Pairing::between(&before, &before).moved().is_none());
        let apart = Pairing::between(&before, &night(&[("z", "1")]));
        assert!(!apart.is_comparable() && apart.words().starts_with("not comparable"));
    }
}
