//! What an engine gives to segmenters.

use std::cell::OnceCell;
use std::sync::{Arc, PoisonError};

use pericope_api::{Segmenter, SentenceEncoder, ShiftFinder, TokenCounter};
use pericope_segment::fixed::match_bound;
use pericope_segment::llm::LanguageModel;
use pericope_segment::registry::build_from;
use pericope_segment::spec::Spec;
use pericope_segment::{Limits, LoadEncoder, Resources};
use pericope_store::ReferenceMeta;

use super::{Engine, cached, segmenters};
use crate::{embedders, language_models, reference};

impl Resources for Engine<'_> {
    fn encoder(&self) -> Result<Arc<dyn SentenceEncoder>, String> {
        self.own.clone().map_or_else(|| self.default_encoder(), Ok)
    }

    fn named_encoder(&self, name: &str) -> Result<Arc<dyn SentenceEncoder>, String> {
        if embedders::is_default(name) {
            return self.default_encoder();
        }
        if let Some(shared) = self.shared(name) {
            return Ok(shared);
        }
        let found = embedders::embedder(name, self.offline).map_err(|e| e.to_string())?;
        found.ok_or_else(|| format!("embedder={name}: it needs an encoder"))
    }

    fn changed_encoder(&self, _: &str, load: LoadEncoder<'_>) -> Result<Arc<dyn SentenceEncoder>, String> {
        Ok(self.remembering(load()?))
    }

    fn counter(&self) -> Result<Arc<dyn TokenCounter>, String> {
        let load = || match self.loading.take().map(|loading| loading.0.join()) {
            Some(Ok(loaded)) => loaded,
            _ => embedders::counter(self.tokenizer.as_deref()),
        };
        self.counter.get_or_init(load).clone()
    }

    fn overrides(&self) -> Limits {
        self.overrides
    }

    fn defaults(&self) -> Limits {
        self.defaults
    }

    fn custom(&self, name: &str) -> Result<Arc<dyn Segmenter>, String> {
        let found = self.custom.get(name).cloned();
        found.ok_or_else(|| format!("a program in Rust or Python brings it, and none named `{name}` was brought"))
    }

    fn shift_finder(&self, wanted: &LanguageModel) -> Result<Arc<dyn ShiftFinder>, String> {
        language_models::shift_finder(wanted, self.offline)
    }

    fn mean_words(&self, reference: &str) -> Result<f64, String> {
        let spec = Spec::parse(reference).map_err(|e| e.to_string())?;
        let name = spec.to_string();
        if let Some(known) = self.reference.borrow().as_ref().filter(|known| known.spec == name) {
            return Ok(known.mean_words);
        }
        let mean_words = self.mean_of(&spec)?;
        self.reference.replace(Some(ReferenceMeta { spec: name, mean_words, bound: None }));
        self.stored.set(false);
        Ok(mean_words)
    }

    fn matched_bound(&self, reference: &str, fixed: &Spec, most: usize) -> Result<usize, String> {
        let wanted = self.mean_words(reference)?;
        if self.stored.get() {
            let bound = self.reference.borrow().as_ref().and_then(|known| known.bound);
            return Ok(bound.unwrap_or((wanted.round() as usize).max(1)));
        }
        let found = match_bound(wanted, most, |words| {
            let spec = fixed.clone().with("words", words).map_err(|e| e.to_string())?;
            self.mean_of(&spec)
        })?;
        if let Some(known) = self.reference.borrow_mut().as_mut() {
            known.bound = Some(found.words);
        }
        Ok(found.words)
    }
}

impl Engine<'_> {
    /// An encoder that a segmenter brought, remembering what it encoded where the default one does.
    fn remembering(&self, encoder: Arc<dyn SentenceEncoder>) -> Arc<dyn SentenceEncoder> {
        if self.cached.is_none() {
            return encoder;
        }
        let mut brought = self.brought.lock().unwrap_or_else(PoisonError::into_inner);
        let own = encoder.fingerprint();
        if let Some(known) = brought.iter().find(|known| known.fingerprint() == own) {
            return Arc::clone(known);
        }
        let encoder = cached(encoder);
        brought.push(Arc::clone(&encoder));
        encoder
    }

    fn default_encoder(&self) -> Result<Arc<dyn SentenceEncoder>, String> {
        let known = self.cached.clone().or_else(|| self.shared(embedders::DEFAULT_EMBEDDER));
        known.map_or_else(embedders::default_encoder, Ok)
    }

    fn shared(&self, name: &str) -> Option<Arc<dyn SentenceEncoder>> {
        self.shared.as_ref().filter(|(known, _)| known == name).map(|(_, encoder)| Arc::clone(encoder))
    }

    /// The mean words of a segmenter's chunks of the corpus.
    fn mean_of(&self, spec: &Spec) -> Result<f64, String> {
        let corpus = self.corpus.ok_or("same-size needs a corpus to size itself by")?;
        let inner = Engine {
            tokenizer: self.tokenizer.clone(),
            overrides: self.overrides,
            defaults: self.defaults,
            counter: OnceCell::from(self.counter()),
            offline: self.offline,
            cached: self.cached.clone(),
            shared: self.shared.clone(),
            own: self.own.clone(),
            brought: Arc::clone(&self.brought),
            ..Engine::default()
        };
        let spec = self.with_own_embedder(spec.clone()).map_err(|e| e.to_string())?;
        let chunker = build_from(segmenters(), &spec, &inner).map_err(|e| e.to_string())?;
        reference::mean_words(&chunker, corpus)
    }
}
