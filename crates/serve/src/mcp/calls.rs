//! The tools at work. They block, and know nothing of the protocol.

use std::mem::take;

use pericope::api::Span;
use pericope::store::Passage;
use pericope_util::seconds_since;
use rmcp::model::{CallToolResult, ContentBlock, JsonObject};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use uuid::Uuid;

use super::answers::{IndexStatus, ListOutput, SearchOutput, StaleFiles, StatusOutput, TextOutput};
use super::arguments::{FetchArguments, ListArguments, ReadArguments, SearchArguments, StatusArguments};
use super::text;
use crate::service::{
    ChunkRequest, DocumentRequest, ListRequest, NO_CHUNK, NO_DOCUMENT, Problem, SearchRequest, Service,
};

/// Bytes of text in one answer of `fetch` and `read`.
const LONGEST: usize = 32_000;
/// Lines around a range.
const MOST_CONTEXT: usize = 200;

/// What a tool is told: which one, and its arguments.
#[derive(Debug)]
pub(super) enum Call {
    Search(SearchArguments),
    Fetch(FetchArguments),
    Read(ReadArguments),
    List(ListArguments),
    Status(StatusArguments),
}

/// Why a call is none.
#[derive(Debug)]
pub(super) enum NoCall {
    /// There is no tool of that name.
    Unknown,
    /// The arguments are wrong, in words.
    Wrong(String),
}

impl Call {
    /// Reads a call.
    pub(super) fn parse(name: &str, arguments: Option<JsonObject>) -> Result<Self, NoCall> {
        let arguments = Value::Object(arguments.unwrap_or_default());
        match name {
            "search" => read(arguments).map(Self::Search),
            "fetch" => read(arguments).map(Self::Fetch),
            "read" => read(arguments).map(Self::Read),
            "list" => read(arguments).map(Self::List),
            "status" => read(arguments).map(Self::Status),
            _ => return Err(NoCall::Unknown),
        }
        .map_err(NoCall::Wrong)
    }

    /// Asks the service.
    pub(super) fn run(self, service: &Service) -> CallToolResult {
        let answered = match self {
            Self::Search(arguments) => search(service, arguments).map(|answer| both(&answer, text::search(&answer))),
            Self::Fetch(arguments) => fetch(service, &arguments).map(|answer| both(&answer, text::passage(&answer))),
            Self::Read(arguments) => part(service, arguments).map(|answer| both(&answer, text::passage(&answer))),
            Self::List(arguments) => list(service, arguments).map(|answer| both(&answer, text::list(&answer))),
            Self::Status(arguments) => status(service, &arguments).map(|answer| both(&answer, text::status(&answer))),
        };
        answered.unwrap_or_else(|problem| failed(&problem.detail))
    }
}

/// What is wrong, in words that the agent reads.
pub(super) fn failed(why: &str) -> CallToolResult {
    CallToolResult::error(vec![ContentBlock::text(why)])
}

fn both(answer: &impl Serialize, text: String) -> CallToolResult {
    match serde_json::to_value(answer) {
        Ok(value) => {
            let mut result = CallToolResult::structured(value);
            result.content = vec![ContentBlock::text(text)];
            result
        }
        Err(error) => failed(&format!("the answer cannot be written: {error}")),
    }
}

fn read<T: DeserializeOwned>(arguments: Value) -> Result<T, String> {
    serde_path_to_error::deserialize(arguments).map_err(|error| {
        let path = error.path().to_string();
        let about = if path == "." { String::new() } else { format!("{path}: ") };
        format!("the arguments are wrong: {about}{}", error.inner())
    })
}

fn search(service: &Service, arguments: SearchArguments) -> Result<SearchOutput, Problem> {
    let SearchArguments { query, k, path, heading, mode, expand, expand_tokens, rerank, index, budget } = arguments;
    let budget = Some(budget);
    let plain = SearchRequest::new(query);
    let request = SearchRequest { k, mode, path, heading, expand, expand_tokens, rerank, budget, index, ..plain };
    let answer = service.search(&request)?;
    Ok(SearchOutput {
        mode: answer.mode.to_string(),
        query: answer.query,
        rerank: answer.rerank,
        index: answer.index,
        tokens: answer.tokens,
        left_out: answer.left_out.map(Into::into),
        hits: answer.hits.into_iter().map(Into::into).collect(),
    })
}

