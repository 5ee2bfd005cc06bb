use pericope::api::Span;
use pericope::segment::registry::is_outside;
use pericope::segment::spec::Spec;
use pericope::store::{ChunkId, ChunkRecord, Passage, Places, Ranked};

use super::requests::within;
use super::slot::Slot;
use super::{
    ChunkAnswer, ChunkPart, ChunkRequest, ContextPart, DocumentAnswer, DocumentEntry, DocumentRequest, DocumentsAnswer,
    HitAnswer, ListRequest, Problem, Service,
};

/// The word for a document that an index has not.
pub(crate) const NO_DOCUMENT: &str = "no-such-document";
/// The word for a chunk that an index has not.
pub(crate) const NO_CHUNK: &str = "no-such-chunk";
/// Bytes of text that one answer holds at most.
const LONGEST_ANSWER: usize = 8 << 20;

impl Service {
    /// Lists documents in the order of their ids.
    ///
    /// # Errors
    /// [`Problem`]: 400 for a limit out of range, 404 for an index that is not there, 500 or 503 where it cannot be read.
    pub fn documents(&self, request: &ListRequest) -> Result<DocumentsAnswer, Problem> {
        within("limit", request.limit, 1, 1000)?;
        self.slot(request.index.as_deref())?.ask(|slot| self.documents_in(slot, request))
    }

    fn documents_in(&self, slot: &Slot, request: &ListRequest) -> Result<DocumentsAnswer, Problem> {
        let listed = slot.current().retriever.list(&request.prefix, request.after.as_deref(), request.limit + 1);
        let mut found = listed?;
        let more = found.len() > request.limit;
        found.truncate(request.limit);
        let next = found.last().filter(|_| more).map(|last| last.id.clone());
        let entry = |one: pericope::store::DocumentSummary| DocumentEntry {
            url: self.addresses.address(&slot.named.name, &one.id, None),
            id: one.id,
            title: one.title,
            file_type: one.file_type,
            chunks: one.chunks,
            tokens: one.tokens,
        };
        Ok(DocumentsAnswer { documents: found.into_iter().map(entry).collect(), next })
    }

    /// Returns a document, or a range of it, as the index has it.
    ///
    /// # Errors
    /// [`Problem`]: 400 for a range that is none, 404 for an index or a document that is not there, 413 for more text
    /// than one answer holds (8 MiB), 500 or 503 where the index cannot be read.
    pub fn document(&self, request: &DocumentRequest) -> Result<DocumentAnswer, Problem> {
        self.slot(request.index.as_deref())?.ask(|slot| self.document_in(slot, request))
    }

    fn document_in(&self, slot: &Slot, request: &DocumentRequest) -> Result<DocumentAnswer, Problem> {
        let opened = slot.current();
        let chunks = opened.retriever.chunks_of(&request.id)?;
        let name = slot.named.name.as_str();
        let Some((_, first)) = chunks.first() else {
            let detail = format!("the index {name} has no document `{}`", request.id);
            return Err(Problem::not_found(NO_DOCUMENT, detail));
        };
        let (title, file_type) = (first.title.clone(), first.file_type.clone());
        let url = self.addresses.address(name, &request.id, None);
        let wanted = Wanted::of(request)?;
        if let Some(at) = gap(&chunks, wanted).filter(|_| leaves_out_blanks_alone(&opened.about().meta.segmenter)) {
            let lines = wanted.lines();
            let (document, text, chunks) = (request.id.clone(), String::new(), Vec::new());
            let (start, end, places) = (at, at, Places::default());
            return Ok(DocumentAnswer { document, title, file_type, start, end, lines, text, chunks, url, places });
        }
        let chunks: Vec<(ChunkId, ChunkRecord)> =
            chunks.into_iter().filter(|(_, chunk)| wanted.touches(chunk)).collect();
        if chunks.iter().map(|(_, chunk)| chunk.text.len()).sum::<usize>() > LONGEST_ANSWER {
            let detail = format!("the text is longer than {LONGEST_ANSWER} bytes: ask for a range (start=, end=)");
            return Err(Problem::new(413, "document-too-large", "The document is too large for one answer", detail));
        }
        let parts = chunks.iter().map(|(id, chunk)| part(*id, chunk)).collect();
        let Some(passage) = Passage::of(chunks.into_iter().map(|(_, chunk)| chunk)) else {
            let detail = format!("`{}` has no text in that range", request.id);
            return Err(Problem::not_found("no-such-range", detail));
        };
        let shown = wanted.of_passage(&passage);
        let lines = passage.lines(shown);
        let part = passage.part(shown);
        Ok(DocumentAnswer {
            document: request.id.clone(),
            title,
            file_type,
            start: part.start,
            end: part.end,
            lines,
            text: part.text,
            chunks: parts,
            url,
            places: part.places,
        })
    }

    /// Returns a chunk with its neighbours.
    ///
    /// # Errors
    /// [`Problem`]: 400 for too wide a context, 404 for an index or a chunk that is not there, 500 or 503 where the index
    /// cannot be read.
    pub fn chunk(&self, request: &ChunkRequest) -> Result<ChunkAnswer, Problem> {
        within("context", request.context, 0, 10)?;
        self.slot(request.index.as_deref())?.ask(|slot| self.chunk_in(slot, request))
    }

