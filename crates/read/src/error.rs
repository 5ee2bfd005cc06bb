use std::io;
use std::path::{Path, PathBuf};

/// Why a file, or a line of one, could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReadError {
    /// There is no such file.
    #[error("{}: there is no such file or folder", path.display())]
    NotFound {
        /// The path.
        path: PathBuf,
    },
    /// A symbolic link to something that is not there.
    #[error("{}: a dangling link to {}", path.display(), target.display())]
    DanglingLink {
        /// The link.
        path: PathBuf,
        /// What it points to, as written in the link.
        target: PathBuf,
    },
    /// A symbolic link to a folder that it lies in, or to itself.
    #[error("{}: a link that leads back to {}", path.display(), target.display())]
    LinkLoop {
        /// The link.
        path: PathBuf,
        /// The folder it leads back to; the link itself where it points to itself.
        target: PathBuf,
    },
    /// The operating system refuses it.
    #[error("{}: no permission to read it", path.display())]
    Permission {
        /// The path.
        path: PathBuf,
    },
    /// A folder, a pipe or a device where a file is asked for.
    #[error("{}: not a file", path.display())]
    NotAFile {
        /// The path.
        path: PathBuf,
    },
    /// Any other failure of the file system.
    #[error("{}: {source}", path.display())]
    Io {
        /// The path.
        path: PathBuf,
        /// What the operating system says.
        source: io::Error,
    },
    /// No byte, or nothing but white space.
    #[error("{}: empty", path.display())]
    Empty {
        /// The path.
        path: PathBuf,
    },
    /// Not text.
    #[error("{}: not text but {what}", path.display())]
    Binary {
        /// The path.
        path: PathBuf,
        /// What it looks like: "a PNG image", "binary data (a zero at byte 7)".
        what: String,
    },
    /// Broken UTF-8, or bytes that are no plausible text in any encoding.
    #[error("{}: not UTF-8, nor text in another encoding: byte {offset} begins no character", path.display())]
    InvalidUtf8 {
        /// The path.
        path: PathBuf,
        /// Offset of the first byte that does not fit, from 0.
        offset: usize,
    },
    /// Somebody was writing it, and went on when it was read once more.
    #[error("{}: changed while it was read; try again", path.display())]
    Changed {
        /// The path.
        path: PathBuf,
    },
    /// A PDF whose pages hold no text.
    #[error("{}: no text in this PDF (scanned?)", path.display())]
    NoText {
        /// The path.
        path: PathBuf,
    },
    /// A PDF that opens with a password only.
    #[error("{}: this PDF is encrypted; save a copy without a password", path.display())]
    Encrypted {
        /// The path.
        path: PathBuf,
    },
    /// A PDF that cannot be understood.
    #[error("{}: not a PDF that can be read: {message}", path.display())]
    Pdf {
        /// The path.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
    /// A pattern for file names that cannot be understood.
    #[error("the pattern {pattern:?} is no glob: {message}")]
    Glob {
        /// The pattern.
        pattern: String,
        /// What is wrong with it.
        message: String,
    },
    /// Larger than [`ReadOptions::max_bytes`](crate::ReadOptions::max_bytes).
    #[error("{}: {bytes} bytes, more than the limit of {limit}", path.display())]
    TooLarge {
        /// The path.
        path: PathBuf,
        /// Its size.
        bytes: u64,
        /// The limit.
        limit: u64,
    },
    /// No reader has this extension, and unknown ones are not read as plain text.
    #[error("{}: no reader for this kind of file; there are readers for {known}", path.display())]
    UnknownExtension {
        /// The path.
        path: PathBuf,
        /// The known extensions.
        known: String,
    },
    /// No reader has this name.
    #[error("there is no format {name:?}; the formats are {known}")]
    UnknownFormat {
        /// The name asked for.
        name: String,
        /// The known names.
        known: String,
    },
    /// A line of a JSONL file that is no document; the others can be read.
    #[error("{id}, line {line}: {message}")]
    Line {
        /// The file.
        id: String,
        /// Line number, from 1.
        line: usize,
        /// What is wrong with it.
        message: String,
    },
}

impl ReadError {
    /// The error for what the operating system said about `path`.
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

    /// The file that the error is about, where it is about one.
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
            | Self::UnknownExtension { path, .. } => Some(path),
            Self::UnknownFormat { .. } | Self::Line { .. } | Self::Glob { .. } => None,
        }
    }
}

/// `ELOOP` of Linux; other systems report such a link as any other failure.
const ELOOP: i32 = 40;
