use std::collections::BTreeMap;
use std::io;
use std::net::SocketAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use super::Latencies;
use super::http::Connection;

/// What is sent: GET requests at a constant rate.
#[derive(Debug, Clone)]
pub struct Load {
    /// The server.
    pub address: SocketAddr,
    /// Paths with their queries, percent-encoded. They are asked for in turn.
    pub paths: Vec<String>,
    /// More headers of every request.
    pub headers: Vec<(String, String)>,
    /// Requests a second, over 0.
    pub rate: f64,
    /// How long requests begin.
    pub duration: Duration,
    /// Connections, each with one request at a time. As many threads.
    pub connections: usize,
    /// The longest wait for a connection or for bytes of an answer; and how long after the end of `duration` requests
    /// that are late may still begin.
    pub timeout: Duration,
}

/// What came of it.
#[derive(Debug, Clone, Default)]
pub struct Outcome {
    /// Requests that were to be sent.
    pub planned: u64,
    /// Requests that never began, because all connections were busy until the end.
    pub unsent: u64,
    /// How many answers had which status.
    pub statuses: BTreeMap<u16, u64>,
    /// Requests without an answer, by the kind of failure.
    pub failures: BTreeMap<String, u64>,
    /// How long the answers of status 200 to 299 took, from the moment when their requests were to be sent.
    pub answered: Latencies,
    /// How long all other answers took.
    pub refused: Latencies,
    /// How late requests began.
    pub late: Latencies,
    /// From the first request to the last answer.
    pub took: Duration,
}

impl Outcome {
    fn merge(mut self, other: Self) -> Self {
        other.statuses.into_iter().for_each(|(status, count)| *self.statuses.entry(status).or_default() += count);
        other.failures.into_iter().for_each(|(kind, count)| *self.failures.entry(kind).or_default() += count);
        self.answered.merge(&other.answered);
        self.refused.merge(&other.refused);
        self.late.merge(&other.late);
        self
    }
}

fn is_closed(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::UnexpectedEof | io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe)
}

impl Load {
    /// Sends all requests and waits for their answers.
    #[must_use]
    pub fn run(&self) -> Outcome {
        let planned = (self.rate * self.duration.as_secs_f64()).round() as u64;
        let requests: Vec<Vec<u8>> = self.paths.iter().map(|path| self.request(path)).collect();
        let (next, begin) = (AtomicU64::new(0), Instant::now());
        let outcomes: Vec<Outcome> = std::thread::scope(|scope| {
            let threads: Vec<_> = (0..self.connections.max(1))
                .map(|_| scope.spawn(|| self.connection(&requests, planned, &next, begin)))
                .collect();
            threads.into_iter().map(|thread| thread.join().unwrap()).collect()
        });
        let mut all = outcomes.into_iter().fold(Outcome::default(), Outcome::merge);
        all.planned = planned;
        all.took = begin.elapsed();
        all.unsent = planned - all.late.len();
        all
    }

    fn request(&self, path: &str) -> Vec<u8> {
        let headers: String = self.headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
        format!("GET {path} HTTP/1.1\r\nHost: {}\r\n{headers}\r\n", self.address).into_bytes()
    }

    /// One connection: takes the next request that nobody has taken, waits for its moment, sends it.
    fn connection(&self, requests: &[Vec<u8>], planned: u64, next: &AtomicU64, begin: Instant) -> Outcome {
        let (mut outcome, mut connection) = (Outcome::default(), None::<Connection>);
        let last = self.duration + self.timeout;
        loop {
            let number = next.fetch_add(1, Ordering::Relaxed);
            let Some(request) = requests.get(number as usize % requests.len().max(1)) else { return outcome };
            if number >= planned || begin.elapsed() > last {
                return outcome;
            }
            let moment = begin + Duration::from_secs_f64(number as f64 / self.rate);
            std::thread::sleep(moment.saturating_duration_since(Instant::now()));
            outcome.late.add(moment.elapsed().as_micros() as u64);
            let kept = connection.take();
            let mut ask = |mut open: Connection| {
                let answer = open.ask(request)?;
                connection = answer.keep.then_some(open);
                Ok(answer.status)
            };
            let answer = match kept.map(&mut ask) {
                // A server may close a connection that was idle for long: every client asks again on a new one.
                Some(Err(error)) if is_closed(&error) => Connection::open(self.address, self.timeout).and_then(ask),
                Some(answer) => answer,
                None => Connection::open(self.address, self.timeout).and_then(ask),
            };
            let micros = moment.elapsed().as_micros() as u64;
            match answer {
                Ok(status) => {
                    *outcome.statuses.entry(status).or_default() += 1;
                    let of_kind =
                        if (200..300).contains(&status) { &mut outcome.answered } else { &mut outcome.refused };
                    of_kind.add(micros);
                }
                Err(error) => *outcome.failures.entry(error.kind().to_string()).or_default() += 1,
            }
        }
    }
}
