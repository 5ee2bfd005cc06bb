use std::sync::Arc;

use pericope_api::{Boundaries, Document, KnownCount, SegmentError, Segmentation, Segmenter, SentenceEncoder};
use pericope_segment::fusion::WordCosts;
use pericope_segment::language;

use super::beside::{Beside, FUSION_RULE, Opinion, evidence_of};
use super::checkpoint::Weights;
use super::cut::{Amount, Evidence, Objective};
use super::model::Topic;
use super::sections::COUNT_RULE;
use crate::rows::ROWS;
use crate::sentence_vectors::{SentenceReader, Wanted};
use crate::weswin::WeSWinSegmenter;

/// Segments a document by a [`Topic`]: one exact dynamic programme adds up the evidence for boundaries and segments.
///
/// The evidence for a segmentation, in nats, is the sum, by their [`Weights`], of the sequence model's log-odds of its boundaries, what
/// its words gain over the document as one segment ([`WordCosts`]), the evidence of the lengths of its segments
/// ([`Lengths::evidence`](super::Lengths::evidence)), a bias for each boundary, and by how much the log-odds of `fusion`
/// ([`boundary_probabilities`](pericope_segment::fusion::boundary_probabilities)), and of a WeSWin model where one reads too, exceed those of
/// their mean probability in the document. Where `fusion` is sure of a whole document, as it is of parts about unrelated things that were
/// joined, its own log-odds take the place of up to 0.7 of the log-odds of a gap; words, lengths and the bias count as they do elsewhere.
/// [`Amount`] says how many segments there are. A score is the probability of a boundary, a segmentation being exp(its evidence) times as
/// probable as another, after a price for each boundary: at that price as many segments are expected as the log-odds alone promise. The words and lengths of segments say where boundaries lie, and not how many there are.
///
/// Code and tables are passed over. Every sentence is embedded once. Time is in proportion to the number of sentences. Memory beside the
/// document's own: some windows of vectors, and 128 numbers a sentence at most, 64 MB in all up to half a million sentences.
#[derive(Clone)]
pub struct TopicSegmenter {
    model: Arc<Topic>,
    reader: SentenceReader,
    weights: Weights,
    weswin: Option<WeSWinSegmenter>,
    amount: Amount,
}

impl TopicSegmenter {
    /// With the model's own weights, without WeSWin, and as many segments as are best for F1 and WindowDiff together.
    ///
    /// # Errors
    /// Where the encoder is not the one whose vectors the model was trained on.
    pub fn new(model: Arc<Topic>, encoder: Arc<dyn SentenceEncoder>) -> Result<Self, String> {
        let settings = model.settings();
        let (name, fingerprint) = (settings.encoder.as_str(), settings.encoder_fingerprint.as_str());
        Wanted { name, fingerprint, dimension: settings.sizes.input }.check(encoder.as_ref())?;
        let weights = settings.weights;
        Ok(Self {
            model,
            reader: SentenceReader::new(encoder),
            weights,
            weswin: None,
            amount: Amount::Best(Objective::Balanced),
        })
    }

    /// With another number of segments.
    #[must_use]
    pub fn with(self, amount: Amount) -> Self {
        Self { amount, ..self }
    }

    /// With other weights.
    ///
    /// # Errors
    /// For weights that are out of range, and one of lengths where the model knows none.
    pub fn with_weights(self, weights: Weights) -> Result<Self, String> {
        weights.check()?;
        if weights.prior > 0.0 && self.model.settings().lengths.is_none() {
            return Err("the model does not know how long segments are: leave prior out, or train it anew".into());
        }
        Ok(Self { weights, ..self })
    }

    /// With a WeSWin model that reads too.
    #[must_use]
    pub fn with_weswin(self, weswin: WeSWinSegmenter) -> Self {
        Self { weswin: Some(weswin), ..self }
    }

    /// The sequence model.
    #[must_use]
    pub fn model(&self) -> &Topic {
        &self.model
    }

    /// The sentences that are read, and the evidence for boundaries between them; nothing for fewer than two.
    fn evidence(&self, document: &Document) -> Result<(Vec<usize>, Option<Evidence>), SegmentError> {
        let read = language::sentences(document);
        if read.len() < 2 {
            return Ok((read, None));
        }
        let weights = &self.weights;
        let mut beside = (weights.fusion > 0.0).then(|| Beside::new(document, self.model.settings().sizes.input));
        let mut vectors = |sentences: &[usize]| {
            let found = self.reader.vectors(document, sentences)?;
            if let Some(beside) = &mut beside {
                beside.push(sentences, &found)?;
            }
            Ok(found)
        };
        let odds = self.model.read(document, &mut vectors)?;
        let fusion = match beside {
            Some(beside) => Opinion::of_fusion(&beside.finish()?, &odds),
            None => Opinion::default(),
        };
        let weswin = match &self.weswin {
            Some(model) => {
                let (_, found) = model.read(document)?;
                Opinion::of_weswin(found.get(..read.len() - 1).unwrap_or(&found))
            }
            None => Opinion::default(),
        };
        let odds = evidence_of(&odds, &[(&fusion, weights.fusion), (&weswin, weights.weswin)], weights);
        let words = (weights.words > 0.0).then(|| WordCosts::of(document));
        let evidence = Evidence::weighted(&odds, words.as_ref(), self.model.settings().lengths.as_ref(), weights);
        Ok((read, Some(evidence)))
    }
}

impl Segmenter for TopicSegmenter {
    fn fingerprint(&self) -> String {
        let (model, encoder) = (&self.model, &self.reader.encoder);
        let rules = format!("{}:{ROWS}:{COUNT_RULE}:{FUSION_RULE}", language::WORDS);
        let own = format!("{}:{rules}:{}", model.fingerprint(), encoder.fingerprint());
        match &self.weswin {
            Some(weswin) => format!("{own}:{}", weswin.fingerprint()),
            None => own,
        }
    }

    fn tokens_read(&self) -> Option<u64> {
        let own = self.reader.tokens_read();
        match &self.weswin {
            Some(weswin) => own.zip(weswin.tokens_read()).map(|(own, beside)| own + beside),
            None => own,
        }
    }

    fn segment(&self, document: &Document) -> Result<Segmentation, SegmentError> {
        let (read, evidence) = self.evidence(document)?;
        let (scores, threshold) = match evidence {
            Some(evidence) => {
                let chosen = evidence.cut(self.amount)?;
                evidence.scores(&chosen, self.amount)
            }
            None => (Vec::new(), 0.5),
        };
        Ok(Segmentation::Scores { scores: language::spread(&scores, &read, document.len()), threshold })
    }

    fn known_count(&self) -> Option<&dyn KnownCount> {
        Some(self)
    }
}

impl KnownCount for TopicSegmenter {
    /// The segmentation into so many segments for which the evidence is greatest.
    fn segment_into(&self, document: &Document, segments: usize) -> Result<Boundaries, SegmentError> {
        let n = document.len();
        let (read, Some(evidence)) = self.evidence(document)? else { return Ok(Boundaries::none(n)) };
        let found = evidence.segments(segments)?;
        let after = found.after().iter().filter_map(|&gap| read.get(gap).copied()).collect();
        Ok(Boundaries::new(n, after)?)
    }
}
