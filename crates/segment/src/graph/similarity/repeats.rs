use std::collections::{HashMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// What was made of texts that come again and again, so that it need not be made a third time.
///
/// It is kept from a text's second time on: most texts come once, and of those only a mark stays. When the bytes that
/// may be kept are used up, nothing more is kept.
pub(super) struct Repeats<T> {
    most_bytes: usize,
    state: Mutex<State<T>>,
}

struct State<T> {
    /// Hashes of the texts that came.
    marks: HashSet<u64>,
    kept: HashMap<Box<str>, Arc<T>>,
    bytes: usize,
}

/// Most marks, some 16 MB; then all are forgotten.
const MARKS: usize = 1 << 20;

/// Where the answer about a text is.
enum Answer<T> {
    Kept(Arc<T>),
    /// The place among those that are made now.
    New(usize),
}

impl<T> Repeats<T> {
    /// Keeps at most `most_bytes` bytes of texts and what was made of them.
    pub(super) fn new(most_bytes: usize) -> Self {
        let state = State { marks: HashSet::new(), kept: HashMap::new(), bytes: 0 };
        Self { most_bytes, state: Mutex::new(state) }
    }

    /// What `make` makes of each text, in order. It is asked once about each distinct text that is not kept; `bytes` says
    /// how much an answer takes. Where `make` gives fewer answers than it was asked for, so does this.
    ///
    /// # Errors
    /// Those of `make`.
    pub(super) fn get<E>(
        &self,
        texts: &[&str],
        bytes: impl Fn(&T) -> usize,
        make: impl FnOnce(&[&str]) -> Result<Vec<T>, E>,
    ) -> Result<Vec<Arc<T>>, E> {
        let mut places: HashMap<&str, usize> = HashMap::new();
        let (mut new, mut again) = (Vec::new(), Vec::new());
        let mut answers = Vec::with_capacity(texts.len());
        let mut state = self.lock();
        for &text in texts {
            if let Some(kept) = state.kept.get(text) {
                answers.push(Answer::Kept(Arc::clone(kept)));
                continue;
            }
            let place = *places.entry(text).or_insert_with(|| {
                new.push(text);
                again.push(false);
                new.len() - 1
            });
            again[place] |= !state.mark(text);
            answers.push(Answer::New(place));
        }
        // Others may go on while this is made.
        drop(state);
        let made: Vec<Arc<T>> = make(&new)?.into_iter().map(Arc::new).collect();
        let mut state = self.lock();
        for ((text, answer), _) in new.iter().zip(&made).zip(&again).filter(|(_, again)| **again) {
            state.keep(text, answer, text.len() + bytes(answer), self.most_bytes);
        }
        drop(state);
        let answer = |answer| match answer {
            Answer::Kept(kept) => Some(kept),
            Answer::New(place) => made.get(place).cloned(),
        };
        Ok(answers.into_iter().filter_map(answer).collect())
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl<T> State<T> {
    /// Marks that a text came; whether it is the first time.
    fn mark(&mut self, text: &str) -> bool {
        if self.marks.len() >= MARKS {
            self.marks.clear();
        }
        let mut hasher = DefaultHasher::new();
        text.hash(&mut hasher);
        self.marks.insert(hasher.finish())
    }

    fn keep(&mut self, text: &str, answer: &Arc<T>, bytes: usize, most: usize) {
        if self.bytes + bytes <= most && !self.kept.contains_key(text) {
            self.bytes += bytes;
            self.kept.insert(text.into(), Arc::clone(answer));
        }
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use std::cell::RefCell;
    use std::convert::Infallible;

    use super::Repeats;

    /// The lengths of the texts, and about which of them was asked.
    fn lengths(repeats: &Repeats<usize>, texts: &[&str]) -> (Vec<usize>, Vec<String>) {
        let asked = RefCell::new(Vec::new());
        let make = |new: &[&str]| {
            asked.borrow_mut().extend(new.iter().map(|&text| text.to_owned()));
            Ok::<_, Infallible>(new.iter().map(|text| text.len()).collect())
        };
        let found = repeats.get(texts, |_| 10, make).unwrap();
        (found.into_iter().map(|length| *length).collect(), asked.into_inner())
    }

    #[test]
    fn a_text_is_made_at_most_twice_and_once_in_a_batch() {
        let repeats = Repeats::new(1000);
        let texts = ["a", "bb", "a", "ccc"];
        assert_eq!(lengths(&repeats, &texts), (vec![1, 2, 1, 3], vec!["a".into(), "bb".into(), "ccc".into()]));
        assert_eq!(lengths(&repeats, &texts), (vec![1, 2, 1, 3], vec!["bb".into(), "ccc".into()]));
        assert_eq!(lengths(&repeats, &texts), (vec![1, 2, 1, 3], vec![]));
    }

    #[test]
    fn no_more_is_kept_than_there_is_room_for() {
        let repeats = Repeats::new(23);
        for _ in 0..3 {
            assert_eq!(lengths(&repeats, &["a", "a", "b", "b", "c", "c"]).0, [1; 6]);
        }
        assert_eq!(lengths(&repeats, &["a", "b", "c"]).1, ["c"]);
    }

    #[test]
    fn errors_and_missing_answers_are_passed_on() {
        let repeats: Repeats<usize> = Repeats::new(1000);
        assert_eq!(repeats.get(&["a"], |_| 1, |_| Err("no")).map(|found| found.len()), Err("no"));
        let found = repeats.get(&["a", "b"], |_| 1, |_| Ok::<_, Infallible>(vec![7]));
        assert_eq!(found.map(|found| found.len()), Ok(1));
    }
}
