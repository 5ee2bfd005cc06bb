//! What embedding comes to where an endpoint does that, at most.

use pericope_api::{Document, Span};
use pericope_llm::OpenAiEmbeddings;
use pericope_segment::spec::Spec;
use pericope_store::{CONTEXT_TOKENS, Expand, HEADING_TOKENS};

use super::model_estimate::{BYTES_PER_TOKEN, ModelEstimate, UNLIMITED_CHUNK, chunk};
use crate::config::{ChunkerConfig, Experiment, GeneratorKind};
use crate::data::Question;

/// Texts of one request.
const MOST_TEXTS: usize = 256;
/// Tokens of a request that is sent before it has so many texts: it takes 100,000, and the next text has 8,191 at most.
const LEAST_TOKENS: usize = 100_000 - 8_191;
/// Chunks and bytes that an index embeds together.
const STORED: (usize, usize) = (1024, 1 << 20);
/// Sentences that segmenters and the reader embed together, at least.
const READ: usize = 4096;
/// Tokens of a sentence that nobody has seen, at least.
const SENTENCE: usize = 4;

/// The size of a document that nothing has cut.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct TextSize {
    /// Its sentences.
    pub sentences: usize,
    /// Its tokens, estimated.
    pub tokens: usize,
}

impl TextSize {
    /// Returns the size of a document.
    #[must_use]
    pub fn of(document: &Document) -> Self {
        Self { sentences: document.sentences.len(), tokens: tokens(document.source.len()) }
    }
}

/// Requests, and the tokens of their texts.
#[derive(Debug, Clone, Copy, Default)]
struct Load {
    calls: usize,
    tokens: usize,
}

impl Load {
    /// Texts that are handed over in so many lists: each list is sent in requests of its own.
    fn of(lists: usize, texts: usize, tokens: usize) -> Self {
        let lists = lists.min(texts);
        let more = (texts - lists) / MOST_TEXTS + tokens / LEAST_TOKENS;
        Self { calls: lists.saturating_add(more).min(texts), tokens }
    }

    fn add(&mut self, other: Self) {
        self.calls = self.calls.saturating_add(other.calls);
        self.tokens = self.tokens.saturating_add(other.tokens);
    }
}

/// The way in which a segmenter reads with its encoder.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Reading {
    /// Each sentence.
    Sentences,
    /// Each sentence with so many on each side.
    Around(usize),
    /// Pieces of so many tokens.
    Pieces(usize),
}

impl Reading {
    fn of(spec: &Spec) -> Self {
        let number = |key: &str| spec.get(key).and_then(|text| text.parse::<usize>().ok());
        match spec.name.as_str() {
            "kamradt" => Self::Around(number("buffer").unwrap_or(1)),
            "cluster" => Self::Pieces(number("piece").unwrap_or(50).max(1)),
            _ => Self::Sentences,
        }
    }

    /// What a document comes to.
    fn load(self, size: TextSize) -> Load {
        let TextSize { sentences, tokens } = size;
        let (texts, tokens) = match self {
            Self::Sentences => (sentences, tokens),
            Self::Around(each) => {
                // Nobody has more neighbours than there are, and blanks join them.
                let near = each.saturating_mul(2).min(sentences);
                (sentences, tokens.saturating_mul(near + 1).saturating_add(sentences.saturating_mul(near)))
            }
            Self::Pieces(most) => (sentences + tokens.saturating_mul(4) / most + 1, tokens),
        };
        Load::of(texts.div_ceil(READ), texts, tokens)
    }
}

/// Estimates what an endpoint comes to that is sent so many texts of so many tokens in all, one after the other; `None` for an
/// embedder that runs here.
#[must_use]
pub fn estimate_embedder(name: &str, texts: usize, tokens: usize) -> Option<ModelEstimate> {
    let model = name.strip_prefix("openai:")?;
    Some(estimated(model, Load::of(1, texts, tokens)))
}

