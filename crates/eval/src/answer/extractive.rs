use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

use pericope_api::{Document, EncodeError, Kind, SentenceEncoder, Span};
use pericope_read::ReadOptions;
use rayon::prelude::*;
use serde_json::{Value, json};

use super::regions::{Region, regions};
use super::{Context, Generated, Generator, Missing, Request};
use crate::text::Stems;

/// Constants of the reader. The defaults come from `examples/tune_reader.rs` on 172 questions each of the shipped handbook
/// and of software documentation (`questions/documentation.json`): its figures are no held-out result on those.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ExtractiveOptions {
    /// Weight of the embedding similarity against the lexical one, 0 to 1.
    pub embedding: f64,
    /// Sentences on each side over which a sentence's evidence is smoothed.
    pub smoothing: usize,
    /// A sentence belongs to the answer where its evidence exceeds this share of the best sentence's.
    pub threshold: f64,
    /// Bonus for starting or ending at a paragraph's edge, or at an edge of what was given, in words' worth of the best evidence.
    pub edge: f64,
    /// Evidence that each place in the ranking costs, as a share of the best sentence's.
    pub rank_cost: f64,
}

impl Default for ExtractiveOptions {
    fn default() -> Self {
        Self { embedding: 0.7, smoothing: 2, threshold: 0.2, edge: 12.0, rank_cost: 0.05 }
    }
}

/// What the reader does with its constants; a change to its answers raises it. The second no longer sees the paragraph edges around the
/// chunks that it is given.
const VERSION: u32 = 2;

impl ExtractiveOptions {
    /// The version and the constants of the reader: with others it answers otherwise.
    pub(crate) fn settings(&self) -> Value {
        let Self { embedding, smoothing, threshold, edge, rank_cost } = *self;
        json!({
            "version": VERSION, "embedding": embedding, "smoothing": smoothing,
            "threshold": threshold, "edge": edge, "rank_cost": rank_cost,
        })
    }
}

/// The embedded reader: the run of sentences inside the retrieved chunks that fits the question best.
///
/// Each sentence has an evidence: the cosine of its embedding with the question's, and the share of the question's
/// inverse-document-frequency mass that its words hold. Evidence is smoothed over neighbours, lowered with the rank of
/// the chunk that brought it, and the run with the greatest sum of (evidence - threshold) x words wins; retrieved
/// chunks that touch are read as one text. Without an encoder the lexical half stands alone.
pub struct Extractive {
    documents: Arc<Vec<Document>>,
    encoder: Option<Arc<dyn SentenceEncoder>>,
    stems: Stems,
    frequency: HashMap<u32, u32>,
    /// By document and byte range: a chunk that ends inside a sentence gives its half alone to read.
    met: HashMap<(usize, Span), Met>,
    options: ExtractiveOptions,
}

/// What is kept of a sentence that was in a context.
struct Met {
    /// Distinct stems, sorted.
    stems: Box<[u32]>,
    vector: Option<Box<[f32]>>,
}

/// A question, ready to be compared with sentences.
pub struct Asked {
    stems: Vec<(u32, f64)>,
    total: f64,
    vector: Option<Vec<f32>>,
}

impl Extractive {
    /// A reader over `documents`, whose word statistics it gathers.
    #[must_use]
    pub fn new(
        documents: Arc<Vec<Document>>,
        encoder: Option<Arc<dyn SentenceEncoder>>,
        options: ExtractiveOptions,
    ) -> Self {
        let stems = Stems::of_documents(&documents);
        let mut frequency: HashMap<u32, u32> = HashMap::new();
        for document in documents.iter() {
            for &stem in &stems.distinct(&document.source) {
                *frequency.entry(stem).or_default() += 1;
            }
        }
        Self { documents, encoder, stems, frequency, met: HashMap::new(), options }
    }

    /// The same reader with other constants; what was embedded stays.
    #[must_use]
    pub fn with_options(mut self, options: ExtractiveOptions) -> Self {
        self.options = options;
        self
    }

