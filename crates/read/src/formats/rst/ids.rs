//! The ids of sections, by the rules of docutils.

use std::collections::{HashMap, HashSet};

use unicode_normalization::UnicodeNormalization;

/// The ids given so far in one document.
#[derive(Debug, Default)]
pub(super) struct Ids {
    given: HashSet<String>,
    numbers: HashMap<String, usize>,
}

impl Ids {
    /// The id of the next section with that title: `docutils.nodes.make_id` of it, with `-1`, `-2`, ... where that is
    /// taken, and `section-1`, `section-2`, ... where nothing is left of the title.
    pub(super) fn section(&mut self, title: &str) -> String {
        self.free(make_id(title))
    }

    /// The id of a target that is called `name`; `None` where nothing is left of the name.
    pub(super) fn target(&mut self, name: &str) -> Option<String> {
        let id = make_id(name);
        (!id.is_empty()).then(|| self.free(id))
    }

    fn free(&mut self, id: String) -> String {
        if !id.is_empty() && self.given.insert(id.clone()) {
            return id;
        }
        let prefix = if id.is_empty() { "section-".to_owned() } else { id + "-" };
        let number = self.numbers.entry(prefix.clone()).or_default();
        loop {
            *number += 1;
            let id = format!("{prefix}{number}");
            if self.given.insert(id.clone()) {
                return id;
            }
        }
    }
}

/// Small letters, digits and hyphens, beginning with a letter.
pub(in crate::formats) fn make_id(text: &str) -> String {
    let mut plain = String::with_capacity(text.len());
    for c in text.chars().flat_map(char::to_lowercase) {
        match unaccented(c) {
            Some(letters) => plain.push_str(letters),
            None => plain.push(c),
        }
    }
    let mut id = String::with_capacity(plain.len());
    for c in plain.nfkd() {
        if c.is_ascii_lowercase() || c.is_ascii_digit() {
            id.push(c);
        } else if (c.is_ascii() || c.is_whitespace()) && !id.ends_with('-') {
            id.push('-');
        }
    }
    id.trim_start_matches(|c: char| c == '-' || c.is_ascii_digit()).trim_end_matches('-').to_owned()
}

/// Letters that no decomposition takes their strokes from; docutils has the same table.
fn unaccented(c: char) -> Option<&'static str> {
    Some(match c {
        'ø' => "o",
        'đ' | 'ƌ' => "d",
        'ħ' => "h",
        'ı' => "i",
        'ł' | 'ƚ' | 'ȴ' => "l",
        'ŧ' | 'ƫ' | 'ƭ' | 'ȶ' => "t",
        'ƀ' | 'ƃ' => "b",
        'ƈ' | 'ȼ' => "c",
        'ɇ' => "e",
        'ƒ' => "f",
        'ǥ' => "g",
        'ƙ' => "k",
        'ƞ' | 'ȵ' => "n",
        'ƥ' => "p",
        'ƴ' | 'ɏ' => "y",
        'ƶ' | 'ȥ' | 'ɀ' => "z",
        'ȷ' | 'ɉ' => "j",
        'ɍ' => "r",
        'ȿ' => "s",
        'ɋ' => "q",
        'ß' => "sz",
        'æ' => "ae",
        'œ' => "oe",
        'ȸ' => "db",
        'ȹ' => "qp",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::{Ids, make_id};

    /// Values by docutils 0.19.
    #[test]
    fn ids_are_those_of_docutils() {
        for (name, id) in [
            ("Getting Started", "getting-started"),
            ("2.1 What's new?", "what-s-new"),
            ("_foo_Bar baz", "foo-bar-baz"),
            ("Größe und Straße", "grosze-und-strasze"),
            ("Café Øre", "cafe-ore"),
            ("日本", ""),
            ("a – b", "a-b"),
        ] {
            assert_eq!(make_id(name), id);
        }
    }

    #[test]
    fn taken_ids_are_numbered() {
        let mut ids = Ids::default();
        assert_eq!(ids.target("Foo").as_deref(), Some("foo"));
        let given: Vec<_> = ["Foo", "Bar", "Bar", "日本", "Bar", "!"].iter().map(|title| ids.section(title)).collect();
        assert_eq!(given, ["foo-1", "bar", "bar-1", "section-1", "bar-2", "section-2"]);
        assert_eq!((ids.target("!"), ids.target("bar").as_deref()), (None, Some("bar-3")));
    }
}
