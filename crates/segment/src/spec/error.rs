/// The reason for which a segmenter cannot be built from its spec. Each message is one line and says what would be right.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SpecError {
    /// The text does not have the form `name:key=value,key=value`.
    #[error("segmenter `{spec}`: {reason} (the form is name:key=value,key=value)")]
    Syntax {
        /// The text that was given.
        spec: String,
        /// The fault.
        reason: String,
    },
    /// No segmenter has this name.
    #[error("there is no segmenter `{name}`{hint}; known: {known}")]
    UnknownName {
        /// The name that was given.
        name: String,
        /// ` (did you mean ...?)`, or nothing.
        hint: String,
        /// The names that there are.
        known: String,
    },
    /// The segmenter does not take this key.
    #[error("segmenter `{name}` has no setting `{key}`{hint}; known: {known}")]
    UnknownKey {
        /// The name of the segmenter.
        name: String,
        /// The key that was given.
        key: String,
        /// ` (did you mean ...?)`, or nothing.
        hint: String,
        /// The keys that it takes.
        known: String,
    },
    /// A value of the wrong type or out of its range.
    #[error("segmenter `{name}`: {key}={value}: expected {expected}")]
    BadValue {
        /// The name of the segmenter.
        name: String,
        /// The key of the setting.
        key: String,
        /// The value that was given.
        value: String,
        /// A description of the values that are right.
        expected: String,
    },
    /// An encoder, a counter or a reference is missing, or two settings exclude each other.
    #[error("segmenter `{spec}`: {reason}")]
    Unavailable {
        /// The name of the segmenter.
        spec: String,
        /// The missing thing and how to get it.
        reason: String,
    },
}

/// Returns ` (did you mean `x`?)` for the nearest of `known`, or an empty string where none is near.
#[must_use]
pub fn hint<'a>(given: &str, known: impl IntoIterator<Item = &'a str>) -> String {
    let nearest = known.into_iter().map(|k| (distance(given, k), k)).min();
    match nearest {
        Some((d, k)) if d <= 1 + k.len() / 4 => format!(" (did you mean `{k}`?)"),
        _ => String::new(),
    }
}

/// Edit distance with insertions, deletions, substitutions and swaps of neighbours, each at cost 1.
fn distance(a: &str, b: &str) -> usize {
    let (a, b): (Vec<char>, Vec<char>) = (a.chars().take(64).collect(), b.chars().collect());
    let width = b.len() + 1;
    let mut rows = vec![0usize; (a.len() + 1) * width];
    for i in 0..=a.len() {
        for j in 0..=b.len() {
            rows[i * width + j] = if i == 0 || j == 0 {
                i + j
            } else {
                let substitute = rows[(i - 1) * width + j - 1] + usize::from(a[i - 1] != b[j - 1]);
                let best = substitute.min(rows[(i - 1) * width + j] + 1).min(rows[i * width + j - 1] + 1);
                if i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1] {
                    best.min(rows[(i - 2) * width + j - 2] + 1)
                } else {
                    best
                }
            };
        }
    }
    rows[a.len() * width + b.len()]
}

#[cfg(test)]
mod tests {
    use super::hint;

    #[test]
    fn near_names_are_offered_and_far_ones_are_not() {
        let known = ["window", "fixed", "paragraph"];
        assert_eq!(hint("windwo", known), " (did you mean `window`?)");
        assert_eq!(hint("paragrpahs", known), " (did you mean `paragraph`?)");
        assert_eq!(hint("bayesseg", known), "");
    }
}
