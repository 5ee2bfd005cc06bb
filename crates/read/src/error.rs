use std::io;
use std::path::{Path, PathBuf};

use pericope_util::shown_path;

/// The reason why a file, or a line of one, could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// The file does not exist.
    #[error("{}: there is no such file or folder", shown_path(path))]
    NotFound {
        /// The path of the file.
        path: PathBuf,
    },
    /// A symbolic link to something that is not there.
    #[error("{}: a dangling link to {}", shown_path(path), shown_path(target))]
    DanglingLink {
        /// The link.
        path: PathBuf,
        /// The target, as written in the link.
        target: PathBuf,
    },
    /// A symbolic link to a folder that it lies in, or to itself.
    #[error("{}: a link that leads back to {}", shown_path(path), shown_path(target))]
    LinkLoop {
        /// The link.
        path: PathBuf,
        /// The folder it leads back to; the link itself where it points to itself.
        target: PathBuf,
    },
    /// The operating system refuses access.
    #[error("{}: no permission to read it", shown_path(path))]
    Permission {
        /// The path of the file.
        path: PathBuf,
    },
    /// A folder, a pipe or a device where a file is asked for.
    #[error("{}: not a file", shown_path(path))]
    NotAFile {
        /// The path of the file.
        path: PathBuf,
    },
    /// Any other failure of the file system.
    #[error("{}: {source}", shown_path(path))]
    Io {
        /// The path of the file.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// A file of no bytes, or of nothing but white space.
    #[error("{}: empty", shown_path(path))]
    Empty {
        /// The path of the file.
        path: PathBuf,
    },
    /// Binary data.
    #[error("{}: not text but {what}", shown_path(path))]
    Binary {
        /// The path of the file.
        path: PathBuf,
        /// The kind of data: "a PNG image", "binary data (byte 7 is zero)".
        what: String,
    },
    /// Broken UTF-8, or bytes that are no plausible text in any encoding.
    #[error("{}: not UTF-8, nor text in another encoding: byte {offset} begins no character", shown_path(path))]
    InvalidUtf8 {
        /// The path of the file.
        path: PathBuf,
        /// Offset of the first byte that does not fit, from 0.
        offset: usize,
    },
    /// A file that changed while it was read, and again when it was read once more.
    #[error("{}: changed while it was read; try again", shown_path(path))]
    Changed {
        /// The path of the file.
        path: PathBuf,
    },
    /// A PDF whose pages hold no text.
    #[error("{}: no text in this PDF (scanned?)", shown_path(path))]
    NoText {
        /// The path of the file.
        path: PathBuf,
    },
    /// A PDF that opens with a password only.
    #[error("{}: this PDF is encrypted; save a copy without a password", shown_path(path))]
    Encrypted {
        /// The path of the file.
        path: PathBuf,
    },
    /// A PDF that cannot be understood.
    #[error("{}: not a PDF that can be read: {message}", shown_path(path))]
    Pdf {
        /// The path of the file.
        path: PathBuf,
        /// The problem, in words.
        message: String,
    },
    /// A part of a file that cannot be read. The rest of it is a document.
    #[error("{}: {message}", shown_path(path))]
    InPart {
        /// The path of the file.
        path: PathBuf,
        /// What is missing, and why: "page 2 of 3 could not be read in full: the parser gave up".
        message: String,
    },
    /// A file that broke, or kept too long, the process that was reading it ([`Isolation`](crate::Isolation)).
    #[error("{}: {message}", path.display())]
    Worker {
        /// The path of the file.
        path: PathBuf,
        /// What happened: "the PDF reader ran out of memory (512 MB)".
        message: String,
    },
    /// A pattern for file names that cannot be understood.
    #[error("the pattern {pattern:?} is no glob: {message}")]
    Glob {
        /// The pattern.
        pattern: String,
        /// The problem, in words.
        message: String,
    },
    /// A file larger than [`ReadOptions::max_bytes`](crate::ReadOptions::max_bytes).
    #[error("{}: {bytes} bytes, more than the limit of {limit}", shown_path(path))]
    TooLarge {
        /// The path of the file.
        path: PathBuf,
        /// The size of the file in bytes.
        bytes: u64,
        /// The limit in bytes.
        limit: u64,
    },
    /// An extension that no reader has, where unknown ones are not read as plain text.
    #[error("{}: no reader for this kind of file; there are readers for {known}", shown_path(path))]
    UnknownExtension {
        /// The path of the file.
        path: PathBuf,
        /// The known extensions, with commas between them.
        known: String,
    },
    /// A name that no reader has.
    #[error("there is no format {name:?}; the formats are {known}")]
    UnknownFormat {
        /// The name that was asked for.
        name: String,
        /// The known names, with commas between them.
        known: String,
    },
    /// A line of a JSONL file that is no document. The others can be read.
    #[error("{id}, line {line}: {message}")]
    Line {
        /// The name of the file.
        id: String,
        /// The number of the line, from 1.
        line: usize,
        /// The problem, in words.
        message: String,
    },
}

impl ReadError {
    /// Returns the error for a failure of the operating system at `path`.
    pub(crate) fn io(path: &Path, source: io::Error) -> Self {
        let owned = path.to_owned();
        match source.kind() {
            io::ErrorKind::PermissionDenied => Self::Permission { path: owned },
            io::ErrorKind::NotFound => match std::fs::read_link(path) {
                Ok(target) => Self::DanglingLink { path: owned, target },
                Err(_) => Self::NotFound { path: owned },
            },
            // A link to itself; the kind for it is not stable yet.
            _ if source.raw_os_error() == Some(ELOOP) && std::fs::read_link(path).is_ok() => {
                Self::LinkLoop { target: owned.clone(), path: owned }
            }
            _ => Self::Io { path: owned, source },
        }
    }

    /// Returns the file that the error is about, if it is about one.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::NotFound { path }
            | Self::DanglingLink { path, .. }
            | Self::LinkLoop { path, .. }
            | Self::Permission { path }
            | Self::NotAFile { path }
            | Self::Io { path, .. }
            | Self::Empty { path }
            | Self::Binary { path, .. }
            | Self::InvalidUtf8 { path, .. }
            | Self::TooLarge { path, .. }
            | Self::Changed { path }
            | Self::NoText { path }
            | Self::Encrypted { path }
            | Self::Pdf { path, .. }
            | Self::InPart { path, .. }
            | Self::Worker { path, .. }
            | Self::UnknownExtension { path, .. } => Some(path),
            Self::UnknownFormat { .. } | Self::Line { .. } | Self::Glob { .. } => None,
        }
    }
}

/// `ELOOP` of Linux; other systems report such a link as any other failure.
const ELOOP: i32 = 40;
