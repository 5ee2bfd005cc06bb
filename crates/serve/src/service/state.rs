use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, PoisonError};

use pericope::api::SentenceEncoder;
use pericope_util::rfc3339;

use super::chunkers::Chunkers;
use super::problem::no_such_mode;
use super::rerankers::Rerankers;
use super::slot::{Opened, Slot};
use super::vectors::QueryVectors;
use super::{AddressRules, IndexEntry, IndexesAnswer, Mode, NamedPlace, Problem, RefreshAnswer, ServiceOptions};

/// Orders a pass over the files that an index follows; returns at once.
type OrderPass = dyn Fn() + Send + Sync;

/// Several named indexes, and what answers questions about them. All methods block and may be called from many threads.
///
/// A newer commit, or an index that was rebuilt, is seen within a fifth of a second (a collection on a server: five
/// seconds), without any lock: a question that is running goes on in what it began with.
pub struct Service {
    slots: Vec<Slot>,
    pub(super) vectors: QueryVectors,
    pub(super) chunkers: Chunkers,
    pub(super) rerankers: Rerankers,
    pub(super) addresses: AddressRules,
    passes: Mutex<HashMap<String, Arc<OrderPass>>>,
}

impl Service {
    /// Opens indexes; the first is the one that requests mean which name none.
    ///
    /// # Errors
    /// [`Problem`] with a status of 400 to 499 for what the caller can mend: no index, a name given twice, a place that is
    /// none, a reranker's name that is none.
    pub fn open(places: Vec<NamedPlace>, options: ServiceOptions) -> Result<Self, Problem> {
        let mut names = HashSet::new();
        if let Some(twice) = places.iter().find(|place| !names.insert(place.name.as_str())) {
            return Err(Problem::parameter(format!(
                "two indexes are called {}: give each a name of its own, NAME=PLACE",
                twice.name
            )));
        }
        let unknown = options.addresses.prefixes.keys().find(|name| !names.contains(name.as_str()));
        if let Some(unknown) = unknown {
            return Err(Problem::parameter(format!("there is an address for {unknown}, and no index of that name")));
        }
        if places.is_empty() {
            return Err(Problem::parameter("there is no index to search"));
        }
        let rerankers = Rerankers::new(options.rerankers, options.rerank_depth)?;
        let open = |place| Slot::open(place, Arc::clone(&options.notice));
        let slots = places.into_iter().map(open).collect::<Result<_, _>>()?;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        Ok(Self {
            slots,
            vectors: QueryVectors::new(options.encoders, cores),
            chunkers: Chunkers::default(),
            rerankers,
            addresses: options.addresses,
            passes: Mutex::default(),
        })
    }

    /// Loads the encoders and vectors of all indexes, which the first question would load otherwise. Returns a sentence
    /// for each index that can be searched by words alone, though it has vectors.
    pub fn warm(&self) -> Vec<String> {
        let warm = |slot: &Slot| {
            let opened = slot.current();
            let name = opened.about().embedder()?.to_owned();
            let loaded = self.encoder(&opened).and_then(|_| {
                let request =
                    super::SearchRequest { index: Some(slot.named.name.clone()), ..super::SearchRequest::new("a") };
                // A reranker was loaded beforehand, and may cost something.
                let rerank = Some("none".to_owned());
                self.search(&super::SearchRequest { mode: Some(Mode::Dense), k: 1, rerank, ..request })
            });
            let reason = loaded.err()?.detail;
            Some(format!(
                "{}: searched by words alone, since the embedder {name} is not there: {reason}",
                slot.named.name
            ))
        };
        self.slots.iter().filter_map(warm).collect()
    }

    /// Calls `order` when a refresh of that index asks for a pass over its files.
    ///
    /// # Errors
    /// [`Problem`] (404) where there is no such index.
    pub fn on_refresh(&self, index: Option<&str>, order: impl Fn() + Send + Sync + 'static) -> Result<(), Problem> {
        let name = self.slot(index)?.named.name.clone();
        self.passes.lock().unwrap_or_else(PoisonError::into_inner).insert(name, Arc::new(order));
        Ok(())
    }

