#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

/// The content of `nsp.safetensors`.
pub static BYTES: &[u8] = include_bytes!("nsp.safetensors");

/// The SHA-256 of [`BYTES`], hexadecimal.
pub const SHA256: &str = "6e8e23c4ea9937873de2847b6b212c2344477b6d3a2aa923708ba7157c8307e2";

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    #[test]
    fn the_weights_are_those_that_were_measured() {
        assert_eq!(super::BYTES.len(), 3848572);
        assert_eq!(format!("{:x}", Sha256::digest(super::BYTES)), super::SHA256);
    }
}
