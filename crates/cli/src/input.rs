//! Files and folders named on the command line, read one after the other; what cannot be read is named and counted.

use std::io::Read;
use std::path::{Component, Path, PathBuf};

use pericope_api::Document;
use pericope_read::{ReadOptions, WalkOptions, check_globs, document_id, formats, read_bytes, read_each, reader, walk};

use crate::resources::shown;
use crate::status::Failure;

/// Files to read, in a fixed order, and what was left out while they were looked for.
pub struct Input {
    files: Vec<PathBuf>,
    options: ReadOptions,
    problems: Vec<String>,
    /// Where these problems are, as documents are called: nobody knows what lies there or below.
    missed: Vec<String>,
}

impl Input {
    /// Looks for the files below `paths`; larger ones than `max_bytes` are refused when read (0: no limit).
    ///
    /// # Errors
    /// A usage failure where a path is not there at all.
    pub fn find(paths: &[PathBuf], max_bytes: u64) -> Result<Self, Failure> {
        Self::search(paths, &WalkOptions::default(), max_bytes)
    }

    /// The same, with a say in which files of a folder count.
    ///
    /// # Errors
    /// As [`find`](Self::find), and where a glob is none.
    pub fn search(paths: &[PathBuf], options: &WalkOptions, max_bytes: u64) -> Result<Self, Failure> {
        check_globs(&options.globs).map_err(Failure::usage)?;
        for path in paths {
            // A dangling link inside a folder is one bad file among others; a path that was typed is a mistake.
            if path.symlink_metadata().is_err() {
                return Err(Failure::usage(format!("{}: no such file or folder", shown(path))));
            }
        }
        let mut files = Vec::new();
        let (mut problems, mut missed) = (Vec::new(), Vec::new());
        // Files come sorted: mostly in the folder of the one before.
        let mut folder: Option<(PathBuf, bool)> = None;
        let mut among_index = |path: &Path| match &folder {
            Some((known, inside)) if path.parent() == Some(known) => *inside,
            _ => {
                let inside = inside_index(path);
                folder = path.parent().map(|parent| (parent.to_owned(), inside));
                inside
            }
        };
        for found in walk(paths, options) {
            match found {
                // An index that lies among the documents is none of them.
                Ok(path) if among_index(&path) => {}
                Ok(path) => files.push(path),
                Err(skipped) if skipped.path().is_some_and(inside_index) => {}
                Err(skipped) => {
                    // Without a path it may be about any file.
                    missed.push(skipped.path().map(document_id).unwrap_or_default());
                    problems.push(skipped.to_string());
                }
            }
        }
        Ok(Self { files, options: ReadOptions { max_bytes, ..ReadOptions::default() }, problems, missed })
    }

    /// The files, in order.
    pub fn files(&self) -> &[PathBuf] {
        &self.files
    }

    /// Larger files are refused; 0: none.
    pub fn max_bytes(&self) -> u64 {
        self.options.max_bytes
    }

    /// What was left out while the files were looked for.
    pub fn problems(&self) -> &[String] {
        &self.problems
    }

    /// True for the name of a file that may be there although it was not found: something on the way to it could not be
    /// looked at.
    pub fn may_miss(&self, name: &str) -> bool {
        self.missed.iter().any(|missed| Path::new(name).starts_with(missed))
    }

    /// Reads one file: its documents, and a line for each part of it that cannot be read.
    pub fn read(&self, path: &Path, document: &mut dyn FnMut(Document), problem: &mut dyn FnMut(String)) {
        read_each(path, &self.options, &mut |read| match read {
            Ok(read) => {
                note_encoding(shown(path), &read);
                document(read);
            }
            Err(e) => problem(e.to_string()),
        });
    }
}

/// True for the files of an index: some folder above them holds its metadata.
pub fn inside_index(path: &Path) -> bool {
    let path = std::path::absolute(path).unwrap_or_else(|_| path.to_owned());
    resolved(&path).ancestors().skip(1).any(|folder| folder.join(pericope_index::META_FILE).is_file())
}

/// A path without `..`, by its words alone: `index/../docs` does not lie in `index`.
fn resolved(path: &Path) -> PathBuf {
    let mut resolved = PathBuf::new();
    for part in path.components() {
        if part == Component::ParentDir {
            resolved.pop();
        } else {
            resolved.push(part);
        }
    }
    resolved
}

/// Standard input: its documents, and a line for each part of it that cannot be read.
///
/// # Errors
/// A format that nobody knows, and a stream that breaks off.
pub fn standard_input(format: &str) -> Result<(Vec<Document>, Vec<String>), Failure> {
    if reader(format).is_none() {
        let known: Vec<&str> = formats().map(|f| f.name()).collect();
        return Err(Failure::usage(format!("--stdin-format {format}: choose from {}", known.join(", "))));
    }
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes)?;
    let (mut documents, mut problems) = (Vec::new(), Vec::new());
    if bytes.trim_ascii().is_empty() {
        problems.push("standard input is empty".to_owned());
        return Ok((documents, problems));
    }
    read_bytes("-", format, bytes, &ReadOptions::default(), &mut |read| match read {
        Ok(document) => {
            note_encoding("standard input", &document);
            documents.push(document);
        }
        Err(e) => problems.push(e.to_string()),
    });
    Ok((documents, problems))
}

/// Says what a document was decoded from, where that was not UTF-8.
fn note_encoding(source: impl std::fmt::Display, document: &Document) {
    if let Some(encoding) = &document.encoding {
        anstream::eprintln!("{source}: decoded from {encoding}");
    }
}

/// Names problems on standard error, each on a line; returns how many there are.
pub fn report(problems: &[String]) -> usize {
    for problem in problems {
        anstream::eprintln!("{}skipped:{} {problem}", crate::style("33"), crate::style("0"));
    }
    problems.len()
}
