use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::keys::Keys;
use super::lanes::Lane;
use super::log::Logging;
use super::metrics::Metrics;
use super::options::Limits;
use crate::service::{Problem, Service};

/// What every handler of one server shares.
#[derive(Clone)]
pub(super) struct App(Arc<Inner>);

struct Inner {
    parts: Parts,
    searches: Lane,
    cuts: Lane,
    ready: AtomicBool,
    draining: AtomicBool,
}

impl std::ops::Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0.parts
    }
}

/// How heavy a request is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    /// Milliseconds: searching and reading.
    Search,
    /// Maybe seconds: cutting texts, reranking. Half as many workers of their own, so that searches go on.
    Cut,
}

/// What an [`App`] is made of.
pub(super) struct Parts {
    pub(super) service: Arc<Service>,
    pub(super) limits: Limits,
    pub(super) keys: Option<Keys>,
    /// Whether only this machine can reach it.
    pub(super) loopback: bool,
    pub(super) hosts: Vec<String>,
    pub(super) cors: Vec<String>,
    pub(super) log: Logging,
    pub(super) metrics: Metrics,
}

impl App {
    pub(super) fn new(parts: Parts) -> Self {
        let searches = Lane::new(parts.limits.workers, parts.limits.queue);
        let cuts = Lane::new(parts.limits.workers / 2, parts.limits.queue.div_ceil(4));
        let (ready, draining) = (AtomicBool::new(false), AtomicBool::new(false));
        Self(Arc::new(Inner { parts, searches, cuts, ready, draining }))
    }

    /// Does work that blocks, on a thread of its own, within the limits. Work that takes too long goes on, and keeps its
    /// place until it ends; its answer is dropped.
    pub(super) async fn run<T: Send + 'static>(
        &self,
        weight: Weight,
        work: impl FnOnce(&Service) -> Result<T, Problem> + Send + 'static,
    ) -> Result<T, Problem> {
        let lane = match weight {
            Weight::Search => &self.0.searches,
            Weight::Cut => &self.0.cuts,
        };
        let done = async {
            let place = lane.enter().await.map_err(|_| {
                self.metrics.rejected("busy");
                let detail = "all workers are busy and the queue is full: try again after the time in Retry-After";
                Problem::new(429, "busy", "Too many requests", detail)
            })?;
            let service = Arc::clone(&self.service);
            let working = tokio::task::spawn_blocking(move || {
                let _place = place;
                work(&service)
            });
            // A panic is a fault of ours; the next request finds everything in order.
            working.await.map_err(|_| Problem::internal("the request broke its worker; the log names it"))?
        };
        tokio::time::timeout(self.limits.request, done).await.unwrap_or_else(|_| {
            self.metrics.rejected("time");
            let detail = format!("the request took longer than {} s", self.limits.request.as_secs_f64());
            Err(Problem::new(504, "time-limit", "The request took too long", detail))
        })
    }

    pub(super) fn set_ready(&self) {
        self.0.ready.store(true, Ordering::Release);
    }

    pub(super) fn drain(&self) {
        self.0.draining.store(true, Ordering::Release);
    }

    /// Why requests should go elsewhere for now.
    pub(super) fn unready(&self) -> Option<&'static str> {
        match (self.0.draining.load(Ordering::Acquire), self.0.ready.load(Ordering::Acquire)) {
            (true, _) => Some("the server is ending"),
            (false, false) => Some("the indexes are being opened"),
            (false, true) => None,
        }
    }
}
