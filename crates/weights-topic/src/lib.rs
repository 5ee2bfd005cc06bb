#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

/// The content of `topic.safetensors`.
pub static BYTES: &[u8] = include_bytes!("topic.safetensors");

/// The SHA-256 of [`BYTES`], hexadecimal.
pub const SHA256: &str = "dfba0ab6a2dc021955434b56def1d0daa15add946321c5e9f0855203e8433a88";

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    #[test]
    fn the_weights_are_those_that_were_measured() {
        assert_eq!(super::BYTES.len(), 4356162);
        assert_eq!(format!("{:x}", Sha256::digest(super::BYTES)), super::SHA256);
    }
}
