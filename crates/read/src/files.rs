//! From a path to documents.

use std::fs::{self, File};
use std::io::Read;
use std::path::{Component, Path, PathBuf};

use pericope_api::Document;
use pericope_util::{name_of_text, name_text};

use crate::binary::check_head;
use crate::encoding::Decoded;
use crate::error::ReadError;
use crate::formats::{Reader, formats, reader, reader_of, unknown_format};
use crate::options::ReadOptions;
use crate::stable::{Attempt, Stamp, stable};

/// Reads a file and returns its documents (one, but for JSONL), or the first error. What is missing from a document that
/// could be read in part ([`ReadError::InPart`]) is no error here; [`read_each`] tells it.
///
/// The id of a document is the [`document_id`] of the path. The documents of a JSONL file have their own ids.
///
/// # Errors
/// [`ReadError`]; for a JSONL file with a broken line, that line's. [`read_each`] goes on past broken lines.
pub fn read_path(path: impl AsRef<Path>, options: &ReadOptions) -> Result<Vec<Document>, ReadError> {
    let mut documents = Vec::new();
    let mut error = None;
    read_each(path, options, &mut |document| match document {
        Ok(document) => documents.push(document),
        Err(ReadError::InPart { .. }) => {}
        Err(e) => error = error.take().or(Some(e)),
    });
    error.map_or(Ok(documents), Err)
}

/// Reads a file and hands its documents, and an error for each part that cannot be read, to `sink`, in order.
pub fn read_each(path: impl AsRef<Path>, options: &ReadOptions, sink: &mut dyn FnMut(Result<Document, ReadError>)) {
    let path = path.as_ref();
    match open(path, options) {
        Ok((reader, decoded)) => decoded_into(reader, &document_id(path), decoded, options, sink),
        Err(error) => sink(Err(error)),
    }
}

/// Reads bytes that are not in a file (standard input, a download) with the reader of that name, and hands their
/// documents to `sink` as [`read_each`] does. Errors that name a path name `id`.
pub fn read_bytes(
    id: &str,
    format: &str,
    bytes: Vec<u8>,
    options: &ReadOptions,
    sink: &mut dyn FnMut(Result<Document, ReadError>),
) {
    let decoded = reader(format)
        .ok_or_else(|| unknown_format(format))
        .and_then(|reader| decode(reader, Path::new(id), bytes, options).map(|decoded| (reader, decoded)));
    match decoded {
        Ok((reader, decoded)) => decoded_into(reader, id, decoded, options, sink),
        Err(error) => sink(Err(error)),
    }
}

/// Reads decoded text; its documents say what they were decoded from. What is missing from it is told behind them.
fn decoded_into(
    reader: &dyn Reader,
    id: &str,
    decoded: Decoded,
    options: &ReadOptions,
    sink: &mut dyn FnMut(Result<Document, ReadError>),
) {
    let Decoded { text, encoding, missing, headings } = decoded;
    reader.read_decoded(id, with_line_ends(text).into(), &headings, options, &mut |document| {
        sink(document.map(|document| Document { encoding: encoding.clone(), ..document }));
    });
    if let Some(message) = missing {
        sink(Err(ReadError::InPart { path: document_path(id), message }));
    }
}

/// The text of a file, where carriage returns alone end the lines of it with line feeds instead: both are one byte.
fn with_line_ends(text: String) -> String {
    if !text.contains('\n') && text.contains('\r') { text.replace('\r', "\n") } else { text }
}

/// Returns the id of the document in a file: the path as given, with `/` between its parts and without `./`.
///
/// Different paths have different ids. A byte of a name that is not UTF-8 is written `\xff`; see
/// [`name_text`](pericope_util::name_text).
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
            Component::Prefix(prefix) => id.push_str(&name_text(prefix.as_os_str())),
            Component::ParentDir => id.push_str(".."),
            Component::Normal(name) => id.push_str(&name_text(name)),
        }
        id.push('/');
    }
    if id.len() > 1 && id.ends_with('/') {
        id.pop();
    }
    id
}