/// Estimates what the endpoints come to that these specs name for their segmenters. Specs that read alike are sent the same
/// texts, which are paid for once.
#[must_use]
pub fn estimate_segment_embedders<'a>(
    specs: impl IntoIterator<Item = &'a Spec>,
    documents: &[TextSize],
) -> Vec<ModelEstimate> {
    let found = segment_loads(specs, documents);
    found.into_iter().map(|(model, load)| estimated(&model, load)).collect()
}

/// True where the segmenter of a spec, or one that it refers to, reads with an endpoint.
#[must_use]
pub fn segments_by_endpoint(spec: &Spec) -> bool {
    let mut found = Vec::new();
    collect(spec, &mut found);
    !found.is_empty()
}

/// What all endpoints come to that an experiment embeds with: those of its segmenters and that of its searches, which also embeds
/// what the reader of answers reads. `generator`: the model that answers in its place.
pub(super) fn embedders(
    experiment: &Experiment,
    questions: &[Question],
    documents: &[Document],
    generator: Option<&ModelEstimate>,
) -> Vec<ModelEstimate> {
    let sizes: Vec<TextSize> = documents.iter().map(TextSize::of).collect();
    let mut found = segment_loads(experiment.chunkers.iter().map(|chunker| &chunker.spec), &sizes);
    if let Some(model) = experiment.retrieval.embedder.strip_prefix("openai:") {
        let mut load = stored(experiment, questions, &sizes);
        load.add(read(experiment, questions, documents, &sizes));
        load.add(written(experiment, questions, generator));
        put(&mut found, model, load);
    }
    found.into_iter().map(|(model, load)| estimated(&model, load)).collect()
}

fn estimated(model: &str, mut load: Load) -> ModelEstimate {
    // A short text tells how long the vectors are.
    if load.calls > 0 && !OpenAiEmbeddings::knows_length(model) {
        load.add(Load { calls: 1, tokens: tokens("dimension".len()) });
    }
    ModelEstimate {
        role: "embedder",
        model: model.to_owned(),
        calls: load.calls,
        prompt_tokens: load.tokens,
        ..ModelEstimate::default()
    }
}

fn put(found: &mut Vec<(String, Load)>, model: &str, load: Load) {
    match found.iter_mut().find(|(known, _)| known == model) {
        Some((_, sum)) => sum.add(load),
        None => found.push((model.to_owned(), load)),
    }
}

fn segment_loads<'a>(specs: impl IntoIterator<Item = &'a Spec>, documents: &[TextSize]) -> Vec<(String, Load)> {
    let mut asked: Vec<(String, Reading)> = Vec::new();
    specs.into_iter().for_each(|spec| collect(spec, &mut asked));
    let mut found = Vec::new();
    for (model, reading) in asked {
        documents.iter().for_each(|size| put(&mut found, &model, reading.load(*size)));
    }
    found
}

/// The endpoints that a spec and those that it refers to read with.
fn collect(spec: &Spec, found: &mut Vec<(String, Reading)>) {
    if let Some(model) = spec.get("embedder").and_then(|name| name.strip_prefix("openai:")) {
        let one = (model.to_owned(), Reading::of(spec));
        if !found.contains(&one) {
            found.push(one);
        }
    }
    spec.references().iter().for_each(|reference| collect(reference, found));
}

/// The questions, and every chunker's chunks.
fn stored(experiment: &Experiment, questions: &[Question], sizes: &[TextSize]) -> Load {
    let mut sum = Load::of(1, questions.len(), questions.iter().map(|question| tokens(question.text.len())).sum());
    for chunker in &experiment.chunkers {
        let (chunks, mut tokens) = chunks(experiment, chunker, sizes);
        let adds = |what: bool, room: usize| if what { chunks.saturating_mul(room) } else { 0 };
        tokens = tokens
            .saturating_add(adds(experiment.prefixes_headings(chunker), HEADING_TOKENS))
            .saturating_add(adds(experiment.adds_context(chunker), CONTEXT_TOKENS));
        let lists = 1 + chunks / STORED.0 + tokens.saturating_mul(BYTES_PER_TOKEN) / STORED.1;
        sum.add(Load::of(lists, chunks, tokens));
    }
    sum
}

