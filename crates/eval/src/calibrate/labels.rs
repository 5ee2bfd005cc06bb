use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

use super::{Calibration, Label, calibrate};
use crate::cell::Cutoff;
use crate::metric::Metric;
use crate::record::{ITEMS, Item, ItemError, ItemReader, JudgeIdentity, PairwiseRow, RunRecord, Summary};

/// Why labels cannot be compared with a judge's scores.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CalibrateError {
    /// A file cannot be read.
    #[error("cannot read {path}: {source}")]
    Io {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: std::io::Error,
    },
    /// A file is not what it should be.
    #[error("{path}: {problem}")]
    File {
        /// The file.
        path: PathBuf,
        /// What is wrong, with the line where there is one.
        problem: String,
    },
}

impl From<ItemError> for CalibrateError {
    fn from(error: ItemError) -> Self {
        match error {
            ItemError::Io { path, source } => Self::Io { path, source },
            ItemError::Line { path, line, source } => Self::File { path, problem: format!("line {line}: {source}") },
            ItemError::Moved { path, offset, source } => {
                Self::File { path, problem: format!("byte {offset}: {source}") }
            }
        }
    }
}

/// Labels, each with the judge's score, and what is known of the judge.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Labelled {
    /// The labels that have a judge's score.
    pub labels: Vec<Label>,
    /// The lines that no item of the run fits, with the reason.
    pub left_out: Vec<String>,
    /// Who judged.
    pub judge: Option<JudgeIdentity>,
    /// What the run's comparisons pair by pair came to.
    pub pairwise: Vec<PairwiseRow>,
}

impl Labelled {
    /// Compares the scores, see [`calibrate`].
    #[must_use]
    pub fn calibrate(&self, seed: u64) -> Calibration {
        let judge = self.judge.clone();
        Calibration { judge, pairwise: self.pairwise.clone(), ..calibrate(&self.labels, seed) }
    }
}

/// A line of the file of labels.
#[derive(Default)]
struct Row {
    line: u64,
    question_id: String,
    human: f64,
    judge: Option<f64>,
    answer: Option<String>,
    chunker: Option<String>,
    mode: Option<String>,
    k: Option<usize>,
    token_budget: Option<usize>,
    document: Option<String>,
    position: Option<usize>,
}

/// The columns that are read.
const COLUMNS: [&str; 10] =
    ["question_id", "human", "judge", "answer", "chunker", "mode", "k", "token_budget", "document", "position"];

/// What an item of a run says of an answer.
struct Judged {
    chunker: String,
    mode: String,
    cutoff: Cutoff,
    answer: String,
    document: String,
    score: Option<f64>,
    position: Option<usize>,
}

impl Judged {
    fn of(item: Item, metric: &Metric) -> Option<Self> {
        let answer = item.answer.as_ref()?;
        let text = answer.text.trim();
        // Where it was taken from: by its place, or by its words.
        let place = answer.document.as_ref().zip(answer.start);
        let holds = |chunk: &&crate::record::Retrieved| match place {
            Some((document, start)) => chunk.document == *document && (chunk.start..chunk.end).contains(&start),
            None => !text.is_empty() && chunk.text.contains(text),
        };
        Some(Self {
            position: item.retrieved.iter().find(holds).map(|chunk| chunk.rank),
            score: item.metrics.get(metric).copied(),
            chunker: item.chunker,
            mode: item.mode,
            cutoff: item.cutoff,
            answer: answer.text.clone(),
            document: item.gold.document,
        })
    }

    fn is_meant(&self, row: &Row) -> bool {
        let same = |asked: &Option<String>, own: &str| asked.as_ref().is_none_or(|asked| asked.trim() == own.trim());
        same(&row.answer, &self.answer)
            && same(&row.chunker, &self.chunker)
            && same(&row.mode, &self.mode)
            && row.k.is_none_or(|k| self.cutoff == Cutoff::K(k))
            && row.token_budget.is_none_or(|budget| self.cutoff == Cutoff::Tokens(budget))
    }
}

