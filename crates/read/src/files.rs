//! From a path to documents.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path};
use std::sync::Arc;

use pericope_api::Document;

use crate::formats::{Reader, formats, reader, unknown_format};
use crate::{ReadError, ReadOptions};

/// Reads a file: all of its documents (one, but for JSONL), or the first error.
///
/// A document is called what [`document_id`] makes of the path; those of a JSONL file have their own ids.
///
/// # Errors
/// [`ReadError`]; for a JSONL file with a broken line, that line's. [`read_each`] goes on past broken lines.
pub fn read_path(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Vec<Document>, ReadError> {
    let mut documents = Vec::new();
    let mut error = None;
    read_each(path, options, &mut |document| match document {
        Ok(document) => documents.push(document),
        Err(e) => error = error.take().or(Some(e)),
    });
    error.map_or(Ok(documents), Err)
}

/// Reads a file and hands its documents, and an error for each part that cannot be read, to `sink`, in order.
pub fn read_each(path: impl AsRef<Path>, options: &ReadOptions, sink: &mut dyn FnMut(Result<Document, ReadError>)) {
    let path = path.as_ref();
    match open(path, options) {
        Ok((reader, source)) => reader.read(&document_id(path), source, options, sink),
        Err(error) => sink(Err(error)),
    }
}

/// What the document in a file is called: the path as given, with `/` between its parts and without `./`.
#[must_use]
pub fn document_id(path: impl AsRef<Path>) -> String {
    let mut id = String::new();
    for part in path.as_ref().components() {
        match part {
            Component::CurDir => continue,
            Component::RootDir => {
                id.push('/');
                continue;
            }
            Component::Prefix(prefix) => id.push_str(&prefix.as_os_str().to_string_lossy()),
            Component::ParentDir => id.push_str(".."),
            Component::Normal(name) => id.push_str(&name.to_string_lossy()),
        }
        id.push('/');
    }
    if id.len() > 1 && id.ends_with('/') {
        id.pop();
    }
    id
}

/// The reader for a file and its text.
fn open(path: &Path, options: &ReadOptions) -> Result<(&'static dyn Reader, Arc<str>), ReadError> {
    let extension = path.extension().unwrap_or_default().to_string_lossy();
    let chosen = match &options.format {
        Some(name) => Some(reader(name).ok_or_else(|| unknown_format(name))?),
        None => formats().find(|reader| reader.extensions().contains(&extension.to_ascii_lowercase().as_str())),
    };
    let source = text(path, options)?;
    let fallback = || options.unknown_as_plain.then(|| reader("plain")).flatten();
    match chosen.or_else(fallback) {
        Some(reader) => Ok((reader, source)),
        None => {
            let known = formats().flat_map(Reader::extensions).copied().collect::<Vec<_>>().join(", ");
            Err(ReadError::UnknownExtension { path: path.to_owned(), known })
        }
    }
}

/// The text of a file.
fn text(path: &Path, options: &ReadOptions) -> Result<Arc<str>, ReadError> {
    let owned = || path.to_owned();
    let about = fs::metadata(path).map_err(|e| ReadError::io(path, e))?;
    // Opening a pipe would wait for somebody to write into it.
    if !about.is_file() {
        return Err(ReadError::NotAFile { path: owned() });
    }
    let limit = options.max_bytes;
    let too_large = |bytes| ReadError::TooLarge { path: owned(), bytes, limit };
    if limit > 0 && about.len() > limit {
        return Err(too_large(about.len()));
    }
    let file = File::open(path).map_err(|e| ReadError::io(path, e))?;
    // The file may grow while it is read, and some report no length at all.
    let mut file = file.take(if limit > 0 { limit + 1 } else { u64::MAX });
    let mut bytes = Vec::with_capacity(usize::try_from(about.len()).unwrap_or(0));
    file.read_to_end(&mut bytes).map_err(|e| ReadError::io(path, e))?;
    if limit > 0 && bytes.len() as u64 > limit {
        return Err(too_large(bytes.len() as u64));
    }
    if let Some(what) = binary(&bytes) {
        return Err(ReadError::Binary { path: owned(), what });
    }
    let text = String::from_utf8(bytes)
        .map_err(|e| ReadError::InvalidUtf8 { path: owned(), offset: e.utf8_error().valid_up_to() })?;
    if text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Err(ReadError::Empty { path: owned() });
    }
    Ok(text.into())
}

/// What these bytes are where they are no text; `None` where they may be.
fn binary(bytes: &[u8]) -> Option<String> {
    const SIGNATURES: &[(&[u8], &str)] = &[
        (b"%PDF-", "a PDF document"),
        (b"\x89PNG\r\n", "a PNG image"),
        (b"\xff\xd8\xff", "a JPEG image"),
        (b"GIF8", "a GIF image"),
        (b"PK\x03\x04", "a ZIP archive (or an office document)"),
        (b"\x1f\x8b", "gzip data"),
        (b"\x7fELF", "a program"),
        (b"\xff\xfe", "UTF-16 text; convert it to UTF-8"),
        (b"\xfe\xff", "UTF-16 text; convert it to UTF-8"),
    ];
    if let Some((_, what)) = SIGNATURES.iter().find(|(signature, _)| bytes.starts_with(signature)) {
        return Some((*what).to_owned());
    }
    memchr::memchr(0, bytes).map(|at| format!("binary data (byte {at} is zero)"))
}