    fn chunk_in(&self, slot: &Slot, request: &ChunkRequest) -> Result<ChunkAnswer, Problem> {
        let opened = slot.current();
        let name = slot.named.name.as_str();
        let missing = || {
            let detail = format!("the index {name} has no chunk {} (any more)", request.id);
            Problem::not_found(NO_CHUNK, detail)
        };
        let record = opened.retriever.fetch(&[request.id])?.into_iter().flatten().next().ok_or_else(missing)?;
        let all = opened.retriever.chunks_of(&record.document)?;
        let at = all.iter().position(|(id, _)| *id == request.id);
        let id_at = |place: Option<usize>| place.and_then(|place| all.get(place)).map(|(id, _)| *id);
        let previous = id_at(at.and_then(|at| at.checked_sub(1)));
        let next = id_at(at.map(|at| at + 1));
        let around = match request.context {
            0 => vec![record.clone()],
            reach => {
                let document = record.document.clone();
                let ranked = Ranked { id: request.id, document, ordinal: record.ordinal, score: 0.0 };
                opened.retriever.neighbours(&[ranked], reach)?.into_iter().next().unwrap_or_default()
            }
        };
        let passage = Passage::of(around).ok_or_else(missing)?;
        let context = (request.context > 0).then(|| ContextPart::from(passage.clone()));
        let chunk = HitAnswer { context, ..self.stored(name, request.id, record) };
        Ok(ChunkAnswer { chunk, previous, next, passage })
    }
}

/// Whether what lies between two chunks is blank: chunks of others may leave text out.
fn leaves_out_blanks_alone(segmenter: &str) -> bool {
    Spec::parse(segmenter).is_ok_and(|spec| !is_outside(&spec))
}

/// Where a range lies that no chunk touches, between two chunks that follow one another.
fn gap(chunks: &[(ChunkId, ChunkRecord)], wanted: Wanted) -> Option<usize> {
    if chunks.iter().any(|(_, chunk)| wanted.touches(chunk)) {
        return None;
    }
    chunks.windows(2).find_map(|pair| match pair {
        [(_, before), (_, after)] => wanted.is_between(before, after).then_some(before.end),
        _ => None,
    })
}

fn part(id: ChunkId, chunk: &ChunkRecord) -> ChunkPart {
    ChunkPart {
        id,
        ordinal: chunk.ordinal,
        start: chunk.start,
        end: chunk.end,
        lines: chunk.lines(),
        tokens: chunk.tokens,
        heading_path: chunk.heading_path.iter().map(|heading| heading.as_str().to_owned()).collect(),
        anchor: chunk.anchor.clone(),
    }
}

/// The range that a request asks for.
#[derive(Debug, Clone, Copy)]
enum Wanted {
    Bytes(usize, usize),
    /// First and last, from 1.
    Lines(usize, usize),
}

impl Wanted {
    fn of(request: &DocumentRequest) -> Result<Self, Problem> {
        let Some(lines) = &request.lines else {
            let (start, end) = (request.start.unwrap_or(0), request.end.unwrap_or(usize::MAX));
            return match start < end {
                true => Ok(Self::Bytes(start, end)),
                false => Err(Problem::parameter(format!("`start` is {start}, and must lie before `end`, {end}"))),
            };
        };
        if request.start.is_some() || request.end.is_some() {
            return Err(Problem::parameter("give `lines`, or `start` and `end`, not both"));
        }
        let wrong = || Problem::parameter("`lines` must be a range of lines from 1 on, as in 10-20, 10- or 10");
        let (first, last) = lines.split_once('-').unwrap_or((lines, lines));
        let first: usize = first.trim().parse().map_err(|_| wrong())?;
        let last = match last.trim() {
            "" => usize::MAX,
            last => last.parse().map_err(|_| wrong())?,
        };
        if first == 0 || last < first { Err(wrong()) } else { Ok(Self::Lines(first, last)) }
    }

    fn touches(self, chunk: &ChunkRecord) -> bool {
        match self {
            Self::Bytes(start, end) => chunk.start < end && start < chunk.end,
            // An index of an earlier version knows no lines: all of it is looked at.
            Self::Lines(first, last) => chunk.lines().is_none_or(|[from, to]| from <= last && first <= to),
        }
    }

    /// Whether the range lies between two chunks that follow one another.
    fn is_between(self, before: &ChunkRecord, after: &ChunkRecord) -> bool {
        match self {
            Self::Bytes(start, end) => before.end <= start && end <= after.start,
            Self::Lines(first, last) => match (before.lines(), after.lines()) {
                (Some([_, end]), Some([begin, _])) => end < first && last < begin,
                _ => false,
            },
        }
    }

    fn lines(self) -> Option<[usize; 2]> {
        match self {
            Self::Lines(first, last) => Some([first, last]),
            Self::Bytes(..) => None,
        }
    }

    /// The part of the passage, in bytes of its text, widened to whole characters.
    fn of_passage(self, passage: &Passage) -> Span {
        let part = match self {
            Self::Bytes(start, end) => passage.in_text(Span::new(start, end)),
            Self::Lines(first, last) => passage.in_lines(first, last),
        };
        let text = passage.text.as_str();
        Span::new(text.floor_char_boundary(part.start), text.ceil_char_boundary(part.end))
    }
}