/// Reads a file of labels (`question_id`, `human`; and as far as they are there `judge`, `answer`, `chunker`, `mode`, `k`,
/// `token_budget`, `document`, `position`), and takes what it lacks from the items of a finished run: those of the same
/// question whose answer, chunker, mode and setting are as the line says. Where several fit, their mean score counts.
///
/// # Errors
/// [`CalibrateError`] for a file that cannot be read, a line that is wrong, and where no line has a judge's score.
pub fn read(path: &Path, run: Option<&Path>, metric: &Metric) -> Result<Labelled, CalibrateError> {
    let rows = rows(path)?;
    let mut found = Labelled::default();
    let mut items: HashMap<String, Vec<Judged>> = HashMap::new();
    if let Some(folder) = run {
        let wanted: HashSet<&str> = rows.iter().map(|row| row.question_id.as_str()).collect();
        items = judged(folder, &wanted, metric)?;
        let record: RunRecord = json(&folder.join("run.json"))?;
        found.judge = JudgeIdentity::of_run(&record.config, &record.checksums).remove(metric);
        found.pairwise = json::<Summary>(&folder.join("summary.json"))?.pairwise;
    }
    for row in rows {
        let meant: Vec<&Judged> =
            items.get(&row.question_id).into_iter().flatten().filter(|item| item.is_meant(&row)).collect();
        let scores: Vec<f64> = meant.iter().filter_map(|item| item.score).collect();
        let mean = (!scores.is_empty()).then(|| scores.iter().sum::<f64>() / scores.len() as f64);
        let Some(judge) = row.judge.or(mean) else {
            let why = match (run, meant.is_empty()) {
                (None, _) => "it has no judge's score: fill the column judge, or name the run with --run".to_owned(),
                (Some(_), true) if items.is_empty() => {
                    "the run has no answer to it: such a run asked no generator, or other questions".to_owned()
                }
                (Some(_), true) => "no item of the run has this question, answer, chunker, mode and setting".to_owned(),
                (Some(_), false) => format!("the run's item has no score by {metric}"),
            };
            found.left_out.push(format!(
                "{}, line {}: question '{}': {why}",
                path.display(),
                row.line,
                row.question_id
            ));
            continue;
        };
        let answer = row.answer.as_deref().or_else(|| meant.first().map(|item| item.answer.as_str()));
        found.labels.push(Label {
            words: answer.map(|text| text.split_whitespace().count()),
            document: row.document.or_else(|| meant.first().map(|item| item.document.clone())),
            position: row.position.or_else(|| meant.first().and_then(|item| item.position)),
            question_id: row.question_id,
            human: row.human,
            judge,
        });
    }
    match found.left_out.first() {
        Some(first) if found.labels.is_empty() => {
            Err(CalibrateError::File { path: path.to_owned(), problem: format!("no line can be used; {first}") })
        }
        _ => Ok(found),
    }
}

