//! Queries, hits, and the three ways from one to the other.

mod bm25;
mod dense;
mod filter;
mod group;
mod passage;
pub mod rrf;
mod snippet;
mod terms;

use pericope_api::Span;
use serde::{Deserialize, Serialize};
use tantivy::schema::Value;
use tantivy::{DocAddress, Searcher, TantivyDocument};

pub(crate) use self::bm25::bm25;
pub(crate) use self::dense::dense;
pub use self::filter::Filter;
pub(crate) use self::filter::Passing;
pub use self::group::Group;
pub use self::passage::{Passage, Piece};
pub use self::snippet::Highlighter;
pub(crate) use self::terms::Terms;
pub use self::terms::query_words;
use crate::IndexError;
use crate::sinks::TextIndex;

/// How chunks are found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// By the words they share with the query.
    Bm25,
    /// By the cosine of their vector and the query's, exactly.
    Dense,
    /// By both, joined by reciprocal rank fusion (k = 60).
    Hybrid,
}

impl std::str::FromStr for Mode {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        match s {
            "bm25" => Ok(Mode::Bm25),
            "dense" => Ok(Mode::Dense),
            "hybrid" => Ok(Mode::Hybrid),
            _ => Err(format!("there is no mode `{s}`; the modes are bm25, dense, hybrid")),
        }
    }
}

impl std::fmt::Display for Mode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Mode::Bm25 => "bm25",
            Mode::Dense => "dense",
            Mode::Hybrid => "hybrid",
        })
    }
}

/// What is asked.
#[derive(Debug, Clone, PartialEq)]
pub struct Query {
    /// A question or some words, in plain language: there is no syntax that could be wrong. What stands in double
    /// quotes is looked for word for word.
    pub text: String,
    /// How chunks are found.
    pub mode: Mode,
    /// How many hits at most.
    pub k: usize,
    /// What a word in the heading path counts, beside 1 in the text (BM25 only); 0 leaves headings out.
    pub heading_weight: f32,
    /// What a word in the document's title counts; 0 leaves titles out.
    pub title_weight: f32,
    /// The query's vector where the caller has it already; else the index's encoder is asked.
    pub vector: Option<Vec<f32>>,
    /// Which chunks may be found at all.
    pub filter: Filter,
}

impl Query {
    /// A query with the default weights: 0.5 for the heading path, 0.5 for the title.
    #[must_use]
    pub fn new(text: impl Into<String>, mode: Mode, k: usize) -> Self {
        let filter = Filter::default();
        Self { text: text.into(), mode, k, heading_weight: 0.5, title_weight: 0.5, vector: None, filter }
    }

    /// Scores the chunks' text alone, as a comparison of chunkers should.
    #[must_use]
    pub fn text_only(mut self) -> Self {
        (self.heading_weight, self.title_weight) = (0.0, 0.0);
        self
    }

    /// Looks among the chunks that pass.
    #[must_use]
    pub fn with_filter(mut self, filter: Filter) -> Self {
        self.filter = filter;
        self
    }

    /// Gives the query's vector.
    #[must_use]
    pub fn with_vector(mut self, vector: Vec<f32>) -> Self {
        self.vector = Some(vector);
        self
    }
}

/// A chunk that was found.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Hit {
    /// From 1.
    pub rank: usize,
    /// BM25, cosine or the fused score, by the mode; comparable within one answer only.
    pub score: f64,
    /// Id of the document.
    pub document: String,
    /// Place among the document's chunks, from 0.
    pub ordinal: usize,
    /// First byte in the document's source.
    pub start: usize,
    /// One past the last byte.
    pub end: usize,
    /// Headings above, outermost first.
    pub heading_path: Vec<String>,
    /// Title of the document.
    pub title: Option<String>,
    /// Name of the place on the page where the chunk begins, where the format has one.
    pub anchor: Option<String>,
    /// What kind of file the document is: `md`, `html`, `txt`; see [`file_type`](crate::file_type).
    pub file_type: String,
    /// The chunk: exactly the source under `start..end`.
    pub text: String,
    /// Tokens of the text.
    pub tokens: usize,
    /// The piece of `text`, about 240 characters, that shows most of the query's words.
    pub snippet: Span,
    /// The query's words in `text`, in order, without overlap; those inside `snippet` are what a terminal marks.
    pub highlights: Vec<Span>,
}

/// A chunk on its way to being a hit. Its order is that of equal scores: by document, then by place.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Candidate {
    pub document: String,
    pub start: u64,
    pub end: u64,
    pub address: DocAddress,
}

impl Candidate {
    pub fn at(searcher: &Searcher, address: DocAddress) -> Result<Self, IndexError> {
        let fast = searcher.segment_reader(address.segment_ord).fast_fields();
        let mut document = String::new();
        if let Some(column) = fast.str("doc_id")?
            && let Some(ord) = column.term_ords(address.doc_id).next()
        {
            column.ord_to_str(ord, &mut document).map_err(tantivy::TantivyError::from)?;
        }
        let number = |name| Ok::<_, IndexError>(fast.u64(name)?.first(address.doc_id).unwrap_or(0));
        Ok(Self { document, start: number("start")?, end: number("end")?, address })
    }
}

/// Orders by score, the highest first, equal ones by document and place, and keeps `depth`.
pub(crate) fn rank(mut scored: Vec<(Candidate, f64)>, depth: usize) -> Vec<(Candidate, f64)> {
    scored.sort_by(|a, b| b.1.total_cmp(&a.1).then_with(|| a.0.cmp(&b.0)));
    scored.truncate(depth);
    scored
}

/// Reads the stored fields of the ranked candidates.
pub(crate) fn hits(
    text: &TextIndex,
    searcher: &Searcher,
    ranked: Vec<(Candidate, f64)>,
    highlighter: &mut Highlighter,
) -> Result<Vec<Hit>, IndexError> {
    let fields = text.fields;
    let mut found = Vec::with_capacity(ranked.len());
    for (i, (candidate, score)) in ranked.into_iter().enumerate() {
        let stored: TantivyDocument = searcher.doc(candidate.address)?;
        let string = |field| stored.get_first(field).and_then(|v| v.as_str()).map(str::to_owned);
        let number = |field| {
            let value = stored.get_first(field).and_then(|v| v.as_u64());
            usize::try_from(value.unwrap_or(0)).unwrap_or(usize::MAX)
        };
        let body = string(fields.text).unwrap_or_default();
        let (snippet, highlights) = highlighter.mark(&body);
        found.push(Hit {
            rank: i + 1,
            score,
            document: candidate.document,
            ordinal: number(fields.ordinal),
            start: number(fields.start),
            end: number(fields.end),
            heading_path: stored.get_all(fields.heading_path).filter_map(|v| v.as_str()).map(str::to_owned).collect(),
            title: string(fields.title),
            anchor: string(fields.anchor),
            file_type: string(fields.file_type).unwrap_or_default(),
            text: body,
            tokens: number(fields.tokens),
            snippet,
            highlights,
        });
    }
    Ok(found)
}
