#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

/// The content of `hiercrf.safetensors`.
pub static BYTES: &[u8] = include_bytes!("hiercrf.safetensors");

/// The SHA-256 of [`BYTES`], hexadecimal.
pub const SHA256: &str = "1af8b7516c45c8575fda5f7540d2b73233d565beb907b9524c3c6e2149c0659e";

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    #[test]
    fn the_weights_are_those_that_were_measured() {
        assert_eq!(super::BYTES.len(), 2795914);
        assert_eq!(format!("{:x}", Sha256::digest(super::BYTES)), super::SHA256);
    }
}
