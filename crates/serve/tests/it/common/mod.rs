//! A small real index, a server over it, and a client that says exactly what it is told.

mod client;
mod index;

pub use client::{Reply, ask, get, post, read_reply, send_raw};
pub use index::{Blocking, Blocks, INDEX, make_index, make_index_with, service_over};

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;

use pericope_serve::http::{HttpOptions, ServeError, Server};
use pericope_serve::service::{AddressRules, Service};

/// A server that runs until it is dropped.
pub struct Running {
    pub address: SocketAddr,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<Result<(), ServeError>>>,
    _folder: tempfile::TempDir,
}

pub fn loopback() -> HttpOptions {
    HttpOptions::new("127.0.0.1:0".parse().unwrap())
}

/// A server over the small index.
pub fn serve(change: impl FnOnce(&mut HttpOptions)) -> Running {
    let folder = make_index();
    let service = Arc::new(service_over(folder.path(), rules(), None));
    start(folder, service, change)
}

/// A server over the small index whose encoder waits where it is told.
pub fn serve_blocking(change: impl FnOnce(&mut HttpOptions)) -> (Running, Blocks) {
    let folder = make_index();
    let (encoder, blocks) = Blocking::pair();
    let service = Arc::new(service_over(folder.path(), rules(), Some(encoder)));
    (start(folder, service, change), blocks)
}

pub fn rules() -> AddressRules {
    let mut rules = AddressRules { strip: vec!["md".into()], ..AddressRules::default() };
    rules.add("https://example.org/docs").unwrap();
    rules
}

pub fn start(folder: tempfile::TempDir, service: Arc<Service>, change: impl FnOnce(&mut HttpOptions)) -> Running {
    let mut options = loopback();
    change(&mut options);
    let server = Server::bind(Arc::clone(&service), options).unwrap();
    let (address, stop) = (server.address(), Arc::new(AtomicBool::new(false)));
    let flag = Arc::clone(&stop);
    let thread = std::thread::spawn(move || server.run_until(&flag));
    Running { address, stop, thread: Some(thread), _folder: folder }
}

impl Running {
    /// Asks the server to end.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Waits for its end.
    pub fn end(mut self) -> Result<(), ServeError> {
        self.stop();
        self.thread.take().unwrap().join().unwrap()
    }

    /// Waits until encoders and vectors are loaded.
    pub fn ready(self) -> Self {
        until(|| get(self.address, "/readyz").status == 200);
        self
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Waits for something that comes about sooner or later.
pub fn until(mut holds: impl FnMut() -> bool) {
    let begun = std::time::Instant::now();
    while !holds() {
        assert!(begun.elapsed().as_secs() < 60, "it did not come about within a minute");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
}

/// The value of a line of `/metrics`.
pub fn metric(address: SocketAddr, name: &str) -> Option<f64> {
    figure(&get(address, "/metrics"), name)
}

/// The same for a server with keys.
pub fn metric_with(address: SocketAddr, name: &str, authorization: &str) -> Option<f64> {
    figure(&ask(address, "GET", "/metrics", &[("Authorization", authorization)], b""), name)
}

fn figure(reply: &Reply, name: &str) -> Option<f64> {
    let text = reply.text();
    text.lines().find_map(|line| line.strip_prefix(name)?.trim().parse().ok())
}
