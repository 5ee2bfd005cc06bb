use std::collections::HashMap;
use std::path::Path;

use pericope_api::Span;
use pericope_read::ReadOptions;
use serde::Deserialize;

use super::offsets::CodePoints;
use super::{DataError, DataText, Question, QuestionSet, Unit, refuse_stranger};

#[derive(Deserialize)]
struct Row {
    question: String,
    references: String,
    corpus_id: String,
}

#[derive(Deserialize)]
struct Reference {
    content: String,
    start_index: usize,
    end_index: usize,
}

/// Chroma's layout: `questions_df.csv` beside `corpora/<corpus_id>.md`; offsets are code points. The corpora are plain
/// text in spite of their names.
pub(super) fn load(folder: &Path) -> Result<QuestionSet, DataError> {
    let csv_path = folder.join("questions_df.csv");
    let table = DataText::read(&csv_path)?;
    let mut set = QuestionSet {
        checksums: vec![(csv_path.display().to_string(), table.checksum.clone())],
        unit: Unit::CodePoints,
        ..QuestionSet::default()
    };
    let mut rows = Vec::new();
    for (number, row) in csv::Reader::from_reader(table.text.as_bytes()).deserialize::<Row>().enumerate() {
        match row.map_err(|e| e.to_string()).and_then(|row| usable(row, &table)) {
            Ok(row) => rows.push((number, row)),
            Err(problem) => set.skipped.push(format!("row {} of {}: {problem}", number + 1, csv_path.display())),
        }
    }
    let mut places: HashMap<&str, usize> = HashMap::new();
    for id in rows.iter().map(|(_, row)| row.corpus_id.as_str()) {
        if places.contains_key(id) {
            continue;
        }
        // An id is the name of a file in `corpora` and no way to another place.
        if id.contains(['/', '\\', '\0']) {
            let problem = format!("corpus_id {id:?} is no name of a file");
            return Err(DataError::Layout { path: csv_path, problem });
        }
        let path = folder.join("corpora").join(format!("{id}.md"));
        refuse_stranger(folder, &path)?;
        let read = DataText::read(&path)?;
        set.checksums.push((path.display().to_string(), read.checksum.clone()));
        let (text, bad) = read.replaced();
        if bad > 0 {
            set.skipped.push(format!("{}: what is not UTF-8 in {bad} places", path.display()));
        }
        let document = pericope_read::read_text(id, "plain", text, &ReadOptions::default())
            .map_err(|e| DataError::Layout { path, problem: e.to_string() })?;
        places.insert(id, set.documents.len());
        set.documents.push(document);
    }
    let points: Vec<CodePoints> = set.documents.iter().map(|d| CodePoints::new(&d.source)).collect();
    for (number, row) in &rows {
        let document = places.get(row.corpus_id.as_str()).copied().unwrap_or(usize::MAX);
        let (Some(points), Some(found)) = (points.get(document), set.documents.get(document)) else { continue };
        match gold(&row.references, points, &found.source) {
            Ok((gold, answer)) => set.questions.push(Question {
                id: format!("{}-{number}", row.corpus_id),
                text: row.question.clone(),
                document,
                gold,
                elsewhere: Vec::new(),
                answer,
            }),
            Err(problem) => set.skipped.push(format!("row {} of {}: {problem}", number + 1, csv_path.display())),
        }
    }
    Ok(set)
}

/// Refuses a row with bad bytes, and one whose corpus would be a file of another folder.
fn usable(row: Row, table: &DataText) -> Result<Row, String> {
    [&row.question, &row.references, &row.corpus_id].into_iter().try_for_each(|field| table.check(field))?;
    let id = row.corpus_id.as_str();
    if id.is_empty() || id == ".." || id.contains(['/', '\\', ':', '\0']) {
        return Err(format!("corpus_id {id:?} is no name of a file in corpora"));
    }
    Ok(row)
}

