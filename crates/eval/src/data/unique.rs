//! Names that are told apart by numbers.

use std::collections::{HashMap, HashSet};

/// Gives names that were not given before. Takes time linear in the number of names.
#[derive(Debug, Default)]
pub struct Unique {
    given: HashSet<String>,
    next: HashMap<String, usize>,
}

impl Unique {
    /// Returns the name itself where it is new, else the first new one of those that `numbered` makes of it with 2, 3 and
    /// so on.
    pub fn name(&mut self, wanted: &str, numbered: impl Fn(&str, usize) -> String) -> String {
        if self.given.insert(wanted.to_owned()) {
            return wanted.to_owned();
        }
        let number = self.next.entry(wanted.to_owned()).or_insert(2);
        loop {
            let name = numbered(wanted, *number);
            *number += 1;
            if self.given.insert(name.clone()) {
                return name;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use super::Unique;

    #[test]
    fn names_are_new_and_numbers_are_tried_once() {
        let mut unique = Unique::default();
        let mut name = |wanted: &str| unique.name(wanted, |name, n| format!("{name} ({n})"));
        assert_eq!(["a", "a (2)", "a", "a", "a (2)"].map(&mut name), ["a", "a (2)", "a (3)", "a (4)", "a (2) (2)"]);
        let (mut unique, tried) = (Unique::default(), Cell::new(0));
        for _ in 0..1000 {
            unique.name("x", |name, n| {
                tried.set(tried.get() + 1);
                format!("{name}#{n}")
            });
        }
        assert_eq!(tried.get(), 999);
    }
}
