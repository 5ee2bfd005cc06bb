//! From the paths on a command line to the files behind them.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ignore::WalkBuilder;
use ignore::overrides::{Override, OverrideBuilder};

use crate::error::ReadError;
use crate::formats::{Reader, formats};
use crate::links::Links;

/// Extensions of pictures, fonts, sounds, films and style sheets.
const MEDIA: [&str; 33] = [
    "png", "jpg", "jpeg", "gif", "svg", "webp", "avif", "ico", "bmp", "tif", "tiff", "heic", "psd", "drawio", "woff",
    "woff2", "ttf", "otf", "eot", "mp3", "wav", "ogg", "flac", "m4a", "mp4", "m4v", "webm", "mov", "avi", "mkv", "css",
    "scss", "less",
];

/// Returns true for a file whose extension says that it is a picture, a font, a sound, a film or a style sheet: a folder of
/// documents holds such files beside its documents.
#[must_use]
pub fn is_media(path: &Path) -> bool {
    MEDIA.contains(&extension(path).as_str())
}

/// The files that [`walk`] finds in a folder: all but those of [`is_media`], which a pattern of [`globs`](Self::globs) can ask for.
/// Files that are named themselves are always found.
#[derive(Debug, Clone)]
pub struct WalkOptions {
    /// Whether the files that `.gitignore` and `.ignore` files name are left out, inside a git repository or not; true
    /// by default.
    pub gitignore: bool,
    /// Whether files and folders whose names begin with a dot are found; false by default.
    pub hidden: bool,
    /// Whether symbolic links out of the folders are followed; false by default. A path that is named itself is followed
    /// in any case, and so are links to what lies in one of the folders. Links that lead nowhere or in a circle are errors
    /// either way.
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
        Self { gitignore: true, hidden: false, follow_links: false, globs: Vec::new(), known_only: false }
    }
}

/// The files in paths, and what was not followed to find them.
#[derive(Debug, Default)]
pub struct Found {
    /// The files, sorted by path and each listed once; an error for each path that cannot be looked at.
    pub files: Vec<Result<PathBuf, ReadError>>,
    /// Links that lead out of the folders and were not followed, sorted.
    pub outside: Vec<PathBuf>,
    /// Links, and files below links, that lead to what is found under another path, sorted.
    pub twice: Vec<PathBuf>,
    /// Folders behind links that were followed, sorted.
    pub linked: Vec<PathBuf>,
    /// Files in folders that were left out because their extension says that they hold nothing to read ([`is_media`]), sorted.
    pub media: Vec<PathBuf>,
}

/// Returns the files in `paths`, folders searched through, sorted by path and each listed once.
///
/// A file that links give several paths has the one without a link, or the first. An error stands for each path that
/// cannot be looked at: missing, dangling links, links in a circle, folders without permission. If one of
/// [`WalkOptions::globs`] is no glob, the result is that error alone ([`check_globs`] finds it beforehand).
#[must_use]
pub fn walk<P: AsRef<Path>>(paths: &[P], options: &WalkOptions) -> Vec<Result<PathBuf, ReadError>> {
    find(paths, options).files
}

/// Returns the files as [`walk`] does, and the links that were not followed.
#[must_use]
pub fn find<P: AsRef<Path>>(paths: &[P], options: &WalkOptions) -> Found {
    if let Err(error) = check_globs(&options.globs) {
        return Found { files: vec![Err(error)], ..Found::default() };
    }
    let roots = paths.iter().map(AsRef::as_ref).filter(|root| root.is_dir());
    let roots = roots.filter_map(|root| root.canonicalize().ok()).collect();
    let links = Arc::new(Mutex::new(Links::new(roots, options.follow_links)));
    let (mut files, mut errors, mut media) = (Vec::new(), Vec::new(), Vec::new());
    for root in paths {
        let root = root.as_ref();
        match std::fs::metadata(root) {
            Ok(about) if about.is_dir() => folder(root, options, &links, &mut files, &mut errors, &mut media),
            Ok(_) => files.push((root.to_owned(), root.canonicalize().ok())),
            Err(error) => errors.push((root.to_owned(), ReadError::io(root, error))),
        }
    }
    files.sort_by(|(a, _), (b, _)| a.cmp(b));
    files.dedup_by(|(a, _), (b, _)| a == b);
    let mut links = locked(&links);
    links.keep_once(&mut files);
    let files = files.into_iter().map(|(path, _)| (path, None));
    let mut found: Vec<_> = files.chain(errors.into_iter().map(|(path, error)| (path, Some(error)))).collect();
    // Of a path that is a file and an error, the file comes first.
    found.sort_by(|(a, _), (b, _)| a.cmp(b));
    found.dedup_by(|(a, _), (b, _)| a == b);
    let files = found.into_iter().map(|(path, error)| error.map_or(Ok(path), Err)).collect();
    let linked = links.folders();
    let (mut outside, mut twice) = (std::mem::take(&mut links.outside), std::mem::take(&mut links.twice));
    outside.sort_unstable();
    twice.sort_unstable();
    media.sort_unstable();
    media.dedup();
    // One that is named beside its folder is found.
    media.retain(|path| !paths.iter().any(|named| named.as_ref() == path));
    Found { files, outside, twice, linked, media }
}

fn locked(links: &Mutex<Links>) -> MutexGuard<'_, Links> {
    links.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The files of a folder, each with its path as the system calls it where no link leads there, and what failed.
fn folder(
    root: &Path,
    options: &WalkOptions,
    links: &Arc<Mutex<Links>>,
    files: &mut Vec<(PathBuf, Option<PathBuf>)>,
    errors: &mut Vec<(PathBuf, ReadError)>,
    media: &mut Vec<PathBuf>,
) {
    let real = root.canonicalize().ok();
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
        // Of several links to a folder the first counts, on every machine the same one.
        .sort_by_file_name(std::ffi::OsStr::cmp)
        .follow_links(true);
    let met = Arc::clone(links);
    let asked = globs.clone();
    builder.filter_entry(move |entry| {
        let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
        !globs.matched(entry.path(), is_dir).is_ignore()
            && (!entry.path_is_symlink() || locked(&met).admit(entry.path(), is_dir))
    });
    for entry in builder.build() {
        match entry {
            Ok(entry) => {
                let is_dir = entry.file_type().is_some_and(|kind| kind.is_dir());
                let path = entry.path();
                if is_dir || (options.known_only && !is_known(path)) {
                    continue;
                }
                if is_media(path) && !asked.matched(path, false).is_whitelist() {
                    media.push(path.to_owned());
                    continue;
                }
                match std::fs::metadata(path) {
                    Ok(about) if about.is_dir() => {}
                    Ok(_) => {
                        let inside = path.strip_prefix(root).ok();
                        files
                            .push((path.to_owned(), real.as_ref().zip(inside).map(|(real, inside)| real.join(inside))));
                    }
                    Err(error) => errors.push((path.to_owned(), ReadError::io(path, error))),
                }
            }
            Err(error) => {
                let (path, error) = convert(error, root);
                errors.push((path, error));
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
    let extension = extension(path);
    formats().flat_map(Reader::extensions).any(|known| **known == *extension)
}

fn extension(path: &Path) -> String {
    path.extension().unwrap_or_default().to_string_lossy().to_ascii_lowercase()
}
