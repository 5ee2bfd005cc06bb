//! Experiment files of all kinds: `kind` says which one a file is.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::ConfigError;
use super::overrides::located;

/// The kinds of experiment files.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ExperimentKind {
    /// Chunkers compared by what they retrieve and answer: `[data]` and `[[chunker]]`.
    Retrieval,
    /// Segmenters against documents whose boundaries are known: `[[set]]` and `[[segmenter]]`.
    Segmentation,
    /// Chunkers compared by how well the class of a document can be read from its segments: `[data]`, `[[chunker]]`, `[classifier]`.
    Classification,
    /// How a trained segmenter is read best: `model`, `data`, `partitions`.
    Tune,
}

impl fmt::Display for ExperimentKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            ExperimentKind::Retrieval => "retrieval",
            ExperimentKind::Segmentation => "segmentation",
            ExperimentKind::Classification => "classification",
            ExperimentKind::Tune => "tune",
        })
    }
}

/// An experiment file that has been read once, and of which kind it is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ExperimentFile {
    /// The file, as given.
    pub path: PathBuf,
    /// The text of the file.
    pub text: String,
    /// The kind of the experiment.
    pub kind: ExperimentKind,
    /// Whether the file does not name its kind, so that it was guessed by its keys.
    pub guessed: bool,
}

impl ExperimentFile {
    /// Reads a file and its `kind`; in a file without one the keys tell.
    ///
    /// # Errors
    /// [`ConfigError`] for a file that cannot be read, is no TOML, or names a kind that there is not.
    pub fn open(path: &Path) -> Result<Self, ConfigError> {
        let text =
            pericope_util::read_text(path).map_err(|source| ConfigError::Io { path: path.to_owned(), source })?;
        Self::parse(text, path)
    }

    /// As [`ExperimentFile::open`], from text; `path` is used in messages.
    ///
    /// # Errors
    /// As [`ExperimentFile::open`].
    pub fn parse(text: String, path: &Path) -> Result<Self, ConfigError> {
        let wrong = |e: &toml::de::Error| ConfigError::Toml { path: path.to_owned(), problem: located(e, &text) };
        let table: toml::Table = text.parse().map_err(|e: toml::de::Error| wrong(&e))?;
        let named = match table.get("kind").cloned() {
            Some(kind) => {
                let problem =
                    || "kind: choose from \"retrieval\", \"segmentation\", \"classification\", \"tune\"".to_owned();
                let wrong = |_| ConfigError::Toml { path: path.to_owned(), problem: problem() };
                Some(kind.try_into().map_err(wrong)?)
            }
            None => None,
        };
        let kind = named.unwrap_or_else(|| by_keys(&table));
        Ok(Self { path: path.to_owned(), text, kind, guessed: named.is_none() })
    }

    /// Returns the note that a file without `kind` deserves; none for others.
    #[must_use]
    pub fn note(&self) -> Option<String> {
        let Self { path, kind, .. } = self;
        self.guessed.then(|| format!("{}: taken for kind = \"{kind}\" by its keys; say so in the file", path.display()))
    }

    /// Returns the error of a command that takes other kinds.
    #[must_use]
    pub fn unfit(&self, wanted: &str) -> ConfigError {
        let (what, command) = match self.kind {
            ExperimentKind::Retrieval => ("an experiment on retrieval", "eval run"),
            ExperimentKind::Segmentation => ("an experiment on segmentation", "eval run"),
            ExperimentKind::Classification => ("an experiment on classification", "eval run"),
            ExperimentKind::Tune => ("the tuning of a segmenter", "tune"),
        };
        let kind = self.kind;
        let problem =
            format!("this is {what} (kind = \"{kind}\"), for `pericope {command}`; this command takes {wanted}");
        ConfigError::Toml { path: self.path.clone(), problem }
    }
}

/// The kind by the keys that only one kind has.
fn by_keys(table: &toml::Table) -> ExperimentKind {
    let has = |key: &str| table.contains_key(key);
    let is_table = |key: &str| table.get(key).is_some_and(toml::Value::is_table);
    if has("set") && !has("data") {
        ExperimentKind::Segmentation
    } else if !has("chunker") && has("data") && !is_table("data") {
        ExperimentKind::Tune
    } else {
        ExperimentKind::Retrieval
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn kind(text: &str) -> Result<(ExperimentKind, bool), String> {
        let file = ExperimentFile::parse(text.to_owned(), Path::new("x.toml")).map_err(|e| e.to_string())?;
        assert_eq!(file.note().is_some(), file.guessed);
        Ok((file.kind, file.guessed))
    }

    #[test]
    fn the_file_says_what_it_is() {
        for (name, wanted) in [
            ("retrieval", ExperimentKind::Retrieval),
            ("segmentation", ExperimentKind::Segmentation),
            ("classification", ExperimentKind::Classification),
            ("tune", ExperimentKind::Tune),
        ] {
            assert_eq!(kind(&format!("kind = \"{name}\"\n[[set]]\n")), Ok((wanted, false)));
            assert_eq!(wanted.to_string(), name);
        }
        let error = kind("kind = \"retreival\"").unwrap_err();
        assert!(error.contains("x.toml") && error.contains("\"segmentation\""), "{error}");
    }

    #[test]
    fn a_command_of_another_kind_names_the_right_one() {
        let said = |kind: &str| {
            let file = ExperimentFile::parse(format!("kind = \"{kind}\""), Path::new("x.toml")).unwrap();
            file.unfit("another").to_string()
        };
        assert!(said("tune").ends_with("(kind = \"tune\"), for `pericope tune`; this command takes another"));
        assert!(said("segmentation").contains("for `pericope eval run`; "));
    }

    #[test]
    fn old_files_are_told_by_their_keys() {
        assert_eq!(kind("[data]\n[[chunker]]\n"), Ok((ExperimentKind::Retrieval, true)));
        assert_eq!(kind("[[set]]\n[[segmenter]]\n"), Ok((ExperimentKind::Segmentation, true)));
        assert_eq!(kind("model = \"shipped\"\ndata = [\"x\"]\n"), Ok((ExperimentKind::Tune, true)));
        assert!(kind("[data\n").unwrap_err().contains("line 1"));
    }
}
