//! What specs of segmenters ask for, known before anything is opened.

use std::cell::{Cell, RefCell};
use std::sync::Arc;

use pericope_api::SentenceEncoder;
use pericope_segment::registry::{build_from, outside};
use pericope_segment::spec::Spec;
use pericope_segment::{LoadEncoder, Resources};

use crate::{embedders, segmenters};

/// Returns the tokenizer that commands count with where none is named: that of the model which embeds the chunks, else `minilm` where a
/// segmenter reads with it, else `words`. It does not depend on what is installed, so that a command cuts alike on every
/// machine, or says which model is missing.
#[must_use]
pub fn tokenizer_for<'s>(embedder: &str, specs: impl IntoIterator<Item = &'s Spec>) -> String {
    embedders::tokenizer_beside(embedder, specs.into_iter().any(cuts_by_encoder))
}

/// Returns whether it, or a segmenter that it refers to for its size, asks for the default encoder.
fn cuts_by_encoder(spec: &Spec) -> bool {
    needs_encoder(spec) || spec.references().iter().any(cuts_by_encoder)
}

/// Returns whether a segmenter of this spec asks for the default encoder, or for one that changes it; this may depend on its settings.
#[must_use]
pub fn needs_encoder(spec: &Spec) -> bool {
    let asked = asked(spec);
    asked.default.get() || asked.changed.get()
}

/// Returns whether a segmenter of this spec reads the vectors of the default encoder, which several may share.
#[must_use]
pub fn shares_encoder(spec: &Spec) -> bool {
    asked(spec).default.get()
}

/// Returns whether a segmenter of this spec reads the vectors of the embedder of this name.
#[must_use]
pub fn reads_with(spec: &Spec, embedder: &str) -> bool {
    asked(spec).named.borrow().iter().any(|name| name == embedder)
}

fn asked(spec: &Spec) -> Probe {
    let probe = Probe::default();
    // A file of chunks is read once, when they are wanted.
    if outside().iter().all(|entry| entry.name != spec.name) {
        let _ = build_from(segmenters(), spec, &probe);
    }
    probe
}

/// Resources that note whether the default encoder is asked for, as it is or changed.
#[derive(Default)]
struct Probe {
    default: Cell<bool>,
    changed: Cell<bool>,
    /// The names of the embedders that are asked for as they are.
    named: RefCell<Vec<String>>,
}

impl Resources for Probe {
    fn encoder(&self) -> Result<Arc<dyn SentenceEncoder>, String> {
        self.default.set(true);
        self.named.borrow_mut().push(embedders::DEFAULT_EMBEDDER.to_owned());
        Err("only asked whether it is needed".into())
    }

    fn named_encoder(&self, name: &str) -> Result<Arc<dyn SentenceEncoder>, String> {
        if embedders::is_default(name) {
            self.encoder()
        } else {
            self.named.borrow_mut().push(name.to_owned());
            Err("only asked whether the default is needed".into())
        }
    }

    fn changed_encoder(&self, base: &str, _: LoadEncoder<'_>) -> Result<Arc<dyn SentenceEncoder>, String> {
        self.changed.set(self.changed.get() || embedders::is_default(base));
        Err("only asked whether it is needed".into())
    }

    fn mean_words(&self, _: &str) -> Result<f64, String> {
        Ok(1.0)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use pericope_segment::spec::Spec;

    use super::{needs_encoder, reads_with, shares_encoder, tokenizer_for};

    #[test]
    fn tokens_are_those_of_the_model_that_a_segmenter_reads_with() {
        let counted = |embedder: &str, spec: &str| tokenizer_for(embedder, [&Spec::parse(spec).unwrap()]);
        for spec in ["fusion", "fusion:embedder=minilm", "topic", "same-size:reference=window"] {
            assert_eq!(
                (counted("none", spec), counted("e5-small", spec)),
                ("minilm".into(), "e5-small-v2".into()),
                "{spec}"
            );
        }
        for spec in ["fixed", "fusion:embedder=static", "window:embedder=openai:e"] {
            let counted = ["none", "static", "minilm", "minilm:changes", "e5-small", "openai:m"]
                .map(|embedder| counted(embedder, spec));
            assert_eq!(counted, ["words", "words", "minilm", "minilm", "e5-small-v2", "words"], "{spec}");
        }
    }

    #[test]
    fn a_model_with_an_encoder_of_its_own_shares_no_vectors() {
        let asked = |spec: &str| {
            let spec = Spec::parse(spec).unwrap();
            (needs_encoder(&spec), shares_encoder(&spec))
        };
        assert_eq!((asked("topic"), asked("fusion"), asked("fixed")), ((true, false), (true, true), (false, false)));
        let reads = |spec: &str, embedder: &str| reads_with(&Spec::parse(spec).unwrap(), embedder);
        assert!(reads("fusion", "minilm") && reads("window:embedder=e5", "e5"));
        assert!(!reads("fusion:embedder=static", "minilm") && !reads("topic", "minilm") && !reads("fixed", "minilm"));
    }
}
