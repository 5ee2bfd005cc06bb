//! TREC's run and qrels files, written and read, and the measures of trec_eval on them: so that a run can be scored again
//! by other tools, and other tools' runs by this one.
//!
//! A run line is `query Q0 document rank score tag`, a qrels line `query 0 document grade`, six and four fields apart by
//! white space. White space, control characters and `%` inside a name are written as `%XX` (its UTF-8 bytes in
//! hexadecimal) and read back.

use std::collections::{BTreeMap, HashMap};
use std::fmt::Write as _;
use std::io::{self, BufRead, Write};

use serde::{Deserialize, Serialize};

use super::discounted;

/// Why a run or qrels file could not be read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TrecError {
    /// Reading failed, or the text is not UTF-8.
    #[error("cannot read: {0}")]
    Io(#[from] io::Error),
    /// A line is not of the format.
    #[error("line {line}: {problem}")]
    Line {
        /// Number of the line, from 1.
        line: usize,
        /// What is wrong with it.
        problem: String,
    },
}

/// One line of a run: a document that was retrieved for a query.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RunLine {
    /// Query id.
    pub query: String,
    /// Document id (for us: a chunk's).
    pub document: String,
    /// Score, larger is better: trec_eval ranks by it alone, as a 32-bit float.
    pub score: f64,
}

/// One line of qrels: how relevant a document is to a query.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Qrel {
    /// Query id.
    pub query: String,
    /// Document id.
    pub document: String,
    /// Grade: relevant from 1 on; the gain of nDCG (for a chunk: its units of gold).
    pub grade: i64,
}

/// Writes a run whose lines are in rank order within each query.
///
/// trec_eval ignores the rank and puts equal scores in descending order of document ids; where a score is not below the
/// one before (as 32-bit floats), the next smaller float is written instead, so that the order survives.
///
/// # Errors
/// What `out` returns.
pub fn write_run(out: &mut impl Write, lines: &[RunLine], tag: &str) -> io::Result<()> {
    let mut last: HashMap<&str, (usize, f32)> = HashMap::new();
    for line in lines {
        let (rank, previous) = last.get(line.query.as_str()).copied().unwrap_or((0, f32::INFINITY));
        let mut score = if line.score.is_nan() { f32::MIN } else { line.score as f32 };
        if score >= previous {
            score = previous.next_down();
        }
        last.insert(&line.query, (rank + 1, score));
        let (query, document, tag) = (escaped(&line.query), escaped(&line.document), escaped(tag));
        writeln!(out, "{query} Q0 {document} {} {score} {tag}", rank + 1)?;
    }
    Ok(())
}

/// Writes qrels.
///
/// # Errors
/// What `out` returns.
pub fn write_qrels(out: &mut impl Write, lines: &[Qrel]) -> io::Result<()> {
    for line in lines {
        writeln!(out, "{} 0 {} {}", escaped(&line.query), escaped(&line.document), line.grade)?;
    }
    Ok(())
}

/// Reads a run; blank lines are passed over.
///
/// # Errors
/// [`TrecError`] with the number of the first line that does not fit.
pub fn read_run(input: impl BufRead) -> Result<Vec<RunLine>, TrecError> {
    read(input, |fields| match fields {
        [query, _, document, _, score, _] => {
            let score: f64 = score.parse().map_err(|_| format!("'{score}' is not a number"))?;
            if score.is_nan() {
                return Err("the score is not a number".to_owned());
            }
            Ok(RunLine { query: unescaped(query), document: unescaped(document), score })
        }
        other => Err(format!("{} fields instead of 6 (query Q0 document rank score tag)", other.len())),
    })
}

/// Reads qrels; blank lines are passed over.
///
/// # Errors
/// [`TrecError`] with the number of the first line that does not fit.
pub fn read_qrels(input: impl BufRead) -> Result<Vec<Qrel>, TrecError> {
    read(input, |fields| match fields {
        [query, _, document, grade] => {
            let grade = grade.parse().map_err(|_| format!("'{grade}' is not a whole number"))?;
            Ok(Qrel { query: unescaped(query), document: unescaped(document), grade })
        }
        other => Err(format!("{} fields instead of 4 (query 0 document grade)", other.len())),
    })
}

