use std::collections::HashMap;
use std::sync::Arc;

use pericope_api::{
    Boundaries, Document, KnownCount, SegmentError, SegmentLabel, SegmentTree, SegmentTrees, Segmentation, Segmenter,
    SentenceEncoder, Span, TokenCounter, TokenMap,
};
use pericope_encode::{Device, ModelError};
use pericope_segment::Resources;
use pericope_segment::language;
use pericope_segment::registry::{BuiltSegmenter, Needs, SegmenterEntry, SettingKey, SpecArgs};
use pericope_segment::spec::SpecError;

use super::checkpoint::{CHECKPOINT, Checkpoint, Cut, Reads};
use super::model::HierCrf;
use super::reading::{Reading, TopicLabel};
use super::shipped::shipped;
use super::tree::{Node, Tree};
use crate::checkpoint::SHIPPED;
use crate::model_cache::ModelCache;
use crate::rows::ROWS;
use crate::sentence_vectors::{SentenceReader, Wanted};

pub(crate) const HIERCRF: SegmenterEntry = SegmenterEntry {
    name: "hiercrf",
    summary: "a trained model's tree of segments, from sentence embeddings, words and paragraphs",
    keys: &[
        SettingKey {
            name: "model",
            default: SHIPPED,
            doc: "`shipped`, or a checkpoint: a file or folder of `pericope train hiercrf`",
        },
        SettingKey {
            name: "level",
            default: "",
            doc: "1, 2, ...: that level of the tree, 1 the coarsest; `size`: the coarsest cut whose chunks all fit \
                  max_tokens; `scores`: boundary probabilities above tau; the model's own by default",
        },
    ],
    example: "hiercrf:level=2",
    needs: Needs::Model,
    needs_of: None,
    has_scores: true,
    build,
};

fn build(args: &SpecArgs<'_>, resources: &dyn Resources) -> Result<BuiltSegmenter, SpecError> {
    let threshold = args.maybe_share("tau")?;
    let level = match args.get("level") {
        None | Some("scores" | "size") => None,
        Some(text) => match text.parse::<usize>() {
            Ok(level) if level > 0 => Some(level),
            _ => return Err(args.bad("level", text, "a whole number of at least 1, `size` or `scores`")),
        },
    };
    if threshold.is_some() && args.get("level").is_some_and(|level| level != "scores") {
        return Err(
            args.unavailable("`tau` is the threshold of boundary probabilities: leave it or `level` out".into())
        );
    }
    args.get("level").into_iter().for_each(|level| args.settle("level", level));
    let name = args.text("model", SHIPPED);
    if name == SHIPPED {
        args.settle("model_sha256", pericope_weights_hiercrf::SHA256);
    }
    args.before_files()?;
    let unavailable = |e: &dyn std::fmt::Display| args.unavailable(e.to_string());
    let model = loaded(name).map_err(|e| unavailable(&e))?;
    let encoder = resources.encoder().map_err(|reason| args.unavailable(reason))?;
    let settings = model.settings();
    let cut = match (args.get("level"), level, settings.cut) {
        (_, Some(level), _) => CutBy::Level(level),
        (Some("size"), ..) => {
            let max = args.max_tokens().ok_or_else(|| args.unavailable("level=size needs max_tokens".into()))?;
            CutBy::Size { max, counter: resources.counter().map_err(|reason| args.unavailable(reason))? }
        }
        (None, _, Cut::Level) if threshold.is_none() => CutBy::Level(settings.level),
        _ => CutBy::Scores(threshold.unwrap_or(settings.threshold)),
    };
    let built = HierCrfSegmenter::new(model, encoder).map_err(|reason| args.unavailable(reason))?;
    Ok(BuiltSegmenter::new(built.with(cut)))
}

/// The shipped checkpoint, a file, or `hiercrf.safetensors` in a folder.
///
/// # Errors
/// [`ModelError`], naming the file.
pub fn open(name: &str) -> Result<Checkpoint, ModelError> {
    Checkpoint::named(name, CHECKPOINT, shipped)
}

/// By checksum: a file that changed is another model.
static LOADED: ModelCache<HierCrf> = ModelCache::new();

fn loaded(name: &str) -> Result<Arc<HierCrf>, ModelError> {
    let checkpoint = open(name)?;
    // On the CPU everywhere: the recurrence is quick there, and the tables of spans are worked out there anyway.
    LOADED.get(checkpoint.sha256(), || HierCrf::load(&checkpoint, &Device::Cpu))
}

/// The way in which a tree becomes one segmentation.
#[derive(Clone)]
pub enum CutBy {
    /// The gaps whose boundary probability lies above this threshold, in `[0, 1]`.
    Scores(f64),
    /// The tree's segmentation at this level, 1 the coarsest.
    Level(usize),
    /// The coarsest cut through the tree whose segments all have at most so many tokens, special tokens included. A run of
    /// sentences that is longer and has no node inside stays whole.
    Size {
        /// Tokens at most.
        max: usize,
        /// Counts them.
        counter: Arc<dyn TokenCounter>,
    },
}

/// Segments a document by the tree that a [`HierCrf`] finds in it.
///
/// Code and tables are passed over. Every sentence is embedded once. Memory beside the document's own: some windows, and a few
/// numbers a sentence.
#[derive(Clone)]
pub struct HierCrfSegmenter {
    model: Arc<HierCrf>,
    reader: SentenceReader,
    cut: CutBy,
}

