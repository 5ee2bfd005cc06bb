//! Attributes: what `{name}` stands for.

use std::collections::HashMap;

use pericope_api::Span;

use super::inline::is_ended;
use crate::formats::html::references;
use crate::limits::{self, Allowance};

/// The attributes of a document, and how much text their references may still add to it.
#[derive(Debug)]
pub(super) struct Attributes {
    pub(super) values: HashMap<String, String>,
    allowance: Allowance,
}

impl Attributes {
    /// None so far, of a document of `bytes` bytes.
    pub(super) fn new(bytes: usize) -> Self {
        Self { values: HashMap::new(), allowance: Allowance::new(bytes) }
    }

    /// What an attribute, in small letters, shows as: one of those that every document has, or one that this one sets.
    pub(super) fn value(&mut self, name: &str) -> Option<String> {
        let value = self.written(name)?;
        Some(if value.contains('&') { decoded(&value) } else { value })
    }

    /// The same, with its character references as they are written.
    fn written(&mut self, name: &str) -> Option<String> {
        if let Some(value) = intrinsic(name) {
            return Some(value.to_owned());
        }
        let value = limits::value(self.values.get(name)?);
        self.allowance.spend(value).then(|| value.to_owned())
    }

    /// What an attribute is set to by `text`: references in it stand for what is set so far.
    pub(super) fn resolved(&mut self, text: &str) -> String {
        let mut out = String::with_capacity(text.len());
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('{') {
            let name = name(after);
            let escaped = name.and(before.strip_suffix('\\'));
            out.push_str(escaped.unwrap_or(before));
            let value = name.filter(|_| escaped.is_none());
            let value = value.and_then(|name| self.written(&name.to_lowercase()).map(|value| (value, name.len() + 1)));
            let (value, passed) = value.unwrap_or_else(|| ("{".to_owned(), 0));
            out.push_str(&value);
            rest = &after[passed..];
        }
        out.push_str(rest);
        out
    }
}

/// The name between braces, where `text` begins behind the first of them. A backslash before that makes it text.
pub(super) fn name(text: &str) -> Option<&str> {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '-' | '_');
    let end = text.find(|c: char| !is_name(c)).filter(|&end| end > 0 && text[end..].starts_with('}'))?;
    text.get(..end)
}

/// Text with its character references decoded.
fn decoded(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    references(text, Span::new(0, text.len()), &mut |span, shown| {
        let written = span.of(text);
        match shown.filter(|_| is_ended(written)) {
            Some(shown) => out.push_str(&shown),
            None => out.push_str(written),
        }
    });
    out
}

/// The attributes that stand for characters.
fn intrinsic(name: &str) -> Option<&'static str> {
    Some(match name {
        "empty" | "blank" | "zwsp" | "wj" => "",
        "sp" | "nbsp" => " ",
        "amp" => "&",
        "lt" => "<",
        "gt" => ">",
        "plus" => "+",
        "asterisk" => "*",
        "backslash" => "\\",
        "backtick" => "`",
        "caret" => "^",
        "tilde" => "~",
        "startsb" => "[",
        "endsb" => "]",
        "vbar" => "|",
        "brvbar" => "¦",
        "two-colons" => "::",
        "two-semicolons" => ";;",
        "cpp" | "cxx" => "C++",
        "pp" => "++",
        "deg" => "°",
        "apos" => "'",
        "quot" => "\"",
        "lsquo" => "\u{2018}",
        "rsquo" => "\u{2019}",
        "ldquo" => "\u{201c}",
        "rdquo" => "\u{201d}",
        _ => return None,
    })
}
