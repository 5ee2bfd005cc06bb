use std::collections::HashMap;
use std::path::Path;

use pericope_api::{Document, Kind, Span};
use rayon::prelude::*;

use super::super::copies::copies;
use super::super::squad::{self, Qa};
use super::super::{CodePoints, DataError, DataText, QuestionSet, Unique};
use super::passages::Passages;
use super::record::{Hardness, Ranks, Validated, Validation, Verdict};
use crate::format::percent;
use crate::text::Stems;

/// Fewest words of an answer whose copies say anything: "yes" stands everywhere.
const TELLING: usize = 5;

/// Reads a question file in SQuAD's layout and says of each question whether its answer is where it says, whether the
/// answer can be told from other documents, and how hard it is to find by words.
///
/// # Errors
/// [`DataError`] where the file cannot be read, is not of this layout at all, or holds no question.
pub fn validate(path: &Path) -> Result<Validation, DataError> {
    let read = DataText::read(path)?;
    let mut out = Validation::default();
    let mut set = QuestionSet::default();
    // The place of each item's question in the set; none where it has no answer that could be looked for.
    let mut places: Vec<Option<usize>> = Vec::new();
    let mut ids = Unique::default();
    for (number, article) in squad::articles(&read, path)?.into_iter().enumerate() {
        let article = match article {
            Ok(article) => article,
            Err(problem) => {
                out.documents_broken.push(format!("article {}: {problem}", number + 1));
                continue;
            }
        };
        let own = article.id.clone().unwrap_or_else(|| article.title.clone());
        let wanted = if own.is_empty() { format!("document-{number}") } else { own };
        let id = ids.name(&wanted, |id, number| format!("{id} ({number})"));
        let (documents, questions, skipped) = (set.documents.len(), set.questions.len(), set.skipped.len());
        squad::add(&mut set, id.clone(), &article);
        let is_read = set.documents.len() > documents;
        if !is_read {
            out.documents_broken.extend(set.skipped.drain(skipped..).next_back());
        }
        let mut next = questions;
        for paragraph in &article.paragraphs {
            let points = CodePoints::new(&paragraph.context);
            for qa in &paragraph.qas {
                let problem = strictly(&paragraph.context, &points, qa);
                // What can be mended is in the set all the same.
                let in_set = is_read && squad::gold(&paragraph.context, &points, qa).is_ok();
                places.push(in_set.then_some(next));
                next += usize::from(in_set);
                let problem = if is_read { problem } else { Some("its document cannot be read".to_owned()) };
                out.items.push(Validated {
                    number: out.items.len() + 1,
                    id: qa.id.clone(),
                    document: id.clone(),
                    question: qa.question.trim().to_owned(),
                    verdict: match &problem {
                        Some(_) => Verdict::Broken,
                        None if qa.answers.is_empty() => Verdict::Unanswerable,
                        None => Verdict::Fine,
                    },
                    problems: problem.into_iter().collect(),
                    rank: Ranks::default(),
                });
            }
        }
    }
    if out.items.is_empty() && out.documents_broken.is_empty() {
        return Err(DataError::Layout { path: path.to_owned(), problem: "there is no question in it".into() });
    }
    doubts(&set, &places, &mut out);
    rank(&set, &places, &mut out);
    let count = |verdict: Verdict| out.items.iter().filter(|item| item.verdict == verdict).count();
    (out.fine, out.doubtful) = (count(Verdict::Fine), count(Verdict::Doubtful));
    out.broken = count(Verdict::Broken) + out.documents_broken.len();
    out.unanswerable = count(Verdict::Unanswerable);
    (out.documents, out.questions) = (set.documents.len(), out.items.len());
    Ok(out)
}

/// What is wrong with a question's place, without mending it.
fn strictly(context: &str, points: &CodePoints<'_>, qa: &Qa) -> Option<String> {
    if qa.question.trim().is_empty() {
        return Some("it asks nothing".to_owned());
    }
    let answer = match qa.answers.first() {
        None if qa.is_impossible => return None,
        None => return Some("it has no answer".to_owned()),
        Some(answer) if answer.text.trim().is_empty() => return Some("its answer is empty".to_owned()),
        Some(answer) => answer,
    };
    let stands = points.byte(answer.answer_start).and_then(|at| context.get(at..));
    if stands.is_some_and(|rest| rest.starts_with(&answer.text)) {
        return None;
    }
    Some(match squad::gold(context, points, qa) {
        Ok(span) => {
            format!("its answer is not at {} but at {}", answer.start(), points.index(span.start))
        }
        Err(problem) => problem,
    })
}

