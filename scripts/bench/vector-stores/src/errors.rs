//! The errors that the product's module of vectors makes, under the name that it knows them by.

use std::path::{Path, PathBuf};

#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    #[error("{}: {source}", path.display())]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{} is damaged: {reason}", path.display())]
    Corrupt { path: PathBuf, reason: String },
    #[error("{}: {reason}", path.display())]
    Vectors { path: PathBuf, reason: String },
}

impl IndexError {
    pub fn io(path: &Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.to_owned();
        move |source| Self::Io { path, source }
    }

    pub fn corrupt(path: &Path, reason: impl Into<String>) -> Self {
        Self::Corrupt { path: path.to_owned(), reason: reason.into() }
    }
}