fn rows(path: &Path) -> Result<Vec<Row>, CalibrateError> {
    let wrong = |problem: String| CalibrateError::File { path: path.to_owned(), problem };
    let text = pericope_util::read_text(path).map_err(|source| CalibrateError::Io { path: path.to_owned(), source })?;
    let mut reader = csv::ReaderBuilder::new().flexible(true).trim(csv::Trim::Headers).from_reader(text.as_bytes());
    let heads: Vec<String> = reader
        .headers()
        .map_err(|e| wrong(e.to_string()))?
        .iter()
        .map(|head| head.trim_start_matches('\u{feff}').to_lowercase())
        .collect();
    for needed in ["question_id", "human"] {
        if !heads.iter().any(|head| head == needed) {
            return Err(wrong(format!("there is no column '{needed}'; the first line names the columns")));
        }
    }
    if let Some(twice) = COLUMNS.iter().find(|column| heads.iter().filter(|head| head == *column).count() > 1) {
        return Err(wrong(format!("there are two columns '{twice}': leave one of them")));
    }
    let mut rows = Vec::new();
    let (mut line, mut counted) = (1, 0);
    for record in reader.records() {
        let record = record.map_err(|e| wrong(e.to_string()))?;
        // The reader's own number is one less where lines end with CR and LF: it stands between the two.
        let from = record.position().and_then(|at| usize::try_from(at.byte()).ok()).unwrap_or(counted);
        let ends = text.as_bytes().iter().skip(from).take_while(|byte| [b'\r', b'\n'].contains(*byte)).count();
        let between = text.as_bytes().get(counted..from + ends).unwrap_or_default();
        line += between.iter().filter(|byte| **byte == b'\n').count() as u64;
        counted = counted.max(from + ends);
        let cell = |name: &str| {
            let at = heads.iter().position(|head| head == name)?;
            record.get(at).filter(|text| !text.trim().is_empty())
        };
        let bad = |name: &str, text: &str, expected: &str| {
            wrong(format!("line {line}: {name} = '{}' is {expected}", crate::format::clipped(text, 40)))
        };
        let score = |name: &str| -> Result<Option<f64>, CalibrateError> {
            let Some(text) = cell(name) else { return Ok(None) };
            let number = text.trim().parse::<f64>().ok().filter(|score| (0.0..=10.0).contains(score));
            number.map(Some).ok_or_else(|| bad(name, text, "no score from 0 to 10"))
        };
        let count = |name: &str| -> Result<Option<usize>, CalibrateError> {
            let Some(text) = cell(name) else { return Ok(None) };
            let number = text.trim().parse::<usize>().ok().filter(|n| *n > 0);
            number.map(Some).ok_or_else(|| bad(name, text, "no whole number from 1 on"))
        };
        let word = |name: &str| cell(name).map(str::to_owned);
        let Some(human) = score("human")? else {
            // Not labelled yet.
            continue;
        };
        rows.push(Row {
            line,
            question_id: word("question_id").ok_or_else(|| wrong(format!("line {line}: there is no question_id")))?,
            human,
            judge: score("judge")?,
            answer: word("answer"),
            chunker: word("chunker"),
            mode: word("mode"),
            k: count("k")?,
            token_budget: count("token_budget")?,
            document: word("document"),
            position: count("position")?,
        });
    }
    if rows.is_empty() {
        return Err(wrong("no line has a score in the column 'human'".into()));
    }
    Ok(rows)
}

/// The items of these questions, by question.
fn judged(
    folder: &Path,
    wanted: &HashSet<&str>,
    metric: &Metric,
) -> Result<HashMap<String, Vec<Judged>>, CalibrateError> {
    let mut found: HashMap<String, Vec<Judged>> = HashMap::new();
    for item in ItemReader::open(&folder.join(ITEMS))? {
        let (item, _) = item?;
        if wanted.contains(item.question_id.as_str()) {
            let question = item.question_id.clone();
            found.entry(question).or_default().extend(Judged::of(item, metric));
        }
    }
    Ok(found)
}

