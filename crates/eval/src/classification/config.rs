use std::collections::BTreeMap;
use std::path::PathBuf;

use pericope_segment::registry::{SegmenterEntry, check_in};
use pericope_segment::spec::Spec;
use pericope_segment::split::Shares;
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::newsgroups::Part;
use crate::cell::{Cutoff, Setting};
use crate::config::{ConfigError, Configuration, Decision, ExperimentKind, expanded_path, known_limits};
use crate::metric::Metric;
use crate::resolved::{Resolved, Specified};

/// One experiment on classification: every document is cut, each segment becomes a vector of a frozen encoder, and a small
/// network reads the vectors and names the document's class. Unknown keys are errors.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassificationExperiment {
    /// `"classification"`, which says of which kind the file is.
    #[serde(default, skip_serializing)]
    pub kind: Option<ExperimentKind>,
    /// Name of the run; part of the default output folder.
    pub name: String,
    /// Most tokens of a segment where a chunker's spec names no limit; 0: no limit. Default: what the embedder reads of a passage, at most
    /// 512; 256 without one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<usize>,
    /// What makes the vectors, as `retrieval.embedder`: `minilm`, `fastembed:NAME`, `openai:NAME`.
    #[serde(default = "embedder")]
    pub embedder: String,
    /// What counts tokens, as `retrieval.tokenizer`. Default: that of the model that makes the vectors, else `minilm`
    /// where a segmenter reads with it, else `words`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tokenizer: Option<String>,
    /// The documents and their classes.
    pub data: ClassData,
    /// The ways of cutting that are compared, at least one.
    #[serde(default, rename = "chunker")]
    pub chunkers: Vec<SchemeConfig>,
    /// The network and its training.
    #[serde(default)]
    pub classifier: ClassifierConfig,
    /// What the run is to decide.
    #[serde(default)]
    pub compare: ClassCompare,
    /// Figures of others, shown beside ours.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub published: Vec<PublishedAccuracy>,
}

/// `[data]` of an experiment on classification.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClassData {
    /// The layout: `classes`, a file of `pericope dataset classes`; `projects`, the same made of `files`; `newsgroups`, the folder of
    /// 20news-bydate.
    pub kind: ClassDataKind,
    /// File or folder, relative to the working directory; `${VAR}` and `${VAR:-default}` are expanded.
    pub path: String,
    /// `projects`: files below `path`, each of which is a class with the name of the file up to its first dot.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<String>,
    /// `projects`: whether the names of all classes are taken out of all texts.
    #[serde(default)]
    pub mask: bool,
    /// `projects`: other words that are taken out with them, whole.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mask_words: Vec<String>,
    /// `newsgroups`: what is taken out of the messages: `headers`, `quotes`, `footers`.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub strip: Vec<Part>,
    /// Documents of a class at most, chosen by their ids (0: all).
    #[serde(default)]
    pub documents: usize,
    /// `projects`: words of a document at least.
    #[serde(default)]
    pub min_words: usize,
    /// `projects`: words of a document at most (0: any number).
    #[serde(default)]
    pub max_words: usize,
    /// Share of the documents to stop by, where the file does not say which; of `newsgroups`, of those to train on.
    #[serde(default = "validation")]
    pub validation: f64,
    /// Share of the documents to test on, where the file does not say which.
    #[serde(default = "test")]
    pub test: f64,
    /// Another seed, other documents in each part.
    #[serde(default = "seed")]
    pub seed: u64,
}

/// Layouts of documents with classes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClassDataKind {
    /// JSONL: `{"id", "label", "text"}`, and perhaps `"format"` and `"split"`.
    Classes,
    /// Files of documents, each a class.
    Projects,
    /// A folder with folders for training and testing, in each a folder a class, in each a file a message.
    Newsgroups,
}

/// `[[chunker]]` of an experiment on classification.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SchemeConfig {
    /// Name in tables and charts.
    pub name: String,
    /// Segmenter spec.
    pub spec: Spec,
}

/// `[classifier]`: an LSTM over the vectors, a layer behind its last state, and the classes (RoBERT).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClassifierConfig {
    /// Units of the LSTM.
    pub hidden: usize,
    /// Units of the layer behind it.
    pub head: usize,
    /// Learning rate of Adam. (Published: 5e-5, with 500 epochs.)
    pub learning_rate: f64,
    /// Passes over the documents, at most.
    pub epochs: usize,
    /// Epochs without a lower loss on the validation documents after which training ends.
    pub patience: usize,
    /// Documents of a step.
    pub batch: usize,
    /// A training for each; all chunkers have the same.
    pub seeds: Vec<u64>,
}

