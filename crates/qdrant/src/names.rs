//! The names that one corpus has on a server: `docs` is its alias, `docs-1`, `docs-2` and so on are its collections, and
//! the alias `docs-2-published` stands beside `docs` while that stands for `docs-2`.

/// Behind a collection's name, the mark of the one that is published.
const MARK: &str = "-published";

/// The collection of that number.
pub(crate) fn title(name: &str, number: u64) -> String {
    format!("{name}-{number}")
}

/// The number of a collection of `name`; none for any other.
pub(crate) fn number_of(name: &str, collection: &str) -> Option<u64> {
    let digits = collection.strip_prefix(name)?.strip_prefix('-')?;
    // `007` and `+7` are names that somebody else gave.
    digits.parse().ok().filter(|number: &u64| number.to_string() == digits)
}

/// The alias that marks a collection as the published one.
pub(crate) fn mark(collection: &str) -> String {
    format!("{collection}{MARK}")
}

/// True for the mark of a collection of `name`.
pub(crate) fn is_mark(name: &str, alias: &str) -> bool {
    alias.strip_suffix(MARK).is_some_and(|collection| number_of(name, collection).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_our_own_names_are_counted() {
        assert_eq!(number_of("docs", &title("docs", 12)), Some(12));
        for other in ["docs", "docs-", "docs-007", "docs-+7", "docs-x", "docs-1-2", "documents-1"] {
            assert_eq!(number_of("docs", other), None, "{other}");
        }
    }

    #[test]
    fn marks_are_told_from_other_aliases() {
        assert!(is_mark("docs", &mark("docs-12")));
        for other in ["docs", "docs-12", "docs-published", "docs-2-1-published", "docs-x-published"] {
            assert!(!is_mark("docs", other), "{other}");
        }
    }
}
