//! From the paths on a command line to the files behind them.

use std::path::{Path, PathBuf};

use ignore::WalkBuilder;
use ignore::overrides::{Override, OverrideBuilder};

use crate::error::ReadError;
use crate::formats::{Reader, formats};

/// The files that [`walk`] finds in a folder. Files that are named themselves are always found.
#[derive(Debug, Clone)]
pub struct WalkOptions {
    /// Whether the files that `.gitignore` and `.ignore` files name are left out, inside a git repository or not; true
    /// by default.
    pub gitignore: bool,
    /// Whether files and folders whose names begin with a dot are found; false by default.
    pub hidden: bool,
    /// Whether symbolic links are followed; true by default. Links that lead nowhere or in a circle are errors either
    /// way.
    pub follow_links: bool,
    /// The patterns of the files in folders that are found, as in `.gitignore`; empty, the default, is all files.
    ///
    /// A file is found if a pattern matches it (`*.md`, `guide/**/*.html`) and no later one with `!` before it does. With
    /// nothing but `!` patterns, all others are found. Patterns with a slash are relative to the folder that is walked.
    /// Files that are ignored or hidden stay so.
    pub globs: Vec<String>,
    /// Whether files whose extension no reader has are left out; false by default. Otherwise
    /// [`read_path`](crate::read_path) finds out whether they are text.
    pub known_only: bool,
}

impl Default for WalkOptions {
    fn default() -> Self {
        Self { gitignore: true, hidden: false, follow_links: true, globs: Vec::new(), known_only: false }
    }
}

/// Returns the files in `paths`, folders searched through, sorted by path and each named once.
///
/// An error stands for each path that cannot be looked at: missing, dangling links, links in a circle, folders without
/// permission. If one of [`WalkOptions::globs`] is no glob, the result is that error alone ([`check_globs`] finds it
/// beforehand).
#[must_use]
pub fn walk<P: AsRef<Path>>(paths: &[P], options: &WalkOptions) -> Vec<Result<PathBuf, ReadError>> {
    let mut found: Vec<(PathBuf, Option<ReadError>)> = Vec::new();
    if let Err(error) = check_globs(&options.globs) {
        return vec![Err(error)];
    }
    for root in paths {
        let root = root.as_ref();
        match std::fs::metadata(root) {
            Ok(about) if about.is_dir() => folder(root, options, &mut found),
            Ok(_) => found.push((root.to_owned(), None)),
            Err(error) => found.push((root.to_owned(), Some(ReadError::io(root, error)))),
        }
    }
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    found.dedup_by(|(a, _), (b, _)| a == b);
    found.into_iter().map(|(path, error)| error.map_or(Ok(path), Err)).collect()
}

fn folder(root: &Path, options: &WalkOptions, found: &mut Vec<(PathBuf, Option<ReadError>)>) {
    let globs = overrides(root, &options.globs).unwrap_or_else(|_| Override::empty());
    let mut builder = WalkBuilder::new(root);
    builder
        .hidden(!options.hidden)
        .ignore(options.gitignore)
        .git_ignore(options.gitignore)
        .git_exclude(options.gitignore)
        // The same files on every machine: the user's own configuration does not count.
        .git_global(false)
        .parents(options.gitignore)
        .require_git(false)
        .follow_links(options.follow_links);
    if !globs.is_empty() {
        builder.filter_entry(move |entry| {
            let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
            !globs.matched(entry.path(), is_dir).is_ignore()
        });
    }
    for entry in builder.build() {
        match entry {
            Ok(entry) => {
                let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
                let path = entry.path();
                if is_dir || (options.known_only && !is_known(path)) {
                    continue;
                }
                // Where links are not followed, they are entries; those to files are read all the same.
                match std::fs::metadata(path) {
                    Ok(about) if about.is_dir() => {}
                    Ok(_) => found.push((path.to_owned(), None)),
                    Err(error) => found.push((path.to_owned(), Some(ReadError::io(path, error)))),
                }
            }
            Err(error) => {
                let (path, error) = convert(error, root);
                found.push((path, Some(error)));
            }
        }
    }
}

/// Checks that patterns are globs, without looking at any file.
///
/// # Errors
/// [`ReadError::Glob`] for the first that is none.
pub fn check_globs(globs: &[String]) -> Result<(), ReadError> {
    overrides(Path::new("."), globs).map(|_| ())
}

fn overrides(root: &Path, globs: &[String]) -> Result<Override, ReadError> {
    let mut builder = OverrideBuilder::new(root);
    let fail = |pattern: &str, error: &ignore::Error| ReadError::Glob {
        pattern: pattern.to_owned(),
        message: error.to_string(),
    };
    for glob in globs {
        builder.add(glob).map_err(|error| fail(glob, &error))?;
    }
    builder.build().map_err(|error| fail(&globs.join(" "), &error))
}

/// The path that an error of the walk is about, and the error.
fn convert(error: ignore::Error, about: &Path) -> (PathBuf, ReadError) {
    match error {
        ignore::Error::WithPath { path, err } => convert(*err, &path),
        ignore::Error::WithDepth { err, .. } | ignore::Error::WithLineNumber { err, .. } => convert(*err, about),
        ignore::Error::Loop { ancestor, child } => {
            (child.clone(), ReadError::LinkLoop { path: child, target: ancestor })
        }
        // The system's own error says more than the one that the walk wraps it in.
        ignore::Error::Io(error) => {
            (about.to_owned(), ReadError::io(about, std::fs::metadata(about).err().unwrap_or(error)))
        }
        other => (about.to_owned(), ReadError::Io { path: about.to_owned(), source: std::io::Error::other(other) }),
    }
}

fn is_known(path: &Path) -> bool {
    let extension = path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase();
    formats().flat_map(Reader::extensions).any(|known| **known == *extension)
}
