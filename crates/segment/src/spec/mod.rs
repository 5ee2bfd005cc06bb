//! Segmenter specs: `name` or `name:key=value,key=value` on a command line, a string or a table in TOML.
//!
//! ```
//! use pericope_segment::spec::Spec;
//!
//! let spec = Spec::parse("same-size:reference=(window:k=5,pool=min)")?;
//! assert_eq!(spec.get("reference"), Some("window:k=5,pool=min"));
//! assert_eq!(spec.to_string(), "same-size:reference=(window:k=5,pool=min)");
//!
//! let table: Spec = toml::from_str("name = 'window'\nk = 5\npool = 'min'").expect("valid TOML");
//! assert_eq!(table, Spec::parse("window:pool=min,k=5")?);
//! # Ok::<(), pericope_segment::spec::SpecError>(())
//! ```

mod error;
mod parse;
mod toml_form;

use std::collections::BTreeMap;
use std::fmt;
use std::str::FromStr;

pub use error::{SpecError, hint};

/// The setting that names another segmenter.
pub(crate) const REFERENCE: &str = "reference";

/// A segmenter's name and settings. The order of settings carries no meaning, so they are kept, compared and printed in
/// alphabetical order of their keys.
///
/// Parsing checks the form alone; [`registry::check_in`](crate::registry::check_in) checks names and keys.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Spec {
    /// Name of the segmenter: lower-case letters, digits, `-` and `_`.
    pub name: String,
    /// Settings by key. Values have no blank ends and, where they contain a comma, balanced parentheses.
    pub args: BTreeMap<String, String>,
}

impl Spec {
    /// A spec without settings.
    ///
    /// # Errors
    /// [`SpecError::Syntax`] where the name has other characters than lower-case letters, digits, `-` and `_`.
    pub fn new(name: &str) -> Result<Self, SpecError> {
        parse::name(name, name)?;
        Ok(Self { name: name.to_owned(), args: BTreeMap::new() })
    }

    /// Reads `name` or `name:key=value,key=value`. A value that contains commas is written in parentheses:
    /// `same-size:reference=(window:k=5,pool=min)`; one without may contain colons and equals signs as it is.
    ///
    /// `chunks` and `command` take their file or program first, without its key. It ends where a comma and `key=` follow, and
    /// may stand in parentheses too:
    ///
    /// ```
    /// use pericope_segment::spec::Spec;
    ///
    /// let spec = Spec::parse("command:python3 my_chunker.py --size=400,time=20")?;
    /// assert_eq!(spec.get("program"), Some("python3 my_chunker.py --size=400"));
    /// assert_eq!(Spec::parse("chunks:(a=1,b=2.jsonl),missing=skip")?.get("file"), Some("a=1,b=2.jsonl"));
    /// # Ok::<(), pericope_segment::spec::SpecError>(())
    /// ```
    ///
    /// # Errors
    /// [`SpecError::Syntax`] with what is wrong.
    pub fn parse(text: &str) -> Result<Self, SpecError> {
        parse::spec(text)
    }

    /// Adds a setting, or replaces it.
    ///
    /// # Errors
    /// [`SpecError::Syntax`] for a key or value that could not be written down and read back.
    pub fn with(mut self, key: &str, value: impl fmt::Display) -> Result<Self, SpecError> {
        let value = value.to_string();
        parse::setting(&self.name, key, value.trim())?;
        self.args.insert(key.to_owned(), value.trim().to_owned());
        Ok(self)
    }

    /// The value of a setting, if it is given.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&str> {
        self.args.get(key).map(String::as_str)
    }

    /// Returns the segmenters that this one is built from by reference: the `reference` of `same-size`, if it is a spec.
    /// (An experiment may name one of its own chunkers there.)
    ///
    /// ```
    /// use pericope_segment::spec::Spec;
    ///
    /// let spec = Spec::parse("same-size:reference=(window:k=5,pool=min)")?;
    /// assert_eq!(spec.references(), [Spec::parse("window:k=5,pool=min")?]);
    /// assert!(Spec::parse("window:k=5")?.references().is_empty());
    /// # Ok::<(), pericope_segment::spec::SpecError>(())
    /// ```
    #[must_use]
    pub fn references(&self) -> Vec<Spec> {
        self.get(REFERENCE).into_iter().filter_map(|text| Spec::parse(text).ok()).collect()
    }
}

