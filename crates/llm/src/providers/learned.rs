use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::http::Refusal;

/// How an answer's shape is asked for, best first.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// By a JSON Schema.
    Schema,
    /// "Some JSON object."
    Object,
    /// In words only.
    Words,
}

/// What an endpoint takes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Takes {
    pub shape: Shape,
    /// `max_completion_tokens` in the place of `max_tokens`.
    pub completion_tokens: bool,
    pub temperature: bool,
    pub seed: bool,
}

/// What was learned about an endpoint, from the ways in which it refuses requests. Each is found out once.
#[derive(Debug)]
pub(crate) struct Learned {
    /// Shapes that this API has.
    shapes: &'static [Shape],
    first: Takes,
    state: Mutex<State>,
    /// Held by the request that finds things out, while others wait.
    pub(crate) probe: tokio::sync::Mutex<()>,
}

#[derive(Debug)]
struct State {
    takes: Takes,
    plain: bool,
    shaped: bool,
}

impl Learned {
    pub(crate) fn new(shapes: &'static [Shape], completion_tokens: bool) -> Self {
        let first = Takes {
            shape: shapes.first().copied().unwrap_or(Shape::Words),
            completion_tokens,
            temperature: true,
            seed: true,
        };
        let state = Mutex::new(State { takes: first, plain: false, shaped: false });
        Self { shapes, first, state, probe: tokio::sync::Mutex::default() }
    }

    pub(crate) fn takes(&self) -> Takes {
        self.state().takes
    }

    /// True where a request of this kind has been taken before.
    pub(crate) fn known(&self, shaped: bool) -> bool {
        let state = self.state();
        if shaped { state.shaped } else { state.plain }
    }

    /// A request that was sent by `takes` was taken.
    pub(crate) fn worked(&self, takes: Takes, shaped: bool) {
        let mut state = self.state();
        if shaped {
            state.shaped = true;
        } else {
            // The shape was not tried.
            state.plain = true;
        }
        let shape = if shaped { takes.shape } else { state.takes.shape };
        state.takes = Takes { shape, ..takes };
    }

    /// What to send instead; `None` where nothing is left to change.
    pub(crate) fn instead(&self, takes: Takes, refusal: &Refusal, shaped: bool) -> Option<Takes> {
        // Changed back and forth, it would never end: each thing is changed once.
        if takes.completion_tokens == self.first.completion_tokens
            && refusal.blames(if takes.completion_tokens { "max_completion_tokens" } else { "max_tokens" })
        {
            return Some(Takes { completion_tokens: !takes.completion_tokens, ..takes });
        }
        if takes.temperature && refusal.blames("temperature") {
            return Some(Takes { temperature: false, ..takes });
        }
        if takes.seed && refusal.blames("seed") {
            return Some(Takes { seed: false, ..takes });
        }
        // While nothing is known of shapes, any refusal may be about them: not every server says.
        if shaped && (refusal.blames_format() || !self.known(true)) {
            let mut after = self.shapes.iter().skip_while(|shape| **shape != takes.shape).skip(1);
            return after.next().map(|shape| Takes { shape: *shape, ..takes });
        }
        None
    }

    /// A line for everything that differs from what was sent first.
    pub(crate) fn notes(&self) -> Vec<String> {
        let takes = self.takes();
        let mut notes = Vec::new();
        if takes.completion_tokens && !self.first.completion_tokens {
            notes.push("the endpoint wants max_completion_tokens in the place of max_tokens".to_owned());
        }
        if !takes.temperature {
            notes.push("the endpoint takes no temperature: answers are sampled at its own".to_owned());
        }
        if !takes.seed {
            notes.push("the endpoint takes no seed".to_owned());
        }
        if takes.shape != self.first.shape {
            notes.push(match takes.shape {
                Shape::Schema => "the endpoint takes a JSON schema".to_owned(),
                Shape::Object => "the endpoint takes no JSON schema: any JSON object is asked for".to_owned(),
                Shape::Words => "the endpoint takes no response format: JSON is asked for in words".to_owned(),
            });
        }
        notes
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Words that ask for the shape where the API cannot.
pub(crate) fn in_words(schema: &serde_json::Value) -> String {
    format!("\n\nReply with one JSON object and nothing else. It must match this JSON Schema:\n{schema}")
}
