//! The model that writes questions, as a configuration names it.

use std::path::{Path, PathBuf};

use pericope_llm::{LlmConfig, LlmError, Shared};
use serde::Deserialize;

use crate::config::{ConfigError, Limits, LlmTables};

/// The model of `[llm.generator]`, with what it may spend. Other tables of the file are left alone, so that it may be the
/// file of an experiment.
#[derive(Debug, Clone, PartialEq)]
pub struct ModelConfig {
    /// The model.
    pub generator: LlmConfig,
    /// `llm.cache`: the file of the response cache.
    pub cache: Option<PathBuf>,
    /// `limits.budget`, in the currency of `llm.generator.price`.
    pub budget: Option<f64>,
}

#[derive(Deserialize)]
struct Tables {
    #[serde(default)]
    llm: LlmTables,
    #[serde(default)]
    limits: Limits,
}

impl ModelConfig {
    /// Reads a file.
    ///
    /// # Errors
    /// [`ConfigError`], whose message names the file and the key.
    pub fn load(path: &Path) -> Result<Self, ConfigError> {
        let text =
            pericope_util::read_text(path).map_err(|source| ConfigError::Io { path: path.to_owned(), source })?;
        let Tables { llm, limits } = crate::config::read(&text, path, &[])?;
        let problem = "it has no table [llm.generator]: provider, model, base_url";
        let generator = llm.generator.ok_or_else(|| ConfigError::in_file(path, problem))?;
        generator.check().map_err(|problem| ConfigError::in_file(path, &format!("llm.generator.{problem}")))?;
        Ok(Self { generator, cache: llm.cache, budget: limits.budget })
    }

    /// Opens the cache and the budget; `cache` is the file where the configuration names none. `offline`: only the cache is
    /// asked.
    ///
    /// # Errors
    /// [`LlmError`] where the cache cannot be opened.
    pub fn open(&self, cache: &Path, offline: bool) -> Result<Shared, LlmError> {
        let cache = self.cache.as_deref().unwrap_or(cache);
        if let Some(folder) = cache.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            std::fs::create_dir_all(folder)
                .map_err(|e| LlmError::Config(format!("cannot make {}: {e}", folder.display())))?;
        }
        Shared::for_run(cache, self.budget, offline, "dataset draft", false)
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