/// The sentences that the reader of answers meets: those of chunks that are found, and of gold answers.
fn read(experiment: &Experiment, questions: &[Question], documents: &[Document], sizes: &[TextSize]) -> Load {
    if experiment.answer.generator == GeneratorKind::None {
        return Load::default();
    }
    let modes = experiment.retrieval.modes.len();
    let cutoffs = experiment.retrieval.cutoffs();
    let sentences: usize = sizes.iter().map(|size| size.sentences).sum();
    let longest = documents.iter().flat_map(|document| &document.sentences).map(|one| tokens(one.span.len())).max();
    let longest = longest.unwrap_or(0);
    let lists = |own: usize, texts: usize| own + texts / READ;
    let gold = questions.iter().flat_map(|question| question.gold.iter().map(move |span| (question.document, *span)));
    let (texts, letters) = gold.fold((0, 0), |(texts, letters), (document, span)| {
        (texts + documents.get(document).map_or(0, |document| under(document, span)), letters + span.len())
    });
    // The judge's checks read some of them before.
    let mut sum = Load::of(lists(2, texts), texts, tokens(letters) + texts);
    for chunker in &experiment.chunkers {
        let (chunks, tokens) = chunks(experiment, chunker, sizes);
        // A sentence that chunks part is read in parts; where chunks are joined again, whole too.
        let times = if experiment.retrieval.expansion(chunker.expand).expand == Expand::None { 1 } else { 3 };
        let mut texts = sentences.saturating_add(chunks).saturating_mul(times);
        let mut all = tokens.saturating_mul(times);
        // A budget ends within a sentence.
        for budget in cutoffs.iter().filter_map(|cutoff| cutoff.tokens()) {
            let cuts = questions.len().saturating_mul(modes);
            texts = texts.saturating_add(cuts);
            all = all.saturating_add(cuts.saturating_mul(longest.min(budget.saturating_mul(BYTES_PER_TOKEN))));
        }
        sum.add(Load::of(lists(modes, texts), texts, all));
    }
    for _ in experiment.all_retrievers() {
        let each: usize = cutoffs
            .iter()
            .map(|cutoff| cutoff.tokens().unwrap_or_else(|| cutoff.size().saturating_mul(UNLIMITED_CHUNK)))
            .fold(0, usize::saturating_add);
        let all = each.saturating_mul(questions.len());
        let texts = all / SENTENCE;
        sum.add(Load::of(lists(modes, texts), texts, all));
    }
    sum
}

/// The sentences of answers that stand in no document.
fn written(experiment: &Experiment, questions: &[Question], generator: Option<&ModelEstimate>) -> Load {
    if experiment.answer.generator == GeneratorKind::None {
        return Load::default();
    }
    let settings = experiment.retrieval.modes.len().saturating_mul(experiment.retrieval.cutoffs().len());
    let each = questions.len().saturating_mul(settings).saturating_mul(UNLIMITED_CHUNK);
    // Retrievers may bring answers along, and what reads spans joins texts.
    let (rows, chunkers) = (experiment.generators(), experiment.chunkers.len());
    let brings =
        rows.iter().enumerate().filter(|(row, one)| *row >= chunkers || **one == GeneratorKind::Cogltx).count();
    let all = each.saturating_mul(brings).saturating_add(generator.map_or(0, |model| model.completion_tokens));
    Load::of(settings.saturating_mul(experiment.names().len()), all / SENTENCE, all)
}

