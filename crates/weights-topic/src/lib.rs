#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

/// The content of `topic.safetensors`.
pub static BYTES: &[u8] = include_bytes!("topic.safetensors");

/// The SHA-256 of [`BYTES`], hexadecimal.
pub const SHA256: &str = "b13f81d9c353bb18d140ebf3ad29964449baaaca54be503be05144a621794a05";

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    #[test]
    fn the_weights_are_those_that_were_measured() {
        assert_eq!(super::BYTES.len(), 3688554);
        assert_eq!(format!("{:x}", Sha256::digest(super::BYTES)), super::SHA256);
    }
}
