//! What the two say: a frame is the length of its head (four bytes, little endian), the head as JSON, and so many bytes
//! as the head says.

use std::io::{self, ErrorKind, Read, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::encoding::DecodedHeading;

/// Most bytes of a head: a text may have many headings, but nobody reads more.
const MOST_HEAD: u32 = 4 << 20;
/// Most headings of a text that are told.
pub(super) const MOST_HEADINGS: usize = 50_000;
/// Most bytes of a message; the rest is cut off.
const MOST_MESSAGE: usize = 2_000;

/// A file that is to be decoded; its bytes follow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Request {
    /// The name of the format.
    pub format: String,
    /// The length of the file.
    pub bytes: u64,
    /// Bytes of memory that decoding may take; 0 for no limit.
    pub memory: u64,
    /// The length of the text that is still accepted, in bytes.
    pub most_text: u64,
}

/// The answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Reply {
    /// Its text follows; what is missing from it is said here.
    Text { bytes: u64, encoding: Option<String>, missing: Option<String>, headings: Vec<DecodedHeading> },
    /// There is no text in it.
    NoText,
    /// It opens with a password only.
    Encrypted,
    /// It cannot be understood.
    Broken { message: String },
}

impl Reply {
    /// A message of a length that fits.
    pub fn broken(message: &str) -> Self {
        let end = message.floor_char_boundary(MOST_MESSAGE);
        Self::Broken { message: message.get(..end).unwrap_or_default().to_owned() }
    }
}

/// Writes a frame.
pub(super) fn send(out: &mut impl Write, head: &impl Serialize, body: &[u8]) -> io::Result<()> {
    let head = serde_json::to_vec(head)?;
    let length = u32::try_from(head.len()).map_err(|_| ErrorKind::InvalidInput)?;
    out.write_all(&length.to_le_bytes())?;
    out.write_all(&head)?;
    out.write_all(body)?;
    out.flush()
}

/// Reads the head of a frame; its body is left where it is.
pub(super) fn head<T: DeserializeOwned>(from: &mut impl Read) -> io::Result<T> {
    let mut length = [0; 4];
    from.read_exact(&mut length)?;
    let length = u32::from_le_bytes(length);
    if length > MOST_HEAD {
        return Err(ErrorKind::InvalidData.into());
    }
    let mut head = Vec::new();
    exactly(from, u64::from(length), &mut head)?;
    Ok(serde_json::from_slice(&head)?)
}

/// Reads `length` bytes, and takes memory for them only as they come.
pub(super) fn exactly(from: &mut impl Read, length: u64, into: &mut Vec<u8>) -> io::Result<()> {
    let read = from.by_ref().take(length).read_to_end(into)?;
    if read as u64 == length { Ok(()) } else { Err(ErrorKind::UnexpectedEof.into()) }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn frames_come_back_as_they_were_sent() {
        let mut wire = Vec::new();
        let request = Request { format: "pdf".into(), bytes: 3, memory: 0, most_text: 9 };
        send(&mut wire, &request, b"abc").unwrap();
        send(&mut wire, &Reply::NoText, b"").unwrap();
        let mut from = wire.as_slice();
        assert_eq!(head::<Request>(&mut from).unwrap(), request);
        let mut body = Vec::new();
        exactly(&mut from, 3, &mut body).unwrap();
        assert_eq!(body, b"abc");
        assert_eq!(head::<Reply>(&mut from).unwrap(), Reply::NoText);
        assert_eq!(head::<Reply>(&mut from).unwrap_err().kind(), ErrorKind::UnexpectedEof);
    }

    #[test]
    fn nonsense_is_refused_before_it_is_read() {
        let mut endless = io::repeat(0xff);
        assert_eq!(head::<Reply>(&mut endless).unwrap_err().kind(), ErrorKind::InvalidData);
        let mut short: &[u8] = b"abc";
        assert!(exactly(&mut short, u64::MAX, &mut Vec::new()).is_err());
        let Reply::Broken { message } = Reply::broken(&"ä".repeat(5_000)) else { panic!() };
        assert_eq!(message.len(), MOST_MESSAGE);
    }
}
