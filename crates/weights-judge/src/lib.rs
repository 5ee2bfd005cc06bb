#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

/// The content of `judge.safetensors`.
pub static BYTES: &[u8] = include_bytes!("judge.safetensors");

/// The SHA-256 of [`BYTES`], hexadecimal.
pub const SHA256: &str = "6800895c270f9a8a0f363222841ca38e854d3a82350aaaa73656446db7826539";

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    #[test]
    fn the_weights_are_those_that_were_measured() {
        assert_eq!(super::BYTES.len(), 1634664);
        assert_eq!(format!("{:x}", Sha256::digest(super::BYTES)), super::SHA256);
    }
}
