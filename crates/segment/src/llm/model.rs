use std::path::PathBuf;

use crate::spec::Spec;

/// What a spec says of the language model that it asks. What is not given is somebody else's to say: the file, an experiment's
/// table, the defaults.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct LanguageModel {
    /// A file with a table `[llm.segmenter]`.
    pub config: Option<PathBuf>,
    /// `openai`, `anthropic` or `candle`.
    pub provider: Option<String>,
    /// The model's name, or the path of a GGUF file.
    pub model: Option<String>,
    /// The address of the API.
    pub base_url: Option<String>,
    /// The environment variable that holds the key.
    pub api_key_env: Option<String>,
}

impl LanguageModel {
    /// Returns the models that a spec asks, itself or in the segmenters that it [refers to](Spec::references).
    ///
    /// ```
    /// use pericope_segment::llm::LanguageModel;
    /// use pericope_segment::spec::Spec;
    ///
    /// let found = LanguageModel::all_of(&Spec::parse("same-size:reference=(llm:model=m)")?);
    /// assert_eq!(found[0].model.as_deref(), Some("m"));
    /// assert!(LanguageModel::all_of(&Spec::parse("window")?).is_empty());
    /// # Ok::<(), pericope_segment::spec::SpecError>(())
    /// ```
    #[must_use]
    pub fn all_of(spec: &Spec) -> Vec<Self> {
        let own = (spec.name == super::LLM.name).then(|| Self::of(spec));
        let references = spec.references();
        own.into_iter().chain(references.iter().flat_map(Self::all_of)).collect()
    }

    /// Reads the settings of a spec of `llm`.
    #[must_use]
    pub fn of(spec: &Spec) -> Self {
        let text = |key| spec.get(key).map(str::to_owned);
        Self {
            config: text("config").map(PathBuf::from),
            provider: text("provider"),
            model: text("model"),
            base_url: text("base_url"),
            api_key_env: text("api_key_env"),
        }
    }
}