impl Default for ClassifierConfig {
    fn default() -> Self {
        Self { hidden: 128, head: 64, learning_rate: 1e-3, epochs: 100, patience: 10, batch: 16, seeds: vec![1, 2, 3] }
    }
}

/// `[compare]` of an experiment on classification: every other chunker is compared with the baseline by accuracy.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ClassCompare {
    /// The chunker that the others are compared with; default: the first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub baseline: Option<String>,
    /// The smallest difference that matters, a share; default 0.02.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub margin: Option<f64>,
}

/// `[[published]]` of an experiment on classification: an accuracy x 100, as papers print it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedAccuracy {
    /// What the source calls the system.
    pub system: String,
    /// The data that it was measured on.
    pub data: String,
    /// Accuracy on test documents x 100.
    pub accuracy: f64,
    /// Where the figure is from.
    pub source: String,
}

fn embedder() -> String {
    "minilm".into()
}

fn validation() -> f64 {
    0.1
}

fn test() -> f64 {
    0.3
}

fn seed() -> u64 {
    7
}

/// The smallest difference that matters where none is named.
const MARGIN: f64 = 0.02;

/// The name that stands for the mode of retrieval where nothing is retrieved.
const MODE: &str = "classification";

impl Configuration for ClassificationExperiment {
    const KIND: ExperimentKind = ExperimentKind::Classification;

    fn finish(&mut self, segmenters: &[SegmenterEntry]) -> Result<(), String> {
        self.check(segmenters)
    }
}

impl ClassificationExperiment {
    /// The path of the data with its variables expanded.
    ///
    /// # Errors
    /// [`ConfigError::Value`] names the variable that is not set.
    pub fn data_path(&self) -> Result<PathBuf, ConfigError> {
        expanded_path("data.path", &self.data.path)
    }

    /// What the run decides, all defaults in place. Documents are read whole: the cutoff has no meaning.
    ///
    /// # Errors
    /// In words, naming the key.
    pub fn decision(&self) -> Result<Decision, String> {
        let first = self.chunkers.first().ok_or("there is no [[chunker]] to evaluate")?;
        let baseline = self.compare.baseline.as_ref().unwrap_or(&first.name);
        if !self.chunkers.iter().any(|one| one.name == *baseline) {
            let names: Vec<&str> = self.chunkers.iter().map(|one| one.name.as_str()).collect();
            return Err(format!(
                "compare.baseline = \"{baseline}\" is not among the chunkers here: {}",
                names.join(", ")
            ));
        }
        let margin = self.compare.margin.unwrap_or(MARGIN);
        if !(margin > 0.0 && margin < 1.0) {
            return Err("compare.margin must be above 0 and below 1: the smallest difference that matters".into());
        }
        let setting = Setting { mode: MODE.into(), cutoff: Cutoff::K(1) };
        Ok(Decision { baseline: baseline.clone(), metric: Metric::ACCURACY, setting, margin })
    }

    /// The settings that the experiment comes down to; see [`Resolved::of`].
    ///
    /// # Errors
    /// [`ConfigError::Value`] for a spec whose values make no sense.
    pub fn resolved(
        &self,
        segmenters: &[SegmenterEntry],
        models: &BTreeMap<String, String>,
    ) -> Result<Resolved, ConfigError> {
        let decision = self.decision().map_err(ConfigError::Value)?;
        let mut config = serde_json::to_value(self).unwrap_or_default();
        if let Some(config) = config.as_object_mut() {
            config.insert("compare".into(), json!({ "baseline": decision.baseline, "margin": decision.margin }));
        }
        let limits = known_limits(self.max_tokens, &self.embedder);
        let specified: Vec<Specified<'_>> = (self.chunkers.iter())
            .map(|one| Specified { list: "chunker", name: &one.name, spec: &one.spec, limits })
            .collect();
        Resolved::of(Self::KIND, &config, &specified, segmenters, models)
    }

    fn check(&self, segmenters: &[SegmenterEntry]) -> Result<(), String> {
        self.decision()?;
        for (at, one) in self.chunkers.iter().enumerate() {
            if one.name.trim().is_empty() {
                return Err("a chunker has an empty name: tables tell them apart by it".into());
            }
            if self.chunkers.iter().take(at).any(|other| other.name == one.name) {
                return Err(format!("two chunkers are named '{}'", one.name));
            }
            check_in(segmenters, &one.spec).map_err(|e| format!("chunker '{}': {e}", one.name))?;
        }
        if self.embedder == "none" {
            return Err("embedder = \"none\": a classifier reads vectors".into());
        }
        self.data.check()?;
        let seeds = &self.classifier.seeds;
        if seeds.is_empty()
            || seeds.iter().enumerate().any(|(at, seed)| seeds.iter().take(at).any(|other| other == seed))
        {
            return Err("classifier.seeds must be at least one, and all different".into());
        }
        match self.published.iter().find(|row| !(0.0..=100.0).contains(&row.accuracy)) {
            Some(row) => Err(format!("published '{}': accuracy is given x 100, 0 to 100", row.system)),
            None => Ok(()),
        }
    }
}

