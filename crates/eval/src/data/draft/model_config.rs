//! The model that writes questions, as a configuration names it.

use std::path::Path;

use pericope_llm::{LlmConfig, LlmError, Shared};

use crate::config::{ConfigError, ModelFile};

/// The model of `[llm.generator]`, with what it may spend. Other tables of the file are left alone, so that it may be the
/// file of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelConfig {
    /// The model.
    pub generator: LlmConfig,
    /// `limits.budget`, in the currency of `llm.generator.price`.
    pub budget: Option<f64>,
    file: ModelFile,
}

impl ModelConfig {
    /// Reads a file.
    ///
    /// # Errors
    /// [`ConfigError`], whose message names the file and the key.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let file = ModelFile::load(path)?;
        Ok(Self { generator: file.generator()?.clone(), budget: file.budget, file })
    }

    /// Opens the cache and the budget; `cache` is the file where the configuration names none. `offline`: only the cache is
    /// asked.
    ///
    /// # Errors
    /// [`LlmError`] where the cache cannot be opened.
    pub fn open(&self, cache: &Path, offline: bool) -> Result<Shared, LlmError> {
        self.file.open(cache, offline, Some("dataset draft"))
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
        let model = "[llm.generator]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"http://127.0.0.1:1/v1\"\n";
        std::fs::write(&path, format!("name = \"n\"\n[limits]\nbudget = 2.0\n{model}")).unwrap();
        let read = ModelConfig::load(&path).unwrap();
        assert_eq!((read.generator.model.as_str(), read.budget), ("m", Some(2.0)));
        std::fs::write(&path, "name = \"n\"\n").unwrap();
        assert!(ModelConfig::load(&path).unwrap_err().to_string().contains("[llm.generator]"));
        std::fs::write(&path, model.replace("provider", "povider")).unwrap();
        assert!(ModelConfig::load(&path).unwrap_err().to_string().contains("povider"));
    }
}
