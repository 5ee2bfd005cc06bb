//! Texts of data files, of which a bad byte costs its document and not the set.

use std::path::Path;

use serde_json::Value;

use super::DataError;
use pericope_util::sha256_hex;

/// The text of a data file.
#[derive(Debug)]
pub struct DataText {
    /// The text, without a byte order mark. Where bytes are not UTF-8, a character stands for them that is nowhere else in
    /// it.
    pub text: String,
    /// SHA-256 of the file.
    pub checksum: String,
    gap: Option<char>,
}

impl DataText {
    /// Reads a file.
    ///
    /// # Errors
    /// [`DataError::Io`] where it cannot be read.
    pub fn read(path: &Path) -> Result<Self, DataError> {
        let bytes = pericope_util::read_file(path).map_err(|source| DataError::Io { path: path.to_owned(), source })?;
        let checksum = sha256_hex(&bytes);
        let (mut text, gap) = match String::from_utf8(bytes) {
            Ok(text) => (text, None),
            Err(e) => {
                let (text, gap) = with_gaps(e.as_bytes());
                (text, Some(gap))
            }
        };
        if text.starts_with('\u{feff}') {
            text.drain(..'\u{feff}'.len_utf8());
        }
        Ok(Self { text, checksum, gap })
    }

    /// Returns an error for a part of the text that holds bytes that are not UTF-8.
    ///
    /// # Errors
    /// In words.
    pub fn check(&self, part: &str) -> Result<(), String> {
        if self.gap.is_some_and(|gap| part.contains(gap)) { Err("it is not UTF-8".to_owned()) } else { Ok(()) }
    }

    /// Returns an error for a part of the file, parsed, that holds bytes that are not UTF-8.
    ///
    /// # Errors
    /// In words.
    pub fn check_value(&self, part: &Value) -> Result<(), String> {
        if !self.is_broken() {
            return Ok(());
        }
        match part {
            Value::String(text) => self.check(text),
            Value::Array(list) => list.iter().try_for_each(|one| self.check_value(one)),
            Value::Object(table) => {
                table.iter().try_for_each(|(key, value)| self.check(key).and_then(|()| self.check_value(value)))
            }
            _ => Ok(()),
        }
    }

    /// Returns true where some bytes are not UTF-8.
    #[must_use]
    pub fn is_broken(&self) -> bool {
        self.gap.is_some()
    }

    /// The text with the usual replacement character for bytes that are not UTF-8, and how often it stands for some.
    #[must_use]
    pub fn replaced(self) -> (String, usize) {
        match self.gap {
            None => (self.text, 0),
            Some(gap) => (self.text.replace(gap, "\u{fffd}"), self.text.matches(gap).count()),
        }
    }
}

/// The text with a character for each run of bytes that is none, and that character: one for private use.
fn with_gaps(bytes: &[u8]) -> (String, char) {
    let sound = |c: char| bytes.utf8_chunks().any(|chunk| chunk.valid().contains(c));
    // There are more of them than a text of this world uses; the last one is taken where it uses all.
    let gap = ('\u{f0000}'..='\u{f00ff}').find(|c| !sound(*c)).unwrap_or('\u{f00ff}');
    let mut text = String::with_capacity(bytes.len() + 16);
    for chunk in bytes.utf8_chunks() {
        text.push_str(chunk.valid());
        if !chunk.invalid().is_empty() {
            text.push(gap);
        }
    }
    (text, gap)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::DataText;

    #[test]
    fn bad_bytes_are_found_again() {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), b"\xef\xbb\xbfone \xff\xfe\ntwo \xef\xbf\xbd\nthree \xf3\xb0\x80\x80").unwrap();
        let read = DataText::read(file.path()).unwrap();
        let bad: Vec<bool> = read.text.lines().map(|line| read.check(line).is_err()).collect();
        // A replacement character or one for private use that stands in the file is no bad byte.
        assert_eq!(bad, [true, false, false]);
        assert!(read.is_broken() && read.text.starts_with("one"));
        assert_eq!(read.replaced().1, 2);
        std::fs::write(file.path(), "sound").unwrap();
        let read = DataText::read(file.path()).unwrap();
        assert!(!read.is_broken() && read.check("sound").is_ok());
        assert_eq!(read.replaced(), ("sound".to_owned(), 0));
    }
}