fn read<T>(input: impl BufRead, parse: impl Fn(&[&str]) -> Result<T, String>) -> Result<Vec<T>, TrecError> {
    let mut found = Vec::new();
    for (at, line) in input.lines().enumerate() {
        let line = line?;
        let fields: Vec<&str> = line.split_whitespace().collect();
        if !fields.is_empty() {
            found.push(parse(&fields).map_err(|problem| TrecError::Line { line: at + 1, problem })?);
        }
    }
    Ok(found)
}

fn escaped(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for c in name.chars() {
        if c.is_whitespace() || c.is_control() || c == '%' {
            let mut bytes = [0; 4];
            for byte in c.encode_utf8(&mut bytes).bytes() {
                // Writing to a string cannot fail.
                let _ = write!(out, "%{byte:02X}");
            }
        } else {
            out.push(c);
        }
    }
    out
}

/// Undoes [`escaped`]; a name that it did not write (a `%` without two digits, bytes that are no UTF-8) stays as it is.
fn unescaped(name: &str) -> String {
    let mut bytes = Vec::with_capacity(name.len());
    let mut rest = name.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let digits = after.get(..2).and_then(|d| std::str::from_utf8(d).ok()).filter(|d| !d.starts_with('+'));
        match digits.and_then(|d| u8::from_str_radix(d, 16).ok()).filter(|_| first == b'%') {
            Some(byte) => {
                bytes.push(byte);
                rest = &after[2..];
            }
            None => {
                bytes.push(first);
                rest = after;
            }
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| name.to_owned())
}

/// trec_eval's measures of one query. All 0..=1.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
pub struct TrecScores {
    /// `recip_rank`: 1 / rank of the first relevant document, of all that were retrieved.
    pub reciprocal_rank: f64,
    /// `success_k`: 1 where one of the first k is relevant.
    pub success: f64,
    /// `recall_k`: share of the relevant documents among the first k.
    pub recall: f64,
    /// `P_k`: relevant documents among the first k, over k.
    pub precision: f64,
    /// `ndcg_cut_k`: gain = grade, discount 1 / log2(rank + 1), divided by that of the k best grades.
    pub ndcg: f64,
    /// `ndcg`: the same over all that were retrieved, divided by that of all grades.
    pub ndcg_all: f64,
}

/// Scores, by query, every query that is in both files, as trec_eval does; a document that is not in the qrels is not
/// relevant. Of lines that name a document twice for one query, the last counts.
#[must_use]
pub fn evaluate(run: &[RunLine], qrels: &[Qrel], k: usize) -> BTreeMap<String, TrecScores> {
    let mut grades: BTreeMap<&str, HashMap<&str, i64>> = BTreeMap::new();
    for line in qrels {
        grades.entry(&line.query).or_default().insert(&line.document, line.grade);
    }
    let mut retrieved: BTreeMap<&str, HashMap<&str, f32>> = BTreeMap::new();
    for line in run {
        retrieved.entry(&line.query).or_default().insert(&line.document, line.score as f32);
    }
    let both = retrieved.into_iter().filter_map(|(query, scores)| {
        let grades = grades.get(query)?;
        let mut ranked: Vec<(&str, f32)> = scores.into_iter().collect();
        ranked.sort_unstable_by(|a, b| b.1.total_cmp(&a.1).then_with(|| b.0.cmp(a.0)));
        let found: Vec<i64> = ranked.iter().map(|(document, _)| grades.get(document).copied().unwrap_or(0)).collect();
        let mut ideal: Vec<i64> = grades.values().copied().collect();
        ideal.sort_unstable_by(|a, b| b.cmp(a));
        Some((query.to_owned(), score(&found, &ideal, k)))
    });
    both.collect()
}

