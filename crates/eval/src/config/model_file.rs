//! A file that names language models, for commands that are no experiments.

use std::path::{Path, PathBuf};

use pericope_llm::{LlmConfig, LlmError, Shared};
use serde::Deserialize;

use super::overrides::read;
use super::{ConfigError, Limits, LlmTables};

/// The tables `[llm.*]` and `[limits]` of a file. Its other tables are left alone, so that it may be the file of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelFile {
    /// The models, and the file of the response cache.
    pub llm: LlmTables,
    /// `limits.budget`, in the currency of the models' prices.
    pub budget: Option<f64>,
    path: PathBuf,
}

#[derive(Deserialize)]
struct Tables {
    #[serde(default)]
    llm: LlmTables,
    #[serde(default)]
    limits: Limits,
}

impl ModelFile {
    /// Reads a file.
    ///
    /// # Errors
    /// [`ConfigError`], whose message names the file and the key.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let text =
            pericope_util::read_text(path).map_err(|source| ConfigError::Io { path: path.to_owned(), source })?;
        let Tables { mut llm, limits } = read(&text, path, &[])?;
        llm.expand().and_then(|()| llm.check()).map_err(|problem| ConfigError::in_file(path, &problem))?;
        Ok(Self { llm, budget: limits.budget, path: path.to_owned() })
    }

    /// Returns the model that writes questions.
    ///
    /// # Errors
    /// [`ConfigError`] where the file has no table `[llm.generator]`.
    pub fn generator(&self) -> Result<&LlmConfig, ConfigError> {
        self.table("generator", self.llm.generator.as_ref())
    }

    /// Returns the model of the segmenter `llm`.
    ///
    /// # Errors
    /// [`ConfigError`] where the file has no table `[llm.segmenter]`.
    pub fn segmenter(&self) -> Result<&LlmConfig, ConfigError> {
        self.table("segmenter", self.llm.segmenter.as_ref())
    }

    /// Returns the model that writes the contexts of chunks.
    ///
    /// # Errors
    /// [`ConfigError`] where the file has no table `[llm.context]`.
    pub fn context(&self) -> Result<&LlmConfig, ConfigError> {
        self.table("context", self.llm.context.as_ref())
    }

    fn table<'a>(&self, name: &str, found: Option<&'a LlmConfig>) -> Result<&'a LlmConfig, ConfigError> {
        let problem = || format!("it has no table [llm.{name}]: provider, model, base_url");
        found.ok_or_else(|| ConfigError::in_file(&self.path, &problem()))
    }

    /// Opens the cache and the budget; `cache` is the file where this one names none. `offline`: only the cache is asked. With
    /// the name of a `run`, what it spends is written down there, from nothing on; without, the budget is this process's.
    ///
    /// # Errors
    /// [`LlmError`] where the cache cannot be opened.
    pub fn open(&self, cache: &Path, offline: bool, run: Option<&str>) -> Result<Shared, LlmError> {
        let cache = self.llm.cache.as_deref().unwrap_or(cache);
        match run {
            Some(run) => Shared::for_run(cache, self.budget, offline, run, false),
            None => Shared::open(cache, self.budget, offline),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn the_file_of_an_experiment_will_do() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.toml");
        let model =
            "[llm.context]\nprovider = \"openai\"\nmodel = \"${NONE_SUCH:-m}\"\nbase_url = \"http://127.0.0.1:1/v1\"\n";
        std::fs::write(&path, format!("name = \"n\"\n[limits]\nbudget = 2.0\n{model}")).unwrap();
        let read = ModelFile::load(&path).unwrap();
        assert_eq!((read.context().unwrap().model.as_str(), read.budget), ("m", Some(2.0)));
        let missing = read.segmenter().unwrap_err().to_string();
        assert!(missing.contains("x.toml") && missing.contains("[llm.segmenter]"), "{missing}");
        for (from, to, says) in [
            ("provider", "povider", "povider"),
            (":-m", "", "NONE_SUCH"),
            ("model = \"${NONE_SUCH:-m}\"", "model = \"\"", "llm.context.model is empty"),
        ] {
            std::fs::write(&path, model.replace(from, to)).unwrap();
            let error = ModelFile::load(&path).unwrap_err().to_string();
            assert!(error.contains(says) && error.contains("x.toml"), "{error}");
        }
    }
}
