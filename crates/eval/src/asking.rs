//! Language models that are asked before anything is searched: where content shifts, and what places a chunk in its document.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use pericope_llm::{Client, LlmConfig, LlmContextWriter, LlmError, LlmShiftFinder, ProviderKind, Shared};
use pericope_segment::llm::LanguageModel;

use crate::config::{LlmTables, ModelFile};

/// Opens the models of segmenters and of contexts; all share a cache and a budget, and those of one configuration a client.
pub struct Asking {
    shared: Shared,
    segmenter: Option<LlmConfig>,
    context: Option<LlmConfig>,
    clients: Mutex<Vec<(LlmConfig, Arc<Client>)>>,
}

impl Asking {
    /// Takes the tables `[llm.segmenter]` and `[llm.context]`.
    #[must_use]
    pub fn new(tables: &LlmTables, shared: Shared) -> Self {
        let (segmenter, context) = (tables.segmenter.clone(), tables.context.clone());
        Self { shared, segmenter, context, clients: Mutex::default() }
    }

    /// Opens the model that a spec of the segmenter `llm` asks.
    ///
    /// # Errors
    /// [`LlmError`] that aborts a run.
    pub fn shift_finder(&self, wanted: &LanguageModel) -> Result<LlmShiftFinder, LlmError> {
        let config = segmenter_config(wanted, self.segmenter.as_ref())?;
        LlmShiftFinder::new(self.client(&config)?, &config)
    }

    /// Opens the model of `[llm.context]`.
    ///
    /// # Errors
    /// [`LlmError`] that aborts a run.
    pub fn context_writer(&self) -> Result<LlmContextWriter, LlmError> {
        let missing = || LlmError::Config("there is no table [llm.context]: provider, model, base_url".into());
        let config = self.context.as_ref().ok_or_else(missing)?;
        LlmContextWriter::new(self.client(config)?, config)
    }

    /// A file of weights is loaded once, however many chunkers ask it.
    fn client(&self, config: &LlmConfig) -> Result<Arc<Client>, LlmError> {
        let mut clients = self.clients.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, client)) = clients.iter().find(|(known, _)| known == config) {
            return Ok(Arc::clone(client));
        }
        let client = Arc::new(Client::from_config(config, &self.shared)?);
        clients.push((config.clone(), Arc::clone(&client)));
        Ok(client)
    }
}

/// Opens the model that a spec of the segmenter `llm` asks, where there is no experiment: its settings, and the file that it names.
/// `cache` is the file of the response cache where that names none.
///
/// # Errors
/// [`LlmError`] that aborts a run.
pub fn lone_shift_finder(wanted: &LanguageModel, cache: &Path, offline: bool) -> Result<LlmShiftFinder, LlmError> {
    let file = file_of(wanted)?;
    let config = segmenter_config(wanted, None)?;
    let shared = match file {
        Some(file) => file.open(cache, offline, None)?,
        None => Shared::open(cache, None, offline)?,
    };
    LlmShiftFinder::from_config(&config, &shared)
}

/// Opens the model of `[llm.context]` in a file, where there is no experiment; `cache` as in [`lone_shift_finder`].
///
/// # Errors
/// [`LlmError`] that aborts a run.
pub fn lone_context_writer(file: &Path, cache: &Path, offline: bool) -> Result<LlmContextWriter, LlmError> {
    let wrong = |error: crate::config::ConfigError| LlmError::Config(error.to_string());
    let file = ModelFile::load(file).map_err(wrong)?;
    let shared = file.open(cache, offline, None)?;
    LlmContextWriter::from_config(file.context().map_err(wrong)?, &shared)
}

fn file_of(wanted: &LanguageModel) -> Result<Option<ModelFile>, LlmError> {
    let load = |path: &std::path::PathBuf| ModelFile::load(path).map_err(|error| LlmError::Config(error.to_string()));
    wanted.config.as_ref().map(load).transpose()
}

/// The configuration of the model that a spec asks: what the spec says, else its file, else the experiment's `table`.
///
/// # Errors
/// [`LlmError::Config`] where nobody names a model, and for values that make no sense.
pub fn segmenter_config(wanted: &LanguageModel, table: Option<&LlmConfig>) -> Result<LlmConfig, LlmError> {
    let wrong = |problem: String| LlmError::Config(problem);
    let file = file_of(wanted)?;
    let table = match &file {
        Some(file) => Some(file.segmenter().map_err(|error| wrong(error.to_string()))?),
        None => table,
    };
    let provider = wanted.provider.clone().map(ProviderKind::try_from).transpose().map_err(wrong)?;
    let mut config = match (table, &wanted.model) {
        (Some(table), _) => table.clone(),
        (None, Some(model)) => LlmConfig::new(provider.unwrap_or(ProviderKind::OpenAi), model),
        (None, None) => {
            return Err(wrong(
                "it needs a model: llm:model=NAME,base_url=URL, llm:config=FILE.toml, or in an experiment a table [llm.segmenter]"
                    .into(),
            ));
        }
    };
    config.provider = provider.unwrap_or(config.provider);
    config.model = wanted.model.clone().unwrap_or(config.model);
    config.base_url = wanted.base_url.clone().or(config.base_url);
    config.api_key_env = wanted.api_key_env.clone().or(config.api_key_env);
    config.check().map_err(wrong)?;
    Ok(config)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use pericope_segment::spec::Spec;

    use super::*;

    fn wanted(spec: &str) -> LanguageModel {
        LanguageModel::of(&Spec::parse(spec).unwrap())
    }

    #[test]
    fn a_spec_outranks_its_file_and_that_the_table() {
        let table = LlmConfig { max_tokens: 64, ..LlmConfig::new(ProviderKind::Anthropic, "large") };
        let of = |spec: &str, table: Option<&LlmConfig>| segmenter_config(&wanted(spec), table);
        assert_eq!(of("llm", Some(&table)).unwrap(), table);
        let small = of("llm:model=small,tokens=300", Some(&table)).unwrap();
        assert_eq!((small.model.as_str(), small.provider, small.max_tokens), ("small", ProviderKind::Anthropic, 64));
        let alone = of("llm:model=m,base_url=http://127.0.0.1:1/v1", None).unwrap();
        assert_eq!((alone.provider, alone.base_url.as_deref()), (ProviderKind::OpenAi, Some("http://127.0.0.1:1/v1")));
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("m.toml");
        std::fs::write(&file, "[llm.segmenter]\nprovider = \"candle\"\nmodel = \"x.gguf\"\n").unwrap();
        let of_file = of(&format!("llm:config={}", file.display()), Some(&table)).unwrap();
        assert_eq!((of_file.provider, of_file.model.as_str()), (ProviderKind::Candle, "x.gguf"));
        for (spec, says) in [
            ("llm", "it needs a model"),
            ("llm:tokens=300", "[llm.segmenter]"),
            ("llm:model=m,provider=opnai", "choose from openai"),
            ("llm:config=none-such.toml", "none-such.toml"),
        ] {
            let error = of(spec, None).unwrap_err().to_string();
            assert!(error.contains(says), "{spec}: {error}");
        }
    }
}
