use serde::{Deserialize, Serialize};

use super::network::Sizes;
use crate::checkpoint::Metadata;

/// The greatest size that is believed.
const MOST: usize = 1 << 16;

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
    /// Notes: what it was trained on, and anything else worth keeping.
    #[serde(default)]
    pub notes: String,
}

impl Settings {
    /// Checks what a damaged or foreign file could hold.
    ///
    /// # Errors
    /// The fault.
    pub fn check(&self) -> Result<(), String> {
        let Sizes { input, projection, hidden, layers, head } = self.sizes;
        let sizes = [input, projection, hidden, layers, head];
        if sizes.iter().any(|&size| size == 0 || size > MOST) {
            return Err(format!("its sizes {sizes:?} are not in 1..={MOST}"));
        }
        if !(0.0..=1.0).contains(&self.threshold) {
            return Err(format!("its threshold {} is not in 0..=1", self.threshold));
        }
        Ok(())
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
/// `bias`; `lstm.0`, `lstm.1` ... as [`BiLstm`](crate::sequence::BiLstm) names them.
pub type Checkpoint = crate::checkpoint::Checkpoint<Settings>;
