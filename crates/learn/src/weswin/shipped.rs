use pericope_encode::ModelError;
use pericope_weights_weswin::{BYTES, SHA256};

use super::checkpoint::{CHECKPOINT, Checkpoint};

/// WeSWin-Ret on all-MiniLM-L6-v2, trained for this project; its card is the README of `pericope-weights-weswin`.
///
/// # Errors
/// None, unless the program was built from a damaged file.
pub fn shipped() -> Result<Checkpoint, ModelError> {
    Checkpoint::shipped(CHECKPOINT, BYTES, SHA256)
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{BYTES, CHECKPOINT, Checkpoint, SHA256};

    #[test]
    fn other_bytes_are_refused() {
        assert!(super::shipped().is_ok());
        let mut other = BYTES.to_vec();
        *other.last_mut().unwrap() ^= 1;
        let text = Checkpoint::shipped(CHECKPOINT, &other, SHA256).unwrap_err().to_string();
        assert!(text.contains("weswin.safetensors (shipped)") && text.contains("expected f48cb35b63a1"), "{text}");
    }
}
