use std::collections::HashMap;
use std::path::Path;

use pericope_api::Span;
use pericope_read::ReadOptions;
use serde::Deserialize;

use super::{DataError, DataText, Question, QuestionSet, Unit};

#[derive(Deserialize)]
struct Passage {
    #[serde(rename = "_id")]
    id: String,
    #[serde(default)]
    title: String,
    text: String,
}

impl Passage {
    /// What is read: the title as a paragraph of its own, then the text. BEIR's own retrievers read both as well.
    fn whole(&self) -> String {
        [self.title.trim(), self.text.as_str()]
            .into_iter()
            .filter(|part| !part.trim().is_empty())
            .collect::<Vec<_>>()
            .join("\n\n")
    }
}

#[derive(Deserialize)]
struct Query {
    #[serde(rename = "_id")]
    id: String,
    text: String,
}

/// BEIR's layout (Thakur et al. 2021): `corpus.jsonl`, `queries.jsonl` and `qrels/SPLIT.tsv` (query, document, score).
///
/// A document is its title, as a first paragraph, and its text. The gold of a question is the whole of every document whose score is
/// above 0, the highest score first. There are no answers: what is generated cannot be judged.
pub(super) fn load(folder: &Path, split: &str) -> Result<QuestionSet, DataError> {
    let mut set = QuestionSet { unit: Unit::Bytes, ..QuestionSet::default() };
    let mut places = HashMap::new();
    let corpus = folder.join("corpus.jsonl");
    for (number, passage) in lines::<Passage>(&corpus, &mut set)? {
        let broken = |set: &mut QuestionSet, problem: &str| {
            set.skipped.push(format!("document '{}' (corpus.jsonl, line {number}): {problem}", passage.id));
        };
        if places.contains_key(&passage.id) {
            broken(&mut set, "its id stands there twice");
            continue;
        }
        let text = passage.whole();
        if text.is_empty() {
            broken(&mut set, "it has neither a title nor text");
            set.harmless += 1;
            continue;
        }
        match pericope_read::read_text(&passage.id, "plain", text, &ReadOptions::default()) {
            Ok(mut document) => {
                document.title = Some(passage.title.trim().to_owned()).filter(|title| !title.is_empty());
                places.insert(passage.id.clone(), set.documents.len());
                set.documents.push(document);
            }
            Err(problem) => broken(&mut set, &problem.to_string()),
        }
    }
    let path = folder.join("qrels").join(format!("{split}.tsv"));
    let mut relevant = relevance(&path, &mut set)?;
    for (_, query) in lines::<Query>(&folder.join("queries.jsonl"), &mut set)? {
        let Some(found) = relevant.remove(&query.id) else { continue };
        let mut found: Vec<(String, (i64, usize))> = found.into_iter().collect();
        found.sort_by_key(|&(_, (score, line))| (std::cmp::Reverse(score), line));
        let mut golds = found.iter().filter(|(_, (score, _))| *score > 0).filter_map(|(id, _)| {
            let at = *places.get(id)?;
            let source = &set.documents.get(at)?.source;
            Some((at, Span::new(0, source.len()).trimmed(source)))
        });
        let Some((document, span)) = golds.next() else {
            set.skipped.push(format!("question '{}': no document with a score above 0 is in the corpus", query.id));
            continue;
        };
        let elsewhere = golds.collect();
        let (id, text) = (query.id, query.text.trim().to_owned());
        set.questions.push(Question { id, text, document, gold: vec![span], elsewhere, answer: String::new() });
    }
    let mut lost: Vec<_> = relevant.into_keys().collect();
    lost.sort_unstable();
    set.skipped.extend(lost.into_iter().map(|id| format!("question '{id}': it is not in queries.jsonl")));
    Ok(set)
}

/// The parsed lines of a file, numbered from 1; those that cannot be used are left out.
fn lines<T: for<'a> Deserialize<'a>>(path: &Path, set: &mut QuestionSet) -> Result<Vec<(usize, T)>, DataError> {
    let read = DataText::read(path)?;
    let mut found = Vec::new();
    for (number, line) in read.text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        match read.check(line).and_then(|()| serde_json::from_str(line).map_err(|e| e.to_string())) {
            Ok(value) => found.push((number + 1, value)),
            Err(problem) => set.skipped.push(format!("{}, line {}: {problem}", path.display(), number + 1)),
        }
    }
    set.checksums.push((path.display().to_string(), read.checksum));
    Ok(found)
}

type Relevance = HashMap<String, HashMap<String, (i64, usize)>>;

