use std::sync::{Mutex, MutexGuard, PoisonError};

use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use crate::http::ApiError;

/// The ways to ask for an answer of a given shape, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum ResponseFormat {
    /// By a JSON Schema.
    Schema,
    /// "Some JSON object."
    Object,
    /// In the words of the prompt only.
    Words,
}

/// The parameters that an endpoint takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Parameters {
    pub format: ResponseFormat,
    /// `max_completion_tokens` in the place of `max_tokens`.
    pub max_completion_tokens: bool,
    pub temperature: bool,
    pub seed: bool,
}

impl Parameters {
    /// Returns what of them changes an answer: the format only where one is asked for, and the name of the limit never.
    pub(crate) fn key(self, shaped: bool) -> Value {
        json!({"format": shaped.then_some(self.format), "temperature": self.temperature, "seed": self.seed})
    }
}

/// The capabilities of an endpoint, found out by the ways in which it refuses requests. Each is found out once.
#[derive(Debug)]
pub(crate) struct Capabilities {
    /// The formats that this API has.
    formats: &'static [ResponseFormat],
    first: Parameters,
    state: Mutex<State>,
    /// Held by the request that finds things out, while others wait.
    pub(super) probe: Mutex<()>,
}

#[derive(Debug)]
struct State {
    /// What this session began with.
    begun: Parameters,
    parameters: Parameters,
    /// A request without a schema was taken.
    plain: bool,
    /// A request with a schema was taken.
    shaped: bool,
}

impl Capabilities {
    /// `max_completion_tokens`: the newer name of the limit is tried first.
    pub(crate) fn new(formats: &'static [ResponseFormat], max_completion_tokens: bool) -> Self {
        let first = Parameters {
            format: formats.first().copied().unwrap_or(ResponseFormat::Words),
            max_completion_tokens,
            temperature: true,
            seed: true,
        };
        let state = Mutex::new(State { begun: first, parameters: first, plain: false, shaped: false });
        Self { formats, first, state, probe: Mutex::default() }
    }

    /// Begins with what an earlier session found out. It is tried again: the first answers confirm it or change it.
    pub(crate) fn recall(&self, learned: &Value) {
        let Ok(parameters) = Parameters::deserialize(learned) else { return };
        if self.formats.contains(&parameters.format) {
            let mut state = self.state();
            (state.begun, state.parameters) = (parameters, parameters);
        }
    }

    /// Returns the parameters to send next.
    pub(crate) fn parameters(&self) -> Parameters {
        self.state().parameters
    }

    /// Returns true where a request of this kind has been taken before.
    pub(crate) fn known(&self, shaped: bool) -> bool {
        let state = self.state();
        if shaped { state.shaped } else { state.plain }
    }

    /// Records that a request with these parameters was taken.
    pub(crate) fn accepted(&self, parameters: Parameters, shaped: bool) {
        let mut state = self.state();
        if shaped {
            state.shaped = true;
        } else {
            // The format was not tried.
            state.plain = true;
        }
        let format = if shaped { parameters.format } else { state.parameters.format };
        state.parameters = Parameters { format, ..parameters };
    }

    /// Returns the parameters to send instead; `None` where nothing is left to change.
    pub(crate) fn instead(&self, parameters: Parameters, error: &ApiError, shaped: bool) -> Option<Parameters> {
        // Changed back and forth, it would never end: each thing is changed once.
        let begun = self.state().begun;
        if parameters.max_completion_tokens == begun.max_completion_tokens
            && error.blames(if parameters.max_completion_tokens { "max_completion_tokens" } else { "max_tokens" })
        {
            return Some(Parameters { max_completion_tokens: !parameters.max_completion_tokens, ..parameters });
        }
        if parameters.temperature && error.blames("temperature") {
            return Some(Parameters { temperature: false, ..parameters });
        }
        if parameters.seed && error.blames("seed") {
            return Some(Parameters { seed: false, ..parameters });
        }
        // While nothing is known of formats, any refusal may be about them: not every server says.
        if shaped && (error.blames_format() || !self.known(true)) {
            let mut after = self.formats.iter().skip_while(|format| **format != parameters.format).skip(1);
            return after.next().map(|format| Parameters { format: *format, ..parameters });
        }
        None
    }

    /// Returns a line for everything that differs from what was sent first.
    pub(crate) fn notes(&self) -> Vec<String> {
        let found = self.parameters();
        let mut notes = Vec::new();
        if found.max_completion_tokens && !self.first.max_completion_tokens {
            notes.push("the endpoint wants max_completion_tokens in the place of max_tokens".to_owned());
        }
        if !found.temperature {
            notes.push("the endpoint takes no temperature: answers are sampled at its own".to_owned());
        }
        if !found.seed {
            notes.push("the endpoint takes no seed".to_owned());
        }
        if found.format != self.first.format {
            notes.push(match found.format {
                ResponseFormat::Schema => "the endpoint takes a JSON schema".to_owned(),
                ResponseFormat::Object => "the endpoint takes no JSON schema: any JSON object is asked for".to_owned(),
                ResponseFormat::Words => "the endpoint takes no response format: JSON is asked for in words".to_owned(),
            });
        }
        notes
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Returns the words that ask for a shape where the API cannot.
pub(crate) fn in_words(schema: &serde_json::Value) -> String {
    format!("\n\nReply with one JSON object and nothing else. It must match this JSON Schema:\n{schema}")
}