    /// Reads the sentences of these contexts that were not met before: their words, and, with an encoder, their
    /// embeddings in one go.
    ///
    /// # Errors
    /// [`EncodeError`] where the encoder fails.
    pub fn warm<'a>(&mut self, contexts: impl Iterator<Item = &'a Context>) -> Result<(), EncodeError> {
        let mut wanted: BTreeSet<(usize, Span)> = BTreeSet::new();
        for context in contexts {
            let Some(document) = self.documents.get(context.document) else { continue };
            let new = pieces_in(document, context.span).map(|(_, span)| (context.document, span));
            wanted.extend(new.filter(|key| !self.met.contains_key(key)));
        }
        let keys: Vec<(usize, Span)> = wanted.into_iter().collect();
        // In portions, so that a corpus of any size needs a bounded amount of memory beside what it keeps.
        for portion in keys.chunks(8192) {
            let texts: Vec<_> = portion.iter().map(|&(d, span)| self.documents[d].visible(span)).collect();
            let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
            let vectors =
                self.encoder.as_deref().map(|encoder| encoder.encode(&texts)?.finite(encoder.name())).transpose()?;
            for (n, (key, text)) in portion.iter().zip(&texts).enumerate() {
                let vector = vectors.as_ref().map(|v| Box::from(v.row(n)));
                self.met.insert(*key, Met { stems: self.stems.distinct(text), vector });
            }
        }
        Ok(())
    }

    /// Mean of the embeddings of the sentences under `spans`, by their words; `None` where none of them was warmed.
    ///
    /// Stands in for the embedding of a long answer: nothing is cut off, and nothing is embedded twice.
    #[must_use]
    pub fn mean_vector(&self, document: usize, spans: &[Span]) -> Option<Vec<f32>> {
        let source = self.documents.get(document)?;
        let mut sum: Option<Vec<f32>> = None;
        for (_, piece) in spans.iter().flat_map(|&span| pieces_in(source, span)) {
            let Some(vector) = self.met.get(&(document, piece)).and_then(|met| met.vector.as_ref()) else { continue };
            let words = source.text(piece).split_whitespace().count() as f32;
            let sum = sum.get_or_insert_with(|| vec![0.0; vector.len()]);
            for (total, x) in sum.iter_mut().zip(vector.iter()) {
                *total += words * x;
            }
        }
        sum
    }

    /// Prepares a question; `vector` is its embedding by the same encoder.
    #[must_use]
    pub fn ask(&self, question: &str, vector: Option<Vec<f32>>) -> Asked {
        let n = self.documents.len() as f64;
        let distinct = self.stems.distinct(question);
        let stems: Vec<(u32, f64)> = distinct
            .into_iter()
            .map(|stem| {
                let df = f64::from(self.frequency.get(&stem).copied().unwrap_or(0));
                (stem, (1.0 + (n - df + 0.5) / (df + 0.5)).ln())
            })
            .collect();
        let total = stems.iter().map(|(_, weight)| weight).sum::<f64>();
        Asked { stems, total, vector }
    }

    /// The best run of sentences; an empty answer where the contexts hold no sentence. The contexts must have been
    /// [warmed](Self::warm).
    #[must_use]
    pub fn answer(&self, question: &Asked, contexts: &[Context]) -> Generated {
        let regions = regions(&self.documents, contexts);
        let scored: Vec<Vec<Piece>> = regions.iter().map(|region| self.pieces(question, region)).collect();
        let best = scored.iter().flatten().map(|p| p.evidence).fold(0.0, f64::max);
        let mut winner: Option<(f64, usize, Span)> = None;
        for (region, pieces) in regions.iter().zip(&scored) {
            if let Some((score, span)) = best_run(pieces, best, &self.options)
                && winner.as_ref().is_none_or(|(so_far, ..)| score > *so_far)
            {
                winner = Some((score, region.document, span));
            }
        }
        match winner {
            Some((_, document, span)) => Generated {
                text: self.documents[document].visible(span).trim().to_owned(),
                place: Some((document, span)),
                ..Generated::default()
            },
            None => Generated::default(),
        }
    }

    /// Embeddings of texts that stand in no document: the mean over their sentences, by words, as
    /// [`mean_vector`](Self::mean_vector) makes it of spans. `None` for each without an encoder or without a sentence.
    ///
    /// # Errors
    /// [`EncodeError`] where the encoder fails.
    pub fn text_vectors(&self, texts: &[&str]) -> Result<Vec<Option<Vec<f32>>>, EncodeError> {
        let mut found: Vec<Option<Vec<f32>>> = vec![None; texts.len()];
        let Some(encoder) = &self.encoder else { return Ok(found) };
        let read = |text: &&str| pericope_read::read_text("answer", "plain", *text, &ReadOptions::default()).ok();
        let documents: Vec<Option<Document>> = texts.par_iter().map(read).collect();
        let sentences: Vec<(usize, &str)> = (documents.iter().enumerate())
            .flat_map(|(i, d)| d.iter().flat_map(move |d| d.sentences.iter().map(move |s| (i, d.text(s.span)))))
            .collect();
        let texts: Vec<&str> = sentences.iter().map(|(_, text)| *text).collect();
        let vectors = encoder.encode(&texts)?.finite(encoder.name())?;
        for (n, (i, text)) in sentences.iter().enumerate() {
            let words = text.split_whitespace().count() as f32;
            let Some(sum) = found.get_mut(*i) else { continue };
            let sum = sum.get_or_insert_with(|| vec![0.0; vectors.row(n).len()]);
            sum.iter_mut().zip(vectors.row(n)).for_each(|(total, x)| *total += words * x);
        }
        Ok(found)
    }

    fn pieces(&self, question: &Asked, region: &Region) -> Vec<Piece> {
        let document = &self.documents[region.document];
        // Chunk by chunk, as they were read; what an overlapping chunk repeats counts once.
        let mut found: Vec<(usize, Span, usize)> = Vec::new();
        for &(part, rank) in &region.parts {
            let covered = found.last().map_or(0, |(_, span, _)| span.end);
            found.extend(pieces_in(document, part).filter(|(_, s)| s.start >= covered).map(|(i, s)| (i, s, rank)));
        }
        let raw: Vec<f64> =
            found.iter().map(|&(i, span, _)| self.evidence(question, region.document, i, span)).collect();
        let width = self.options.smoothing as isize;
        found
            .iter()
            .enumerate()
            .map(|(at, &(i, span, rank))| {
                let sentence = &document.sentences[i];
                // Triangular weights, so that the sentence itself counts most.
                let (mut sum, mut weights) = (0.0, 0.0);
                for offset in -width..=width {
                    if let Some(value) = at.checked_add_signed(offset).and_then(|j| raw.get(j)) {
                        let weight = (width + 1 - offset.abs()) as f64;
                        sum += weight * value;
                        weights += weight;
                    }
                }
                // What lies beyond what was given is not looked at: its first and last piece are edges, whatever stands there.
                let paragraph =
                    |j: usize| found.get(j).and_then(|(i, ..)| document.sentences.get(*i)).map(|s| s.paragraph);
                let parted = |j: Option<usize>| j.and_then(paragraph).is_none_or(|other| other != sentence.paragraph);
                Piece {
                    span,
                    words: span.of(&document.source).split_whitespace().count() as f64,
                    evidence: sum / weights,
                    rank,
                    starts: parted(at.checked_sub(1)),
                    ends: parted(at.checked_add(1)),
                }
            })
            .collect()
    }

    fn evidence(&self, question: &Asked, document: usize, i: usize, span: Span) -> f64 {
        let source = &self.documents[document];
        if source.sentences[i].kind == Kind::Markup {
            return 0.0;
        }
        let Some(met) = self.met.get(&(document, span)) else { return 0.0 };
        let held = |stem: &u32| met.stems.binary_search(stem).is_ok();
        let matched: f64 = question.stems.iter().filter(|(stem, _)| held(stem)).map(|(_, weight)| weight).sum();
        let lexical = if question.total > 0.0 { matched / question.total } else { 0.0 };
        match (&question.vector, &met.vector) {
            (Some(a), Some(b)) => {
                let cosine: f32 = a.iter().zip(b.iter()).map(|(x, y)| x * y).sum();
                let weight = self.options.embedding;
                weight * f64::from(cosine.max(0.0)) + (1.0 - weight) * lexical
            }
            _ => lexical,
        }
    }
}

