#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

/// The content of `weswin.safetensors`.
pub static BYTES: &[u8] = include_bytes!("weswin.safetensors");

/// The SHA-256 of [`BYTES`], hexadecimal.
pub const SHA256: &str = "1a10e1c494b614f2b1984c5ce2ac4e9449867a5b8ff821f90b9727bddfd3338d";

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    #[test]
    fn the_weights_are_those_that_were_measured() {
        assert_eq!(super::BYTES.len(), 10656552);
        assert_eq!(format!("{:x}", Sha256::digest(super::BYTES)), super::SHA256);
    }
}
