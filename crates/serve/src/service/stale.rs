//! What changed since an index was written.

use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use pericope::index::{Stale, project, stale};
use pericope::store::StoreError;
use pericope::stores;

use super::{Problem, Service};

/// How long what was seen holds: every look asks the system about every file.
const HOLDS: Duration = Duration::from_secs(5);

/// What was seen last, and when.
#[derive(Default)]
pub(super) struct Seen(Mutex<Option<(Instant, Option<Arc<Stale>>)>>);

impl Seen {
    /// What changed since the index in a place was written, at most five seconds old. One looks; others wait for it.
    pub(super) fn now(&self, place: &str) -> Result<Option<Arc<Stale>>, Problem> {
        if stores::is_server(place) {
            return Ok(None);
        }
        let mut seen = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((at, found)) = &*seen
            && at.elapsed() < HOLDS
        {
            return Ok(found.clone());
        }
        let place = Path::new(place);
        let found =
            stale(place, project::of_index(place).unwrap_or(Path::new(""))).map_err(StoreError::from)?.map(Arc::new);
        *seen = Some((Instant::now(), found.clone()));
        Ok(found)
    }
}

impl Service {
    /// Compares the files that an index was made from with what it knows of them, at most once in five seconds, without
    /// opening one. Relative names are seen from the project's folder where the index is a project's own, else from the working
    /// directory. `None` where nothing can be said: the index lies on a server, knows no files, or none of them is found from here.
    ///
    /// # Errors
    /// [`Problem`]: 404 where there is no such index, 500 where it cannot be read.
    pub fn stale(&self, index: Option<&str>) -> Result<Option<Arc<Stale>>, Problem> {
        let slot = self.slot(index)?;
        slot.seen.now(&slot.named.place)
    }
}
