use std::collections::{HashMap, HashSet};
use std::path::Path;

use pericope_api::Document;
use pericope_read::{ReadOptions, read_each, read_text};
use pericope_segment::random::fnv1a;
use pericope_segment::split::{Shares, Split};
use pericope_util::sha256_file;
use serde::{Deserialize, Serialize};

use super::config::{ClassData, ClassDataKind};
use super::make::{MakeOptions, make};
use super::newsgroups;
use crate::data::{DataError, DataText, refuse_stranger};

/// A document with its class, as a line of JSONL.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassLine {
    /// Unique in the file.
    pub id: String,
    /// The name of its class.
    pub label: String,
    /// How the text is read (`md`, `html`, `rst`, `asciidoc`); plain text where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// What it serves for; by its id where nothing is said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub split: Option<Split>,
    /// The text.
    pub text: String,
}

/// Documents with their classes.
#[derive(Debug, Clone, Default)]
pub struct ClassSet {
    /// The names of the classes, in the order of the documents.
    pub labels: Vec<String>,
    /// The documents.
    pub documents: Vec<Document>,
    /// By document, the number of its class.
    pub classes: Vec<usize>,
    /// By document, what it serves for.
    pub splits: Vec<Split>,
    /// What was left out, each with its reason.
    pub skipped: Vec<String>,
    /// How many of these were asked for: documents of other lengths, beyond a number, or of which nothing is left once
    /// parts are taken out.
    pub harmless: usize,
    /// SHA-256 of each file that was read, by path.
    pub checksums: Vec<(String, String)>,
}

impl ClassSet {
    pub(super) fn add(&mut self, document: Document, label: &str, split: Split) {
        let class = self.labels.iter().position(|known| known == label).unwrap_or_else(|| {
            self.labels.push(label.to_owned());
            self.labels.len() - 1
        });
        self.documents.push(document);
        self.classes.push(class);
        self.splits.push(split);
    }

    /// Adds a line; the reason where it is none that can be used.
    fn add_line(&mut self, line: ClassLine, shares: Shares) -> Result<(), String> {
        let ClassLine { id, label, format, split, text } = line;
        if label.trim().is_empty() {
            return Err(format!("{id}: its label is empty"));
        }
        let format = format.as_deref().unwrap_or("plain");
        let document = read_text(&id, format, text, &ReadOptions::default()).map_err(|e| e.to_string())?;
        if document.is_empty() {
            return Err(format!("{id}: it has no text"));
        }
        self.add(document, &label, split.unwrap_or_else(|| shares.part(&id)));
        Ok(())
    }

    /// Leaves at most so many documents of each class, chosen by their ids: more hold those of less. 0 leaves all.
    fn limit(&mut self, most: usize, seed: u64) {
        if most == 0 {
            return;
        }
        let mut order: Vec<(u64, usize)> =
            self.documents.iter().enumerate().map(|(at, one)| (chance(&one.id, seed), at)).collect();
        order.sort_unstable();
        let (mut counts, mut kept) = (vec![0; self.labels.len()], vec![false; self.documents.len()]);
        for (_, at) in order {
            if let Some(count) = self.classes.get(at).and_then(|&class| counts.get_mut(class))
                && *count < most
                && let Some(kept) = kept.get_mut(at)
            {
                *count += 1;
                *kept = true;
            }
        }
        let keep = |at: &mut usize| {
            *at += 1;
            kept.get(*at - 1).copied().unwrap_or(false)
        };
        let (mut a, mut b, mut c) = (0, 0, 0);
        self.documents.retain(|_| keep(&mut a));
        self.classes.retain(|_| keep(&mut b));
        self.splits.retain(|_| keep(&mut c));
    }

    /// How much was left out that should have been there.
    #[must_use]
    pub fn unusable(&self) -> usize {
        self.skipped.len().saturating_sub(self.harmless)
    }

    /// The number of documents of a class (all classes where none is named) that serve for something.
    #[must_use]
    pub fn count(&self, class: Option<usize>, split: Split) -> usize {
        let all = self.classes.iter().zip(&self.splits);
        all.filter(|&(of, serves)| class.is_none_or(|class| *of == class) && *serves == split).count()
    }
}

/// A number by which documents are chosen.
pub(super) fn chance(id: &str, seed: u64) -> u64 {
    fnv1a(seed, id.bytes())
}

/// Reads the documents that an experiment names.
///
/// # Errors
/// [`DataError`] where a file cannot be read, is in another layout, or holds fewer than two classes.
pub fn load(data: &ClassData, path: &Path) -> Result<ClassSet, DataError> {
    let mut set = match data.kind {
        ClassDataKind::Classes => classes(path, data.shares())?,
        ClassDataKind::Projects => projects(data, path)?,
        ClassDataKind::Newsgroups => newsgroups::read(path, &data.strip, data.shares())?,
    };
    set.limit(data.documents, data.seed);
    let layout = |problem: &str| Err(DataError::Layout { path: path.to_owned(), problem: problem.to_owned() });
    if set.labels.len() < 2 {
        return layout("documents of at least two classes are needed");
    }
    for (split, for_what) in [(Split::Train, "train"), (Split::Test, "test")] {
        if set.count(None, split) == 0 {
            return layout(&format!("there is no document to {for_what} on"));
        }
    }
    Ok(set)
}

