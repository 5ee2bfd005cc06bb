use std::path::Path;
use std::sync::Arc;

use pericope_api::{Boundaries, Document, EncodeError, KnownCount, SegmentError, Segmentation, Segmenter};
use pericope_segment::Resources;
use pericope_segment::language;
use pericope_segment::policy::Overlap;
use pericope_segment::registry::{BuiltSegmenter, Needs, SegmenterEntry, SettingKey, SpecArgs};
use pericope_segment::spec::SpecError;

use super::checkpoint::{CHECKPOINT, Checkpoint};
use super::limit::{Row, keep};
use super::model::Nsp;
use super::threshold::{THRESHOLD, Threshold};
use crate::checkpoint::SHIPPED;
use crate::model_cache::ModelCache;
use crate::probability::probability;
use pericope_encode::ModelError;

/// `nsp`, for the list of segmenters. Its threshold is `p`, so it takes no `tau`.
pub const NSP: SegmenterEntry = SegmenterEntry {
    name: "nsp",
    summary: "where a model does not expect the next sentence (next-sentence prediction)",
    keys: &[
        SettingKey {
            name: "model",
            default: SHIPPED,
            doc: "`shipped`, a BERT's folder with cls.seq_relationship, or a file or folder of `pericope train nsp`",
        },
        SettingKey {
            name: "p",
            default: "",
            doc: "a segment ends where q <= p; the model's own by default, else 0.95",
        },
        SettingKey {
            name: "one_minus_p",
            default: "",
            doc: "instead of p, where it is close to 1: 1e-5, or 0 for p = 1",
        },
        SettingKey {
            name: "limit",
            default: "512",
            doc: "tokens of the model above which no sentence is added to a segment",
        },
        SettingKey {
            name: "overlap_next",
            default: "0",
            doc: "1: a chunk repeats the first sentence of the next one, where both have at most `limit` tokens of the tokenizer that chunks are counted with",
        },
    ],
    example: "nsp:p=0.95",
    needs: Needs::Model,
    needs_of: None,
    has_scores: false,
    build,
};

/// p where neither the spec nor the model says it: the first that the paper tries.
const P: f64 = 0.95;

/// Tokens of a segment where the spec does not say it.
const LIMIT: usize = 512;

/// The two special tokens that a segment has when it is encoded.
const SPECIAL: usize = 2;

/// By name, and the time and length of its file: a file that changed is another model.
static LOADED: ModelCache<Nsp> = ModelCache::new();

fn build(args: &SpecArgs<'_>, _: &dyn Resources) -> Result<BuiltSegmenter, SpecError> {
    args.excludes("p", "one_minus_p")?;
    let p = args.maybe_share("p")?.map(Threshold::at_most);
    let threshold = args.maybe_share("one_minus_p")?.map(Threshold::all_but).or(p);
    let limit = args.count("limit", LIMIT, SPECIAL + 1)?;
    let next = args.choice("overlap_next", &["0", "1"])? == 1;
    if next && args.overlap() > 0 {
        return Err(args.unavailable("give `overlap` or `overlap_next`, not both".into()));
    }
    let name = args.text("model", SHIPPED);
    if name == SHIPPED {
        let settings = Checkpoint::settings_of(Path::new(SHIPPED), pericope_weights_nsp::BYTES);
        let own = settings.map_err(|e| args.unavailable(e.to_string()))?.threshold.map(Threshold::of_odds);
        args.settle("model_sha256", pericope_weights_nsp::SHA256);
        if threshold.is_none() {
            args.settle("p", own.unwrap_or(Threshold::at_most(P)).p());
        }
    }
    args.before_files()?;
    let model = loaded(name).map_err(|reason| args.unavailable(reason))?;
    let built = BuiltSegmenter::new(NspSegmenter::new(model, threshold, limit));
    Ok(if next { built.with_overlap(Overlap::Next { limit }) } else { built })
}

fn open(name: &str) -> Result<Nsp, String> {
    let device = pericope_encode::best_device();
    let model = match name {
        SHIPPED => shipped().and_then(|checkpoint| Nsp::load(&checkpoint, &device)),
        _ => Nsp::open(name, &device),
    };
    model.map_err(|e| e.to_string())
}

/// NSP on all-MiniLM-L6-v2, trained for this project; its card is the README of `pericope-weights-nsp`.
///
/// # Errors
/// None, unless the program was built from a damaged file.
pub fn shipped() -> Result<Checkpoint, ModelError> {
    Checkpoint::shipped(CHECKPOINT, pericope_weights_nsp::BYTES, pericope_weights_nsp::SHA256)
}

