use std::future::Future;
use std::io::{self, ErrorKind};
use std::net::{SocketAddr, TcpListener};
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::Router;
use axum::body::Body;
use axum::http::Request;
use hyper::body::Incoming;
use hyper::server::conn::{http1, http2};
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::graceful::{GracefulShutdown, Watcher};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::TcpStream;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_io_timeout::TimeoutStream;
use tokio_rustls::TlsAcceptor;
use tokio_util::sync::CancellationToken;
use tower::ServiceExt;

use super::app::{App, Parts};
use super::guard::Remote;
use super::keys::Keys;
use super::metrics::Metrics;
use super::options::HttpOptions;
use super::{access, cors, routes, tls};
use crate::service::Service;

/// Bytes of a request's head, at most.
const HEAD: usize = 32 << 10;
/// Headers of a request, at most.
const HEADERS: usize = 64;
/// Requests of one HTTP/2 connection at once.
const STREAMS: u32 = 64;
/// The wait after the system had no socket to give.
const NO_SOCKET: Duration = Duration::from_millis(100);
/// How often it is told that it has none, at most.
const TOLD: Duration = Duration::from_secs(10);

/// The reason why a server cannot run.
#[derive(Debug, thiserror::Error)]
pub enum ServeError {
    /// The settings are wrong: the user can mend it.
    #[error("{0}")]
    Usage(String),
    /// The system refused something.
    #[error("{what}: {error}")]
    Io {
        /// What was tried.
        what: String,
        /// The system's error.
        error: io::Error,
    },
}

impl ServeError {
    fn io(what: impl Into<String>) -> impl FnOnce(io::Error) -> Self {
        let what = what.into();
        |error| Self::Io { what, error }
    }
}

/// A server that listens, and answers when it [runs](Self::run).
pub struct Server {
    listener: TcpListener,
    address: SocketAddr,
    app: App,
    router: Router,
    tls: Option<TlsAcceptor>,
    ending: CancellationToken,
}

impl Server {
    /// Checks the settings and takes the address.
    ///
    /// # Errors
    /// [`ServeError::Usage`] for settings that are wrong, among them an address that other machines reach without keys or
    /// TLS; [`ServeError::Io`] where the address is taken.
    pub fn bind(service: Arc<Service>, options: HttpOptions) -> Result<Self, ServeError> {
        let loopback = options.bind.ip().is_loopback();
        if !loopback {
            refuse_open(&options)?;
        }
        access::check_hosts(&options.hosts).map_err(ServeError::Usage)?;
        let keys = options.keys.map(|path| Keys::open(path, Arc::clone(&options.log.notice)));
        let keys = keys.transpose().map_err(|e| ServeError::Usage(e.to_string()))?;
        let tls = options.tls.as_ref().map(tls::acceptor).transpose().map_err(ServeError::Usage)?;
        let cors = cors::layer(&options.cors).map_err(ServeError::Usage)?;
        let metrics = Metrics::new().map_err(|e| ServeError::Usage(e.to_string()))?;
        let app = App::new(Parts {
            service,
            limits: options.limits,
            keys,
            loopback,
            hosts: options.hosts,
            cors: options.cors.iter().map(|origin| cors::normal(origin)).collect(),
            log: options.log,
            metrics,
        });
        let router = routes::router(&app, cors, options.more);
        let listener = TcpListener::bind(options.bind).map_err(ServeError::io(format!("{}", options.bind)))?;
        listener.set_nonblocking(true).map_err(ServeError::io("the socket"))?;
        let address = listener.local_addr().map_err(ServeError::io("the socket"))?;
        Ok(Self { listener, address, app, router, tls, ending: options.ending })
    }

    /// Returns the address that is listened at, with its real port.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Returns the address for a browser.
    #[must_use]
    pub fn url(&self) -> String {
        let scheme = if self.tls.is_some() { "https" } else { "http" };
        format!("{scheme}://{}/", self.address)
    }

    /// Answers until `stop` is done, then takes no more requests and gives those that are running the time of
    /// [`Limits::drain`](super::Limits::drain). Blocks. Meanwhile, encoders and vectors are loaded; `/readyz` says when
    /// they are.
    ///
    /// # Errors
    /// [`ServeError::Io`] where the system gives no threads.
    pub fn run(self, stop: impl Future<Output = ()>) -> Result<(), ServeError> {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(self.app.limits.workers.clamp(1, 8))
            // Work that was given up goes on, on a thread of its own.
            .max_blocking_threads(4 * self.app.limits.workers + 64)
            .thread_name("pericope-http")
            .enable_all()
            .build()
            .map_err(ServeError::io("threads"))?;
        let app = self.app.clone();
        std::thread::Builder::new()
            .name("pericope-warm".into())
            .spawn(move || {
                app.service.warm().iter().for_each(|note| (app.log.notice)(note));
                app.set_ready();
            })
            .map_err(ServeError::io("a thread"))?;
        let ended = runtime.block_on(self.accept(stop));
        // Work that nobody waits for any more is left behind.
        runtime.shutdown_background();
        ended
    }

    /// As [`run`](Self::run), until the flag is set.
    ///
    /// # Errors
    /// As [`run`](Self::run).
    pub fn run_until(self, flag: &AtomicBool) -> Result<(), ServeError> {
        /// How often the flag is looked at.
        const GLANCE: Duration = Duration::from_millis(50);
        self.run(async {
            while !flag.load(Ordering::Relaxed) {
                tokio::time::sleep(GLANCE).await;
            }
        })
    }

