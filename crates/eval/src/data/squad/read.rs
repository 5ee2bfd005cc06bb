//! Files and folders, article by article.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::{Article, SquadFile, add};
use crate::data::{DataError, DataText, QuestionSet, Selection, Unique, Unit, refuse_stranger};

/// A file, or a folder of files (NLQuAD comes as three), which are read in the order of their names.
pub(in crate::data) fn load(path: &Path, selection: &Selection) -> Result<QuestionSet, DataError> {
    let mut set = QuestionSet { unit: Unit::Bytes, ..QuestionSet::default() };
    let mut ids = Unique::default();
    let mut sources = BTreeSet::new();
    for file in files(path, selection.split.as_deref())? {
        let read = DataText::read(&file)?;
        let articles = articles(&read, &file)?;
        set.checksums.push((file.display().to_string(), read.checksum));
        for (number, article) in articles.into_iter().enumerate() {
            let article = match article {
                Ok(article) => article,
                Err(problem) => {
                    set.skipped.push(format!("article {} of {}: {problem}", number + 1, file.display()));
                    continue;
                }
            };
            sources.extend(article.source.clone());
            let wanted = selection.sources.is_empty()
                || article.source.as_ref().is_some_and(|source| selection.sources.contains(source));
            if wanted {
                let own = article.id.clone().unwrap_or_else(|| article.title.clone());
                let wanted = if own.is_empty() { format!("document-{number}") } else { own.clone() };
                let id = ids.name(&wanted, |id, number| format!("{id} ({number})"));
                if id != own && !own.is_empty() {
                    set.renamed.insert(id.clone(), own);
                }
                if let Some(source) = &article.source {
                    set.sources.insert(id.clone(), source.clone());
                }
                add(&mut set, id, &article);
            }
        }
    }
    if let Some(unknown) = selection.sources.iter().find(|source| !sources.contains(*source)) {
        let known = sources.into_iter().collect::<Vec<_>>().join(", ");
        let known = if known.is_empty() { "its articles name none".to_owned() } else { format!("there are {known}") };
        let problem = format!("no article is from data.sources = \"{unknown}\": {known}");
        return Err(DataError::Layout { path: path.to_owned(), problem });
    }
    Ok(set)
}

/// A file whose articles are read one by one.
#[derive(Deserialize)]
struct Loose {
    data: Vec<Value>,
}

/// The articles of a file, or why one of them cannot be used.
pub(in crate::data) fn articles(read: &DataText, path: &Path) -> Result<Vec<Result<Article, String>>, DataError> {
    // A sound file takes no detour.
    let whole = serde_json::from_str::<SquadFile>(&read.text);
    if let (Ok(file), false) = (whole, read.is_broken()) {
        return Ok(file.data.into_iter().map(Ok).collect());
    }
    let loose: Loose = serde_json::from_str(&read.text).map_err(|e| DataError::Layout {
        path: path.to_owned(),
        problem: format!("not in SQuAD's layout (data > paragraphs > context, qas): {e}"),
    })?;
    let article = |value: Value| {
        read.check_value(&value)?;
        serde_json::from_value(value).map_err(|e| e.to_string())
    };
    Ok(loose.data.into_iter().map(article).collect())
}

/// The files behind a path, sorted by name.
fn files(path: &Path, split: Option<&str>) -> Result<Vec<PathBuf>, DataError> {
    if !path.is_dir() {
        return match split {
            // A file that is not there is no matter of parts.
            Some(_) if !path.exists() => {
                Err(DataError::Layout { path: path.to_owned(), problem: "there is no such file or folder".into() })
            }
            Some(_) => Err(DataError::Layout {
                path: path.to_owned(),
                problem: "data.split chooses among the files of a folder, and this is no folder".into(),
            }),
            None => Ok(vec![path.to_owned()]),
        };
    }
    let io = |source| DataError::Io { path: path.to_owned(), source };
    let mut found = Vec::new();
    for entry in std::fs::read_dir(path).map_err(io)? {
        let file = entry.map_err(io)?.path();
        let name = file.file_stem().unwrap_or_default().to_string_lossy().to_lowercase();
        let is_json = file.extension().is_some_and(|e| e.eq_ignore_ascii_case("json"));
        let mut words = name.split(|c: char| !c.is_alphanumeric());
        if is_json && file.is_file() && split.is_none_or(|split| words.any(|word| word == split.to_lowercase())) {
            refuse_stranger(path, &file)?;
            found.push(file);
        }
    }
    if found.is_empty() {
        let which = split.map(|s| format!(" with the word \"{s}\" in its name")).unwrap_or_default();
        let problem = format!("there is no .json file{which} in this folder");
        return Err(DataError::Layout { path: path.to_owned(), problem });
    }
    found.sort_unstable();
    Ok(found)
}
