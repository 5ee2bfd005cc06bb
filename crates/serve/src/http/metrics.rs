use std::sync::{Mutex, PoisonError, TryLockError};
use std::time::Duration;

use prometheus::{
    Encoder, HistogramOpts, HistogramVec, IntCounterVec, IntGauge, IntGaugeVec, Opts, Registry, TextEncoder,
};

use crate::service::{Problem, Service};

/// Bounds of the latencies, in seconds.
const SECONDS: &[f64] = &[0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0];

/// What Prometheus reads.
pub(super) struct Metrics {
    registry: Registry,
    requests: IntCounterVec,
    seconds: HistogramVec,
    rejected: IntCounterVec,
    pub(super) in_flight: IntGauge,
    pub(super) connections: IntGauge,
    chunks: IntGaugeVec,
    commit: IntGaugeVec,
    up: IntGaugeVec,
    memory: IntGauge,
    /// Held by the one who asks the indexes: others do not queue behind a server that does not answer.
    asking: Mutex<()>,
    /// The index that is being asked.
    asked: Mutex<Option<String>>,
}

impl Metrics {
    pub(super) fn new() -> Result<Self, prometheus::Error> {
        let registry = Registry::new();
        let counters = |name, help, labels: &[&str]| {
            let made = IntCounterVec::new(Opts::new(name, help), labels)?;
            registry.register(Box::new(made.clone()))?;
            Ok::<_, prometheus::Error>(made)
        };
        let gauge = |name: &str, help: &str| {
            let made = IntGauge::new(name, help)?;
            registry.register(Box::new(made.clone()))?;
            Ok::<_, prometheus::Error>(made)
        };
        let gauges = |name, help| {
            let made = IntGaugeVec::new(Opts::new(name, help), &["index"])?;
            registry.register(Box::new(made.clone()))?;
            Ok::<_, prometheus::Error>(made)
        };
        let options = HistogramOpts::new("pericope_request_seconds", "Time from request to answer.");
        let seconds = HistogramVec::new(options.buckets(SECONDS.to_vec()), &["route"])?;
        registry.register(Box::new(seconds.clone()))?;
        Ok(Self {
            requests: counters("pericope_requests_total", "Requests by route and status.", &["route", "status"])?,
            seconds,
            rejected: counters("pericope_rejected_total", "Requests refused: busy, time, key, host.", &["reason"])?,
            in_flight: gauge("pericope_requests_in_flight", "Requests that are worked on or wait.")?,
            connections: gauge("pericope_connections", "Open connections.")?,
            chunks: gauges("pericope_index_chunks", "Chunks of the index.")?,
            commit: gauges("pericope_index_commit", "Number of the commit that is searched.")?,
            up: gauges("pericope_index_up", "Whether the index can be read: 1, or 0.")?,
            memory: gauge("process_resident_memory_bytes", "Memory that the process has in use.")?,
            asking: Mutex::new(()),
            asked: Mutex::default(),
            registry,
        })
    }

    pub(super) fn answered(&self, route: &str, status: u16, took: Duration) {
        self.requests.with_label_values(&[route, &status.to_string()]).inc();
        self.seconds.with_label_values(&[route]).observe(took.as_secs_f64());
    }

    pub(super) fn rejected(&self, reason: &str) {
        self.rejected.with_label_values(&[reason]).inc();
    }

    /// Asks the indexes how large they are. Blocks; the figures of one that cannot be read stay.
    pub(super) fn ask(&self, service: &Service) {
        let _asking = match self.asking.try_lock() {
            Ok(asking) => asking,
            Err(TryLockError::Poisoned(poisoned)) => poisoned.into_inner(),
            Err(TryLockError::WouldBlock) => return,
        };
        for name in service.names() {
            *self.asked.lock().unwrap_or_else(PoisonError::into_inner) = Some(name.to_owned());
            let size = service.size(name);
            *self.asked.lock().unwrap_or_else(PoisonError::into_inner) = None;
            self.up.with_label_values(&[name]).set(i64::from(size.is_ok() && service.is_sound(name)));
            let Ok((chunks, commit)) = size else { continue };
            self.chunks.with_label_values(&[name]).set(signed(chunks));
            if let Some(commit) = commit {
                self.commit.with_label_values(&[name]).set(signed(commit));
            }
        }
    }

    /// Nobody waits any longer for the index that is being asked.
    pub(super) fn gave_up(&self) {
        if let Some(name) = self.asked.lock().unwrap_or_else(PoisonError::into_inner).as_deref() {
            self.up.with_label_values(&[name]).set(0);
        }
    }

    /// The text that Prometheus reads.
    pub(super) fn text(&self) -> Result<Vec<u8>, Problem> {
        if let Some(bytes) = resident() {
            self.memory.set(signed(bytes));
        }
        let mut text = Vec::new();
        TextEncoder::new().encode(&self.registry.gather(), &mut text).map_err(Problem::internal)?;
        Ok(text)
    }
}

fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}

/// Bytes of memory that this process has in use, where the system tells.
fn resident() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}
