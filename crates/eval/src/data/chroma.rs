use std::path::Path;

use pericope_api::Span;
use pericope_read::ReadOptions;
use serde::Deserialize;

use super::offsets::CodePoints;
use super::{DataError, Question, QuestionSet, Unit, read};

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
    let (csv_text, checksum) = read(&csv_path)?;
    let mut set = QuestionSet {
        checksums: vec![(csv_path.display().to_string(), checksum)],
        unit: Unit::CodePoints,
        ..QuestionSet::default()
    };
    let mut rows = Vec::new();
    for (number, row) in csv::Reader::from_reader(csv_text.as_bytes()).deserialize::<Row>().enumerate() {
        let row =
            row.map_err(|e| DataError::Layout { path: csv_path.clone(), problem: format!("row {}: {e}", number + 1) })?;
        rows.push(row);
    }
    let mut ids: Vec<&str> = Vec::new();
    for row in &rows {
        if !ids.contains(&row.corpus_id.as_str()) {
            ids.push(&row.corpus_id);
        }
    }
    for id in &ids {
        let path = folder.join("corpora").join(format!("{id}.md"));
        let (text, checksum) = read(&path)?;
        set.checksums.push((path.display().to_string(), checksum));
        let document = pericope_read::read_text(id, "plain", text, &ReadOptions::default())
            .map_err(|e| DataError::Layout { path, problem: e.to_string() })?;
        set.documents.push(document);
    }
    let points: Vec<CodePoints> = set.documents.iter().map(|d| CodePoints::new(&d.source)).collect();
    for (number, row) in rows.iter().enumerate() {
        let Some(document) = ids.iter().position(|id| *id == row.corpus_id) else { continue };
        match gold(&row.references, &points[document], &set.documents[document].source) {
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
}