fn fetch(service: &Service, arguments: &FetchArguments) -> Result<TextOutput, Problem> {
    let FetchArguments { id, context, index } = arguments;
    if let Ok(chunk) = Uuid::try_parse(id) {
        let request = ChunkRequest { id: chunk, context: *context, index: index.clone() };
        match service.chunk(&request) {
            // A document may be called like that.
            Err(problem) if problem.code == NO_CHUNK => {}
            answered => return answered.map(|answer| short(answer.into())),
        }
    }
    let request = DocumentRequest { id: id.clone(), index: index.clone(), ..DocumentRequest::default() };
    match service.document(&request) {
        Ok(answer) => Ok(short(answer.into())),
        Err(problem) if problem.code == NO_DOCUMENT => Err(Problem::parameter(format!(
            "there is no passage and no document {id:?}: take an id from `search` or `list` (a passage has another id once \
             its document has changed)"
        ))),
        Err(problem) => Err(problem),
    }
}

fn part(service: &Service, arguments: ReadArguments) -> Result<TextOutput, Problem> {
    let ReadArguments { document, lines, start, end, context, index } = arguments;
    if context > MOST_CONTEXT {
        return Err(Problem::parameter(format!("context: at most {MOST_CONTEXT} lines, not {context}")));
    }
    let mut request = DocumentRequest { id: document, start, end, lines, index };
    let mut answer = service.document(&request)?;
    if context > 0
        && let Some([first, last]) = answer.lines
        && (request.lines.is_some() || request.start.is_some() || request.end.is_some())
    {
        (request.start, request.end) = (None, None);
        request.lines = Some(format!("{}-{}", first.saturating_sub(context).max(1), last.saturating_add(context)));
        answer = service.document(&request)?;
    }
    Ok(short(answer.into()))
}

/// Bounds the text of an answer, and says where to go on.
fn short(mut answer: TextOutput) -> TextOutput {
    if answer.text.len() > LONGEST {
        let mut at = answer.text.floor_char_boundary(LONGEST);
        // At the end of a line, where there is one near.
        if let Some(line) = answer.text.get(..at).and_then(|text| text.rfind('\n')).filter(|line| *line > at / 2) {
            at = line + 1;
        }
        let (start, end) = (answer.start, answer.end);
        let whole = Passage { start, end, text: take(&mut answer.text), places: take(&mut answer.places) };
        let shown = Span::new(0, at);
        answer.lines = whole.lines(shown);
        Passage { start: answer.start, end: answer.end, text: answer.text, places: answer.places } = whole.part(shown);
        answer.more_from = Some(answer.end);
    }
    answer
}

fn list(service: &Service, arguments: ListArguments) -> Result<ListOutput, Problem> {
    let ListArguments { prefix, limit, after, index } = arguments;
    let answer = service.documents(&ListRequest { prefix, limit, after, index })?;
    Ok(ListOutput { documents: answer.documents.into_iter().map(Into::into).collect(), next: answer.next })
}

fn status(service: &Service, arguments: &StatusArguments) -> Result<StatusOutput, Problem> {
    let answer = service.indexes()?;
    let known = answer.indexes.iter().map(|entry| entry.name.clone()).collect::<Vec<_>>().join(", ");
    let mut indexes = Vec::new();
    for entry in answer.indexes {
        if arguments.index.as_ref().is_some_and(|index| *index != entry.name) {
            continue;
        }
        let stale = service.stale(Some(&entry.name))?;
        indexes.push(IndexStatus {
            documents: entry.documents,
            passages: entry.chunks,
            modes: entry.modes.iter().map(ToString::to_string).collect(),
            age_seconds: entry.written.as_deref().and_then(seconds_since),
            written: entry.written,
            stale: stale.map(|stale| StaleFiles {
                changed: stale.changed,
                gone: stale.gone,
                names: stale.names.clone(),
            }),
            name: entry.name,
        });
    }
    match (&arguments.index, indexes.is_empty()) {
        (Some(index), true) => {
            Err(Problem::not_found("no-such-index", format!("there is no index {index:?}; the indexes are {known}")))
        }
        _ => Ok(StatusOutput { indexes, rerankers: answer.rerankers, version: answer.version }),
    }
}