fn loaded(name: &str) -> Result<Arc<Nsp>, String> {
    let path = Path::new(name);
    let files = [path.to_owned(), path.join(CHECKPOINT), path.join("model.safetensors")];
    let about = files.iter().filter_map(|file| file.metadata().ok()).map(|m| (m.modified().ok(), m.len()));
    LOADED.get(&format!("{name} {:?}", about.collect::<Vec<_>>()), || open(name))
}

/// Boundaries where an [`Nsp`] model gives "is next" a probability of at most p, and where the next sentence would take a
/// segment over a limit.
///
/// Code and tables are passed over as neighbours, and count as tokens. Headings stay with what they head. The limit is
/// kept exactly while the size policy takes these boundaries as they are; with a minimum or a target it can merge
/// segments that p or the limit parts, so give `max_tokens` too. Memory beside the document's own: its token ids, and a group of
/// pairs.
#[derive(Debug, Clone)]
pub struct NspSegmenter {
    model: Arc<Nsp>,
    threshold: Threshold,
    limit: usize,
}

impl NspSegmenter {
    /// With a threshold, or the model's own, or else p = 0.95; `limit` is in tokens of the model, two special ones a
    /// segment included (512 in the paper).
    #[must_use]
    pub fn new(model: Arc<Nsp>, threshold: Option<Threshold>, limit: usize) -> Self {
        let threshold = threshold.or(model.threshold()).unwrap_or(Threshold::at_most(P));
        Self { model, threshold, limit }
    }

    /// The model.
    #[must_use]
    pub fn model(&self) -> &Nsp {
        &self.model
    }

    /// The threshold.
    #[must_use]
    pub fn threshold(&self) -> Threshold {
        self.threshold
    }

    /// Returns what `score` makes of the log-odds at each gap (0 at gaps beside code and tables), and each sentence's tokens.
    fn gaps(&self, document: &Document, score: impl Fn(f64) -> f64) -> Result<(Vec<f64>, Vec<usize>), SegmentError> {
        let read = language::sentences(document);
        let mut tokens: Vec<usize> = Vec::with_capacity(document.len());
        let texts: Vec<_> = document.sentences.iter().map(|s| document.visible(s.span)).collect();
        let texts_read: Vec<&str> = read.iter().map(|&i| texts[i].as_ref()).collect();
        // Not cut off: how much of a pair is read depends on both lengths.
        let sentences = self.model.tokenize(&texts_read, usize::MAX);
        let mut next = 0;
        for (text, sentence) in texts.iter().zip(&document.sentences) {
            if sentence.kind.is_language() {
                tokens.push(sentences.of(next).len());
                next += 1;
            } else {
                tokens.push(self.model.tokenize(&[text], self.limit).of(0).len());
            }
        }
        let odds = self.model.odds(&sentences).map_err(|e| EncodeError::Run(Box::new(e)))?;
        let scores: Vec<f64> = odds.into_iter().map(score).collect();
        Ok((language::spread(&scores, &read, document.len()), tokens))
    }
}

impl Segmenter for NspSegmenter {
    fn tokens_read(&self) -> Option<u64> {
        Some(self.model.tokens_read())
    }

    fn fingerprint(&self) -> String {
        self.model.fingerprint().to_owned()
    }

    fn segment(&self, document: &Document) -> Result<Segmentation, SegmentError> {
        let (mut scores, tokens) = self.gaps(document, |odds| self.threshold.score(odds))?;
        let glued: Vec<bool> = (0..scores.len()).map(|i| language::parts_heading(document, i)).collect();
        keep(&mut scores, &Row { tokens: &tokens, glued: &glued }, self.limit, SPECIAL);
        Ok(Segmentation::Scores { scores, threshold: THRESHOLD })
    }

    fn known_count(&self) -> Option<&dyn KnownCount> {
        Some(self)
    }
}

impl KnownCount for NspSegmenter {
    /// The gaps with the lowest q; the limit on tokens has no part in it.
    fn segment_into(&self, document: &Document, segments: usize) -> Result<Boundaries, SegmentError> {
        if document.is_empty() {
            return Ok(Boundaries::none(0));
        }
        let (scores, _) = self.gaps(document, |odds| probability(-odds))?;
        Ok(Boundaries::top(&scores, segments.saturating_sub(1)))
    }
}
