use std::ops::Range;

use candle_core::Device;
use pericope_api::{Document, EncodeError, SegmentError};
use pericope_encode::encoders::Tensors;
use pericope_encode::{ModelError, short};

use super::checkpoint::{Checkpoint, Settings};
use super::network::Network;
use crate::rows::{Facts, Inputs};

/// Sentences that are read at once.
const WINDOW: usize = 1024;

/// Sentences on either side of what is taken from a window: the LSTM has seen enough by then.
const MARGIN: usize = 128;

/// Windows that are read side by side: bounds memory.
const TOGETHER: usize = 8;

/// Gives the vectors of sentences, by their index in a document, row by row.
pub type VectorsOf<'a> = &'a mut dyn FnMut(&[usize]) -> Result<Vec<f32>, SegmentError>;

/// A trained sequence model of boundaries.
#[derive(Debug)]
pub struct Topic {
    network: Network,
    settings: Settings,
    device: Device,
    fingerprint: String,
}

impl Topic {
    /// Builds the model of a checkpoint.
    ///
    /// # Errors
    /// [`ModelError`], naming the file and the tensor, where settings or shapes do not fit.
    pub fn load(checkpoint: &Checkpoint, device: &Device) -> Result<Self, ModelError> {
        let settings = checkpoint.settings.clone();
        settings.check().map_err(|reason| checkpoint.unusable(reason))?;
        let network = Network::new(checkpoint, &settings.sizes, device)?;
        let fingerprint = format!("topic:{}", short(checkpoint.sha256()));
        Ok(Self { network, settings, device: device.clone(), fingerprint })
    }

    /// A model in training.
    pub(crate) fn of(network: Network, settings: Settings, device: &Device) -> Self {
        Self { network, settings, device: device.clone(), fingerprint: String::new() }
    }

    /// The settings that it was trained with.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Names the weights.
    #[must_use]
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// The log-odds of a boundary at each gap between two rows: `inputs.len() - 1` numbers.
    ///
    /// More than 1,024 rows are read in windows that overlap by 256; time is in proportion to the rows.
    ///
    /// # Errors
    /// Where candle fails, and for rows of another width than the model's.
    pub fn log_odds(&self, inputs: &Inputs) -> candle_core::Result<Vec<f64>> {
        let n = inputs.len();
        let mut odds = Vec::with_capacity(n);
        for group in windows(n).chunks(TOGETHER) {
            odds.extend(self.group(inputs, 0, group)?);
        }
        odds.truncate(n.saturating_sub(1));
        Ok(odds)
    }

    /// The log-odds of a boundary at each gap between two neighbours of a document's sentences that are language. `vectors` gives
    /// the vectors of sentences, row by row, and is asked for each of those sentences once, in order.
    ///
    /// As [`log_odds`](Self::log_odds), with the vectors of some windows in memory at a time.
    ///
    /// # Errors
    /// As `vectors`; [`SegmentError`] where it gives another number of vectors, and where the model fails.
    pub fn read(&self, document: &Document, vectors: VectorsOf<'_>) -> Result<Vec<f64>, SegmentError> {
        let mut facts = Facts::of(document);
        if self.settings.sizes.cue > 0 {
            facts = facts.with_cues(document);
        }
        let (n, dimension) = (facts.sentences().len(), self.settings.sizes.input);
        if n < 2 {
            return Ok(Vec::new());
        }
        let mut odds = Vec::with_capacity(n);
        // The vectors of the sentences from `at` on.
        let (mut known, mut at) = (Vec::new(), 0);
        for group in windows(n).chunks(TOGETHER) {
            let (Some((first, _)), Some((last, _))) = (group.first(), group.last()) else { continue };
            let range = first.start..last.end;
            let reach = facts.reach(&range);
            known.drain(..((reach.start - at) * dimension).min(known.len()));
            at = reach.start;
            let have = at + known.len() / dimension;
            known.extend(vectors(facts.sentences().get(have..reach.end).unwrap_or_default())?);
            let inputs = facts.inputs(range, &known, dimension).ok_or_else(|| {
                SegmentError::Unsupported(format!(
                    "the encoder gave no vectors of {dimension} numbers for all sentences"
                ))
            })?;
            odds.extend(self.group(&inputs, first.start, group).map_err(|e| EncodeError::Run(Box::new(e)))?);
        }
        odds.truncate(n - 1);
        Ok(odds)
    }

    /// The log-odds behind the rows that are taken of some windows; `inputs` begin with the row `offset`.
    fn group(&self, inputs: &Inputs, offset: usize, group: &[Window]) -> candle_core::Result<Vec<f64>> {
        let moved = |(read, _): &Window| (inputs, read.start - offset..read.end - offset);
        let parts: Vec<_> = group.iter().map(moved).collect();
        let found = self.network.read(&parts, &self.device, &mut Ok)?.to_vec2::<f32>()?;
        let mut odds = Vec::new();
        for ((read, kept), found) in group.iter().zip(found) {
            let own = found.get(kept.start - read.start..kept.end - read.start).unwrap_or_default();
            odds.extend(own.iter().map(|&x| f64::from(x)));
        }
        Ok(odds)
    }
}

/// The rows that are read, and those of them whose gaps are taken.
type Window = (Range<usize>, Range<usize>);

/// The windows of a document of `n` rows.
fn windows(n: usize) -> Vec<Window> {
    let mut found = Vec::new();
    let mut from = 0;
    while from < n {
        let start = from.saturating_sub(MARGIN);
        let end = (start + WINDOW).min(n);
        let to = if end == n { n } else { end - MARGIN };
        found.push((start..end, from..to));
        from = to;
    }
    found
}

#[cfg(test)]
mod tests {
    use super::{MARGIN, WINDOW, windows};

    #[test]
    fn every_gap_is_taken_once_with_a_margin() {
        for n in [0, 1, WINDOW - 1, WINDOW, WINDOW + 1, 5000, 100_000] {
            let found = windows(n);
            let mut next = 0;
            for (read, kept) in &found {
                assert_eq!(kept.start, next);
                assert!(read.len() <= WINDOW && read.start <= kept.start && kept.end <= read.end && !kept.is_empty());
                assert!(read.start == 0 || kept.start - read.start >= MARGIN);
                assert!(read.end == n || read.end - kept.end >= MARGIN);
                next = kept.end;
            }
            assert_eq!(next, n);
            assert!(found.len() <= n / (WINDOW - 2 * MARGIN) + 1);
        }
    }
}