impl fmt::Display for Spec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.name)?;
        // What may stand without its key stands first.
        let bare = parse::bare_key(&self.name).and_then(|key| Some((key, self.get(key)?)));
        if let Some((key, value)) = bare {
            match value {
                value if parse::needs_parentheses(value) => write!(f, ":({value})"),
                // Without its key it would read as another one.
                value if parse::begins_with_key(value) => write!(f, ":{key}={value}"),
                value => write!(f, ":{value}"),
            }?;
        }
        let rest = self.args.iter().filter(|(key, _)| bare.is_none_or(|(first, _)| first != key.as_str()));
        for (i, (key, value)) in rest.enumerate() {
            let separator = if i == 0 && bare.is_none() { ':' } else { ',' };
            if parse::needs_parentheses(value) {
                write!(f, "{separator}{key}=({value})")?;
            } else {
                write!(f, "{separator}{key}={value}")?;
            }
        }
        Ok(())
    }
}

impl FromStr for Spec {
    type Err = SpecError;

    fn from_str(text: &str) -> Result<Self, SpecError> {
        Self::parse(text)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use proptest::prelude::*;

    use super::Spec;

    #[test]
    fn forms_that_are_read() {
        let spec = Spec::parse(" window : k = 5 , pool=min ").unwrap();
        assert_eq!(spec.to_string(), "window:k=5,pool=min");
        assert_eq!(Spec::parse("window").unwrap().args.len(), 0);
        let nested = Spec::parse("same-size:reference=(same-size:reference=(window:k=5,pool=min))").unwrap();
        assert_eq!(nested.get("reference"), Some("same-size:reference=(window:k=5,pool=min)"));
        assert_eq!(nested.to_string(), "same-size:reference=(same-size:reference=(window:k=5,pool=min))");
        assert_eq!(Spec::parse("x:u=http://host:80/a=b").unwrap().get("u"), Some("http://host:80/a=b"));
        assert_eq!(Spec::parse("same-size:reference=(window)").unwrap().to_string(), "same-size:reference=window");
    }

    #[test]
    fn files_and_programs_stand_first_without_their_key() {
        for (text, key, value, printed) in [
            ("chunks:a.jsonl", "file", "a.jsonl", "chunks:a.jsonl"),
            ("chunks: a b.jsonl ", "file", "a b.jsonl", "chunks:a b.jsonl"),
            ("chunks:file=a.jsonl", "file", "a.jsonl", "chunks:a.jsonl"),
            ("chunks:C:\\x\\a.jsonl", "file", "C:\\x\\a.jsonl", "chunks:C:\\x\\a.jsonl"),
            ("chunks:a,b.jsonl", "file", "a,b.jsonl", "chunks:(a,b.jsonl)"),
            ("chunks:(a,b.jsonl)", "file", "a,b.jsonl", "chunks:(a,b.jsonl)"),
            ("chunks:(a=b.jsonl)", "file", "a=b.jsonl", "chunks:file=a=b.jsonl"),
            ("chunks:file=a=b.jsonl", "file", "a=b.jsonl", "chunks:file=a=b.jsonl"),
            ("chunks:((a).jsonl)", "file", "(a).jsonl", "chunks:((a).jsonl)"),
            ("chunks:a(1).jsonl", "file", "a(1).jsonl", "chunks:a(1).jsonl"),
            ("chunks:a).jsonl", "file", "a).jsonl", "chunks:a).jsonl"),
            ("command:x --a=1 --b 2", "program", "x --a=1 --b 2", "command:x --a=1 --b 2"),
            ("command:(x a=1,b=2)", "program", "x a=1,b=2", "command:(x a=1,b=2)"),
            ("command:X=1 y", "program", "X=1 y", "command:X=1 y"),
        ] {
            let spec = Spec::parse(text).unwrap();
            assert_eq!((spec.get(key), spec.args.len()), (Some(value), 1), "{text}");
            assert_eq!(spec.to_string(), printed, "{text}");
            assert_eq!(Spec::parse(printed).unwrap(), spec, "{printed}");
        }
        let spec = Spec::parse("chunks:a,b.jsonl , missing=skip,max_tokens=9").unwrap();
        assert_eq!((spec.get("file"), spec.get("missing"), spec.args.len()), (Some("a,b.jsonl"), Some("skip"), 3));
        assert_eq!(spec.to_string(), "chunks:(a,b.jsonl),max_tokens=9,missing=skip");
        let nested = Spec::parse("same-size:reference=(command:(x a=1,b=2),time=5)").unwrap();
        assert_eq!(nested.references(), [Spec::parse("command:(x a=1,b=2),time=5").unwrap()]);
        // What could not be read back is refused: parentheses that do not match, beside a comma.
        for wrong in ["chunks:", "chunks: ,missing=skip", "chunks:a,b(.jsonl", "chunks:(a.jsonl", "command:()"] {
            assert!(Spec::parse(wrong).is_err(), "{wrong:?} was read");
        }
        // Other segmenters have no value without its key.
        assert!(Spec::parse("window:5").is_err());
    }

    #[test]
    fn forms_that_are_not() {
        for bad in [
            "",
            ":",
            "Window",
            "window:",
            "window:k",
            "window:k=",
            "window:=5",
            "window:k=5,",
            "window:k=5,k=6",
            "window:k=5,,pool=min",
            "window:a=(b",
            "window:a=(b)c",
            "window:a=()",
            "two words",
            "window:K=1",
        ] {
            assert!(Spec::parse(bad).is_err(), "{bad:?} was read");
        }
    }

    #[test]
    fn serde_is_a_string_or_a_table() {
        let spec = Spec::parse("window:k=5,pool=min").unwrap();
        assert_eq!(serde_json::to_string(&spec).unwrap(), "\"window:k=5,pool=min\"");
        assert_eq!(serde_json::from_str::<Spec>("\"window:pool=min,k=5\"").unwrap(), spec);
        assert_eq!(serde_json::from_str::<Spec>(r#"{"name": "window", "k": 5, "pool": "min"}"#).unwrap(), spec);
        assert!(serde_json::from_str::<Spec>(r#"{"k": 5}"#).is_err());
    }

    proptest! {
        #[test]
        fn printing_and_reading_are_inverse(
            name in "[a-z][a-z0-9_-]{0,8}",
            args in proptest::collection::btree_map("[a-z][a-z0-9_]{0,6}", "[a-z0-9:=.,() é-]{1,12}", 0..4),
        ) {
            let mut spec = Spec::new(&name).unwrap();
            for (key, value) in &args {
                // Values that cannot be written down are refused, never written wrong.
                if let Ok(next) = spec.clone().with(key, value) {
                    spec = next;
                }
            }
            prop_assert_eq!(Spec::parse(&spec.to_string()).unwrap(), spec);
        }

        #[test]
        fn a_value_without_its_key_is_read_as_it_is_printed(
            name in "chunks|command",
            first in "[a-z0-9:=.,() é'\"\\\\-]{1,16}",
            more in proptest::collection::btree_map("[a-z][a-z0-9_]{0,6}", "[a-z0-9:=.,() -]{1,9}", 0..3),
        ) {
            let mut spec = Spec::new(&name).unwrap();
            let key = if name == "chunks" { "file" } else { "program" };
            for (key, value) in more.iter().map(|(k, v)| (k.as_str(), v)).chain([(key, &first)]) {
                if let Ok(next) = spec.clone().with(key, value) {
                    spec = next;
                }
            }
            prop_assert_eq!(Spec::parse(&spec.to_string()).unwrap(), spec);
        }

        #[test]
        fn no_input_makes_the_parser_fail_hard(text in "\\PC{0,40}") {
            if let Ok(spec) = Spec::parse(&text) {
                prop_assert_eq!(Spec::parse(&spec.to_string()).unwrap(), spec);
            }
        }
    }
}
