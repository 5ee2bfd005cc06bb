//! The ids of sections, by the rules of Asciidoctor.

use std::collections::{HashMap, HashSet};

use crate::formats::slugs::is_word;

/// The ids given so far in one document.
#[derive(Debug, Default)]
pub(super) struct Ids {
    given: HashSet<String>,
    numbers: HashMap<String, usize>,
}

impl Ids {
    /// The id that is written before or in a title.
    pub(super) fn explicit(&mut self, id: &str) -> Option<String> {
        if id.is_empty() || id.contains(char::is_whitespace) {
            return None;
        }
        self.given.insert(id.to_owned());
        Some(id.to_owned())
    }

    /// The id of the next section with that title: `_title_words`, with `_2`, `_3`, ... where that is taken. `prefix`
    /// and `separator` are the document's `idprefix` and `idseparator`, `_` unless it says otherwise.
    pub(super) fn section(&mut self, title: &str, prefix: &str, separator: Option<char>) -> Option<String> {
        let id = make_id(title, prefix, separator);
        if id.is_empty() {
            return None;
        }
        if self.given.insert(id.clone()) {
            return Some(id);
        }
        let number = self.numbers.entry(id.clone()).or_insert(1);
        loop {
            *number += 1;
            let mut numbered = id.clone();
            numbered.extend(separator);
            numbered.push_str(&number.to_string());
            if self.given.insert(numbered.clone()) {
                return Some(numbered);
            }
        }
    }
}

fn make_id(title: &str, prefix: &str, separator: Option<char>) -> String {
    let mut id = prefix.to_owned();
    for c in without_dashes(title).to_lowercase().chars() {
        let blank = matches!(c, ' ' | '.' | '-') || Some(c) == separator;
        if let (true, Some(separator)) = (blank, separator) {
            if !id.ends_with(separator) {
                id.push(separator);
            }
        } else if is_word(c) || (blank && c != ' ') {
            id.push(c);
        }
    }
    if let Some(separator) = separator {
        if id.ends_with(separator) {
            id.pop();
        }
        if prefix.is_empty() && id.starts_with(separator) {
            id.remove(0);
        }
    }
    id
}

/// Two hyphens between words are typed for a dash, which is in no id, and neither are the blanks around it.
fn without_dashes(title: &str) -> String {
    let mut out = String::with_capacity(title.len());
    let mut rest = title;
    while let Some((before, after)) = rest.split_once("--") {
        out.push_str(before);
        let blanks = (out.is_empty() || out.ends_with(' ')) && (after.is_empty() || after.starts_with(' '));
        if blanks {
            out.truncate(out.trim_end_matches(' ').len());
        } else if !(out.ends_with(is_word) && after.starts_with(is_word)) {
            out.push_str("--");
        }
        rest = if blanks { after.trim_start_matches(' ') } else { after };
    }
    out.push_str(rest);
    out
}

#[cfg(test)]
mod tests {
    use super::{Ids, make_id};

    #[test]
    fn ids_are_words_with_separators() {
        for (title, id) in [
            ("Getting Started", "_getting_started"),
            ("What's new in 2.0?", "_whats_new_in_2_0"),
            ("A -- B: the-c", "_ab_the_c"),
            ("one--two --all a---b --", "_onetwo_all_a_b"),
            ("Größe", "_größe"),
            ("हिन्दी शीर्षक", "_हिन्दी_शीर्षक"),
            ("!", ""),
        ] {
            assert_eq!(make_id(title, "_", Some('_')), id);
        }
        assert_eq!(make_id("- A b.c", "", Some('-')), "a-b-c");
        assert_eq!(make_id("A b", "x", None), "xab");
    }

    #[test]
    fn taken_ids_are_numbered_from_two() {
        let mut ids = Ids::default();
        assert_eq!(ids.explicit("_a_2").as_deref(), Some("_a_2"));
        let given: Vec<_> = (0..3).map(|_| ids.section("A", "_", Some('_')).unwrap_or_default()).collect();
        assert_eq!(given, ["_a", "_a_3", "_a_4"]);
    }
}
