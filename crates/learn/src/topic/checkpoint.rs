use serde::{Deserialize, Serialize};

use super::lengths::Lengths;
use super::network::Sizes;
use crate::checkpoint::Metadata;

/// The greatest size that is believed.
const MOST: usize = 1 << 16;

/// The greatest weight that is believed.
pub(super) const HEAVIEST: f64 = 1000.0;

/// What the evidence for boundaries is made of: weights of what stands beside the sequence model's log-odds, each at least 0, in
/// nats for a nat of that evidence.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct Weights {
    /// Weight of the sequence model's log-odds: below 1 where it is surer of other kinds of text than it is right.
    pub sequence: f64,
    /// Weight of what the words gain by a segmentation ([`WordCosts`](pericope_segment::fusion::WordCosts)).
    pub words: f64,
    /// Weight of the log-odds of `fusion`, which is not trained: it knows less of the kinds of text that the model has seen, and more of
    /// others. Where it is sure of a whole document, its log-odds have most of the evidence, the less the further this is below 0.5.
    pub fusion: f64,
    /// Weight of WeSWin's log-odds, where a model of it reads too.
    pub weswin: f64,
    /// Weight of the lengths of segments ([`Lengths::evidence`]).
    pub prior: f64,
    /// Nats that are added to the log-odds of every boundary; any number.
    pub bias: f64,
}

impl Default for Weights {
    /// The sequence model and `fusion`, at the weight that was the best where models read kinds of text that they had not seen (the card of
    /// the weights); WeSWin, where it is asked for, at a weight that has not been fitted.
    fn default() -> Self {
        Self { sequence: 1.0, words: 0.0, fusion: 0.5, weswin: 0.3, prior: 0.0, bias: 0.0 }
    }
}

/// The making of a checkpoint, and its use where nothing else is said.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Settings {
    /// The name of the encoder of the sentence vectors: `minilm`.
    pub encoder: String,
    /// That encoder's fingerprint.
    pub encoder_fingerprint: String,
    /// The sizes.
    pub sizes: Sizes,
    /// The threshold of boundary probabilities with the best F1 on validation documents, in `[0, 1]`.
    #[serde(rename = "tau")]
    pub threshold: f64,
    /// The weights of the segmenter.
    #[serde(default)]
    pub weights: Weights,
    /// The lengths of the segments that it was trained on; nothing in a checkpoint that was made before they were kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lengths: Option<Lengths>,
    /// Notes: what it was trained on, and anything else worth keeping.
    #[serde(default)]
    pub notes: String,
}

impl Weights {
    /// Checks what a damaged or foreign file could hold.
    ///
    /// # Errors
    /// The weight that is not in its range, which is that of the specs of `topic`.
    pub fn check(&self) -> Result<(), String> {
        let Self { sequence, words, fusion, weswin, prior, bias } = *self;
        for (name, value, least) in [
            ("w_sequence", sequence, 0.0),
            ("w_words", words, 0.0),
            ("w_fusion", fusion, 0.0),
            ("w_weswin", weswin, 0.0),
            ("prior", prior, 0.0),
            ("bias", bias, -HEAVIEST),
        ] {
            if !(least..=HEAVIEST).contains(&value) {
                return Err(format!("its weight {name} of {value} is not in {least}..={HEAVIEST}"));
            }
        }
        Ok(())
    }
}

impl Settings {
    /// Checks what a damaged or foreign file could hold.
    ///
    /// # Errors
    /// The fault.
    pub fn check(&self) -> Result<(), String> {
        let Sizes { input, projection, hidden, layers, head, cue, recurrence: _, without: _ } = self.sizes;
        let sizes = [input, projection, hidden, layers, head];
        if cue > MOST {
            return Err(format!("its vectors of cues have {cue} numbers, more than {MOST}"));
        }
        if sizes.iter().any(|&size| size == 0 || size > MOST) {
            return Err(format!("its sizes {sizes:?} are not in 1..={MOST}"));
        }
        if !(0.0..=1.0).contains(&self.threshold) {
            return Err(format!("its threshold {} is not in 0..=1", self.threshold));
        }
        self.weights.check()?;
        match self.lengths {
            Some(lengths) if !lengths.is_usable() => {
                Err(format!("its lengths of segments {lengths:?} are not positive"))
            }
            Some(_) => Ok(()),
            None if self.weights.prior > 0.0 => Err("it has a weight of lengths of segments, and no lengths".into()),
            None => Ok(()),
        }
    }
}

impl Metadata for Settings {
    const KEY: &'static str = "topic";
    const NAME: &'static str = "topic";

    fn base(&self) -> &str {
        &self.encoder
    }
}

/// All tensors of a model with its [`Settings`]: `projection`, `head.left`, `head.right` and `head.output`, each with `weight` and
/// `bias`; `cues` where there are any; `lstm.0`, `lstm.1` ... as [`BiLstm`](crate::sequence::BiLstm) names
/// them, or `gated.0` ... as [`BiGated`](crate::sequence::BiGated) does.
pub type Checkpoint = crate::checkpoint::Checkpoint<Settings>;

/// The checkpoint's file in a training's folder.
pub const CHECKPOINT: &str = "topic.safetensors";

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::{Lengths, Settings, Weights};
    use crate::topic::{Recurrence, Sizes, Without};

    const OLD: &str = r#"{"encoder": "minilm", "encoder_fingerprint": "1", "tau": 0.4,
        "sizes": {"input": 2, "projection": 2, "hidden": 2, "layers": 1, "head": 2}}"#;

    #[test]
    fn checkpoints_without_weights_are_read() {
        let settings: Settings = serde_json::from_str(OLD).unwrap();
        assert_eq!((settings.weights, settings.lengths), (Weights::default(), None));
        // They were LSTMs that read everything but cues.
        let Sizes { cue, recurrence, without, .. } = settings.sizes;
        assert_eq!((cue, recurrence, without), (0, Recurrence::Lstm, Without::default()));
        settings.check().unwrap();
        let some = OLD.replacen('{', r#"{"weights": {"words": 0.1}, "#, 1);
        let some: Settings = serde_json::from_str(&some).unwrap();
        assert_eq!(some.weights, Weights { words: 0.1, ..Weights::default() });
    }

    #[test]
    fn weights_that_mean_nothing_are_refused() {
        let refused = |weights: Weights, lengths: Option<Lengths>, said: &str| {
            let settings: Settings = serde_json::from_str(OLD).unwrap();
            let error = Settings { weights, lengths, ..settings }.check().unwrap_err();
            assert!(error.contains(said), "{error}");
        };
        let some = Weights::default();
        refused(Weights { words: -1.0, ..some }, None, "w_words");
        refused(Weights { bias: f64::NAN, ..some }, None, "bias");
        refused(Weights { prior: 1.0, ..some }, None, "no lengths");
        refused(some, Some(Lengths { median: 0.0, deviation: 1.0, growth: 0.0 }), "not positive");
        refused(some, Some(Lengths { median: 9.0, deviation: f64::INFINITY, growth: 0.0 }), "not positive");
    }
}