/// Adds what makes questions doubtful.
fn doubts(set: &QuestionSet, places: &[Option<usize>], out: &mut Validation) {
    let stems = Stems::of_documents(&set.documents);
    let gold = |place: Option<usize>| {
        let question = set.questions.get(place?)?;
        Some((question.document, *question.gold.first()?))
    };
    let answers: Vec<(usize, Span)> = places.iter().filter_map(|place| gold(*place)).collect();
    let mut copied = copies(&set.documents, &answers).into_iter();
    let mut ids: HashMap<String, usize> = HashMap::new();
    let mut asked: HashMap<Box<[u32]>, usize> = HashMap::new();
    // What is not asked raises no doubt.
    let asked_for = out.items.iter_mut().zip(places).filter(|(item, _)| item.verdict != Verdict::Unanswerable);
    for (item, place) in asked_for {
        let mut doubts = Vec::new();
        if let Some(first) = ids.insert(item.id.clone(), item.number).filter(|_| !item.id.is_empty()) {
            doubts.push(format!("question {first} has the same id"));
        }
        let words = stems.distinct(&item.question);
        if words.is_empty() {
            doubts.push("it has common words alone, by which a search tells little".to_owned());
        } else {
            match asked.get(&words) {
                Some(first) => doubts.push(format!("question {first} asks the same")),
                None => drop(asked.insert(words.clone(), item.number)),
            }
        }
        if let Some((document, span)) = gold(*place) {
            let copy = copied.next().flatten();
            let Some(document) = set.documents.get(document) else { continue };
            let is_telling = document.text(span).split_whitespace().count() >= TELLING;
            if let Some(copy) = copy.filter(|_| is_telling) {
                let other = set.documents.get(copy.document).map_or("", |d| d.id.as_str());
                let place =
                    if other == document.id { "elsewhere in its document".to_owned() } else { format!("in {other}") };
                doubts.push(format!("{} of its answer also stands {place}", percent(copy.share)));
            }
            doubts.extend(
                heading_of(document, &stems, &words).map(|heading| format!("the heading '{heading}' says all of it")),
            );
        }
        if !doubts.is_empty() {
            item.verdict = item.verdict.max(Verdict::Doubtful);
            item.problems.extend(doubts);
        }
    }
}

/// A heading of the document that holds every word of the question.
fn heading_of(document: &Document, stems: &Stems, words: &[u32]) -> Option<String> {
    let headings = document.sentences.iter().filter(|s| matches!(s.kind, Kind::Heading(_)));
    let says = |text: &str| {
        let own = stems.distinct(text);
        !words.is_empty() && words.iter().all(|word| own.binary_search(word).is_ok())
    };
    headings.map(|s| document.visible(s.span).trim().to_owned()).find(|text| says(text))
}

