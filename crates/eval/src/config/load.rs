//! Loading of configurations, the same for every kind of experiment.

use std::path::{Path, PathBuf};

use pericope_api::expand_variables;
use pericope_segment::registry::SegmenterEntry;
use serde::de::DeserializeOwned;

use super::overrides::read;
use super::{ConfigError, ExperimentFile, ExperimentKind};

/// What an experiment file of one kind holds. A kind says what is its own; how files are read, overridden and refused is the
/// same for all.
pub trait Configuration: DeserializeOwned {
    /// The kind of the files that hold it.
    const KIND: ExperimentKind;

    /// Finishes what was read and checks it; `segmenters` are those that specs may name.
    ///
    /// # Errors
    /// In words, naming the key.
    fn finish(&mut self, segmenters: &[SegmenterEntry]) -> Result<(), String>;

    /// Reads a file, applies `overrides` (`retrieval.k=[1,3]`, later ones win) and checks the result; `segmenters`
    /// are those that specs may name.
    ///
    /// # Errors
    /// [`ConfigError`], whose message is one line that names the file and the key; also for a file of another kind.
    fn load(path: &Path, overrides: &[String], segmenters: &[SegmenterEntry]) -> Result<Self, ConfigError> {
        Self::of_file(&ExperimentFile::open(path)?, overrides, segmenters)
    }

    /// As [`Configuration::load`], from a file that was read already.
    ///
    /// # Errors
    /// As [`Configuration::load`].
    fn of_file(
        file: &ExperimentFile,
        overrides: &[String],
        segmenters: &[SegmenterEntry],
    ) -> Result<Self, ConfigError> {
        if file.kind != Self::KIND {
            return Err(file.unfit(&format!("kind = \"{}\"", Self::KIND)));
        }
        Self::parse(&file.text, &file.path, overrides, segmenters)
    }

    /// As [`Configuration::load`], from text of this kind, whatever `kind` it names; `path` is used in messages only.
    ///
    /// # Errors
    /// As [`Configuration::load`].
    fn parse(
        text: &str,
        path: &Path,
        overrides: &[String],
        segmenters: &[SegmenterEntry],
    ) -> Result<Self, ConfigError> {
        let mut found: Self = read(text, path, overrides)?;
        found.finish(segmenters).map_err(|problem| ConfigError::in_file(path, &problem))?;
        Ok(found)
    }
}

/// A path of a configuration with `${NAME}` and `${NAME:-default}` replaced from the environment; `what` says in messages
/// where it stands.
///
/// # Errors
/// [`ConfigError::Value`] names the variable that is not set.
pub fn expanded_path(what: &str, path: &str) -> Result<PathBuf, ConfigError> {
    expand_variables(path, |name| std::env::var(name).ok())
        .map(PathBuf::from)
        .map_err(|e| ConfigError::Value(format!("{what}: {e}")))
}