    async fn accept(self, stop: impl Future<Output = ()>) -> Result<(), ServeError> {
        let listener = tokio::net::TcpListener::from_std(self.listener).map_err(ServeError::io("the socket"))?;
        let graceful = GracefulShutdown::new();
        let places = Arc::new(Semaphore::new(self.app.limits.connections.max(1)));
        let (app, ending) = (self.app.clone(), self.ending.clone());
        let connection = Connection { app, router: self.router, tls: self.tls, ending };
        let mut stop = pin!(stop);
        let mut refused: Option<Instant> = None;
        loop {
            let place = tokio::select! {
                () = &mut stop => break,
                place = Arc::clone(&places).acquire_owned() => place,
            };
            // The semaphore is never closed.
            let Ok(place) = place else { break };
            let accepted = tokio::select! {
                () = &mut stop => break,
                accepted = listener.accept() => accepted,
            };
            match accepted {
                Ok((stream, remote)) => {
                    let (connection, watcher) = (connection.clone(), graceful.watcher());
                    tokio::spawn(async move { connection.serve(stream, remote, watcher, place).await });
                }
                // The client gave up while it waited.
                Err(error) if matches!(error.kind(), ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset) => {}
                Err(error) => {
                    if refused.is_none_or(|told| told.elapsed() >= TOLD) {
                        (self.app.log.notice)(&format!("a connection could not be taken: {error}"));
                        refused = Some(Instant::now());
                    }
                    self.app.metrics.rejected("socket");
                    tokio::time::sleep(NO_SOCKET).await;
                }
            }
        }
        self.app.drain();
        self.ending.cancel();
        drop(listener);
        if tokio::time::timeout(self.app.limits.drain, graceful.shutdown()).await.is_err() {
            let drain = self.app.limits.drain.as_secs_f64();
            (self.app.log.notice)(&format!("requests that were still running after {drain} s were given up"));
        }
        Ok(())
    }
}

/// Refuses to let strangers in without a word from the user.
fn refuse_open(options: &HttpOptions) -> Result<(), ServeError> {
    let address = options.bind;
    if options.keys.is_none() && !options.insecure_no_keys {
        return Err(ServeError::Usage(format!(
            "{address} is reached by other machines: give --keys FILE (pericope keys add FILE --name NAME), or say \
             --insecure-no-keys"
        )));
    }
    if options.tls.is_none() && !options.insecure_no_tls {
        return Err(ServeError::Usage(format!(
            "{address} is reached by other machines: give --tls-cert and --tls-key, or say --insecure-no-tls (behind a \
             proxy that does TLS)"
        )));
    }
    Ok(())
}

/// What every connection needs.
#[derive(Clone)]
struct Connection {
    app: App,
    router: Router,
    tls: Option<TlsAcceptor>,
    ending: CancellationToken,
}

/// An open connection, for the metrics.
struct Open(App);

impl Drop for Open {
    fn drop(&mut self) {
        self.0.metrics.connections.dec();
    }
}

impl Connection {
    async fn serve(self, stream: TcpStream, remote: SocketAddr, watcher: Watcher, _place: OwnedSemaphorePermit) {
        self.app.metrics.connections.inc();
        let _open = Open(self.app.clone());
        // It only makes answers quicker.
        let _ = stream.set_nodelay(true);
        let mut stream = TimeoutStream::new(stream);
        stream.set_write_timeout(Some(self.app.limits.write));
        let stream = Box::pin(stream);
        let Some(tls) = &self.tls else {
            return self.http1(stream, remote, watcher).await;
        };
        // A client that does not speak TLS, or takes too long for it, is none; the end of the server does not wait for one.
        let accepted = tokio::select! {
            accepted = tokio::time::timeout(self.app.limits.head, tls.accept(stream)) => accepted,
            () = self.ending.cancelled() => return,
        };
        let Ok(Ok(stream)) = accepted else { return };
        match stream.get_ref().1.alpn_protocol() == Some(tls::H2) {
            true => self.http2(stream, remote, watcher).await,
            false => self.http1(stream, remote, watcher).await,
        }
    }

    async fn http1(
        &self,
        io: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        remote: SocketAddr,
        watcher: Watcher,
    ) {
        let mut builder = http1::Builder::new();
        builder
            .timer(TokioTimer::new())
            .header_read_timeout(self.app.limits.head)
            .max_buf_size(HEAD)
            .max_headers(HEADERS);
        let answer = service_fn(|request| self.answer(request, remote));
        let connection = builder.serve_connection(TokioIo::new(io), answer);
        // A connection that breaks is its client's affair.
        let _ = watcher.watch(connection).await;
    }

    async fn http2(
        &self,
        io: impl AsyncRead + AsyncWrite + Unpin + Send + 'static,
        remote: SocketAddr,
        watcher: Watcher,
    ) {
        let mut builder = http2::Builder::new(TokioExecutor::new());
        builder
            .timer(TokioTimer::new())
            .keep_alive_interval(self.app.limits.head)
            .keep_alive_timeout(self.app.limits.head)
            .max_concurrent_streams(STREAMS)
            .max_header_list_size(HEAD as u32);
        let this = self.clone();
        let answer = service_fn(move |request| {
            let this = this.clone();
            async move { this.answer(request, remote).await }
        });
        let connection = builder.serve_connection(TokioIo::new(io), answer);
        let _ = watcher.watch(connection).await;
    }

    async fn answer(
        &self,
        mut request: Request<Incoming>,
        remote: SocketAddr,
    ) -> Result<axum::response::Response, std::convert::Infallible> {
        request.extensions_mut().insert(Remote(remote));
        self.router.clone().oneshot(request.map(Body::new)).await
    }
}
