//! Reading configurations: TOML, `--set key=value`, variables, and errors in one line.

use std::path::Path;

use pericope_util::one_line;
use serde::de::DeserializeOwned;

use super::ConfigError;
use crate::format::clipped;

/// A TOML error as one line: what and where.
pub(super) fn located(error: &toml::de::Error, text: &str) -> String {
    let message = one_line(error.message());
    match error.span() {
        Some(span) => {
            let before = text.get(..span.start).unwrap_or(text);
            let line = before.matches('\n').count() + 1;
            format!("line {line}: {message}")
        }
        None => message,
    }
}

/// An experiment of any kind from TOML, with `overrides` applied; `path` is used in messages only.
///
/// # Errors
/// [`ConfigError`], whose message is one line that names the place, the key or the setting.
pub(super) fn read<T: DeserializeOwned>(text: &str, path: &Path, overrides: &[String]) -> Result<T, ConfigError> {
    let toml_error = |problem: String| ConfigError::Toml { path: path.to_owned(), problem };
    if overrides.is_empty() {
        return toml::from_str(text).map_err(|e| toml_error(located(&e, text)));
    }
    let mut table: toml::Table = text.parse().map_err(|e: toml::de::Error| toml_error(located(&e, text)))?;
    for setting in overrides {
        set(&mut table, setting).map_err(|problem| ConfigError::Value(one_line(&problem)))?;
    }
    table.try_into().map_err(|e: toml::de::Error| match culprit::<T>(text, overrides) {
        Some(setting) => ConfigError::Value(format!("--set {}: {}", shown(setting), one_line(e.message()))),
        None => toml_error(one_line(e.message())),
    })
}

/// The setting without which the rest would be a configuration.
fn culprit<'a, T: DeserializeOwned>(text: &str, overrides: &'a [String]) -> Option<&'a String> {
    let fine_without = |left_out: usize| {
        let mut table: toml::Table = text.parse().ok()?;
        for (i, setting) in overrides.iter().enumerate() {
            if i != left_out {
                set(&mut table, setting).ok()?;
            }
        }
        table.try_into::<T>().ok()
    };
    overrides.iter().enumerate().find(|(i, _)| fine_without(*i).is_some()).map(|(_, setting)| setting)
}

/// What names of keys hold whose values may be secret.
const SECRET: [&str; 7] = ["secret", "password", "header", "webhook", "url", "on_finish", "retrieval.in"];
/// Characters of a setting that a message shows.
const SHOWN: usize = 200;

/// A setting for a message, in one line: without its value where that may be secret.
fn shown(setting: &str) -> String {
    let (key, _) = setting.split_once('=').unwrap_or((setting, ""));
    let low = key.trim().to_lowercase();
    let words: Vec<&str> = low.split(['.', '_', '-']).collect();
    // `api_key` and `access_token`, but neither `max_tokens` nor `token_budgets`.
    let is_key = words.iter().any(|word| word.ends_with("key"));
    let is_token = words.last().is_some_and(|word| word.ends_with("token"));
    match is_key || is_token || SECRET.iter().any(|word| low.contains(word)) {
        true => format!("{}=…", clipped(&one_line(key), SHOWN)),
        false => clipped(&one_line(setting), SHOWN),
    }
}

/// Applies `key.sub=value`; the value is TOML, or, where it is not, a bare string.
fn set(table: &mut toml::Table, setting: &str) -> Result<(), String> {
    let (key, value) = setting.split_once('=').ok_or_else(|| format!("--set {setting}: expected key=value"))?;
    let parsed: Option<toml::Value> =
        format!("v = {}", value.trim()).parse::<toml::Table>().ok().and_then(|mut t| t.remove("v"));
    let value = parsed.unwrap_or_else(|| toml::Value::String(value.trim().to_owned()));
    set_value(table, key, value).map_err(|problem| format!("--set {}: {problem}", shown(setting)))
}

/// Parts of a dotted key at most; experiments need five.
const DEEPEST: usize = 16;
/// Bytes of a dotted key at most.
const LONGEST: usize = 1024;

/// Puts a value under a dotted key; in an array of tables, the part after its name is the `name` of the entry that is
/// meant: `chunker.semantic.spec`.
pub(crate) fn set_value(table: &mut toml::Table, key: &str, value: toml::Value) -> Result<(), String> {
    // Tables inside tables are read by recursion: there must be an end to them.
    if key.len() > LONGEST || key.split('.').count() > DEEPEST {
        return Err(format!("the key has more than {DEEPEST} parts, or more than {LONGEST} bytes"));
    }
    let mut parts = key.trim().split('.').peekable();
    let mut at = table;
    while let Some(part) = parts.next().filter(|part| !part.is_empty()) {
        if parts.peek().is_none() {
            at.insert(part.to_owned(), value);
            return Ok(());
        }
        let next = at.entry(part).or_insert_with(|| toml::Value::Table(toml::Table::new()));
        at = match next {
            toml::Value::Table(inner) => inner,
            toml::Value::Array(entries) => {
                let name = parts.next().unwrap_or_default();
                (entries.iter_mut().filter_map(toml::Value::as_table_mut))
                    .find(|entry| entry.get("name").and_then(toml::Value::as_str) == Some(name))
                    .ok_or_else(|| format!("no [[{part}]] is named \"{name}\""))?
            }
            _ => return Err(format!("'{part}' is not a table")),
        };
    }
    Err("the key is empty or ends with a dot".into())
}
