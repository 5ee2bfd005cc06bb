use std::sync::Arc;

use pericope::api::{Chunk, Document, Heading, SentenceEncoder, Span};
use pericope::eval::answer::{Context, Extractive, ExtractiveOptions};
use pericope::read::text_reader;
use pericope::segment::Limits;
use pericope::store::{Hit, IndexSpec, Passage, Query, RunSummary};
use pericope::stores::{self, kept_limits};

use super::chunkers::Asked;
use super::requests::within;
use super::segment::{read, uncut};
use super::slot::Slot;
use super::{CompareAnswer, CompareRequest, ComparedHit, Mode, Problem, SegmenterResult, Service};

/// Documents that are cut anew, at most.
const MOST_DOCUMENTS: usize = 10;
/// Hits among which these documents are looked for.
const DEPTH: usize = 50;
/// Segmenters of one request, at most.
const MOST_SEGMENTERS: usize = 6;
/// Bytes of all these documents, at most: the rest is left out.
const MOST_BYTES: usize = 1 << 20;
/// The same where every chunk is embedded.
const MOST_EMBEDDED: usize = 1 << 18;
/// Bytes of text between two commits of a small index: more than there are.
const ONE_COMMIT: u64 = 1 << 30;

/// The documents that are cut anew, and where the text of each stands in its source.
struct Found {
    documents: Arc<Vec<Document>>,
    passages: Vec<Passage>,
    mode: Mode,
    encoder: Option<Arc<dyn SentenceEncoder>>,
    prefix_headings: bool,
    late_chunking: bool,
    tokenizer: String,
    /// The limits of the index's chunks.
    limits: Limits,
}

impl Service {
    /// Cuts the documents that a question finds by several segmenters, indexes each cut for itself in a temporary folder,
    /// and ranks its chunks.
    ///
    /// At most ten documents and 1 MiB of text are looked at; 256 KiB in the modes that embed every chunk.
    ///
    /// # Errors
    /// [`Problem`]: 400 for a parameter out of range or a segmenter that is not there, 404 for an index that is not there,
    /// 500 or 503 where it cannot be read.
    pub fn compare(&self, request: &CompareRequest) -> Result<CompareAnswer, Problem> {
        within("k", request.k, 1, 10)?;
        within("segmenters", request.segmenters.len(), 1, MOST_SEGMENTERS)?;
        let found = self.found(request)?;
        let mut reader =
            Extractive::new(Arc::clone(&found.documents), found.encoder.clone(), ExtractiveOptions::default());
        let results = request.segmenters.iter().map(|spec| self.cut(request, spec, &found, &mut reader));
        Ok(CompareAnswer {
            question: request.question.clone(),
            documents: found.documents.iter().map(|document| document.id.clone()).collect(),
            results: results.collect::<Result<_, _>>()?,
        })
    }

    /// The documents of the best hits, read anew from what the index has.
    fn found(&self, request: &CompareRequest) -> Result<Found, Problem> {
        self.slot(request.index.as_deref())?.ask(|slot| self.found_in(slot, request))
    }

    fn found_in(&self, slot: &Slot, request: &CompareRequest) -> Result<Found, Problem> {
        let opened = slot.current();
        let (query, mode) = self.query(&opened, &request.question, request.mode, DEPTH)?;
        let encoder = match mode {
            Mode::Bm25 => None,
            _ => Some(self.encoder(&opened)?),
        };
        let mut left = if encoder.is_some() { MOST_EMBEDDED } else { MOST_BYTES };
        let mut ids: Vec<String> = Vec::new();
        for one in opened.retriever.rank(&query)? {
            if !ids.contains(&one.document) && ids.len() < MOST_DOCUMENTS {
                ids.push(one.document);
            }
        }
        let (mut documents, mut passages) = (Vec::new(), Vec::new());
        for id in ids {
            let chunks = opened.retriever.chunks_of(&id)?;
            let Some(file_type) = chunks.first().map(|(_, chunk)| chunk.file_type.clone()) else { continue };
            let Some(passage) = Passage::of(chunks.into_iter().map(|(_, chunk)| chunk)) else { continue };
            if passage.text.len() > left {
                continue;
            }
            left -= passage.text.len();
            // What a PDF holds is kept as plain text.
            let format = if text_reader(&file_type).is_some() { file_type.as_str() } else { "plain" };
            documents.push(read(&id, format, &passage.text)?);
            passages.push(passage);
        }
        let meta = &opened.about().meta;
        let (prefix_headings, late_chunking) = meta
            .embedder
            .as_ref()
            .map_or((false, false), |embedder| (embedder.prefix_headings, embedder.late_chunking));
        let (tokenizer, limits) = (meta.tokenizer.clone(), kept_limits(meta).or(Limits::INDEX));
        let documents = Arc::new(documents);
        Ok(Found { documents, passages, mode, encoder, prefix_headings, late_chunking, tokenizer, limits })
    }

