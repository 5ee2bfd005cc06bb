use sha2::{Digest, Sha256};

/// Returns the SHA-256 of `bytes`, hexadecimal.
pub(crate) fn sha256_hex(bytes: impl AsRef<[u8]>) -> String {
    hex(&Sha256::digest(bytes))
}

/// Returns the SHA-256 of everything that `source` holds, hexadecimal.
#[cfg(feature = "candle")]
pub(crate) fn sha256_hex_of(mut source: impl std::io::Read) -> std::io::Result<String> {
    let mut hash = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        let n = source.read(&mut buffer)?;
        if n == 0 {
            return Ok(hex(&hash.finalize()));
        }
        hash.update(buffer.get(..n).unwrap_or_default());
    }
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
