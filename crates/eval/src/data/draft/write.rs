//! From documents to a question file.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use pericope_api::{Document, Kind};
use pericope_segment::random::{SplitMix64, fnv1a};
use pericope_util::sha256_hex;
use rayon::prelude::*;

use super::super::CodePoints;
use super::super::copies::copies;
use super::super::sections::format_name;
use super::super::squad::{Answer, Article, Paragraph, Qa};
use super::candidate::Candidate;
use super::corpus::{Corpus, phrase};
use super::deal::deal;
use super::leaks::Lines;
use super::mask::{masked, taken_out};
use super::options::Dropped;
use super::{DraftOptions, Drafted, QuestionKind, asked, definitions, headings, tables, terms};

/// Candidates that are looked at, for each question that is wanted.
const PLENTY: usize = 4;
/// Candidates of a kind and document that are checked, for each that is kept.
const TRIES: usize = 8;
/// Documents that are looked at beside those, however few questions are wanted.
const SOME: usize = 64;

/// Drafts questions over documents; the same documents and options give the same file.
///
/// Half of the questions are answered by sections and half by a few sentences; within each half kinds and documents take
/// turns, so that each gives about as many questions. All documents are in the file, those
/// without a question too: a search has to tell them apart. Titles are those of the documents, or their ids.
#[must_use]
pub fn draft(documents: &[Document], options: &DraftOptions) -> Drafted {
    let mut out = Drafted::default();
    let corpus = Corpus::new(documents);
    let order = shuffled(documents, options.seed);
    let looked_at = order.get(..order.len().min(PLENTY * options.questions + SOME)).unwrap_or_default();
    let candidates = candidates(&corpus, looked_at, options, &mut out);
    let taken = deal(&corpus, candidates, &order, options, &mut out);
    write(documents, taken, &mut out);
    out
}

/// The documents in random order, whatever order they come in.
pub(super) fn shuffled(documents: &[Document], seed: u64) -> Vec<usize> {
    let mut order: Vec<usize> = (0..documents.len()).collect();
    let key = |at: &usize| documents.get(*at).map(|d| (fnv1a(seed, d.id.bytes()), d.id.as_str()));
    order.sort_by(|a, b| key(a).cmp(&key(b)));
    order
}

/// The candidates of some documents that hold every check, each document's in random order.
fn candidates(corpus: &Corpus<'_>, of: &[usize], options: &DraftOptions, out: &mut Drafted) -> Vec<Candidate> {
    let (defined, tabled) = counts(corpus.documents, &options.kinds);
    let most = (PLENTY * options.questions).div_ceil(of.len().max(1)) + PLENTY;
    let each: Vec<(Vec<Candidate>, Drafted)> = (of.par_iter())
        .filter_map(|&at| corpus.documents.get(at).map(|document| (at, document)))
        .map(|(at, document)| {
            let mut out = Drafted::default();
            let lines = Lines::new(corpus, document);
            let mut found = Vec::new();
            for &kind in &options.kinds {
                let mut of_kind = match kind {
                    QuestionKind::Asked => asked::candidates(corpus, at, document, &mut out),
                    QuestionKind::Heading => headings::candidates(corpus, at, document, &mut out),
                    QuestionKind::Definition => definitions::candidates(corpus, at, document, &lines),
                    QuestionKind::Table => tables::queries(document)
                        .into_iter()
                        .map(|q| Candidate { document: at, kind, query: q.query, answer: q.answer, masks: Vec::new() })
                        .collect(),
                    QuestionKind::Terms => terms::candidates(corpus, at, document),
                    QuestionKind::Model => Vec::new(),
                };
                let seed = fnv1a(options.seed, kind.name().bytes().chain(document.id.bytes()));
                SplitMix64::new(seed).shuffle(&mut of_kind);
                let is_one = |candidate: &Candidate| match kind {
                    QuestionKind::Definition => defined.get(&phrase(&candidate.query)) == Some(&1),
                    QuestionKind::Table => tabled.get(&phrase(&candidate.query)) == Some(&1),
                    _ => true,
                };
                let fine = of_kind.into_iter().take(most * TRIES).filter(|candidate| match () {
                    () if !is_one(candidate) => drop_as(&mut out, Dropped::Ambiguous),
                    () if leaks(corpus, document, &lines, candidate) => drop_as(&mut out, Dropped::Leaks),
                    () => true,
                });
                found.extend(fine.take(most));
            }
            let masks: BTreeSet<usize> = found.iter().flat_map(|candidate| candidate.masks.clone()).collect();
            if !masks.is_empty() && masked(document, &masks.into_iter().collect::<Vec<_>>()).is_none() {
                found.retain(|candidate| {
                    candidate.masks.is_empty()
                        || masked(document, &candidate.masks).is_some()
                        || drop_as(&mut out, Dropped::Unmaskable)
                });
            }
            (found, out)
        })
        .collect();
    let mut found = Vec::new();
    for (candidates, of_document) in each {
        found.extend(candidates);
        of_document.dropped.into_iter().for_each(|(why, n)| *out.dropped.entry(why).or_default() += n);
    }
    without_copies(corpus.documents, found, out)
}

