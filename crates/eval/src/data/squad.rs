use std::path::{Path, PathBuf};
use std::sync::Arc;

use pericope_api::Span;
use pericope_read::ReadOptions;
use pericope_segment::foreign::Original;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::offsets::CodePoints;
use super::{DataError, DataText, Question, QuestionSet, Selection, Unique, Unit, refuse_stranger};

/// A file in the layout of SQuAD v1.1 (NLQuAD has the same).
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct SquadFile {
    /// Layout version.
    #[serde(default)]
    pub version: serde_json::Value,
    /// The documents.
    pub data: Vec<Article>,
}

/// A document: its paragraphs belong together.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Article {
    /// Title.
    #[serde(default)]
    pub title: String,
    /// Id; titles stand in where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub id: Option<String>,
    /// What the contexts are written in: `plain` (default), `md` or `html`. An addition to SQuAD's layout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub format: Option<String>,
    /// Where it is from: the project or collection. An addition to SQuAD's layout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub source: Option<String>,
    /// The path as it was typed, where the id is a shorter one: another name of the document, for chunks and passages of
    /// others. An addition to SQuAD's layout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// The text, in one or several pieces, each with its questions.
    pub paragraphs: Vec<Paragraph>,
}

/// A piece of text with questions about it.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Paragraph {
    /// The text.
    pub context: String,
    /// The questions.
    #[serde(default)]
    pub qas: Vec<Qa>,
    /// What was taken out of the text, in its order. An addition to SQuAD's layout.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub masked: Vec<Masked>,
}

/// Words of a heading that was taken out of a text: blanks of the same length in bytes stand there.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Masked {
    /// The first byte, in the context.
    pub start: usize,
    /// What stood there.
    pub text: String,
}

impl Paragraph {
    /// The text with what was taken out of it; `None` where that does not fit.
    fn original(&self) -> Option<String> {
        let mut text = String::with_capacity(self.context.len());
        let mut at = 0;
        for masked in &self.masked {
            let end = masked.start.checked_add(masked.text.len())?;
            // On characters of the context, so that no offset changes.
            self.context.get(masked.start..end)?;
            text.push_str(self.context.get(at..masked.start)?);
            text.push_str(&masked.text);
            at = end;
        }
        text.push_str(self.context.get(at..)?);
        Some(text)
    }
}

/// A question with its answers.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Qa {
    /// Id.
    #[serde(default, deserialize_with = "id_as_text")]
    pub id: String,
    /// What is asked.
    pub question: String,
    /// The answers; the first is the gold answer.
    #[serde(default)]
    pub answers: Vec<Answer>,
    /// Whether nothing answers it, on purpose: SQuAD 2.0's.
    #[serde(default, deserialize_with = "truth", skip_serializing_if = "is_false")]
    pub is_impossible: bool,
    /// What a drafted question was made from. An addition to SQuAD's layout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub kind: Option<String>,
    /// The answer's place in bytes of the context, of a drafted question. An addition to SQuAD's layout.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<Span>,
}

/// A span of the context.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Answer {
    /// Its text.
    pub text: String,
    /// Where it starts, in code points of the context.
    #[serde(deserialize_with = "any_number")]
    pub answer_start: usize,
}

/// Stands for a number that is no offset, such as -1: it is one beyond every text, so that the answer is looked for.
const NO_OFFSET: usize = usize::MAX;

impl Answer {
    /// Where it is said to start, for messages.
    pub(super) fn start(&self) -> String {
        match self.answer_start {
            NO_OFFSET => "answer_start (no whole number from 0 on)".to_owned(),
            start => format!("answer_start {start}"),
        }
    }
}

/// A number that is no offset becomes [`NO_OFFSET`].
fn any_number<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<usize, D::Error> {
    let number = serde_json::Number::deserialize(deserializer)?;
    Ok(number.as_u64().and_then(|n| usize::try_from(n).ok()).unwrap_or(NO_OFFSET))
}

fn id_as_text<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    Ok(match serde_json::Value::deserialize(deserializer)? {
        serde_json::Value::String(text) => text,
        serde_json::Value::Null => String::new(),
        other => other.to_string(),
    })
}

/// True for `true` alone: what else stands there says nothing.
fn truth<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<bool, D::Error> {
    Ok(serde_json::Value::deserialize(deserializer)?.as_bool().unwrap_or(false))
}

#[allow(clippy::trivially_copy_pass_by_ref)] // serde passes a reference
fn is_false(said: &bool) -> bool {
    !said
}

/// What stands between the paragraphs of one article.
const JOINT: &str = "\n\n";