/// Chunks of a chunker and the tokens of all, at most.
fn chunks(experiment: &Experiment, chunker: &ChunkerConfig, sizes: &[TextSize]) -> (usize, usize) {
    let corpus: Vec<usize> = sizes.iter().map(|size| size.tokens).collect();
    let all = corpus.iter().copied().fold(0, usize::saturating_add);
    let sentences: usize = sizes.iter().map(|size| size.sentences).sum();
    // Chunks end where sentences do, or are half as long as they may be at least.
    let cut = all.saturating_mul(2) / chunk(experiment, chunker, &corpus);
    let times = repeats(&chunker.spec);
    let chunks = sentences.saturating_add(cut).saturating_add(sizes.len());
    (chunks.saturating_mul(times), all.saturating_mul(times))
}

/// The number of chunks that a text is in at most, where chunks overlap.
fn repeats(spec: &Spec) -> usize {
    let number = |key: &str| spec.get(key).and_then(|text| text.parse::<usize>().ok());
    let overlap = number("overlap").unwrap_or(0);
    match number("tokens").filter(|tokens| *tokens > overlap) {
        // Tokens are repeated.
        Some(tokens) => tokens.div_ceil(tokens - overlap),
        // Sentences are repeated.
        None => overlap.saturating_add(1),
    }
}

/// The number of sentences that share text with a span.
fn under(document: &Document, span: Span) -> usize {
    let first = document.sentences.partition_point(|one| one.span.end <= span.start);
    let last = document.sentences.partition_point(|one| one.span.start < span.end);
    last.saturating_sub(first)
}

fn tokens(letters: usize) -> usize {
    letters.div_ceil(BYTES_PER_TOKEN)
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn requests_are_never_fewer_than_what_is_sent() {
        let calls = |lists, texts, tokens| Load::of(lists, texts, tokens).calls;
        assert_eq!((calls(1, 0, 0), calls(1, 256, 10), calls(1, 257, 10), calls(1, 3, 250_000)), (0, 1, 2, 3));
        // Each list ends with a request that may not be full.
        assert_eq!((calls(3, 3, 10), calls(9, 3, 10), calls(2, 300, 10)), (3, 3, 3));
    }

    #[test]
    fn segmenters_that_read_alike_are_sent_the_same() {
        let sizes = [TextSize { sentences: 10, tokens: 100 }, TextSize { sentences: 300, tokens: 3000 }];
        let of = |specs: &[&str]| {
            let specs: Vec<Spec> = specs.iter().map(|spec| Spec::parse(spec).unwrap()).collect();
            let found = estimate_segment_embedders(&specs, &sizes);
            found.into_iter().map(|model| (model.model, model.calls, model.prompt_tokens)).collect::<Vec<_>>()
        };
        let known = "text-embedding-3-small";
        let window = format!("window:embedder=openai:{known}");
        // A list a document.
        assert_eq!(of(&[&window]), [(known.to_owned(), 1 + 2, 3100)]);
        assert_eq!(of(&[&window, &format!("variance:embedder=openai:{known}")]), of(&[&window]));
        assert_eq!(of(&[&format!("same-size:reference=({window})")]), of(&[&window]));
        // Neighbours are sent with each sentence.
        let around = of(&[&format!("kamradt:embedder=openai:{known}"), &window]);
        assert_eq!(around, [(known.to_owned(), 2 * (1 + 2), 3100 + 3 * 3100 + 2 * 310)]);
        // The length of the vectors is asked for.
        assert_eq!(of(&["window:embedder=openai:e"]), [("e".to_owned(), 1 + 3, 3 + 3100)]);
        assert!(of(&["window", "window:embedder=static"]).is_empty());
    }

    #[test]
    fn chunks_that_overlap_are_sent_more_than_once() {
        let of = |spec: &str| repeats(&Spec::parse(spec).unwrap());
        assert_eq!((of("sentence"), of("sentence:overlap=2"), of("fixed:tokens=100,overlap=50")), (1, 3, 2));
    }
}
