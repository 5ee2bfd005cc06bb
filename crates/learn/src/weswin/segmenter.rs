use std::path::Path;
use std::sync::Arc;

use pericope_api::{Document, EncodeError, SegmentError, Segmentation, Segmenter};
use pericope_segment::Resources;
use pericope_segment::language;
use pericope_segment::registry::{BuiltSegmenter, Needs, SegmenterEntry, SettingKey, SpecArgs};
use pericope_segment::spec::SpecError;

use super::checkpoint::{CHECKPOINT, Checkpoint};
use super::model::WeSWin;
use super::plan::Plan;
use super::shipped::shipped;
use super::weighting::Weighting;
use crate::checkpoint::SHIPPED;
use crate::model_cache::ModelCache;
use crate::sentences::Sentences;
use pericope_encode::ModelError;

pub(crate) const WESWIN: SegmenterEntry = SegmenterEntry {
    name: "weswin",
    summary: "a trained model's boundary probabilities, read in overlapping windows (English)",
    keys: &[
        SettingKey {
            name: "model",
            default: SHIPPED,
            doc: "a checkpoint: `shipped`, or a file or folder of `pericope train`",
        },
        SettingKey {
            name: "partition",
            default: "",
            doc: "cr-K, clr-K, ss-K, si-K, or (adaptive:base=cr-1,refine=ss-4,margin=0.2); the model's own by default",
        },
        SettingKey {
            name: "weights",
            default: "",
            doc: "mean:uniform, mean:lin_k5_e0.1, mean:poly_k8_p2_e0.1, mean:lob_k12_e0.1; the model's own by default",
        },
    ],
    example: "weswin:partition=ss-4",
    needs: Needs::Model,
    needs_of: None,
    has_scores: true,
    build,
};

fn build(args: &SpecArgs<'_>, _: &dyn Resources) -> Result<BuiltSegmenter, SpecError> {
    let plan = args.get("partition").map(str::parse::<Plan>).transpose();
    let plan = plan.map_err(|e| args.unavailable(format!("partition: {e}")))?;
    let weighting = args.get("weights").map(str::parse::<Weighting>).transpose();
    let weighting = weighting.map_err(|e| args.unavailable(format!("weights: {e}")))?;
    let threshold = args.maybe_share("tau")?;
    let name = args.text("model", SHIPPED);
    if name == SHIPPED {
        let settings = Checkpoint::settings_of(Path::new(SHIPPED), pericope_weights_weswin::BYTES);
        let own = settings.map_err(|e| args.unavailable(e.to_string()))?;
        args.settle("model_sha256", pericope_weights_weswin::SHA256);
        args.settle("partition", args.get("partition").unwrap_or(&own.partition));
        args.settle("weights", args.get("weights").unwrap_or(&own.weights));
        args.settle("tau", threshold.unwrap_or(own.threshold));
    }
    args.before_files()?;
    let model = loaded(name).map_err(|e| args.unavailable(e.to_string()))?;
    let segmenter = WeSWinSegmenter::new(model).and_then(|segmenter| segmenter.with(plan, weighting, threshold));
    segmenter.map(BuiltSegmenter::new).map_err(|reason| args.unavailable(reason))
}

/// The shipped checkpoint, a file, or `weswin.safetensors` in a folder.
///
/// # Errors
/// [`ModelError`], naming the file.
pub fn open(name: &str) -> Result<Checkpoint, ModelError> {
    Checkpoint::named(name, CHECKPOINT, shipped)
}

/// By checksum: a file that changed is another model.
static LOADED: ModelCache<WeSWin> = ModelCache::new();

pub(super) fn loaded(name: &str) -> Result<Arc<WeSWin>, ModelError> {
    let checkpoint = open(name)?;
    LOADED.get(checkpoint.sha256(), || WeSWin::load(&checkpoint, &pericope_encode::best_device()))
}

/// The segmenter of a checkpoint: the shipped one, a file, or a folder.
pub(crate) fn segmenter_of(name: &str) -> Result<WeSWinSegmenter, String> {
    WeSWinSegmenter::new(loaded(name).map_err(|e| e.to_string())?)
}

/// Boundaries where a [`WeSWin`] gives them a probability above the threshold.
///
/// Code and tables are passed over. Memory beside the document's own: its token ids, and a group of sequences.
#[derive(Debug, Clone)]
pub struct WeSWinSegmenter {
    model: Arc<WeSWin>,
    plan: Plan,
    weighting: Weighting,
    threshold: f64,
}