/// A file of lines.
fn classes(path: &Path, shares: Shares) -> Result<ClassSet, DataError> {
    let text = DataText::read(path)?;
    let mut set =
        ClassSet { checksums: vec![(path.display().to_string(), text.checksum.clone())], ..ClassSet::default() };
    let mut lines_of: HashMap<String, usize> = HashMap::new();
    for (number, line) in (1..).zip(text.text.lines()).filter(|(_, line)| !line.trim().is_empty()) {
        let mut read = || -> Result<(), String> {
            text.check(line)?;
            let line: ClassLine = serde_json::from_str(line).map_err(|e| e.to_string())?;
            if let Some(first) = lines_of.insert(line.id.clone(), number) {
                return Err(format!("the id {:?} is that of line {first} already", line.id));
            }
            set.add_line(line, shares)
        };
        if let Err(problem) = read() {
            set.skipped.push(format!("line {number}: {problem}"));
        }
    }
    Ok(set)
}

/// Files below a folder, each a class, made into a set as `pericope dataset classes` does.
fn projects(data: &ClassData, path: &Path) -> Result<ClassSet, DataError> {
    let (mut checksums, mut skipped, mut all) = (Vec::new(), Vec::new(), Vec::new());
    for name in &data.files {
        let file = path.join(name);
        refuse_stranger(path, &file)?;
        let sum = sha256_file(&file).map_err(|source| DataError::Io { path: file.clone(), source })?;
        checksums.push((file.display().to_string(), sum));
        let mut documents = Vec::new();
        read_each(&file, &ReadOptions::default(), &mut |read| match read {
            Ok(document) => documents.push(document),
            Err(error) => skipped.push(error.to_string()),
        });
        all.push((class_of(&file), documents));
    }
    let options = MakeOptions {
        mask: data.mask,
        words: data.mask_words.clone(),
        words_each: (data.min_words, data.max_words),
        documents: data.documents,
        shares: data.shares(),
    };
    let made = make(all, &options);
    let asked_for = made.left_out();
    let harmless = asked_for.len();
    skipped.extend(asked_for);
    let mut set = ClassSet { checksums, skipped, harmless, ..ClassSet::default() };
    for line in made.lines {
        if let Err(problem) = set.add_line(line, data.shares()) {
            set.skipped.push(problem);
        }
    }
    Ok(set)
}

/// The class that a file or folder is: its name up to the first dot, `k6` of `docs/k6.raw.jsonl`.
#[must_use]
pub fn class_of(path: &Path) -> String {
    let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    name.split('.').find(|part| !part.is_empty()).unwrap_or(&name).to_owned()
}

/// Whether no two of some texts are the same.
pub(super) fn distinct<'a>(texts: impl IntoIterator<Item = &'a str>) -> bool {
    let mut seen = HashSet::new();
    texts.into_iter().all(|text| seen.insert(text))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn data(kind: &str, more: &str) -> ClassData {
        toml::from_str(&format!("kind = \"{kind}\"\npath = \"p\"\n{more}")).unwrap()
    }

    #[test]
    fn lines_that_cannot_be_used_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.jsonl");
        let line = |id: &str, label: &str, split: &str| {
            format!("{{\"id\":\"{id}\",\"label\":\"{label}\",\"split\":\"{split}\",\"text\":\"A page. Of text.\"}}\n")
        };
        let mut text = line("1", "a", "train") + &line("2", "b", "test") + &line("3", "a", "validation");
        text += &(line("1", "a", "train") + &line("4", " ", "train") + &line("5", "b", "tset") + "no json\n");
        text += "{\"id\":\"6\",\"label\":\"b\",\"format\":\"md\",\"text\":\"# Head\\n\\nBody.\"}\n";
        text += "{\"id\":\"7\",\"label\":\"b\",\"text\":\" \"}\n";
        std::fs::write(&path, text).unwrap();
        let set = load(&data("classes", ""), &path).unwrap();
        assert_eq!(set.labels, ["a", "b"]);
        assert_eq!((set.documents.len(), set.skipped.len(), set.checksums.len()), (4, 5, 1));
        assert_eq!(set.unusable(), 5);
        assert_eq!(set.splits[..3], [Split::Train, Split::Test, Split::Validation]);
        assert_eq!(set.documents[3].len(), 2, "read as Markdown");
        assert!(set.skipped[0].contains("line 4") && set.skipped[0].contains("line 1 already"), "{:?}", set.skipped);
    }

    #[test]
    fn fewer_documents_are_some_of_more() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.jsonl");
        let line = |n: usize| format!("{{\"id\":\"{n}\",\"label\":\"{}\",\"text\":\"Page {n}.\"}}\n", n % 2);
        std::fs::write(&path, (0..100).map(line).collect::<String>()).unwrap();
        let ids = |more: &str| -> Vec<(String, Split)> {
            let set = load(&data("classes", more), &path).unwrap();
            assert_eq!(set.documents.len(), set.classes.len());
            set.documents.iter().map(|one| one.id.clone()).zip(set.splits).collect()
        };
        let (all, some, few) = (ids(""), ids("documents = 30"), ids("documents = 10"));
        assert_eq!((all.len(), some.len(), few.len()), (100, 60, 20));
        assert!(few.iter().all(|one| some.contains(one)) && some.iter().all(|one| all.contains(one)));
        let tested = all.iter().filter(|(_, split)| *split == Split::Test).count();
        assert!((15..45).contains(&tested), "{tested} of 100");
    }

    #[test]
    fn a_set_that_says_nothing_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("c.jsonl");
        std::fs::write(&path, "{\"id\":\"1\",\"label\":\"a\",\"split\":\"train\",\"text\":\"A.\"}\n").unwrap();
        assert!(load(&data("classes", ""), &path).unwrap_err().to_string().contains("at least two classes"));
        assert_eq!(class_of(Path::new("docs/k6.raw.jsonl")), "k6");
        assert_eq!(class_of(Path::new("rust_book")), "rust_book");
    }
}