impl ClassData {
    /// The shares by which documents are parted.
    #[must_use]
    pub fn shares(&self) -> Shares {
        Shares { validation: self.validation, test: self.test, seed: self.seed }
    }

    fn check(&self) -> Result<(), String> {
        let other = |keys: &str, kind: &str| Err(format!("data.{keys} is for data.kind = \"{kind}\" alone"));
        let makes = self.kind == ClassDataKind::Projects;
        let chooses = self.min_words > 0 || self.max_words > 0;
        if !makes && (self.mask || !self.files.is_empty() || !self.mask_words.is_empty() || chooses) {
            return other("files, data.mask, data.mask_words, data.min_words, data.max_words", "projects");
        }
        if self.kind != ClassDataKind::Newsgroups && !self.strip.is_empty() {
            return other("strip", "newsgroups");
        }
        if makes && self.files.len() < 2 {
            return Err("data.files: name at least two files, each of which is a class".into());
        }
        if !self.mask_words.is_empty() && !self.mask {
            return Err("data.mask_words has no effect without data.mask = true".into());
        }
        self.shares().check().map_err(|problem| format!("data: {problem}"))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::path::Path;

    use pericope_segment::registry::list;

    use super::*;
    use crate::config::ExperimentFile;

    const SMALL: &str = "kind = \"classification\"\nname = \"n\"\n[data]\nkind = \"classes\"\npath = \"c.jsonl\"\n\
        [[chunker]]\nname = \"a\"\nspec = \"fixed:tokens=200,overlap=150\"\n[[chunker]]\nname = \"b\"\nspec = \"paragraph\"\n";

    fn parse(text: &str, overrides: &[&str]) -> Result<ClassificationExperiment, String> {
        let overrides: Vec<String> = overrides.iter().map(|text| (*text).to_owned()).collect();
        let file = ExperimentFile::parse(text.to_owned(), Path::new("x.toml")).map_err(|e| e.to_string())?;
        ClassificationExperiment::of_file(&file, &overrides, list()).map_err(|e| e.to_string())
    }

    #[test]
    fn defaults_are_the_published_sizes_and_the_first_chunker() {
        let one = parse(SMALL, &[]).unwrap();
        assert_eq!((one.classifier.hidden, one.classifier.head, one.embedder.as_str()), (128, 64, "minilm"));
        let decision = one.decision().unwrap();
        assert_eq!((decision.baseline.as_str(), decision.margin, decision.metric), ("a", 0.02, Metric::ACCURACY));
        let settings = one.resolved(list(), &BTreeMap::new()).unwrap();
        for (key, value) in [
            ("kind", "\"classification\""),
            ("compare.baseline", "\"a\""),
            ("classifier.seeds", "[1,2,3]"),
            ("data.test", "0.3"),
            ("chunker.a.overlap", "\"150\""),
            ("chunker.b.max_tokens", "\"256\""),
        ] {
            assert_eq!(settings.settings().get(key).map(ToString::to_string).as_deref(), Some(value), "{key}");
        }
        let again = toml::to_string(&one).unwrap();
        assert_eq!(parse(&format!("kind = \"classification\"\n{again}"), &[]).unwrap().chunkers, one.chunkers);
    }

    #[test]
    fn mistakes_are_one_line_errors() {
        for (overrides, says) in [
            (&["compare.baseline=c"][..], "not among the chunkers here: a, b"),
            (&["compare.margin=1"], "compare.margin"),
            (&["chunker.b.spec=paragaph"], "chunker 'b'"),
            (&["classifier.seeds=[1,1]"], "all different"),
            (&["embedder=none"], "reads vectors"),
            (&["data.kind=projects"], "at least two files"),
            (&["data.strip=[\"headers\"]"], "newsgroups"),
            (&["data.mask=true"], "projects"),
            (&["data.test=0.9", "data.validation=0.2"], "more than 1"),
            (&["classifier.hiden=3"], "hiden"),
        ] {
            let error = parse(SMALL, overrides).unwrap_err();
            assert!(error.contains(says) && !error.contains('\n'), "{error:?} does not say {says}");
        }
        assert!(parse("kind = \"retrieval\"\n", &[]).unwrap_err().contains("takes kind = \"classification\""));
    }
}