fn json<T: serde::de::DeserializeOwned>(path: &Path) -> Result<T, CalibrateError> {
    let text = std::fs::read(path).map_err(|source| CalibrateError::Io { path: path.to_owned(), source })?;
    serde_json::from_slice(&text).map_err(|e| CalibrateError::File {
        path: path.to_owned(),
        problem: format!("it is not what a run writes: {e}"),
    })
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn file(text: &str) -> (tempfile::TempDir, PathBuf) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("labels.csv");
        std::fs::write(&path, text).unwrap();
        (folder, path)
    }

    #[test]
    fn a_file_that_holds_both_scores_needs_no_run() {
        let text = "\u{feff}question_id,Human , judge,answer,position,document\nq1,8,7.5,\"one, two three\",2,d\nq2,,3,,,\nq3,0,1,,,\n";
        let (_folder, path) = file(text);
        let found = read(&path, None, &Metric::JUDGE).unwrap();
        assert_eq!(found.labels.len(), 2, "q2 is not labelled yet");
        let first = &found.labels[0];
        assert_eq!((first.human, first.judge, first.words, first.position), (8.0, 7.5, Some(3), Some(2)));
        assert_eq!((first.document.as_deref(), found.labels[1].document.as_deref()), (Some("d"), None));
        assert_eq!(found.calibrate(7).unit, "question");
    }

    #[test]
    fn wrong_lines_are_named() {
        for (text, says) in [
            ("question_id,judge\nq,1\n", "'human'"),
            ("question_id,human\nq,11\n", "line 2: human = '11' is no score"),
            ("question_id,human\nq,eight\n", "no score from 0 to 10"),
            ("question_id,human,position\nq,8,0\n", "no whole number"),
            ("question_id,human\n,8\n", "no question_id"),
            ("question_id,human\n", "no line has a score"),
            ("question_id,human,judge, Human \nq,8,7,3\n", "two columns 'human'"),
            ("question_id,human,judge,judge\nq,8,7,3\n", "two columns 'judge'"),
            ("question_id,human\nq,8\n", "no judge's score"),
        ] {
            let (_folder, path) = file(text);
            let error = read(&path, None, &Metric::JUDGE).unwrap_err().to_string();
            assert!(error.contains(says) && error.contains("labels.csv"), "{error}");
        }
    }

    #[test]
    fn lines_are_counted_whatever_they_end_with() {
        for end in ["\n", "\r\n"] {
            let text = ["question_id,human,judge", "q,8,7", "", "\"r\nr\",8,7", "s,eight,7", ""].join(end);
            let (_folder, path) = file(&text);
            let error = read(&path, None, &Metric::JUDGE).unwrap_err().to_string();
            assert!(error.contains("line 6: human = 'eight'"), "{error}");
        }
    }

    #[test]
    fn what_is_missing_comes_from_the_run() {
        let (folder, path) =
            file("question_id,human,chunker,k,answer\nq1,9,a,3,\nq1,2,,,the second\nq1,4,a,9,\nq2,5,,,\n");
        let item = |chunker: &str, k: usize, answer: &str, score: f64| {
            serde_json::json!({
                "question_id": "q1", "chunker": chunker, "mode": "bm25", "k": k, "token_budget": null, "question": "?",
                "gold": {"document": "page"}, "answer": {"text": answer}, "metrics": {"judge": score}, "context_tokens": 9,
                "retrieved": [
                    {"rank": 1, "document": "x", "start": 0, "end": 3, "score": 1.0, "tokens": 1, "text": "no"},
                    {"rank": 2, "document": "page", "start": 0, "end": 9, "score": 0.5, "tokens": 3, "text": "it is the first of"},
                ]
            })
            .to_string()
        };
        let lines = [item("a", 3, "the first", 8.0), item("a", 1, "the second", 3.0), item("b", 3, "the second", 1.0)];
        std::fs::write(folder.path().join(ITEMS), lines.join("\n")).unwrap();
        let config = serde_json::json!({"answer": {"generator": "extractive"}, "judge": {"kind": "lexical"}});
        let record = RunRecord { config, ..RunRecord::default() };
        std::fs::write(folder.path().join("run.json"), serde_json::to_string(&record).unwrap()).unwrap();
        let summary = serde_json::to_string(&Summary::default()).unwrap();
        std::fs::write(folder.path().join("summary.json"), summary).unwrap();
        let found = read(&path, Some(folder.path()), &Metric::JUDGE).unwrap();
        let scores: Vec<(f64, f64)> = found.labels.iter().map(|label| (label.human, label.judge)).collect();
        // The second answer has two items: their mean.
        assert_eq!(scores, [(9.0, 8.0), (2.0, 2.0)]);
        assert_eq!((found.labels[0].position, found.labels[0].words), (Some(2), Some(2)));
        assert_eq!(found.labels[0].document.as_deref(), Some("page"));
        assert_eq!(found.left_out.len(), 2);
        assert!(found.left_out[0].contains("line 4") && found.left_out[1].contains("line 5"), "{:?}", found.left_out);
        assert_eq!(found.judge.unwrap().kind, "lexical");
    }
}
