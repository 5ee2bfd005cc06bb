use pericope_encode::ModelError;
use pericope_weights_topic::{BYTES, SHA256};

use super::checkpoint::{CHECKPOINT, Checkpoint};

/// The model that comes with this crate, for the sentence vectors of all-MiniLM-L6-v2 with changes that it holds; its card is the
/// README of `pericope-weights-topic`.
///
/// # Errors
/// None, unless the program was built from a damaged file.
pub fn shipped() -> Result<Checkpoint, ModelError> {
    Checkpoint::shipped(CHECKPOINT, BYTES, SHA256)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    #[test]
    fn its_settings_are_whole() {
        let checkpoint = super::shipped().unwrap();
        assert!(crate::topic::OwnEncoder::of(&checkpoint).is_some());
        let settings = checkpoint.settings;
        settings.check().unwrap();
        assert_eq!((settings.encoder.as_str(), settings.sizes.input), ("minilm", 384));
        assert!(settings.lengths.is_some());
    }
}