/// A file, or a folder of files (NLQuAD comes as three), which are read in the order of their names.
pub(super) fn load(path: &Path, selection: &Selection) -> Result<QuestionSet, DataError> {
    let mut set = QuestionSet { unit: Unit::Bytes, ..QuestionSet::default() };
    let mut ids = Unique::default();
    let mut sources = std::collections::BTreeSet::new();
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
pub(super) fn articles(read: &DataText, path: &Path) -> Result<Vec<Result<Article, String>>, DataError> {
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

/// Adds a document and its questions; what cannot be used is among the skipped.
pub(super) fn add(set: &mut QuestionSet, id: String, article: &Article) {
    let (index, before, mended) = (set.documents.len(), set.questions.len(), set.mended.len());
    let mut source = String::new();
    let is_masked = article.paragraphs.iter().any(|paragraph| !paragraph.masked.is_empty());
    let mut original = is_masked.then(String::new);
    let mut number = 0;
    for paragraph in &article.paragraphs {
        if !source.is_empty() {
            source.push_str(JOINT);
            original.iter_mut().for_each(|original| original.push_str(JOINT));
        }
        let base = source.len();
        source.push_str(&paragraph.context);
        if let Some(original) = &mut original {
            original.push_str(paragraph.original().as_ref().unwrap_or(&paragraph.context));
        }
        let points = CodePoints::new(&paragraph.context);
        for qa in &paragraph.qas {
            match gold(&paragraph.context, &points, qa) {
                Ok(span) => {
                    set.mended.extend(
                        moved(&points, qa, span).map(|how| format!("question '{}' of {id}: {how}", qa.question)),
                    );
                    set.questions.push(Question {
                        id: if qa.id.is_empty() { format!("{id}#{number}") } else { qa.id.clone() },
                        text: qa.question.trim().to_owned(),
                        document: index,
                        gold: vec![Span::new(base + span.start, base + span.end)],
                        elsewhere: Vec::new(),
                        answer: span.of(&paragraph.context).to_owned(),
                    });
                }
                Err(problem) => {
                    // SQuAD 2.0 asks what nothing answers, on purpose.
                    set.harmless += usize::from(qa.is_impossible && qa.answers.is_empty());
                    set.skipped.push(format!("question '{}' of {id}: {problem}", qa.question));
                }
            }
            number += 1;
        }
    }
    let text = original.filter(|original| *original != source).map(Into::into);
    let original = Original { text, path: article.path.clone() };
    let format = article.format.as_deref().unwrap_or("plain");
    match pericope_read::read_text(&id, format, source, &ReadOptions::default()) {
        Ok(mut document) => {
            if !article.title.is_empty() {
                document.title = Some(article.title.clone());
            }
            if original != Original::default() {
                Arc::make_mut(&mut set.originals).insert(document.id.clone(), original);
            }
            set.documents.push(document);
        }
        Err(problem) => {
            // Its questions cannot be answered by a corpus without it.
            set.skipped.push(format!("document {id}: {problem}"));
            set.questions.truncate(before);
            set.mended.truncate(mended);
        }
    }
}

/// How the place of a [gold] span differs from what the file says; nothing where it does not.
pub(super) fn moved(points: &CodePoints, qa: &Qa, span: Span) -> Option<String> {
    let answer = qa.answers.first()?;
    let lead = answer.text.len() - answer.text.trim_start().len();
    let is_there = points.byte(answer.answer_start).is_some_and(|start| start + lead == span.start);
    (!is_there).then(|| format!("its answer is not at {} but at {}", answer.start(), points.index(span.start)))
}

/// The first answer's span; where the offset does not fit, the only place where the text stands.
pub(super) fn gold(context: &str, points: &CodePoints, qa: &Qa) -> Result<Span, String> {
    let answer = qa.answers.first().ok_or("it has no answer")?;
    let body = answer.text.trim();
    if body.is_empty() {
        return Err("its answer is empty".into());
    }
    let lead = answer.text.len() - answer.text.trim_start().len();
    if let Some(start) = points.byte(answer.answer_start)
        && context[start..].starts_with(&answer.text)
    {
        return Ok(Span::new(start + lead, start + lead + body.len()));
    }
    let mut places = context.match_indices(body);
    match (places.next(), places.next()) {
        (Some((start, _)), None) => Ok(Span::new(start, start + body.len())),
        (Some(_), Some(_)) => Err(format!("{} is wrong, and the text stands in several places", answer.start())),
        (None, _) => Err(format!("its answer is not in the text, {}", answer.start())),
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::super::{DataKind, Selection, load, select};

    #[test]
    fn every_question_has_an_id_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let qa =
            |id: &str| format!(r#"{{"id":"{id}","question":"What?","answers":[{{"text":"Two.","answer_start":5}}]}}"#);
        let paragraph = |qas: &[String]| format!(r#"{{"context":"One. Two.","qas":[{}]}}"#, qas.join(","));
        let one = format!("{},{}", paragraph(&[qa(""), qa("x")]), paragraph(&[qa(""), qa("x")]));
        let text = format!(r#"{{"data":[{{"title":"T","id":"d","paragraphs":[{one}]}}]}}"#);
        let path = folder.path().join("q.json");
        std::fs::write(&path, text).unwrap();
        let ids: Vec<String> = load(DataKind::Squad, &path).unwrap().questions.into_iter().map(|q| q.id).collect();
        assert_eq!(ids, ["d#0", "x", "d#2", "x (2)"]);
    }

    #[test]
    fn what_was_taken_out_of_a_text_and_its_path_are_known() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("q.json");
        let of = |masked: &str| {
            let qas = r#"[{"question":"What?","answers":[{"text":"Two.","answer_start":10}]}]"#;
            let text = format!(
                r##"{{"data":[{{"id":"d","path":"docs/d","paragraphs":[{{"context":"# §   Two.","qas":{qas},"masked":[{masked}]}},
                {{"context":"More."}}]}}]}}"##
            );
            std::fs::write(&path, text).unwrap();
            let set = load(DataKind::Squad, &path).unwrap();
            assert_eq!(set.originals["d"].path.as_deref(), Some("docs/d"));
            set.originals["d"].text.as_deref().map(str::to_owned)
        };
        assert_eq!(of(r#"{"start":2,"text":"Pumps"}"#).as_deref(), Some("# PumpsTwo.\n\nMore."));
        // What does not fit is as if it were not there.
        for wrong in [
            r#"{"start":3,"text":"Pumps"}"#,
            r#"{"start":9,"text":"Pumps"}"#,
            r#"{"start":18446744073709551615,"text":"Pumps"}"#,
            r#"{"start":4,"text":"P"},{"start":2,"text":"Pu"}"#,
        ] {
            assert_eq!(of(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn a_folder_is_read_by_split_and_source() {
        let folder = tempfile::tempdir().unwrap();
        let article = |id: &str, source: &str| {
            format!(
                r#"{{"data":[{{"title":"{id}","source":"{source}","paragraphs":[{{"context":"One. Two.","qas":[
                {{"id":"{id}-q","question":"What?","answers":[{{"text":"Two.","answer_start":5}}]}}]}}]}}]}}"#
            )
        };
        for (name, source) in [("qa_train", "red"), ("qa_dev", "blue"), ("qa_test", "red"), ("latest", "green")] {
            std::fs::write(folder.path().join(format!("{name}.json")), article(name, source)).unwrap();
        }
        let ids = |selection: &Selection| -> Vec<String> {
            let set = select(DataKind::Squad, folder.path(), selection).unwrap();
            set.questions.into_iter().map(|q| q.id).collect()
        };
        let split = |name: &str| Selection { split: Some(name.into()), ..Selection::default() };
        // `latest` holds the letters of `test` and is another word.
        assert_eq!(ids(&split("test")), ["qa_test-q"]);
        assert_eq!(
            ids(&Selection { sources: vec!["red".into()], ..Selection::default() }),
            ["qa_test-q", "qa_train-q"]
        );
        assert_eq!(load(DataKind::Squad, folder.path()).unwrap().checksums.len(), 4);
        let of = |selection: &Selection| select(DataKind::Squad, folder.path(), selection).unwrap_err().to_string();
        assert!(of(&split("final")).contains("\"final\""));
        let error = of(&Selection { sources: vec!["pink".into()], ..Selection::default() });
        assert!(error.contains("pink") && error.contains("blue, green, red"), "{error}");
    }

    fn write(text: &str) -> tempfile::NamedTempFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), text).unwrap();
        file
    }

    #[test]
    fn offsets_are_code_points_and_wrong_ones_are_mended_or_named() {
        let file = write(
            r#"{"version":"1.1","data":[{"title":"t","paragraphs":[
            {"context":"Première. Deux fois. Deux fois.","qas":[
              {"id":1,"question":"a?","answers":[{"text":"Première.","answer_start":0}]},
              {"id":"2","question":"b?","answers":[{"text":"Première.","answer_start":7}]},
              {"id":"3","question":"c?","answers":[{"text":"Deux fois.","answer_start":1}]},
              {"id":"4","question":"d?","answers":[{"text":" Deux fois.","answer_start":9}]},
              {"id":"5","question":"e?","answers":[{"text":"absent","answer_start":0}]}]},
            {"context":"Second piece é.","qas":[{"question":"f?","answers":[{"text":"é.","answer_start":13}]}]}]}]}"#,
        );
        let set = load(DataKind::Squad, file.path()).unwrap();
        assert_eq!(set.documents.len(), 1);
        let source = &set.documents[0].source;
        let found: Vec<_> = set.questions.iter().map(|q| (q.id.as_str(), q.gold[0].of(source))).collect();
        assert_eq!(found, [("1", "Première."), ("2", "Première."), ("4", "Deux fois."), ("t#5", "é.")]);
        assert_eq!(set.skipped.len(), 2, "{:?}", set.skipped);
        let [one] = set.mended.as_slice() else { panic!("{:?}", set.mended) };
        assert_eq!(one, "question 'b?' of t: its answer is not at answer_start 7 but at 0");
    }

    #[test]
    fn an_id_that_was_there_before_is_another_one_and_that_is_told() {
        let qa =
            |id: &str| format!(r#"{{"id":"{id}","question":"{id}?","answers":[{{"text":"Two.","answer_start":5}}]}}"#);
        let qas = [qa("a"), qa("b"), qa("a")].join(",");
        let file = write(&format!(r#"{{"data":[{{"paragraphs":[{{"context":"One. Two.","qas":[{qas}]}}]}}]}}"#));
        let set = load(DataKind::Squad, file.path()).unwrap();
        assert_eq!(set.questions.iter().map(|q| q.id.as_str()).collect::<Vec<_>>(), ["a", "b", "a (2)"]);
        assert_eq!(set.mended, [r#"question 'a?': its id "a" was there before; here it is "a (2)""#]);
    }

    #[test]
    fn a_bad_article_costs_itself_alone() {
        let article = |title: &str, start: &str, format: &str| {
            format!(
                r#"{{"title":"{title}","source":"of {title}","format":"{format}","paragraphs":[{{"context":"One. Two.","qas":[
                {{"question":"{title}?","answers":[{{"text":"Two.","answer_start":{start}}}]}}]}}]}}"#
            )
        };
        let parts = [
            article("a", "5", "plain"),
            "{\"title\":\"no paragraphs\"}".to_owned(),
            article("b", "-1", "plain"),
            article("c", "1e300", "plain"),
            article("broken", "5", "plain"),
            article("unknown", "5", "no such format"),
            article("a", "5", "plain"),
            article("a (2)", "99999999999999999999999", "plain"),
            "7".to_owned(),
        ];
        let text = format!("\u{feff}{{\"data\":[{}]}}", parts.join(","));
        let at = text.find("broken").unwrap();
        let mut bytes = text.into_bytes();
        bytes[at] = 0xff;
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        let set = load(DataKind::Squad, file.path()).unwrap();
        let asked: Vec<&str> = set.questions.iter().map(|q| q.text.as_str()).collect();
        assert_eq!(asked, ["a?", "b?", "c?", "a?", "a (2)?"]);
        let ids: Vec<&str> = set.documents.iter().map(|d| d.id.as_str()).collect();
        assert_eq!(ids, ["a", "b", "c", "a (2)", "a (2) (2)"]);
        assert!(set.questions.iter().all(|q| set.documents[q.document].title.as_deref().unwrap().len() < 6));
        let sources: Vec<&str> = ids.iter().map(|id| set.sources[*id].as_str()).collect();
        assert_eq!(
            sources,
            ["of a", "of b", "of c", "of a", "of a (2)"],
            "what a bad article costs is not the others' source"
        );
        let skipped = set.skipped.join("\n");
        for says in
            ["article 2 of", "missing field `paragraphs`", "article 5 of", "not UTF-8", "unknown", "article 9 of"]
        {
            assert!(skipped.contains(says), "{says}: {skipped}");
        }
        assert_eq!(set.skipped.len(), 4, "{skipped}");
    }

    #[test]
    fn questions_that_are_impossible_are_no_loss_and_those_whose_answer_is_missing_are() {
        let answer = r#"[{"text":"Two.","answer_start":5}]"#;
        let lost = r#"[{"text":"Three.","answer_start":-4}]"#;
        let qa = |answers: &str| format!(r#"{{"question":"What?","answers":{answers}}}"#);
        let impossible = r#"{"question":"Why?","answers":[],"is_impossible":true}"#.to_owned();
        let qas = [qa(answer), qa("[]"), qa(lost), impossible].join(",");
        let file = write(&format!(r#"{{"data":[{{"paragraphs":[{{"context":"One. Two.","qas":[{qas}]}}]}}]}}"#));
        let set = load(DataKind::Squad, file.path()).unwrap();
        assert_eq!((set.questions.len(), set.skipped.len(), set.left_out()), (1, 3, 2), "{:?}", set.skipped);
        let said = &set.skipped[1];
        assert!(said.ends_with("not in the text, answer_start (no whole number from 0 on)"), "{said}");
    }

    #[test]
    fn a_half_written_file_is_named() {
        let file = write(r#"{"data":[{"paragraphs":[{"context":"#);
        let error = load(DataKind::Squad, file.path()).unwrap_err().to_string();
        assert!(error.contains("SQuAD") && error.contains("line 1"), "{error}");
    }
}
