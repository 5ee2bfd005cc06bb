/// What stands in place of a name.
pub const MASK: &str = "project";

/// Takes names out of texts: a class must not be told by its own name.
///
/// A name is found whatever its letters' case, where it begins and ends as a word or as a part of one in camel case or with digits
/// behind it: `redis` in `Redis`, `redis-cli`, `RedisJSON` and `redis7`, not in `redistribute`. Parts of a name that has several
/// may stand together or with one of `-`, `_` and a blank between them.
#[derive(Debug, Clone)]
pub struct Mask {
    /// The parts of each name, longest name first.
    names: Vec<Vec<String>>,
}

impl Mask {
    /// Masks these names.
    #[must_use]
    pub fn new<'a>(names: impl IntoIterator<Item = &'a str>) -> Self {
        let parts = |name: &str| -> Vec<String> {
            name.split(|c: char| !c.is_alphanumeric()).filter(|part| !part.is_empty()).map(str::to_owned).collect()
        };
        let mut names: Vec<Vec<String>> = names.into_iter().map(parts).filter(|parts| !parts.is_empty()).collect();
        names.sort_by_key(|parts| std::cmp::Reverse(parts.iter().map(String::len).sum::<usize>()));
        names.dedup();
        Self { names }
    }

    /// The text with [`MASK`] in place of every name, and how many there were.
    #[must_use]
    pub fn apply(&self, text: &str) -> (String, usize) {
        let mut out = String::with_capacity(text.len());
        let (mut count, mut before, mut rest) = (0, None, text);
        while let Some(next) = rest.chars().next() {
            let found = if begins(before, next) { self.length(rest) } else { None };
            match found.and_then(|length| rest.split_at_checked(length)) {
                Some((name, after)) => {
                    out.push_str(MASK);
                    count += 1;
                    (before, rest) = (name.chars().next_back(), after);
                }
                None => {
                    out.push(next);
                    (before, rest) = (Some(next), rest.get(next.len_utf8()..).unwrap_or_default());
                }
            }
        }
        (out, count)
    }

    /// Bytes of the name that the text begins with.
    fn length(&self, text: &str) -> Option<usize> {
        self.names.iter().find_map(|parts| {
            let mut at = 0;
            for (number, part) in parts.iter().enumerate() {
                let rest = text.get(at..)?;
                let between = rest.starts_with(['-', '_', ' ']) && number > 0;
                at += usize::from(between);
                at += prefix(text.get(at..)?, part)?;
            }
            let last = text.get(..at)?.chars().next_back()?;
            text.get(at..)?.chars().next().is_none_or(|next| ends(last, next)).then_some(at)
        })
    }
}

/// Bytes of the text's beginning that is `part`, whatever the case.
fn prefix(text: &str, part: &str) -> Option<usize> {
    let mut letters = text.char_indices();
    for wanted in part.chars() {
        let (_, found) = letters.next()?;
        if found != wanted && !found.to_lowercase().eq(wanted.to_lowercase()) {
            return None;
        }
    }
    Some(letters.next().map_or(text.len(), |(at, _)| at))
}

fn begins(before: Option<char>, next: char) -> bool {
    before.is_none_or(|before| !before.is_alphanumeric() || (before.is_lowercase() && next.is_uppercase()))
}

fn ends(last: char, next: char) -> bool {
    !next.is_alphanumeric()
        || (next.is_uppercase() && !last.is_uppercase())
        || (next.is_ascii_digit() && !last.is_ascii_digit())
}

#[cfg(test)]
mod tests {
    use super::Mask;

    #[test]
    fn names_go_as_words_and_parts_of_words() {
        let mask = Mask::new(["redis", "k6", "rust_book", "Über"]);
        for (text, masked) in [
            ("Redis, redis-cli and RedisJSON", "project, project-cli and projectJSON"),
            ("import k6/http; k6.io, K6", "import project/http; project.io, project"),
            ("redistribute REDISTRIBUTE k60 mk6", "redistribute REDISTRIBUTE k60 mk6"),
            ("the Rust Book, rust-book, RustBook, rustbook's", "the project, project, project, project's"),
            ("rust alone, pyRedis, redis_version, redis7", "rust alone, pyproject, project_version, project7"),
            ("über ÜBER", "project project"),
            ("", ""),
        ] {
            assert_eq!(mask.apply(text).0, masked);
        }
        assert_eq!(mask.apply("redis redis k6").1, 3);
        assert_eq!(Mask::new(["-", ""]).apply("a-b"), ("a-b".to_owned(), 0));
    }
}