impl WeSWinSegmenter {
    /// With the partition, weighting and threshold that the model was tuned for.
    ///
    /// # Errors
    /// The fault in the checkpoint's settings.
    pub fn new(model: Arc<WeSWin>) -> Result<Self, String> {
        let settings = model.settings();
        let (plan, weighting, threshold) = (settings.partition.parse()?, settings.weights.parse()?, settings.threshold);
        Self { model, plan, weighting, threshold }.observed()
    }

    /// Refuses weights by a curve that the model has not.
    fn observed(self) -> Result<Self, String> {
        if matches!(self.weighting, Weighting::Observed { .. }) && self.model.settings().curve.is_empty() {
            let weighting = self.weighting;
            return Err(format!(
                "{weighting} weighs by how good predictions were at each place on validation documents, which this model does not \
                 record: `pericope tune` with write = true measures it"
            ));
        }
        Ok(self)
    }

    /// With what is given, and the model's own for the rest. `threshold` in `[0, 1]`.
    ///
    /// # Errors
    /// For a `threshold` outside 0..=1, and for [`Weighting::Observed`] with a model that has no [`Curve`](super::Curve).
    pub fn with(
        self,
        plan: Option<Plan>,
        weighting: Option<Weighting>,
        threshold: Option<f64>,
    ) -> Result<Self, String> {
        let threshold = threshold.unwrap_or(self.threshold);
        if !(0.0..=1.0).contains(&threshold) {
            return Err(format!("the threshold {threshold} is not in 0..=1"));
        }
        let (plan, weighting) = (plan.unwrap_or(self.plan), weighting.unwrap_or(self.weighting));
        Self { plan, weighting, threshold, ..self }.observed()
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &WeSWin {
        &self.model
    }

    /// The sentences that are read, by their index in the document, and their tokens.
    fn tokenize(&self, document: &Document) -> (Vec<usize>, Sentences) {
        let read = language::sentences(document);
        let texts: Vec<_> = read.iter().map(|&i| document.visible(document.sentences[i].span)).collect();
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        let sentences = self.model.tokenize(&texts);
        (read, sentences)
    }

    /// The sentences that are read, by their index in the document, and the probability of a boundary after each.
    pub(crate) fn read(&self, document: &Document) -> Result<(Vec<usize>, Vec<f64>), SegmentError> {
        let (read, sentences) = self.tokenize(document);
        let found = self.model.probabilities(&[&sentences], self.plan, self.weighting, self.threshold);
        let found = found.map_err(|e| EncodeError::Run(Box::new(e)))?.pop().unwrap_or_default();
        Ok((read, found))
    }

    /// The document's scores from the probabilities after the sentences that were read.
    fn scores(&self, document: &Document, read: &[usize], found: &[f64]) -> Segmentation {
        // The last sentence ends the document: that is no boundary.
        let gaps = found.len().saturating_sub(1);
        Segmentation::Scores {
            scores: language::spread(&found[..gaps], read, document.len()),
            threshold: self.threshold,
        }
    }
}

/// Documents whose windows are read together: enough to fill batches of windows of like length.
const TOGETHER: usize = 32;

impl Segmenter for WeSWinSegmenter {
    fn fingerprint(&self) -> String {
        self.model.fingerprint().to_owned()
    }

    fn batch_size(&self) -> usize {
        TOGETHER
    }

    fn segment_batch(&self, documents: &[&Document]) -> Vec<Result<Segmentation, SegmentError>> {
        let one_by_one = || documents.iter().map(|document| self.segment(document)).collect();
        if documents.len() < 2 {
            return one_by_one();
        }
        let (read, sentences): (Vec<Vec<usize>>, Vec<Sentences>) =
            documents.iter().map(|document| self.tokenize(document)).unzip();
        let all: Vec<&Sentences> = sentences.iter().collect();
        // Where the model fails, the documents that it fails on are to be known.
        let Ok(found) = self.model.probabilities(&all, self.plan, self.weighting, self.threshold) else {
            return one_by_one();
        };
        let cuts = documents.iter().zip(read).zip(found);
        cuts.map(|((document, read), found)| Ok(self.scores(document, &read, &found))).collect()
    }

    fn tokens_read(&self) -> Option<u64> {
        Some(self.model.tokens_read())
    }

    fn segment(&self, document: &Document) -> Result<Segmentation, SegmentError> {
        let (read, found) = self.read(document)?;
        Ok(self.scores(document, &read, &found))
    }
}
