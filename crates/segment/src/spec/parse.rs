//! The grammar: `name [":" key "=" value {"," key "=" value}]`, a value being `(` balanced text `)` or text without comma.
//!
//! Two names take a first value without its key (`chunks:FILE`, `command:PROGRAM ARGUMENTS`). It ends where a comma and
//! `key=` follow, so that a file's name may hold a comma; parentheses around it allow anything whose parentheses match.

use std::collections::BTreeMap;

use super::{Spec, SpecError};

/// The names whose first value may stand without its key, and that key.
const BARE: [(&str, &str); 2] = [("chunks", "file"), ("command", "program")];

/// The key of the value that may stand first without it.
pub(super) fn bare_key(name: &str) -> Option<&'static str> {
    BARE.iter().find(|(bare, _)| *bare == name).map(|(_, key)| *key)
}

/// True where a text reads as `key=`.
pub(super) fn begins_with_key(text: &str) -> bool {
    let key = text.trim_start().split_once('=').map_or("", |(key, _)| key.trim_end());
    !key.is_empty() && key.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_')
}

/// Splits off the value that stands first without its key; `None` where there is a key.
fn bare<'a>(spec: &str, tail: &'a str) -> Result<Option<(&'a str, Option<&'a str>)>, SpecError> {
    if tail.trim_start().starts_with('(') {
        return value(spec, tail).map(Some);
    }
    if begins_with_key(tail) {
        return Ok(None);
    }
    let commas = tail.match_indices(',').map(|(at, _)| at);
    let mut ends = commas.filter(|at| tail.get(at + 1..).is_some_and(begins_with_key));
    Ok(Some(match ends.next() {
        Some(end) => (tail[..end].trim(), Some(&tail[end + 1..])),
        None => (tail.trim(), None),
    }))
}

pub(super) fn spec(text: &str) -> Result<Spec, SpecError> {
    let (head, tail) = match text.split_once(':') {
        Some((head, tail)) => (head.trim(), Some(tail)),
        None => (text.trim(), None),
    };
    name(text, head)?;
    let mut args = BTreeMap::new();
    let mut rest = tail;
    if let (Some(key), Some(tail)) = (bare_key(head), tail)
        && let Some((value, next)) = bare(text, tail)?
    {
        setting(text, key, value)?;
        args.insert(key.to_owned(), value.to_owned());
        rest = next;
    }
    while let Some(tail) = rest {
        let Some((key, after)) = tail.split_once('=') else {
            return Err(error(text, format!("`{}` is no key=value", tail.trim())));
        };
        let key = key.trim();
        let (value, next) = value(text, after)?;
        setting(text, key, value)?;
        if args.insert(key.to_owned(), value.to_owned()).is_some() {
            return Err(error(text, format!("`{key}` is given twice")));
        }
        rest = next;
    }
    Ok(Spec { name: head.to_owned(), args })
}

/// Splits off the value at the start of `text`, and what follows the comma behind it.
fn value<'a>(spec: &str, text: &'a str) -> Result<(&'a str, Option<&'a str>), SpecError> {
    let text = text.trim_start();
    let Some(inner) = text.strip_prefix('(') else {
        return Ok(match text.split_once(',') {
            Some((value, next)) => (value.trim(), Some(next)),
            None => (text.trim(), None),
        });
    };
    let mut depth = 1usize;
    for (at, c) in inner.char_indices() {
        match c {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let (value, behind) = (inner[..at].trim(), inner[at + 1..].trim_start());
            return match behind.strip_prefix(',') {
                Some(next) => Ok((value, Some(next))),
                None if behind.is_empty() => Ok((value, None)),
                None => Err(error(spec, format!("`{behind}` follows a closing parenthesis"))),
            };
        }
    }
    Err(error(spec, "a parenthesis is not closed".into()))
}

/// Checks a segmenter's name.
pub(super) fn name(spec: &str, name: &str) -> Result<(), SpecError> {
    if name.is_empty() {
        return Err(error(spec, "the name is missing".into()));
    }
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-' || c == '_';
    if name.chars().all(fits) {
        return Ok(());
    }
    Err(error(spec, format!("`{name}` is no name: use lower-case letters, digits, `-` and `_`")))
}

/// Checks that a setting can be written down and read back.
pub(super) fn setting(spec: &str, key: &str, value: &str) -> Result<(), SpecError> {
    let fits = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '_';
    if key.is_empty() || !key.chars().all(fits) {
        return Err(error(spec, format!("`{key}` is no key: use lower-case letters, digits and `_`")));
    }
    if value.is_empty() {
        return Err(error(spec, format!("`{key}` has no value")));
    }
    if needs_parentheses(value) && !balanced(value) {
        return Err(error(spec, format!("the parentheses of `{value}` do not match")));
    }
    Ok(())
}

pub(super) fn needs_parentheses(value: &str) -> bool {
    value.contains(',') || value.starts_with('(')
}

fn balanced(value: &str) -> bool {
    let mut depth = 0usize;
    for c in value.chars() {
        match c {
            '(' => depth += 1,
            ')' if depth == 0 => return false,
            ')' => depth -= 1,
            _ => {}
        }
    }
    depth == 0
}

fn error(spec: &str, reason: String) -> SpecError {
    SpecError::Syntax { spec: spec.trim().to_owned(), reason }
}
