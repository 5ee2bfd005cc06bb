//! `pericope.toml`: what a project reads, how it is cut, and with what it is embedded.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Component, Path, PathBuf};

use pericope_segment::registry::check_in;
use pericope_segment::spec::Spec;
use pericope_util::one_line;
use toml::{Spanned, Value};

/// The keys of the file.
const KEYS: [&str; 7] =
    ["paths", "segmenter", "embedder", "prefix_headings", "late_chunking", "context_llm", "url_prefix"];

/// The settings of a project. What the file leaves out is `None`.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Settings {
    /// What is read, from the project's folder on, as the file names it; the whole folder where the file names nothing.
    pub paths: Option<Vec<PathBuf>>,
    /// How documents are cut.
    pub segmenter: Option<String>,
    /// What embeds their chunks.
    pub embedder: Option<String>,
    /// Whether the embedder reads the headings above a chunk before its text.
    pub prefix_headings: Option<bool>,
    /// Whether the embedder reads chunks within their document.
    pub late_chunking: Option<bool>,
    /// The file that names the model which writes the contexts of chunks, seen from the project's folder.
    pub context_llm: Option<String>,
    /// What stands before a document's path in its address.
    pub url_prefix: Option<String>,
}

impl Settings {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// A sentence that names the line, and the key where there is one.
    pub fn parse(text: &str) -> Result<Self, String> {
        type Table = BTreeMap<Spanned<String>, Spanned<Value>>;
        let table: Table = toml::from_str(text).map_err(|error| {
            let line = error.span().map_or(1, |span| line_of(text, span.start));
            format!("line {line}: {}", one_line(error.message()))
        })?;
        let mut settings = Self::default();
        for (key, value) in table {
            let line = line_of(text, key.span().start);
            let key = key.into_inner();
            settings.set(&key, value.into_inner()).map_err(|problem| format!("line {line}, key {key}: {problem}"))?;
        }
        Ok(settings)
    }

    fn set(&mut self, key: &str, value: Value) -> Result<(), String> {
        match key {
            "paths" => self.paths = Some(paths(value)?),
            "segmenter" => {
                let spec = filled(value)?;
                check_segmenter(&spec)?;
                self.segmenter = Some(spec);
            }
            "embedder" => self.embedder = Some(filled(value)?),
            "prefix_headings" => self.prefix_headings = Some(on_off(&value)?),
            "late_chunking" => self.late_chunking = Some(on_off(&value)?),
            "context_llm" => self.context_llm = Some(filled(value)?),
            "url_prefix" => self.url_prefix = Some(checked_url_prefix(&filled(value)?)?),
            _ => return Err(format!("there is no such key; the keys are {}", KEYS.join(", "))),
        }
        Ok(())
    }

    /// The file that holds these settings, with a comment for each.
    #[must_use]
    pub fn to_file(&self) -> String {
        let text = |text: &str| Value::String(text.to_owned()).to_string();
        let or = |setting: &Option<String>, default: &str| text(setting.as_deref().unwrap_or(default));
        let named: Vec<String> =
            self.paths.iter().flatten().map(|path| text(&path.to_string_lossy().replace('\\', "/"))).collect();
        let paths = if named.is_empty() { text(".") } else { named.join(", ") };
        let mut file = String::from("# The settings of `pericope index` and `pericope search` in this project.\n\n");
        let _ = writeln!(file, "# Files and folders to index, seen from the folder that holds .pericope.");
        let _ = writeln!(file, "paths = [{paths}]\n");
        let _ = writeln!(file, "# How documents are cut. `pericope segmenters` lists the ways and their keys.");
        let _ = writeln!(file, "segmenter = {}\n", or(&self.segmenter, "structure"));
        let _ = writeln!(file, "# What embeds the chunks: minilm, static, a name that `pericope models list` shows,");
        let _ = writeln!(file, "# a folder with a model, openai:MODEL, or none (search by words alone).");
        let _ = writeln!(file, "embedder = {}\n", or(&self.embedder, "minilm"));
        let _ = writeln!(file, "# Whether the embedder reads the headings above a chunk before its text.");
        let _ = writeln!(file, "prefix_headings = {}\n", self.prefix_headings.unwrap_or(false));
        let _ = writeln!(file, "# Whether the embedder reads every chunk within its document (late chunking).");
        let _ = writeln!(file, "late_chunking = {}\n", self.late_chunking.unwrap_or(false));
        let _ =
            writeln!(file, "# A file with a table [llm.context]: a language model places each chunk in its document.");
        let _ = match &self.context_llm {
            Some(config) => writeln!(file, "context_llm = {}\n", text(config)),
            None => writeln!(file, "# context_llm = \"model.toml\"\n"),
        };
        let _ = writeln!(file, "# What stands before a document's path in its address.");
        let _ = match &self.url_prefix {
            Some(prefix) => writeln!(file, "url_prefix = {}", text(prefix)),
            None => writeln!(file, "# url_prefix = \"https://docs.example.org/\""),
        };
        file
    }
}

/// The line of a byte, from 1.
fn line_of(text: &str, at: usize) -> usize {
    text.get(..at).unwrap_or(text).matches('\n').count() + 1
}

fn on_off(value: &Value) -> Result<bool, String> {
    value.as_bool().ok_or_else(|| format!("true or false is expected, not {}", kind(value)))
}

fn filled(value: Value) -> Result<String, String> {
    match value {
        Value::String(text) if text.trim().is_empty() => Err("the text is empty".to_owned()),
        Value::String(text) => Ok(text),
        other => Err(format!("a text in quotes is expected, not {}", kind(&other))),
    }
}