/// By question and document: score and line. Of lines that name a document twice for one question the last counts, as in trec_eval:
/// as gold twice over, half of it could never be found.
fn relevance(path: &Path, set: &mut QuestionSet) -> Result<Relevance, DataError> {
    let read = DataText::read(path)?;
    let mut found = Relevance::new();
    for (number, line) in read.text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
        if let Err(problem) = read.check(line) {
            set.skipped.push(format!("{}, line {}: {problem}", path.display(), number + 1));
            continue;
        }
        let mut fields = line.split('\t').map(str::trim);
        let (query, document, score) = (fields.next(), fields.next(), fields.next().and_then(|s| s.parse().ok()));
        match (query, document, score) {
            (Some(query), Some(document), Some(score)) => {
                found.entry(query.to_owned()).or_default().insert(document.to_owned(), (score, number));
            }
            // The first line names the columns.
            _ if number == 0 => {}
            _ => {
                let problem = "expected query, document and a whole score, by tabs";
                set.skipped.push(format!("{}, line {}: {problem}", path.display(), number + 1));
            }
        }
    }
    set.checksums.push((path.display().to_string(), read.checksum));
    Ok(found)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::{DataKind, Selection, load, select};

    fn folder() -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("qrels")).unwrap();
        let put = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).unwrap();
        put(
            "corpus.jsonl",
            "{\"_id\":\"d1\",\"title\":\"Bees\",\"text\":\" Bees gather nectar. \"}\n\n\
             {\"_id\":\"d2\",\"text\":\"A fuse melts.\"}\n{\"_id\":\"d3\",\"text\":\"Hives hum.\"}\n\
             {\"_id\":\"d4\",\"title\":\" \",\"text\":\"  \"}\n{\"_id\":\"d5\",\"title\":\"Hornets\",\"text\":\"\"}\n",
        );
        put(
            "queries.jsonl",
            "{\"_id\":\"q1\",\"text\":\"What do bees do?\"}\n{\"_id\":\"q2\",\"text\":\"Unjudged?\"}\n\
             {\"_id\":\"q3\",\"text\":\"Lost?\"}\n",
        );
        put("qrels/test.tsv", "query-id\tcorpus-id\tscore\nq1\td3\t1\nq1\td1\t2\nq1\td2\t0\nq3\td9\t1\nq9\td1\t1\n");
        put("qrels/dev.tsv", "q2\td2\t1\n");
        folder
    }

    #[test]
    fn whole_documents_are_gold_and_the_best_comes_first() {
        let folder = folder();
        let set = load(DataKind::Beir, folder.path()).unwrap();
        assert_eq!(set.documents.iter().map(|d| d.id.as_str()).collect::<Vec<_>>(), ["d1", "d2", "d3", "d5"]);
        assert_eq!(set.documents[0].title.as_deref(), Some("Bees"));
        let [question] = set.questions.as_slice() else { panic!("{:?}", set.questions) };
        assert_eq!((question.id.as_str(), question.document), ("q1", 0));
        // The title is read too: a question may find its document by nothing else.
        assert_eq!(question.gold[0].of(&set.documents[0].source), "Bees\n\n Bees gather nectar.");
        assert_eq!((&*set.documents[1].source, &*set.documents[3].source), ("A fuse melts.", "Hornets"));
        assert_eq!(question.elsewhere.iter().map(|(d, _)| *d).collect::<Vec<_>>(), [2]);
        // The empty document, the question without its document, the judgement without its question.
        assert_eq!((set.skipped.len(), set.left_out()), (3, 2), "{:?}", set.skipped);
        assert_eq!(set.checksums.len(), 3);
        let dev = Selection { split: Some("dev".into()), ..Selection::default() };
        assert_eq!(select(DataKind::Beir, folder.path(), &dev).unwrap().questions[0].id, "q2");
    }

    #[test]
    fn a_document_that_is_judged_twice_is_gold_once_by_its_last_line() {
        let folder = folder();
        let lines = "query-id\tcorpus-id\tscore\nq1\td1\t1\nq1\td3\t2\nq1\td1\t1\nq1\td2\t1\nq1\td2\t0\n";
        std::fs::write(folder.path().join("qrels/test.tsv"), lines).unwrap();
        let set = load(DataKind::Beir, folder.path()).unwrap();
        let documents: Vec<usize> = set.questions[0].places().map(|(document, _)| document).collect();
        assert_eq!(documents, [2, 0]);
    }

    #[test]
    fn broken_lines_are_named_and_cost_themselves_alone() {
        let folder = folder();
        let spoil = |name: &str, more: &[u8]| {
            let path = folder.path().join(name);
            let bytes = [&std::fs::read(&path).unwrap()[..], more].concat();
            std::fs::write(path, bytes).unwrap();
        };
        spoil("qrels/test.tsv", b"q1 d1 1\nq1\td1\t99999999999999999999\nq\xff\td1\t1\n");
        spoil("corpus.jsonl", b"{\"_id\":1}\n{\"_id\":\"d6\",\"text\":\"\xff\"}\nnonsense\n");
        spoil("queries.jsonl", b"[]\n{\"_id\":\"q4\",\"te");
        let set = load(DataKind::Beir, folder.path()).unwrap();
        assert_eq!((set.questions.len(), set.documents.len()), (1, 4));
        for says in [
            "test.tsv, line 7: expected",
            "test.tsv, line 8: expected",
            "test.tsv, line 9: it is not UTF-8",
            "corpus.jsonl, line 7: ",
            "corpus.jsonl, line 8: it is not UTF-8",
            "corpus.jsonl, line 9: ",
            "queries.jsonl, line 4: ",
            "queries.jsonl, line 5: ",
        ] {
            assert!(set.skipped.iter().any(|skipped| skipped.contains(says)), "{says}: {:#?}", set.skipped);
        }
        // Where nothing is left, the first reason is said.
        std::fs::write(folder.path().join("corpus.jsonl"), "{\"_id\":1}\n").unwrap();
        assert!(load(DataKind::Beir, folder.path()).unwrap_err().to_string().contains("line 1"));
    }
}
