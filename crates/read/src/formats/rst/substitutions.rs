//! Substitutions: `.. |name| replace:: text`.

use std::collections::HashMap;

use pericope_api::Span;

use crate::formats::lines::Line;
use crate::inline::Inline;
use crate::limits::{self, Allowance, LONGEST_VALUE};
use crate::work;

/// The substitutions of a document, and how much text references to them may still add to it.
#[derive(Debug)]
pub(super) struct Substitutions {
    /// By name in small letters.
    known: HashMap<String, String>,
    allowance: Allowance,
}

impl Substitutions {
    /// All that a document defines.
    pub(super) fn of(source: &str, lines: &[Line]) -> Self {
        Self { known: find(source, lines), allowance: Allowance::new(source.len()) }
    }

    /// The text that a reference to `name` (in small letters) shows; `None` where it shows the name.
    pub(super) fn shown(&mut self, name: &str) -> Option<&str> {
        let shown = limits::value(self.known.get(name)?);
        self.allowance.spend(shown).then_some(shown)
    }
}

fn find(source: &str, lines: &[Line]) -> HashMap<String, String> {
    let mut found = HashMap::new();
    for (i, line) in lines.iter().enumerate() {
        let Some((name, rest)) = definition(line.of(source)) else { continue };
        let Some((directive, argument)) = rest.split_once("::") else { continue };
        let mut text = argument.trim().to_owned();
        let mut alt = None;
        for next in lines[i + 1..].iter().take_while(|next| !next.is_blank() && next.indent > line.indent) {
            let next = next.of(source);
            work::looked(next.len());
            if let Some(value) = next.strip_prefix(":alt:") {
                alt = Some(value.trim().to_owned());
            }
            if text.len() > LONGEST_VALUE {
                break;
            }
            text.push(' ');
            text.push_str(next);
        }
        let shown = match directive.trim() {
            "replace" => visible(&text),
            "unicode" => argument.split_whitespace().map(code).collect(),
            "image" => alt.unwrap_or_default(),
            _ => continue,
        };
        found.insert(name.to_lowercase(), shown);
    }
    found
}

/// The name that a line defines, and what follows it.
pub(super) fn definition(text: &str) -> Option<(&str, &str)> {
    let (name, rest) = text.strip_prefix("..")?.trim_start().strip_prefix('|')?.split_once('|')?;
    (!name.trim().is_empty() && name.trim() == name && rest.contains("::")).then_some((name, rest))
}

fn visible(text: &str) -> String {
    let mut inline = Inline::default();
    super::inline::parse(text, Span::new(0, text.len()), None, &mut inline);
    inline.visible(text).split_whitespace().collect::<Vec<_>>().join(" ")
}

/// A character by its number, or text as it is.
fn code(word: &str) -> String {
    let digits = ["0x", "U+", "u+", "\\x", "\\u"].iter().find_map(|prefix| word.strip_prefix(prefix));
    let c = digits.and_then(|digits| u32::from_str_radix(digits, 16).ok()).and_then(char::from_u32);
    c.map_or_else(|| word.to_owned(), String::from)
}