fn paths(value: Value) -> Result<Vec<PathBuf>, String> {
    let Value::Array(list) = value else {
        return Err(format!("a list of texts is expected, as in [\"docs\"], not {}", kind(&value)));
    };
    if list.is_empty() {
        return Err("the list is empty: name a folder, or leave the key out for the whole project".to_owned());
    }
    let inside = |path: String| match relative(Path::new(&path)) {
        Some(relative) => Ok(relative),
        None => Err(format!("{path:?} lies outside of the project: name what lies below the folder of .pericope")),
    };
    list.into_iter().map(|path| filled(path).and_then(inside)).collect()
}

/// A relative path without `.` and `..`, by its words alone; nothing where it leads out of the folder.
pub(super) fn relative(path: &Path) -> Option<PathBuf> {
    let mut inside = PathBuf::new();
    for part in path.components() {
        match part {
            Component::Normal(name) => inside.push(name),
            Component::CurDir => {}
            Component::ParentDir => {
                if !inside.pop() {
                    return None;
                }
            }
            Component::Prefix(_) | Component::RootDir => return None,
        }
    }
    Some(if inside.as_os_str().is_empty() { PathBuf::from(".") } else { inside })
}

/// An address that paths can be put behind.
///
/// # Errors
/// A sentence on what is wrong with it.
pub fn checked_url_prefix(text: &str) -> Result<String, String> {
    let rest = text.strip_prefix("https://").or_else(|| text.strip_prefix("http://"));
    let fine = match rest {
        Some(rest) => !rest.is_empty() && !rest.starts_with('/'),
        None => text.starts_with('/'),
    };
    if !fine {
        return Err(format!("{text:?} is no address: it begins with https://, http:// or /"));
    }
    match text.chars().find(|c| c.is_whitespace() || c.is_control()) {
        Some(_) => Err(format!("{text:?} holds a blank: write it as %20")),
        None => Ok(text.to_owned()),
    }
}

/// Checks the name and the keys of a segmenter.
///
/// # Errors
/// A sentence on what is wrong with it.
pub fn check_segmenter(spec: &str) -> Result<(), String> {
    let spec = Spec::parse(spec).map_err(|e| e.to_string())?;
    check_in(pericope::segmenters(), &spec).map(drop).map_err(|e| e.to_string())
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::String(_) => "a text",
        Value::Integer(_) | Value::Float(_) => "a number",
        Value::Boolean(_) => "true or false",
        Value::Datetime(_) => "a date",
        Value::Array(_) => "a list",
        Value::Table(_) => "a table",
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_is_written_is_read_again() {
        let settings = Settings {
            paths: Some(vec!["docs".into(), "a \"b\"/c\\u.md".into()]),
            segmenter: Some("window:k=5".into()),
            embedder: Some("none".into()),
            prefix_headings: Some(true),
            late_chunking: Some(true),
            context_llm: Some("model \"a\".toml".into()),
            url_prefix: Some("https://docs.example.org/x/".into()),
        };
        let again = Settings::parse(&settings.to_file()).unwrap();
        assert_eq!(again.paths.as_ref().map(Vec::len), Some(2));
        assert_eq!((again.segmenter, again.embedder), (settings.segmenter, settings.embedder));
        assert_eq!((again.prefix_headings, again.url_prefix), (settings.prefix_headings, settings.url_prefix));
        assert_eq!(again.late_chunking, settings.late_chunking);
        assert_eq!(again.context_llm, settings.context_llm);
        let whole = Settings::parse(&Settings::default().to_file()).unwrap();
        assert_eq!(whole.paths, Some(vec![PathBuf::from(".")]));
        assert_eq!(Settings::parse("").unwrap(), Settings::default());
        let paths = Settings::parse("paths = [\"./docs/../guide/\", \"a/b\"]").unwrap().paths.unwrap();
        assert_eq!(paths, [PathBuf::from("guide"), PathBuf::from("a/b")]);
    }

    #[test]
    fn faults_name_line_and_key() {
        for (text, line, says) in [
            ("\nsegmenter = 3", "line 2, key segmenter: ", "a number"),
            (
                "# c\n\nsegmentor = \"x\"",
                "line 3, key segmentor: ",
                "paths, segmenter, embedder, prefix_headings, late_chunking, context_llm, url_prefix",
            ),
            ("paths = \"docs\"", "line 1, key paths: ", "not a text"),
            ("paths = [1]", "line 1, key paths: ", "a number"),
            ("paths = []", "line 1, key paths: ", "empty"),
            ("paths = [\"../x\"]", "line 1, key paths: ", "outside of the project"),
            ("paths = [\"a/../../x\"]", "line 1, key paths: ", "outside of the project"),
            ("paths = [\"/etc\"]", "line 1, key paths: ", "outside of the project"),
            ("segmenter = \"windoww\"", "line 1, key segmenter: ", "windoww"),
            ("segmenter = \"window:q=1\"", "line 1, key segmenter: ", "q"),
            ("embedder = \" \"", "line 1, key embedder: ", "empty"),
            ("context_llm = true", "line 1, key context_llm: ", "not true or false"),
            ("prefix_headings = \"yes\"", "line 1, key prefix_headings: ", "true or false"),
            ("late_chunking = 1", "line 1, key late_chunking: ", "not a number"),
            ("url_prefix = \"docs.example.org\"", "line 1, key url_prefix: ", "no address"),
            ("url_prefix = \"https://a b/\"", "line 1, key url_prefix: ", "blank"),
            ("[index]\npath = \"x\"", "line 1, key index: ", "no such key"),
            ("paths = [\"a\"\nx", "line 2: ", ""),
            ("embedder = \"a\"\nembedder = \"b\"", "line 2: ", "duplicate"),
        ] {
            let said = Settings::parse(text).unwrap_err();
            assert!(said.starts_with(line) && said.contains(says) && !said.contains('\n'), "{text}: {said}");
        }
    }
}
