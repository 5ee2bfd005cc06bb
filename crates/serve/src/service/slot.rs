//! One named index: opened, looked at again, and swapped where another has taken its place.

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError, RwLock};
use std::time::{Duration, Instant, SystemTime};

use pericope::index;
use pericope::store::{Freshness, Retriever, StoreInfo};
use pericope::stores;

use super::problem::FAILED;
use super::stale::Seen;
use super::{NamedPlace, Problem};

/// How often a folder is looked at for a newer commit, at most,
const FOLDER: Duration = Duration::from_millis(200);
/// and a server for another collection behind its alias.
const SERVER: Duration = Duration::from_secs(5);
/// How often an index that failed is opened anew, at most: somebody may have put whole files in the place of damaged ones.
const DOUBT: Duration = Duration::from_secs(5);

/// An index as it was opened.
pub(super) struct Opened {
    pub(super) retriever: Box<dyn Retriever>,
}

impl Opened {
    fn open(place: &str) -> Result<Self, Problem> {
        let retriever = stores::open(place).map_err(|error| match error.kind().is_usage() {
            true => Problem::new(400, "not-an-index", "The place is no index that can be read", error),
            false => error.into(),
        })?;
        Ok(Self { retriever })
    }

    pub(super) fn about(&self) -> &StoreInfo {
        self.retriever.about()
    }
}

pub(super) struct Slot {
    pub(super) named: NamedPlace,
    notice: Arc<dyn Fn(&str) + Send + Sync>,
    current: RwLock<Arc<Opened>>,
    looked: Mutex<Looked>,
    /// Whether a request failed since it was opened, for a reason that lies in the index.
    doubted: AtomicBool,
    pub(super) seen: Seen,
}

struct Looked {
    at: Instant,
    /// When it was opened.
    opened: Instant,
    /// The last failure, so that it is told once.
    failure: Option<String>,
}

impl Slot {
    pub(super) fn open(named: NamedPlace, notice: Arc<dyn Fn(&str) + Send + Sync>) -> Result<Self, Problem> {
        let current = RwLock::new(Arc::new(Opened::open(&named.place)?));
        let now = Instant::now();
        let looked = Mutex::new(Looked { at: now, opened: now, failure: None });
        Ok(Self { named, notice, current, looked, doubted: AtomicBool::new(false), seen: Seen::default() })
    }

    /// The index as it is now.
    pub(super) fn current(&self) -> Arc<Opened> {
        let often = if stores::is_server(&self.named.place) { SERVER } else { FOLDER };
        // One looks; the others go on with what is open.
        if let Ok(mut looked) = self.looked.try_lock()
            && looked.at.elapsed() >= often
        {
            looked.at = Instant::now();
            match self.look(&mut looked) {
                Ok(_) => looked.failure = None,
                Err(problem) => {
                    let text = format!("{}: {}; searches go on in what is open", self.named.name, problem.detail);
                    if looked.failure.as_ref() != Some(&text) {
                        (self.notice)(&text);
                        looked.failure = Some(text);
                    }
                }
            }
        }
        self.opened()
    }

    /// Looks for a newer commit or another index at once. Returns whether there was one.
    pub(super) fn refresh(&self) -> Result<bool, Problem> {
        let mut looked = self.looked.lock().unwrap_or_else(PoisonError::into_inner);
        looked.at = Instant::now();
        self.look(&mut looked)
    }

    fn look(&self, looked: &mut Looked) -> Result<bool, Problem> {
        let doubted = self.doubted.load(Ordering::Relaxed) && looked.opened.elapsed() >= DOUBT;
        match self.opened().retriever.refresh() {
            Ok(Freshness::Same) if !doubted => Ok(false),
            Ok(Freshness::Newer) => Ok(true),
            found => {
                looked.opened = Instant::now();
                self.doubted.store(false, Ordering::Relaxed);
                let opened = Opened::open(&self.named.place)?;
                *self.current.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(opened);
                // What is opened for a doubt alone may be damaged still: every request that fails says so.
                if !matches!(found, Ok(Freshness::Same)) {
                    (self.notice)(&format!("{}: opened anew", self.named.name));
                }
                Ok(true)
            }
        }
    }

    /// Does work in the index. Where the index itself fails, it is opened anew soon.
    pub(super) fn ask<T>(&self, work: impl FnOnce(&Self) -> Result<T, Problem>) -> Result<T, Problem> {
        let answer = work(self);
        if answer.as_ref().is_err_and(|problem| problem.code == FAILED) {
            self.doubted.store(true, Ordering::Relaxed);
        }
        answer
    }

    /// Whether no request has failed since it was opened, and the last look at it did not. While somebody looks, nobody knows.
    pub(super) fn is_sound(&self) -> bool {
        let failed = self.looked.try_lock().is_ok_and(|looked| looked.failure.is_some());
        !failed && !self.doubted.load(Ordering::Relaxed)
    }

    fn opened(&self) -> Arc<Opened> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// The time at which a folder was written last, in seconds since 1970.
    pub(super) fn written(&self) -> Option<i64> {
        if stores::is_server(&self.named.place) {
            return None;
        }
        let since = index::written(Path::new(&self.named.place))?.duration_since(SystemTime::UNIX_EPOCH).ok()?;
        i64::try_from(since.as_secs()).ok()
    }
}