fn gold(json: &str, points: &CodePoints, source: &str) -> Result<(Vec<Span>, String), String> {
    let references: Vec<Reference> = serde_json::from_str(json).map_err(|e| format!("references: {e}"))?;
    let mut spans = Vec::with_capacity(references.len());
    for reference in &references {
        let (Some(start), Some(end)) = (points.byte(reference.start_index), points.byte(reference.end_index)) else {
            return Err(format!(
                "reference {}..{} lies outside the corpus",
                reference.start_index, reference.end_index
            ));
        };
        let span = Span::new(start, end);
        if span.is_empty() || span.of(source).split_whitespace().ne(reference.content.split_whitespace()) {
            return Err(format!(
                "reference {}..{} is not the text it quotes",
                reference.start_index, reference.end_index
            ));
        }
        spans.push(span);
    }
    if spans.is_empty() {
        return Err("it has no reference".into());
    }
    let answer = spans.iter().map(|s| s.of(source)).collect::<Vec<_>>().join("\n");
    Ok((spans, answer))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    #[test]
    fn a_corpus_id_leads_nowhere_else() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir_all(folder.path().join("set/corpora")).unwrap();
        std::fs::write(folder.path().join("secret.md"), "Two words.").unwrap();
        for id in ["../../secret", "/etc/motd", "..\\secret"] {
            let csv = format!("question,references,corpus_id\nq,\"[]\",{id}\n");
            std::fs::write(folder.path().join("set/questions_df.csv"), csv).unwrap();
            let error = super::super::load(super::super::DataKind::Chroma, &folder.path().join("set")).unwrap_err();
            assert!(error.to_string().contains("is no name of a file"), "{error}");
        }
    }

    #[test]
    fn offsets_are_code_points_and_bad_rows_are_counted() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("corpora")).unwrap();
        std::fs::write(folder.path().join("corpora/c.md"), "Ünë. Two words. End.").unwrap();
        let csv = "question,references,corpus_id\n\
            q1,\"[{\"\"content\"\": \"\"Two words.\"\", \"\"start_index\"\": 5, \"\"end_index\"\": 15}]\",c\n\
            q2,\"[{\"\"content\"\": \"\"Two\"\", \"\"start_index\"\": 6, \"\"end_index\"\": 9}]\",c\n";
        std::fs::write(folder.path().join("questions_df.csv"), csv).unwrap();
        let set = super::super::load(super::super::DataKind::Chroma, folder.path()).unwrap();
        assert_eq!(set.questions.len(), 1);
        assert_eq!(set.questions[0].answer, "Two words.");
        assert_eq!(set.skipped.len(), 1);
    }

    #[test]
    fn a_bad_row_costs_itself_alone() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("corpora")).unwrap();
        std::fs::write(folder.path().join("secret.md"), "Two words.").unwrap();
        std::fs::write(folder.path().join("corpora/c.md"), b"One \xff. Two words. End.").unwrap();
        let good = "\"[{\"\"content\"\": \"\"Two words.\"\", \"\"start_index\"\": 7, \"\"end_index\"\": 17}]\"";
        let reversed = good.replace("7,", "17,").replace("17}", "7}");
        let huge = good.replace("17}", "99999999999999999999999}");
        let rows = format!(
            "question,references,corpus_id\nq1,{good},c\nq2,{good}\nq3,{reversed},c\nq4,{huge},c\nq5,not json,c\n\
             q6,{good},../secret\nq7,{good},c\nq8 ?,{good},c\nq9,{good},\n"
        );
        let at = rows.find("q8 ?").unwrap() + 3;
        let mut bytes = rows.into_bytes();
        bytes[at] = 0xff;
        std::fs::write(folder.path().join("questions_df.csv"), bytes).unwrap();
        let set = super::super::load(super::super::DataKind::Chroma, folder.path()).unwrap();
        let asked: Vec<&str> = set.questions.iter().map(|q| q.text.as_str()).collect();
        assert_eq!(asked, ["q1", "q7"]);
        // Seven rows, and the bad byte of the corpus.
        assert_eq!(set.skipped.len(), 8, "{:#?}", set.skipped);
        assert!(set.skipped.iter().any(|s| s.contains("row 6 of") && s.contains("../secret")), "{:#?}", set.skipped);
        assert_eq!(set.questions[1].id, "c-6");
    }
}