/// Measures of one ranking, given as the grades of the documents retrieved and all grades in descending order.
fn score(found: &[i64], ideal: &[i64], k: usize) -> TrecScores {
    let cut = |grades: &[i64]| grades.len().min(k);
    let (top, best) = (&found[..cut(found)], &ideal[..cut(ideal)]);
    let relevant = |grades: &[i64]| grades.iter().filter(|&&grade| grade > 0).count() as f64;
    let over = |part: f64, whole: f64| if whole > 0.0 { part / whole } else { 0.0 };
    TrecScores {
        reciprocal_rank: found.iter().position(|&grade| grade > 0).map_or(0.0, |at| 1.0 / (at + 1) as f64),
        success: if relevant(top) > 0.0 { 1.0 } else { 0.0 },
        recall: over(relevant(top), relevant(ideal)),
        precision: over(relevant(top), k as f64),
        ndcg: over(dcg(top), dcg(best)),
        ndcg_all: over(dcg(found), dcg(ideal)),
    }
}

fn dcg(grades: &[i64]) -> f64 {
    discounted(grades.iter().map(|&grade| grade.max(0) as f64))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use proptest::prelude::*;

    use super::{Qrel, RunLine, TrecError, evaluate, read_qrels, read_run, write_qrels, write_run};

    fn line(query: &str, document: &str, score: f64) -> RunLine {
        RunLine { query: query.into(), document: document.into(), score }
    }

    #[test]
    fn equal_scores_keep_their_order() {
        let lines = [line("q", "a", 1.0), line("q", "b", 1.0), line("r", "a", 1.0), line("q", "c", 1.0 + 1e-12)];
        let mut out = Vec::new();
        write_run(&mut out, &lines, "t").unwrap();
        let read = read_run(out.as_slice()).unwrap();
        let scores: Vec<f32> = read.iter().map(|l| l.score as f32).collect();
        assert!(scores[0] > scores[1] && scores[1] > scores[3]);
        assert_eq!(String::from_utf8(out).unwrap().lines().nth(3).unwrap().split(' ').nth(3), Some("3"));
    }

    #[test]
    fn errors_name_the_line() {
        let error = read_run("q Q0 d 1 0.5 t\n\nq Q0 d 1 x t\n".as_bytes()).unwrap_err();
        assert_eq!(error.to_string(), "line 3: 'x' is not a number");
        let error = read_qrels("q 0 d\n".as_bytes()).unwrap_err();
        assert!(matches!(error, TrecError::Line { line: 1, .. }), "{error}");
        assert!(read_run([0xff, b'\n'].as_slice()).is_err());
        assert!(read_run("".as_bytes()).unwrap().is_empty());
    }

    #[test]
    fn queries_without_judgement_are_left_out() {
        let qrels = [Qrel { query: "q".into(), document: "d".into(), grade: 2 }];
        let scores = evaluate(&[line("q", "d", 1.0), line("other", "d", 1.0)], &qrels, 1);
        assert_eq!(scores.len(), 1);
        assert_eq!(scores["q"].ndcg, 1.0);
        assert_eq!(evaluate(&[line("q", "d", 1.0)], &qrels, 0)["q"].precision, 0.0);
    }

    proptest! {
        #[test]
        fn any_name_survives(name in "\\PC*|[ %\\n\\t0-9A-Fa-f+]{1,8}", grade in any::<i64>()) {
            prop_assume!(!name.is_empty());
            let qrels = vec![Qrel { query: name.clone(), document: name.clone(), grade }];
            let mut out = Vec::new();
            write_qrels(&mut out, &qrels).unwrap();
            prop_assert_eq!(read_qrels(out.as_slice()).unwrap(), qrels);
            let run = vec![line(&name, &name, 0.5)];
            let mut out = Vec::new();
            write_run(&mut out, &run, "a tag").unwrap();
            prop_assert_eq!(read_run(out.as_slice()).unwrap(), run);
        }

        #[test]
        fn no_input_panics(text in "(q|Q0| |d|1|-|\\.|%|%4|%ff|\\n|é)*") {
            let _ = (read_run(text.as_bytes()), read_qrels(text.as_bytes()));
        }
    }
}
