//! Chunkers by the specs of requests: those that a stranger may name, made once.

use std::num::NonZeroUsize;
use std::sync::{Arc, Mutex, PoisonError};

use lru::LruCache;
use pericope::api::Document;
use pericope::segment::registry::{SegmenterEntry, build_from};
use pericope::segment::spec::Spec;
use pericope::segment::{Chunker, Limits, Standalone};
use pericope::{Engine, segmenters, tokenizer_for};

use super::{Problem, SegmenterEntry as Listed, SegmentersAnswer, Service};

/// Chunkers that are kept.
const KEPT: NonZeroUsize = NonZeroUsize::new(32).unwrap();
/// Bytes of a spec at most.
const LONGEST_SPEC: usize = 400;
/// The segmenters that requests may name: they read no file that a request names, and start no program.
const SERVED: &[&str] = &[
    "fixed",
    "same-size",
    "sentence",
    "paragraph",
    "recursive",
    "cogltx-blocks",
    "structure",
    "window",
    "kamradt",
    "fusion",
    "variance",
    "cluster",
    "graph",
    "texttiling",
    "c99",
    "u00",
    "bayesseg",
    "random",
    "weswin",
    "nsp",
    "topic",
    "hiercrf",
];
/// The settings of trained segmenters that name a file,
const MODELS: &[&str] = &["model", "weswin"];
/// and their value that names none.
const SHIPPED: &str = "shipped";
/// The encoders that a request may name for a segmenter: neither files nor endpoints.
const EMBEDDERS: &[&str] = &["minilm", "static"];
/// The segmenters that no request may name: they read a file, start a program or ask a service that the spec names.
#[cfg(test)]
const REFUSED: &[&str] = &["llm", "chunks", "command"];
/// The segmenter that depends on the documents at hand.
const BY_CORPUS: &str = "same-size";

/// Spec, limits (most and fewest tokens, overlap; most tokens by default) and tokenizer.
type Key = (String, [Option<usize>; 4], Option<String>);

/// The chunkers of a service.
pub(super) struct Chunkers(Mutex<LruCache<Key, Arc<Chunker>>>);

impl Default for Chunkers {
    fn default() -> Self {
        Self(Mutex::new(LruCache::new(KEPT)))
    }
}

/// What a chunker is made of.
pub(super) struct Asked<'a> {
    pub(super) spec: &'a str,
    pub(super) limits: Limits,
    /// The limits where neither the spec nor those name any.
    pub(super) defaults: Limits,
    pub(super) tokenizer: Option<&'a str>,
    /// The documents that `same-size` is sized by.
    pub(super) corpus: &'a [Document],
}

impl Chunkers {
    pub(super) fn get(&self, asked: &Asked<'_>) -> Result<Arc<Chunker>, Problem> {
        let spec = served(asked.spec)?;
        let Limits { max_tokens, min_tokens, overlap, .. } = asked.limits;
        let limits = [max_tokens, min_tokens, overlap, asked.defaults.max_tokens];
        let key = (spec.to_string(), limits, asked.tokenizer.map(str::to_owned));
        let keep = spec.name != BY_CORPUS;
        if keep && let Some(known) = self.0.lock().unwrap_or_else(PoisonError::into_inner).get(&key) {
            return Ok(Arc::clone(known));
        }
        let corpus = |visit: &mut dyn FnMut(&Document)| asked.corpus.iter().for_each(visit);
        // Without a tokenizer as `pericope segment` counts.
        let tokenizer = asked.tokenizer.map_or_else(|| tokenizer_for("none", [&spec]), str::to_owned);
        let engine = Engine::new().with_overrides(asked.limits).with_defaults(asked.defaults);
        let engine = engine.with_corpus(&corpus).with_tokenizer(tokenizer);
        let chunker = Arc::new(engine.chunker(&key.0).map_err(wrong)?);
        if keep {
            self.0.lock().unwrap_or_else(PoisonError::into_inner).put(key, Arc::clone(&chunker));
        }
        Ok(chunker)
    }
}

fn wrong(reason: impl std::fmt::Display) -> Problem {
    Problem::new(400, "bad-segmenter", "The segmenter cannot be used", reason)
}

