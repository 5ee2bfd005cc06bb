//! A small evaluation for tests.
#![allow(clippy::unwrap_used)]

#[path = "../../../segeval/tests/it/samples.rs"]
mod evaluated;

use pericope_segeval::config::Published;

use super::report::Report;
pub(crate) use evaluated::{evaluation, sets};

/// With a published row for each table.
pub(crate) fn report() -> Report {
    let row = |system: &str, f1, known| Published {
        system: system.into(),
        set: "one".into(),
        pk: Some(30.0),
        window_diff: None,
        f1,
        proposed_over_true: None,
        known,
        source: "Someone (2001)".into(),
    };
    let published = [row("Old <b> system", Some(50.0), false), row("Told | system", None, true)];
    Report { embedding_seconds: Some(2.0), ..Report::new("sample", &sets(), evaluation(), &published) }
}