impl HierCrfSegmenter {
    /// With the cut that suited best on the model's validation documents.
    ///
    /// # Errors
    /// Where the encoder is not the one whose vectors the model was trained on.
    pub fn new(model: Arc<HierCrf>, encoder: Arc<dyn SentenceEncoder>) -> Result<Self, String> {
        let settings = model.settings();
        let (name, fingerprint) = (settings.encoder.as_str(), settings.encoder_fingerprint.as_str());
        Wanted { name, fingerprint, dimension: settings.sizes.input }.check(encoder.as_ref())?;
        let cut = match settings.cut {
            Cut::Scores => CutBy::Scores(settings.threshold),
            Cut::Level => CutBy::Level(settings.level),
        };
        Ok(Self { model, reader: SentenceReader::new(encoder), cut })
    }

    /// With another cut.
    #[must_use]
    pub fn with(self, cut: CutBy) -> Self {
        Self { cut, ..self }
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &HierCrf {
        &self.model
    }

    /// The tree, the scores and the labels of a document, in its sentences: what is not language belongs to the sentence before it.
    ///
    /// # Errors
    /// As [`Segmenter::segment`].
    pub fn read(&self, document: &Document) -> Result<Reading, SegmentError> {
        let read = language::sentences(document);
        let mut vectors = |sentences: &[usize]| self.reader.vectors(document, sentences);
        let found = self.model.read_document(document, &mut vectors)?;
        let n = document.len();
        let place = |sentence: usize| match sentence {
            0 => 0,
            _ => read.get(sentence).copied().unwrap_or(n),
        };
        let node = |node: &Node| Node { start: place(node.start), end: place(node.end), level: node.level };
        let topic = |label: &TopicLabel| TopicLabel { start: place(label.start), end: place(label.end), ..*label };
        Ok(Reading {
            tree: Tree::new(n, found.tree.nodes().iter().map(node)).map_err(SegmentError::Unsupported)?,
            scores: language::spread(&found.scores, &read, n),
            gaps: match found.gaps.is_empty() {
                true => Vec::new(),
                false => language::spread(&found.gaps, &read, n),
            },
            topics: found.topics.iter().map(topic).collect(),
        })
    }
}

impl Segmenter for HierCrfSegmenter {
    fn fingerprint(&self) -> String {
        let words = match self.model.settings().reads {
            Reads::Rows => format!("{}:{ROWS}:", language::WORDS),
            Reads::Vectors => String::new(),
        };
        format!("{}:{words}{}", self.model.fingerprint(), self.reader.encoder.fingerprint())
    }

    fn tokens_read(&self) -> Option<u64> {
        self.reader.tokens_read()
    }

    fn segment(&self, document: &Document) -> Result<Segmentation, SegmentError> {
        let found = self.read(document)?;
        let after = match &self.cut {
            CutBy::Scores(threshold) => {
                return Ok(Segmentation::Scores { scores: found.scores, threshold: *threshold });
            }
            CutBy::Level(level) => found.tree.level(*level),
            CutBy::Size { max, counter } => {
                let map = TokenMap::new(&document.source, counter.as_ref());
                let most = max.saturating_sub(counter.special_tokens());
                found.tree.cut(|node| node.is_empty() || map.count(document.span_of(node.start..node.end)) <= most)
            }
        };
        Ok(Segmentation::Boundaries(Boundaries::new(document.len(), after)?))
    }

    fn known_count(&self) -> Option<&dyn KnownCount> {
        Some(self)
    }

    fn trees(&self) -> Option<&dyn SegmentTrees> {
        Some(self)
    }
}

impl SegmentTrees for HierCrfSegmenter {
    fn tree(&self, document: &Document) -> Result<SegmentTree, SegmentError> {
        let found = self.read(document)?;
        let names = &self.model.settings().topics;
        let label = |topic: &TopicLabel| {
            let label = SegmentLabel { name: names.get(topic.topic)?.clone(), probability: topic.probability };
            Some(((topic.start, topic.end), label))
        };
        let labels: HashMap<(usize, usize), SegmentLabel> = found.topics.iter().filter_map(label).collect();
        Ok(found.tree.nested(|node| SegmentTree {
            span: match node.is_empty() {
                true => Span::new(0, 0),
                false => document.span_of(node.start..node.end),
            },
            score: node.start.checked_sub(1).and_then(|gap| found.scores.get(gap).copied()),
            label: labels.get(&(node.start, node.end)).cloned(),
            children: Vec::new(),
        }))
    }
}

impl KnownCount for HierCrfSegmenter {
    /// By scores: the gaps with the highest ones. Else the coarsest cut through the tree with so many segments; where it has
    /// none, the likelier gaps of the level at which there are too many.
    fn segment_into(&self, document: &Document, segments: usize) -> Result<Boundaries, SegmentError> {
        if document.is_empty() {
            return Ok(Boundaries::none(0));
        }
        let found = self.read(document)?;
        let wanted = segments.saturating_sub(1);
        if matches!(self.cut, CutBy::Scores(_)) {
            return Ok(Boundaries::top(&found.scores, wanted));
        }
        let depth = |gap: &Option<usize>| gap.unwrap_or(usize::MAX);
        let mut gaps: Vec<(usize, usize, f64)> = (found.tree.gaps().iter().zip(&found.scores).enumerate())
            .map(|(gap, (level, score))| (depth(level), gap + 1, *score))
            .collect();
        gaps.sort_by(|a, b| a.0.cmp(&b.0).then(b.2.total_cmp(&a.2)).then(a.1.cmp(&b.1)));
        gaps.truncate(wanted);
        let mut after: Vec<usize> = gaps.into_iter().map(|(_, after, _)| after).collect();
        after.sort_unstable();
        Ok(Boundaries::new(document.len(), after)?)
    }
}
