#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

/// The content of `weswin.safetensors`.
pub static BYTES: &[u8] = include_bytes!("weswin.safetensors");

/// The SHA-256 of [`BYTES`], hexadecimal.
pub const SHA256: &str = "f48cb35b63a1fe49e969bb6c0c638972042c2fca563b469b5bc0b43d7d81f397";

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    #[test]
    fn the_weights_are_those_that_were_measured() {
        assert_eq!(super::BYTES.len(), 2003896);
        assert_eq!(format!("{:x}", Sha256::digest(super::BYTES)), super::SHA256);
    }
}