/// Reads a spec, and checks that a request may name it.
fn served(text: &str) -> Result<Spec, Problem> {
    if text.len() > LONGEST_SPEC {
        return Err(wrong(format!("the spec is longer than {LONGEST_SPEC} bytes")));
    }
    let spec = Spec::parse(text).map_err(wrong)?;
    let mut checked = vec![spec.clone()];
    while let Some(one) = checked.pop() {
        if !segmenters().iter().any(|entry| is_served(entry) && entry.name == one.name) {
            return Err(wrong(format!("there is no segmenter `{}` here; GET /v1/segmenters lists them", one.name)));
        }
        if let Some(key) = MODELS.iter().find(|key| one.get(key).is_some_and(|model| model != SHIPPED)) {
            return Err(wrong(format!("`{}` reads its own model here: leave `{key}` out", one.name)));
        }
        if one.get("embedder").is_some_and(|name| !EMBEDDERS.contains(&name)) {
            return Err(wrong(format!("`embedder` is one of {} here", EMBEDDERS.join(", "))));
        }
        checked.extend(one.references());
    }
    Ok(spec)
}

fn is_served(entry: &SegmenterEntry) -> bool {
    SERVED.contains(&entry.name)
}

impl Service {
    /// Returns the segmenters that requests may name.
    #[must_use]
    pub fn segmenters(&self) -> SegmentersAnswer {
        let listed = |entry: &SegmenterEntry| Listed {
            spec: if needs_settings(entry) { entry.example } else { entry.name }.to_owned(),
            summary: entry.summary.to_owned(),
            scores: entry.has_scores,
        };
        SegmentersAnswer { segmenters: segmenters().iter().filter(|entry| is_served(entry)).map(listed).collect() }
    }
}

/// Whether the name alone is no spec.
fn needs_settings(entry: &SegmenterEntry) -> bool {
    let alone = Spec::new(entry.name);
    entry.needs.is_none() && alone.is_ok_and(|spec| build_from(segmenters(), &spec, &Standalone::default()).is_err())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    /// A new segmenter is served when somebody has looked whether strangers may name it.
    #[test]
    fn every_segmenter_was_looked_at() {
        let names: Vec<&str> = segmenters().iter().map(|entry| entry.name).collect();
        let left_out: Vec<&str> = names.iter().filter(|name| !SERVED.contains(name)).copied().collect();
        assert_eq!(left_out, REFUSED);
        let outside: Vec<&str> = pericope::segment::registry::outside().iter().map(|entry| entry.name).collect();
        assert_eq!(outside, REFUSED);
        // Nor has one a setting, beside the model, that nobody looked at.
        let keys =
            segmenters().iter().filter(|entry| is_served(entry)).flat_map(|entry| entry.keys).map(|key| key.name);
        let words = ["file", "path", "dir", "program", "command", "url", "prompt"];
        assert_eq!(keys.filter(|key| words.iter().any(|word| key.contains(word))).count(), 0);
    }

    #[test]
    fn a_request_names_no_file() {
        for bad in [
            "weswin:model=/etc/passwd",
            "topic:model=/etc/passwd",
            "hiercrf:model=/etc/passwd",
            "topic:speed=best,weswin=/etc/passwd",
            "same-size:reference=(topic:speed=best,weswin=../../m)",
            "same-size:reference=(weswin:model=/etc/passwd)",
            "same-size:reference=(same-size:reference=(nsp:model=../../m))",
            "llm:model=m,base_url=http://169.254.169.254/latest",
            "same-size:reference=(llm:config=/etc/passwd)",
            "fusion:embedder=static:/etc",
            "window:embedder=openai:text-embedding-3-small",
            "command:program=/bin/sh",
            "command:/bin/sh -c 'id > /tmp/x'",
            "chunks:/etc/passwd",
            "same-size:reference=(command:/bin/sh)",
            "same-size:reference=(same-size:reference=(chunks:/etc/passwd))",
            "nobody",
            "",
        ] {
            assert_eq!(served(bad).unwrap_err().code, "bad-segmenter", "{bad}");
        }
        assert!(served(&format!("window:k={}", "1".repeat(500))).is_err());
        assert!(served("weswin:model=shipped").is_ok() && served("window:k=5").is_ok());
        assert!(served("hiercrf:level=2").is_ok());
    }

    #[test]
    fn chunkers_are_made_once() {
        let chunkers = Chunkers::default();
        let asked = |spec| Asked {
            spec,
            limits: Limits::default(),
            defaults: Limits::INDEX,
            tokenizer: Some("words"),
            corpus: &[],
        };
        let first = chunkers.get(&asked("fixed:words=10")).unwrap();
        assert!(Arc::ptr_eq(&first, &chunkers.get(&asked(" fixed : words=10")).unwrap()));
        assert!(!Arc::ptr_eq(&first, &chunkers.get(&asked("fixed:words=11")).unwrap()));
    }
}
