//! A look at a PDF before it is parsed: the parser unpacks whatever it is given.

use flate2::{Decompress, FlushDecompress, Status};
use memchr::memmem;

/// Most bytes that a packed part of a file may have when it is unpacked; images are not unpacked, and may be larger.
const MOST: u64 = 128 << 20;

/// False where a part of the file grows beyond [`MOST`], or is packed twice.
pub(super) fn is_harmless(bytes: &[u8]) -> bool {
    let mut buffer = vec![0u8; 64 << 10];
    let mut at = 0;
    while let Some(found) = memmem::find(&bytes[at..], b"stream") {
        let start = at + found;
        at = start + 6;
        if bytes[..start].ends_with(b"end") {
            continue;
        }
        let data = match &bytes[at..] {
            [b'\r', b'\n', data @ ..] | [b'\n' | b'\r', data @ ..] => data,
            _ => continue,
        };
        // What the file says of the part stands just before it.
        let before = &bytes[start.saturating_sub(2048)..start];
        let about = &before[memmem::rfind(before, b"obj").map_or(0, |at| at + 3)..];
        if memmem::find(about, b"/Image").is_some() {
            continue;
        }
        let packed = memmem::find_iter(about, b"/FlateDecode").count() + memmem::find_iter(about, b"/Fl ").count();
        if packed > 1 {
            return false;
        }
        if packed == 1 {
            match unpacked(data, &mut buffer) {
                Some(read) => at += read,
                None => return false,
            }
        }
    }
    true
}

/// How many bytes of `data` are one packed part; `None` where there are too many of it unpacked.
fn unpacked(data: &[u8], buffer: &mut [u8]) -> Option<usize> {
    let mut inflate = Decompress::new(true);
    loop {
        let (read, written) = (inflate.total_in(), inflate.total_out());
        let rest = data.get(usize::try_from(read).ok()?..)?;
        let status = inflate.decompress(rest, buffer, FlushDecompress::None);
        if inflate.total_out() > MOST {
            return None;
        }
        let stuck = inflate.total_in() == read && inflate.total_out() == written;
        if stuck || !matches!(status, Ok(Status::Ok)) {
            return usize::try_from(inflate.total_in()).ok();
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::io::Write;

    use flate2::Compression;
    use flate2::write::ZlibEncoder;

    use super::is_harmless;

    fn file(unpacked: u64, filter: &str) -> Vec<u8> {
        let mut packed = ZlibEncoder::new(Vec::new(), Compression::fast());
        let block = vec![b' '; 1 << 20];
        for _ in 0..unpacked >> 20 {
            packed.write_all(&block).unwrap();
        }
        let mut bytes = format!("%PDF-1.5\n1 0 obj\n<</Filter {filter}>>\nstream\n").into_bytes();
        bytes.extend(packed.finish().unwrap());
        bytes.extend(b"\nendstream\nendobj\n");
        bytes
    }

    #[test]
    fn parts_that_explode_are_found() {
        assert!(is_harmless(b"%PDF-1.5\nstream\nendstream"));
        assert!(is_harmless(&file(3 << 20, "/FlateDecode")));
        assert!(!is_harmless(&file(200 << 20, "/FlateDecode")));
        assert!(is_harmless(&file(200 << 20, "/FlateDecode /Subtype /Image")));
        assert!(!is_harmless(&file(1 << 20, "[/FlateDecode /FlateDecode]")));
    }
}
