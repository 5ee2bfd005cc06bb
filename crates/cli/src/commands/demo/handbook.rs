//! The pages that come with the program, and the questions about them.

use std::path::Path;

use pericope_api::Document;
use pericope_eval::data::{FromDocsOptions, from_docs};
use pericope_read::{ReadOptions, read_text};
use serde::Deserialize;

use crate::commands::dataset::save;
use crate::resources::shown;
use crate::status::Failure;

/// The pages of `corpora/handbook`, one a line: a package holds only what lies in it. A test compares them.
const PAGES: &str = include_str!("handbook.jsonl");

/// A page as it is packed.
#[derive(Debug, Deserialize)]
pub struct Page {
    /// Its file name.
    pub id: String,
    pub text: String,
}

/// The pages, in the order of their names.
pub fn pages() -> Result<Vec<Page>, Failure> {
    let pages: Result<Vec<Page>, _> = PAGES.lines().map(serde_json::from_str).collect();
    pages.map_err(Failure::runtime)
}

/// The pages as they are read.
pub fn documents(pages: &[Page]) -> Result<Vec<Document>, Failure> {
    let read = |page: &Page| read_text(&page.id, "markdown", page.text.as_str(), &ReadOptions::default());
    pages.iter().map(read).collect::<Result<_, _>>().map_err(Failure::runtime)
}

/// The questions: headings that ask, answered by their sections. The pages that are searched hold no heading.
pub fn questions(documents: &[Document]) -> Result<String, Failure> {
    let made = from_docs(documents, "handbook", FromDocsOptions::default());
    Ok(serde_json::to_string_pretty(&made.file).map_err(anyhow::Error::from)? + "\n")
}

/// The folder of the pages among what is written.
pub const FOLDER: &str = "pages";
/// The file of the questions.
pub const QUESTIONS: &str = "questions.json";

/// Writes pages and questions into a folder that holds nothing else.
pub fn write(folder: &Path, pages: &[Page], questions: &str) -> Result<(), Failure> {
    match folder.read_dir().map(|mut entries| entries.next().is_some()) {
        Ok(true) => {
            return Err(Failure::usage(format!("--out {}: the folder is not empty; name a new one", shown(folder))));
        }
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(Failure::usage(format!("--out {}: {error}", shown(folder))));
        }
        _ => {}
    }
    for page in pages {
        save(&folder.join(FOLDER).join(&page.id), &page.text)?;
    }
    save(&folder.join(QUESTIONS), questions)
}
