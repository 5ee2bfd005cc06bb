use pericope_api::Segmenter;

use super::args::SpecArgs;
use crate::policy::Overlap;
use crate::resources::Resources;
use crate::spec::{Spec, SpecError};

/// A setting of a segmenter, as help texts show it.
#[derive(Debug, Clone, Copy)]
pub struct SettingKey {
    /// The key in a spec.
    pub name: &'static str,
    /// The value that holds where the spec gives none; empty for settings without a default.
    pub default: &'static str,
    /// A description in a few words.
    pub doc: &'static str,
}

/// The models that a segmenter reads with, in the order of what they ask of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Needs {
    /// No model: the segmenter runs on any machine.
    None,
    /// The encoder of [`Resources::encoder`].
    Encoder,
    /// A trained model of its own, which it loads itself.
    Model,
    /// A language model: a service, or a file that is run in this process.
    LanguageModel,
}

impl Needs {
    /// True for segmenters that read with no model.
    #[must_use]
    pub fn is_none(self) -> bool {
        self == Needs::None
    }
}

/// A segmenter as help texts show it and specs name it.
#[derive(Debug, Clone, Copy)]
pub struct SegmenterEntry {
    /// The name in a spec.
    pub name: &'static str,
    /// A description in one line, without a full stop.
    pub summary: &'static str,
    /// The segmenter's own settings; [`POLICY_KEYS`] come on top.
    pub keys: &'static [SettingKey],
    /// A spec that shows how it is used.
    pub example: &'static str,
    /// The models that it reads with under its default settings.
    pub needs: Needs,
    /// The models that it reads with under the settings of a spec, for segmenters where these decide.
    pub needs_of: Option<fn(&Spec) -> Needs>,
    /// True for segmenters that score gaps, and so take the setting `tau`.
    pub has_scores: bool,
    /// Builds the segmenter from a spec's settings.
    pub build: fn(&SpecArgs<'_>, &dyn Resources) -> Result<BuiltSegmenter, SpecError>,
}

/// The segmenter that a [`SegmenterEntry`] builds, and what else its spec came down to.
pub struct BuiltSegmenter {
    pub(super) segmenter: Box<dyn Segmenter>,
    pub(super) resolved: Option<Spec>,
    pub(super) overlap: Option<Overlap>,
    pub(super) finished: bool,
}

impl BuiltSegmenter {
    /// Wraps a segmenter whose spec says all.
    pub fn new(segmenter: impl Segmenter + 'static) -> Self {
        Self { segmenter: Box::new(segmenter), resolved: None, overlap: None, finished: false }
    }

    /// Adds the spec of what it came down to, for segmenters that depend on more than their settings (`same-size`).
    #[must_use]
    pub fn resolved(mut self, spec: Spec) -> Self {
        self.resolved = Some(spec);
        self
    }

    /// Says that its chunks are [finished](pericope_api::Segmentation::Chunks): default limits do not apply to them.
    #[must_use]
    pub fn finished(mut self) -> Self {
        self.finished = true;
        self
    }

    /// Adds an overlap other than whole sentences of the chunk before.
    #[must_use]
    pub fn with_overlap(mut self, overlap: Overlap) -> Self {
        self.overlap = Some(overlap);
        self
    }
}

/// The encoder of a segmenter that reads with one, by the name that [`Resources::named_encoder`] takes. It takes the place of
/// [`Resources::encoder`] while the segmenter is built.
pub(crate) const EMBEDDER: SettingKey = SettingKey {
    name: "embedder",
    default: "",
    doc: "what embeds the sentences: minilm, static (quick), or another name of an embedder; by default minilm, or what \
          --segment-embedder says",
};

/// The settings of the size policy, which every segmenter takes (`tau` only segmenters with scores).
pub const POLICY_KEYS: &[SettingKey] = &[
    SettingKey { name: "max_tokens", default: "", doc: "most tokens a chunk, special tokens included; 0: no limit" },
    SettingKey {
        name: "min_tokens",
        default: "0",
        doc: "a chunk has fewer tokens only where it fits beside none of its neighbours",
    },
    SettingKey {
        name: "target_tokens",
        default: "0",
        doc: "chunks of about this many tokens are sought; 0: no target",
    },
    SettingKey {
        name: "overlap",
        default: "0",
        doc: "whole sentences repeated from the chunk before (fixed:tokens=N: tokens)",
    },
    SettingKey {
        name: "tau",
        default: "",
        doc: "threshold on boundary scores, 0 to 1, of segmenters that have scores; the segmenter's own where it is not given",
    },
];