    /// The best chunks of one segmenter's cut, and an answer out of them.
    fn cut(
        &self,
        request: &CompareRequest,
        spec: &str,
        found: &Found,
        reader: &mut Extractive,
    ) -> Result<SegmenterResult, Problem> {
        let tokenizer = Some(found.tokenizer.as_str());
        let (limits, defaults) = (Limits::default(), found.limits);
        let asked = Asked { spec, limits, defaults, tokenizer, corpus: found.documents.as_slice() };
        let chunker = self.chunkers.get(&asked)?;
        let all: Vec<&Document> = found.documents.iter().collect();
        let cuts: Vec<Vec<Chunk>> =
            chunker.chunks_all(&all, &|| ()).into_iter().collect::<Result<_, _>>().map_err(uncut)?;
        let chunks = cuts.iter().map(Vec::len).sum();
        let segmenter = chunker.spec().to_string();
        if chunks == 0 {
            return Ok(SegmenterResult { segmenter, chunks, hits: Vec::new(), answer: None });
        }
        let mut index = IndexSpec::new(segmenter.clone(), found.tokenizer.clone());
        if let Some(encoder) = &found.encoder {
            index = (index.with_encoder(Arc::clone(encoder)))
                .with_heading_prefix(found.prefix_headings)
                .with_late_chunking(found.late_chunking);
        }
        let folder = tempfile::tempdir().map_err(Problem::internal)?;
        let place = folder.path().join("index");
        let place = place.to_str().ok_or_else(|| Problem::internal("the temporary folder has no name in Unicode"))?;
        let mut writer = stores::create(place, &index, false, ONE_COMMIT)?;
        for (document, chunks) in all.iter().zip(&cuts) {
            writer.add(document, chunks)?;
        }
        writer.finish(&RunSummary::default())?;
        let mut opened = stores::open(place)?;
        if let Some(encoder) = &found.encoder {
            opened.set_encoder(Arc::clone(encoder))?;
        }
        let hits = opened.search(&Query::new(&request.question, found.mode, request.k))?;
        let contexts: Vec<Context> = hits.iter().filter_map(|hit| context(hit, found)).collect();
        let hits: Vec<ComparedHit> = hits.into_iter().map(|hit| shown(hit, found)).collect();
        reader.warm(contexts.iter()).map_err(Problem::internal)?;
        let vector = match &found.encoder {
            Some(encoder) => {
                Some(encoder.encode_queries(&[&request.question]).map_err(Problem::internal)?.values().to_vec())
            }
            None => None,
        };
        let answer = reader.answer(&reader.ask(&request.question, vector), &contexts).text;
        Ok(SegmenterResult { segmenter, chunks, hits, answer: Some(answer).filter(|answer| !answer.is_empty()) })
    }
}

/// A chunk at its place in the source.
fn shown(hit: Hit, found: &Found) -> ComparedHit {
    let span = hit.chunk.span();
    let passage = number(&hit.chunk.document, found).and_then(|at| found.passages.get(at));
    let Span { start, end } = passage.map_or(span, |passage| passage.in_source(span));
    ComparedHit {
        start,
        end,
        tokens: hit.chunk.tokens,
        heading_path: hit.chunk.heading_path.iter().map(Heading::as_str).map(str::to_owned).collect(),
        score: hit.score,
        highlights: hit.highlights.iter().map(|one| [one.start, one.end]).collect(),
        document: hit.chunk.document,
        text: hit.chunk.text,
    }
}

/// The number of a document.
fn number(document: &str, found: &Found) -> Option<usize> {
    found.documents.iter().position(|one| one.id == document)
}

fn context(hit: &Hit, found: &Found) -> Option<Context> {
    Some(Context { document: number(&hit.chunk.document, found)?, span: hit.chunk.span() })
}