/// Returns the path of a file whose [`document_id`] is `id`.
#[must_use]
pub fn document_path(id: &str) -> PathBuf {
    PathBuf::from(name_of_text(id))
}

/// The reader for a file, its text, and the encoding that it was in.
fn open(path: &Path, options: &ReadOptions) -> Result<(&'static dyn Reader, Decoded), ReadError> {
    let chosen = match &options.format {
        Some(name) => Some(reader(name).ok_or_else(|| unknown_format(name))?),
        None => reader_of(path),
    };
    let is_text = chosen.is_none_or(|reader| !reader.needs_isolation());
    let bytes = stable(path, &mut || bytes(path, options.max_bytes, is_text))?;
    // A PDF is one by whatever name; other files are text until shown otherwise.
    let pdf = || bytes.starts_with(b"%PDF-").then(|| reader("pdf")).flatten();
    let fallback = || options.unknown_as_plain.then(|| reader("plain")).flatten();
    let Some(reader) = chosen.or_else(pdf).or_else(fallback) else {
        let known = formats().flat_map(Reader::extensions).copied().collect::<Vec<_>>().join(", ");
        return Err(ReadError::UnknownExtension { path: path.to_owned(), known });
    };
    let decoded = decode(reader, path, bytes, options)?;
    if decoded.text.trim_start_matches('\u{feff}').trim().is_empty() {
        return Err(ReadError::Empty { path: path.to_owned() });
    }
    Ok((reader, decoded))
}

/// The text in the bytes of a file, from a place of its own where that is asked for.
fn decode(reader: &dyn Reader, path: &Path, bytes: Vec<u8>, options: &ReadOptions) -> Result<Decoded, ReadError> {
    match options.isolation.as_deref().filter(|_| reader.needs_isolation()) {
        Some(isolation) => isolation.decode(reader.name(), path, bytes),
        None => reader.decode(path, bytes),
    }
}

/// Bytes of a file that show whether the rest of it is worth reading.
const HEAD: u64 = 8 * 1024;

/// The bytes of a file, and what was known of it before and after they were read. Of a file that should be text and begins with other
/// data no more than the beginning is read: it may be larger than memory.
fn bytes(path: &Path, limit: u64, is_text: bool) -> Result<Attempt, ReadError> {
    let io = |e| ReadError::io(path, e);
    let about = fs::metadata(path).map_err(io)?;
    // Opening a pipe would wait for somebody to write into it.
    if !about.is_file() {
        return Err(ReadError::NotAFile { path: path.to_owned() });
    }
    let too_large = |bytes| ReadError::TooLarge { path: path.to_owned(), bytes, limit };
    if limit > 0 && about.len() > limit {
        return Err(too_large(about.len()));
    }
    let mut file = File::open(path).map_err(io)?;
    let before = Stamp::of(&file.metadata().map_err(io)?);
    let mut bytes = Vec::new();
    Read::by_ref(&mut file).take(HEAD).read_to_end(&mut bytes).map_err(io)?;
    if is_text && !bytes.starts_with(b"%PDF-") {
        check_head(path, &bytes)?;
    }
    // The file may grow while it is read, and some report no length at all.
    bytes.reserve_exact(usize::try_from(about.len()).unwrap_or(0).saturating_sub(bytes.len()));
    let most = if limit > 0 { limit.saturating_add(1) } else { u64::MAX };
    Read::by_ref(&mut file).take(most.saturating_sub(HEAD)).read_to_end(&mut bytes).map_err(io)?;
    if limit > 0 && bytes.len() as u64 > limit {
        return Err(too_large(bytes.len() as u64));
    }
    Ok(Attempt { before, bytes, after: Stamp::of(&file.metadata().map_err(io)?) })
}
