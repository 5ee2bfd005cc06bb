use std::sync::Arc;

use pericope_api::SentenceEncoder;
use pericope_encode::encoders::{LowRank, Tensors};
use pericope_encode::{MiniLm, ModelError, models};

use super::checkpoint::Checkpoint;
use crate::model_cache::ModelCache;

/// The only encoder that a checkpoint can change.
pub(crate) const CHANGEABLE: &str = "minilm";

/// By what is changed: checkpoints that went on from one share its encoder.
static LOADED: ModelCache<MiniLm> = ModelCache::new();

/// The encoder that a checkpoint brings: the installed all-MiniLM-L6-v2 with the checkpoint's low-rank changes of its matrices.
#[derive(Debug)]
pub struct OwnEncoder<'a> {
    checkpoint: &'a Checkpoint,
    changes: LowRank,
}

impl<'a> OwnEncoder<'a> {
    /// That of a checkpoint; nothing for one that changes no matrix, and reads with an encoder as it is.
    #[must_use]
    pub fn of(checkpoint: &'a Checkpoint) -> Option<Self> {
        let changes = checkpoint.low_rank();
        (!changes.is_empty()).then_some(Self { checkpoint, changes })
    }

    /// The name of the encoder that is changed.
    #[must_use]
    pub fn base(&self) -> &str {
        &self.checkpoint.settings.encoder
    }

    /// Loads it, once however many ask.
    ///
    /// # Errors
    /// [`ModelError`] where its base is not installed or is no MiniLM, and where a change does not fit it.
    pub fn load(&self) -> Result<Arc<dyn SentenceEncoder>, ModelError> {
        let base = self.base();
        if base != CHANGEABLE {
            let reason = format!("it changes the encoder {base}: only {CHANGEABLE} can be changed");
            return Err(self.checkpoint.unusable(reason));
        }
        let load = || MiniLm::changed(&models::locate(CHANGEABLE)?, &self.changes);
        Ok(LOADED.get(&self.changes.checksum()?, load)?)
    }
}