/// The candidates whose answers stand nowhere else.
pub(super) fn without_copies(documents: &[Document], found: Vec<Candidate>, out: &mut Drafted) -> Vec<Candidate> {
    let answers: Vec<_> = found.iter().map(|candidate| (candidate.document, candidate.answer)).collect();
    let copied = copies(documents, &answers);
    let alone = found.into_iter().zip(copied).filter(|(_, copy)| copy.is_none() || drop_as(out, Dropped::Copied));
    alone.map(|(candidate, _)| candidate).collect()
}

/// Counts a candidate that is dropped; `false`, for filters.
pub(super) fn drop_as(out: &mut Drafted, why: Dropped) -> bool {
    out.drop_one(why);
    false
}

/// How often each definition and each table's query occurs in all documents.
fn counts(documents: &[Document], kinds: &[QuestionKind]) -> (HashMap<String, usize>, HashMap<String, usize>) {
    let wants = |kind: QuestionKind| kinds.contains(&kind);
    let each: Vec<(Vec<String>, Vec<String>)> = (documents.par_iter())
        .map(|document| {
            let defined = match wants(QuestionKind::Definition) {
                true => definitions::definitions(document),
                false => Vec::new(),
            };
            let tabled = if wants(QuestionKind::Table) { tables::queries(document) } else { Vec::new() };
            let defined = defined.iter().map(|d| phrase(&definitions::query(&d.term))).collect();
            (defined, tabled.iter().map(|q| phrase(&q.query)).collect())
        })
        .collect();
    let (mut defined, mut tabled) = (HashMap::new(), HashMap::new());
    for (of_terms, of_rows) in each {
        of_terms.into_iter().for_each(|key| *defined.entry(key).or_default() += 1);
        of_rows.into_iter().for_each(|key| *tabled.entry(key).or_default() += 1);
    }
    (defined, tabled)
}

/// Whether the document says, outside of the answer, what gives the answer's place away.
fn leaks(corpus: &Corpus<'_>, document: &Document, lines: &Lines, candidate: &Candidate) -> bool {
    let own = candidate.masks.first().and_then(|&i| headings::own_words(document, i));
    match (candidate.kind, own) {
        (QuestionKind::Asked | QuestionKind::Heading, Some(own)) => {
            lines.still_says(document, candidate, &own) || lines.heading_says(corpus, candidate)
        }
        _ => lines.heading_says(corpus, candidate),
    }
}

/// Puts the questions into a file with the documents, whose masked headings are gone.
pub(super) fn write(documents: &[Document], taken: Vec<Candidate>, out: &mut Drafted) {
    let mut by_document: BTreeMap<usize, Vec<Candidate>> = BTreeMap::new();
    for candidate in taken {
        by_document.entry(candidate.document).or_default().push(candidate);
    }
    out.file.version = serde_json::Value::String("1.1".into());
    for (at, document) in documents.iter().enumerate() {
        let mut questions = by_document.remove(&at).unwrap_or_default();
        let masks: BTreeSet<usize> = questions.iter().flat_map(|question| question.masks.clone()).collect();
        let context = masked(document, &masks.into_iter().collect::<Vec<_>>());
        if context.is_none() {
            let before = questions.len();
            questions.retain(|question| question.masks.is_empty());
            *out.dropped.entry(Dropped::Unmaskable).or_default() += before - questions.len();
        }
        let context = context.unwrap_or_else(|| document.source.to_string());
        let masked = taken_out(&document.source, &context);
        questions.sort_by_key(|question| (question.answer.start, question.kind));
        let points = CodePoints::new(&context);
        let qas: Vec<Qa> = (questions.iter())
            .map(|question| Qa {
                id: id_of(&document.id, question),
                question: question.query.clone(),
                answers: vec![Answer {
                    text: question.answer.of(&context).to_owned(),
                    answer_start: points.index(question.answer.start),
                }],
                kind: Some(question.kind.name().to_owned()),
                bytes: Some(question.answer),
                ..Qa::default()
            })
            .collect();
        out.asked += usize::from(!qas.is_empty());
        questions.iter().for_each(|question| *out.kinds.entry(question.kind).or_default() += 1);
        out.file.data.push(Article {
            title: title(document, &context),
            id: Some(document.id.clone()),
            format: Some(format_name(document).to_owned()),
            source: None,
            path: None,
            paragraphs: vec![Paragraph { context, qas, masked }],
        });
    }
}

/// An id that other questions do not have, and that stays when others are added.
fn id_of(document: &str, question: &Candidate) -> String {
    let key = format!("{document}\u{1f}{}\u{1f}{}", question.kind, question.query);
    sha256_hex(key.as_bytes()).get(..16).unwrap_or_default().to_owned()
}

/// The title, unless it is a heading that was taken out: a title is searched too.
fn title(document: &Document, context: &str) -> String {
    let title = document.title.as_deref().unwrap_or(&document.id);
    let is_gone = document.sentences.iter().any(|s| {
        matches!(s.kind, Kind::Heading(_))
            && s.span.of(context) != document.text(s.span)
            && document.visible(s.span) == title
    });
    if is_gone { document.id.clone() } else { title.to_owned() }
}