impl Generator for Extractive {
    fn answer_all(&self, requests: &[Request<'_>], done: &(dyn Fn() + Sync)) -> Vec<Result<Generated, Missing>> {
        (requests.par_iter())
            .map(|request| {
                let answer = self.answer(request.asked, request.contexts);
                done();
                Ok(answer)
            })
            .collect()
    }
}

struct Piece {
    span: Span,
    words: f64,
    evidence: f64,
    rank: usize,
    starts: bool,
    ends: bool,
}

/// The sentences that share at least a byte with `span`, each clipped to it.
fn pieces_in(document: &Document, span: Span) -> impl Iterator<Item = (usize, Span)> {
    let first = document.sentence_at(span.start);
    let last = document.sentences.partition_point(|s| s.span.start < span.end);
    (first..last.max(first)).filter_map(move |i| Some((i, document.sentences[i].span.intersection(&span)?)))
}

/// The run with the greatest sum of (evidence - threshold) x words plus edge bonuses: one pass (Kadane).
fn best_run(pieces: &[Piece], best: f64, options: &ExtractiveOptions) -> Option<(f64, Span)> {
    let mut winner: Option<(f64, Span)> = None;
    // (value of starting here, first piece)
    let mut open: Option<(f64, usize)> = None;
    let edge = options.edge * best;
    for (i, piece) in pieces.iter().enumerate() {
        let fresh = if piece.starts { edge } else { 0.0 };
        let (mut value, from) = match open {
            Some((value, from)) if value >= fresh => (value, from),
            _ => (fresh, i),
        };
        let rank_cost = options.rank_cost * best * piece.rank as f64;
        value += (piece.evidence - rank_cost - options.threshold * best) * piece.words;
        open = Some((value, from));
        let total = value + if piece.ends { edge } else { 0.0 };
        if winner.as_ref().is_none_or(|(so_far, _)| total > *so_far) {
            winner = Some((total, pieces[from].span.hull(&piece.span)));
        }
    }
    winner
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    fn reader() -> (Extractive, Arc<Vec<Document>>) {
        let tides = [
            "Harbours differ in depth.",
            "Tides rise because the moon pulls the sea.",
            "The pull of the moon is strongest below it, so the tide is highest there.",
            "Fishing boats are painted every spring.",
        ];
        let bread = ["Bread needs flour.", "Yeast makes the dough rise."];
        let documents =
            Arc::new(vec![Document::from_sentences("tides", &tides), Document::from_sentences("bread", &bread)]);
        let options = ExtractiveOptions { smoothing: 0, edge: 0.0, ..ExtractiveOptions::default() };
        let mut reader = Extractive::new(documents.clone(), None, options);
        let all = [0, 1].map(|d| Context { document: d, span: documents[d].span_of(0..documents[d].len()) });
        reader.warm(all.iter()).unwrap();
        (reader, documents)
    }

    #[test]
    fn the_run_that_speaks_of_the_question_wins() {
        let (reader, documents) = reader();
        let contexts = [
            Context { document: 1, span: documents[1].span_of(0..2) },
            Context { document: 0, span: documents[0].span_of(0..4) },
        ];
        let asked = reader.ask("Why does the moon pull the tide?", None);
        let answer = reader.answer(&asked, &contexts);
        assert_eq!(answer.place, Some((0, documents[0].span_of(1..3))));
        assert!(answer.text.starts_with("Tides rise") && answer.text.ends_with("highest there."));
    }

    #[test]
    fn chunks_that_touch_are_one_text() {
        let (reader, documents) = reader();
        let contexts = [
            Context { document: 0, span: documents[0].span_of(2..4) },
            Context { document: 0, span: documents[0].span_of(0..2) },
        ];
        let asked = reader.ask("Why does the moon pull the tide?", None);
        assert_eq!(reader.answer(&asked, &contexts).place, Some((0, documents[0].span_of(1..3))));
    }

    #[test]
    fn what_was_not_retrieved_is_not_read() {
        let text = "Fishing boats are painted here, while the moon pulls the tide.";
        let documents = Arc::new(vec![Document::from_sentences("d", &[text])]);
        let mut reader = Extractive::new(documents, None, ExtractiveOptions::default());
        let half = [Context { document: 0, span: Span::new(0, 31) }];
        reader.warm(half.iter()).unwrap();
        let asked = reader.ask("Why does the moon pull the tide?", None);
        assert_eq!(reader.evidence(&asked, 0, 0, half[0].span), 0.0);
        assert!(reader.answer(&asked, &half).text.len() <= 31);
    }

    #[test]
    fn what_stands_beyond_a_chunk_changes_nothing() {
        let told = [
            "Boats lie in the harbour.",
            "Tides rise because the moon pulls the sea.",
            "The moon is far away.",
            "Nets dry on the quay.",
            "Gulls wait.",
        ];
        // The chunk is the middle of one paragraph, and begins and ends with paragraphs of its own.
        let documents = [vec![5], vec![1, 4], vec![1, 2, 4]];
        let answers = documents.map(|ends| {
            let documents = Arc::new(vec![Document::from_sentences("d", &told).with_paragraphs(&ends)]);
            let options = ExtractiveOptions { smoothing: 0, ..ExtractiveOptions::default() };
            let mut reader = Extractive::new(documents.clone(), None, options);
            let chunk = [Context { document: 0, span: documents[0].span_of(1..4) }];
            reader.warm(chunk.iter()).unwrap();
            reader.answer(&reader.ask("Why do tides rise?", None), &chunk).text
        });
        assert!(answers[0] == answers[1] && answers[0].ends_with(told[3]), "{answers:?}");
        // An edge inside the chunk is seen.
        assert_eq!(answers[2], told[1]);
    }

    #[test]
    fn nothing_retrieved_gives_an_empty_answer() {
        let (reader, _) = reader();
        assert_eq!(reader.answer(&reader.ask("?", None), &[]), Generated::default());
    }
}