    /// Returns the names of the indexes, the default one first.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.slots.iter().map(|slot| slot.named.name.as_str())
    }

    /// Describes the indexes.
    ///
    /// # Errors
    /// [`Problem`] where one cannot be read.
    pub fn indexes(&self) -> Result<IndexesAnswer, Problem> {
        let indexes = self.slots.iter().map(|slot| slot.ask(|slot| self.entry(slot))).collect::<Result<_, _>>()?;
        let rerankers = self.rerankers.names();
        Ok(IndexesAnswer { indexes, rerankers, version: env!("CARGO_PKG_VERSION").to_owned() })
    }

    fn entry(&self, slot: &Slot) -> Result<IndexEntry, Problem> {
        let opened = slot.current();
        let meta = &opened.about().meta;
        let modes = self.modes(&opened);
        Ok(IndexEntry {
            name: slot.named.name.clone(),
            documents: opened.retriever.documents()?,
            chunks: opened.retriever.chunks()?,
            segmenter: meta.segmenter.clone(),
            embedder: opened.about().embedder().unwrap_or("none").to_owned(),
            tokenizer: meta.tokenizer.clone(),
            default_mode: default_mode(&modes),
            modes,
            commit: opened.retriever.commit(),
            written: slot.written().map(rfc3339),
            stale: slot.seen.now(&slot.named.place)?.map(|stale| stale.changed + stale.gone),
        })
    }

    /// Returns the number of chunks of an index, and the number of the commit that is searched.
    pub(crate) fn size(&self, index: &str) -> Result<(u64, Option<u64>), Problem> {
        let opened = self.slot(Some(index))?.current();
        Ok((opened.retriever.chunks()?, opened.retriever.commit()))
    }

    /// Returns whether nothing has failed in an index since it was opened, as far as is known.
    pub(crate) fn is_sound(&self, index: &str) -> bool {
        self.slot(Some(index)).is_ok_and(Slot::is_sound)
    }

    /// Looks for a newer commit at once, and orders a pass over the files where the index follows some.
    ///
    /// # Errors
    /// [`Problem`]: 404 where there is no such index, 500 or 503 where it cannot be read.
    pub fn refresh(&self, index: &str) -> Result<RefreshAnswer, Problem> {
        let slot = self.slot(Some(index))?;
        let order = self.passes.lock().unwrap_or_else(PoisonError::into_inner).get(&slot.named.name).cloned();
        if let Some(order) = &order {
            order();
        }
        let reopened = slot.refresh()?;
        let commit = slot.current().retriever.commit();
        Ok(RefreshAnswer { index: slot.named.name.clone(), reopened, following: order.is_some(), commit })
    }

    /// The index of a name, or the default one.
    pub(super) fn slot(&self, name: Option<&str>) -> Result<&Slot, Problem> {
        let found = match name {
            None => self.slots.first(),
            Some(name) => self.slots.iter().find(|slot| slot.named.name == name),
        };
        found.ok_or_else(|| {
            let known = self.names().collect::<Vec<_>>().join(", ");
            let asked = name.unwrap_or("");
            Problem::not_found("no-such-index", format!("there is no index `{asked}`; the indexes are {known}"))
        })
    }

    /// The encoder of an index's queries.
    pub(super) fn encoder(&self, opened: &Opened) -> Result<Arc<dyn SentenceEncoder>, Problem> {
        let about = opened.about();
        let Some(embedder) = &about.meta.embedder else {
            return Err(no_such_mode("the index has no vectors: its mode is bm25"));
        };
        let encoder = self.vectors.encoder(&embedder.name)?;
        let ours = embedder.by(encoder.as_ref());
        match ours == *embedder {
            true => Ok(encoder),
            false => {
                Err(no_such_mode(format!("the index was embedded by {embedder}, and here is {ours}: index it again")))
            }
        }
    }

    /// The ways in which an index can be searched here, the default one first.
    pub(super) fn modes(&self, opened: &Opened) -> Vec<Mode> {
        let embedder = opened.about().meta.embedder.as_ref();
        let answers = embedder.is_some_and(|embedder| self.vectors.failing(&embedder.name).is_none());
        match answers && self.encoder(opened).is_ok() {
            true => vec![Mode::Hybrid, Mode::Bm25, Mode::Dense],
            false => vec![Mode::Bm25],
        }
    }
}

pub(super) fn default_mode(modes: &[Mode]) -> Mode {
    modes.first().copied().unwrap_or(Mode::Bm25)
}
