#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

/// The content of `nsp.safetensors`.
pub static BYTES: &[u8] = include_bytes!("nsp.safetensors");

/// The SHA-256 of [`BYTES`], hexadecimal.
pub const SHA256: &str = "9bb8f49a91f70d2d453e74499f73d15e212520a53ee5d34773da93cb86a58ac0";

#[cfg(test)]
mod tests {
    use sha2::{Digest, Sha256};

    #[test]
    fn the_weights_are_those_that_were_measured() {
        assert_eq!(super::BYTES.len(), 3848460);
        assert_eq!(format!("{:x}", Sha256::digest(super::BYTES)), super::SHA256);
    }
}