/// Looks for every question by its words.
fn rank(set: &QuestionSet, places: &[Option<usize>], out: &mut Validation) {
    let passages = Passages::new(&set.documents);
    let ranks: Vec<Option<Ranks>> = (places.par_iter())
        .map(|place| {
            let question = set.questions.get((*place)?)?;
            Some(passages.ranks(&question.text, question.document, *question.gold.first()?))
        })
        .collect();
    let asked = ranks.iter().flatten().count().max(1) as f64;
    let share =
        |holds: &dyn Fn(&Ranks) -> bool| ranks.iter().flatten().filter(|ranks| holds(ranks)).count() as f64 / asked;
    out.hardness = Hardness {
        document_first: share(&|ranks| ranks.document == Some(1)),
        document_in_ten: share(&|ranks| ranks.document.is_some_and(|rank| rank <= 10)),
        passage_first: share(&|ranks| ranks.passage == Some(1)),
        passage_in_ten: share(&|ranks| ranks.passage.is_some_and(|rank| rank <= 10)),
        not_found: share(&|ranks| ranks.passage.is_none()),
    };
    for (item, ranks) in out.items.iter_mut().zip(ranks) {
        item.rank = ranks.unwrap_or_default();
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn what_has_no_answer_on_purpose_is_not_broken() {
        let context = "The keeper polished the brass lamp before every storm.";
        let answer = serde_json::json!({"text": "brass lamp", "answer_start": 24});
        let qa = |id: &str, question: &str, answers: serde_json::Value, impossible: serde_json::Value| {
            serde_json::json!({"id": id, "question": question, "answers": answers, "is_impossible": impossible,
                "plausible_answers": [answer]})
        };
        let data = serde_json::json!({"version": "v2.0", "data": [{"title": "a", "paragraphs": [{"context": context, "qas": [
            qa("1", "What did the keeper polish?", serde_json::json!([answer]), false.into()),
            qa("2", "What did the keeper sell?", serde_json::json!([]), true.into()),
            qa("2", "What did the keeper sell?", serde_json::json!([]), true.into()),
            qa("4", "What did the keeper buy?", serde_json::json!([]), false.into()),
            qa("5", " ", serde_json::json!([]), true.into()),
            qa("6", "What did the keeper mend?", serde_json::json!([]), "yes".into()),
        ]}]}]});
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), data.to_string()).unwrap();
        let found = validate(file.path()).unwrap();
        let verdicts: Vec<Verdict> = found.items.iter().map(|item| item.verdict).collect();
        assert_eq!(verdicts[1..3], [Verdict::Unanswerable; 2]);
        // Without an answer, and nobody says that this is meant; without a question; with something else than true.
        assert_eq!(verdicts[3..], [Verdict::Broken; 3]);
        assert_eq!((found.questions, found.unanswerable, found.broken), (6, 2, 3));
        assert!(found.items[1].problems.is_empty() && found.items[2].problems.is_empty());
    }

    #[test]
    fn every_question_is_looked_at_in_its_place() {
        let lamp = "The keeper polished the brass lamp before every storm.";
        let qa = |id: &str, question: &str, text: &str, start: usize| serde_json::json!({"id": id, "question": question, "answers": [{"text": text, "answer_start": start}]});
        let data = serde_json::json!({"data": [
            {"title": "a", "id": "a", "format": "md", "paragraphs": [{
                "context": format!("# Storm lamps\n\n{lamp} É. The wind blew hard."),
                "qas": [
                    qa("1", "Who polished the brass lamp?", lamp, 15),
                    qa("2", "What did the wind do?", "The wind blew hard.", 0),
                    qa("3", "Which storm lamp?", "The wind blew hard.", 73),
                    qa("4", "What is missing?", "It never was there.", 3),
                    qa("4", "Who polished brass lamps?", "É. The wind blew hard.", 70),
                    {"id": "6", "question": "Nothing?", "answers": []},
                ]}]},
            {"title": "b", "id": "b", "paragraphs": [{"context": lamp, "qas": []}]},
            {"title": "c", "id": "c"},
        ]});
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), data.to_string()).unwrap();
        let found = validate(file.path()).unwrap();
        assert_eq!((found.questions, found.documents, found.documents_broken.len()), (6, 2, 1));
        let of = |number: usize| &found.items[number - 1];
        assert_eq!(of(1).verdict, Verdict::Doubtful);
        assert!(of(1).problems[0].contains("also stands in b"), "{:?}", of(1));
        // The copy is the shorter passage.
        assert_eq!(of(1).rank, Ranks { document: Some(2), passage: Some(2) });
        assert!(of(2).problems[0].contains("answer_start 0 but at 73"), "{:?}", of(2));
        assert!(of(3).problems[0].contains("'Storm lamps'"), "{:?}", of(3));
        assert_eq!((of(4).verdict, of(6).verdict), (Verdict::Broken, Verdict::Broken));
        assert_eq!(of(5).problems, ["question 4 has the same id", "question 1 asks the same"]);
        assert_eq!((found.broken, found.doubtful, found.fine), (4, 3, 0));
    }
}
