//! One connection to a server, and calls that are made again where that may help.

mod retry;

use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use qdrant_client::qdrant::collections_client::CollectionsClient;
use qdrant_client::qdrant::points_client::PointsClient;
use qdrant_client::qdrant::qdrant_client::QdrantClient;
use qdrant_client::qdrant::{HealthCheckRequest, PointsOperationResponse, UpdateStatus};
use tokio::runtime::{Builder, Handle, Runtime};
use tonic::metadata::{Ascii, MetadataValue};
use tonic::service::Interceptor;
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Certificate, Channel, ClientTlsConfig, Endpoint};
use tonic::{Code, Request, Response, Status};

use self::retry::{Verdict, error_chain, reason, verdict};
use crate::{Error, Notice, Target};

/// Threads that serve the sockets; the work on both sides of them is done elsewhere.
const THREADS: usize = 2;
/// A shorter wait passes without a word.
const NOTED: Duration = Duration::from_secs(2);

/// What every call goes through.
pub(crate) type Service = InterceptedService<Channel, Key>;

/// What running the program again does.
#[derive(Clone, Copy)]
pub(crate) enum Purpose {
    /// It writes, and takes up where it was.
    Load,
    /// It reads.
    Read,
}

/// Puts the API key into each call.
#[derive(Clone)]
pub(crate) struct Key(Option<MetadataValue<Ascii>>);

impl Interceptor for Key {
    fn call(&mut self, mut request: Request<()>) -> Result<Request<()>, Status> {
        if let Some(key) = &self.0 {
            request.metadata_mut().insert("api-key", key.clone());
        }
        Ok(request)
    }
}

/// One HTTP/2 connection, made at the first call and again whenever it is lost, and the threads that serve it.
pub(crate) struct Connection {
    pub target: Target,
    pub points: PointsClient<Service>,
    pub collections: CollectionsClient<Service>,
    health: QdrantClient<Service>,
    /// Nothing only while it is being dropped.
    runtime: Option<Runtime>,
    handle: Handle,
}

impl Connection {
    /// Prepares the connection. Nothing is sent yet.
    pub fn new(target: &Target) -> Result<Arc<Self>, Error> {
        let setup = |what: &str, reason: String| Error::Setup { what: what.to_owned(), reason };
        let runtime = Builder::new_multi_thread()
            .worker_threads(THREADS)
            .thread_name("pericope-qdrant")
            .enable_all()
            .build()
            .map_err(|e| setup("the threads of the connection", e.to_string()))?;
        let endpoint = endpoint(target)?;
        let handle = runtime.handle().clone();
        let channel = {
            let _inside = handle.enter();
            endpoint.connect_lazy()
        };
        let key = match &target.key {
            None => None,
            Some(key) => {
                let mut value: MetadataValue<Ascii> =
                    key.parse().map_err(|_| setup("the API key", "it is not plain ASCII".to_owned()))?;
                value.set_sensitive(true);
                Some(value)
            }
        };
        if target.shows_key() {
            target.listener.tell(&Notice::PlainKey { address: target.address() });
        }
        let service = InterceptedService::new(channel, Key(key));
        let largest = target.settings.message_bytes;
        Ok(Arc::new(Self {
            target: target.clone(),
            points: PointsClient::new(service.clone()).max_decoding_message_size(largest),
            collections: CollectionsClient::new(service.clone()).max_decoding_message_size(largest),
            health: QdrantClient::new(service).max_decoding_message_size(largest),
            runtime: Some(runtime),
            handle,
        }))
    }

    pub fn handle(&self) -> &Handle {
        &self.handle
    }

    /// Waits for a call. May be used anywhere, but blocks the thread: not for the threads of an async runtime. Unlike the
    /// runtime's own waiting it does not panic there.
    pub fn wait<F: Future>(&self, call: F) -> F::Output {
        let _inside = self.handle.enter();
        pollster::block_on(call)
    }

    /// Makes a call until it succeeds, is refused, has failed too often or has waited too long.
    pub async fn call<T, F>(
        &self,
        name: &'static str,
        purpose: Purpose,
        mut attempt: impl FnMut() -> F,
    ) -> Result<T, Error>
    where
        F: Future<Output = Result<Response<T>, Status>>,
    {
        let settings = &self.target.settings;
        let attempts = settings.retries.saturating_add(1);
        let (mut made, mut waited) = (0, Duration::ZERO);
        loop {
            made += 1;
            let outcome = match tokio::time::timeout(settings.timeout, attempt()).await {
                Ok(outcome) => outcome,
                Err(_) => Err(Status::deadline_exceeded(format!("no answer in {} s", settings.timeout.as_secs_f64()))),
            };
            let status = match outcome {
                Ok(response) => return Ok(response.into_inner()),
                Err(status) => status,
            };
            match verdict(&status) {
                Verdict::Refused => return Err(self.refusal(name, &status)),
                Verdict::TooLarge => {
                    let limit = settings.message_bytes;
                    return Err(Error::TooLarge { call: name, address: self.target.address(), limit });
                }
                Verdict::Again if made < attempts => {
                    let wait = retry::wait(settings, made, &status);
                    waited = waited.saturating_add(wait);
                    // Nobody may be there to come back: who waits at a terminal is not kept as long as a load.
                    let (most, what) = match settings.max_refused.filter(|_| retry::is_connection_refused(&status)) {
                        Some(most) => (most.min(settings.max_wait), "max_refused"),
                        None => (settings.max_wait, "max_wait"),
                    };
                    if waited > most {
                        let most = most.as_secs_f64();
                        let too_long = format!("{}, and the waits would exceed {what} = {most} s", reason(&status));
                        return Err(self.gave_up(name, purpose, made, too_long));
                    }
                    if wait >= NOTED {
                        let (address, reason) = (self.target.address(), reason(&status));
                        let notice = Notice::Waiting { call: name, address, wait, made, attempts, reason };
                        self.target.listener.tell(&notice);
                    }
                    tokio::time::sleep(wait).await;
                }
                Verdict::Again => return Err(self.gave_up(name, purpose, made, reason(&status))),
            }
        }
    }

    /// Makes a call that changes points, until the server says that it has been done.
    pub async fn update<F>(&self, name: &'static str, mut attempt: impl FnMut() -> F) -> Result<(), Error>
    where
        F: Future<Output = Result<Response<PointsOperationResponse>, Status>>,
    {
        let attempt = || {
            let call = attempt();
            async move {
                let response = call.await?;
                // Anything else was put off or dropped by a copy that is behind; all our calls may be made again.
                match response.get_ref().result.as_ref().map(|result| result.status()) {
                    Some(UpdateStatus::Completed) => Ok(response),
                    other => Err(Status::aborted(format!("the update was not completed ({other:?})"))),
                }
            }
        };
        self.call(name, Purpose::Load, attempt).await.map(drop)
    }

    /// What the server says its version is.
    pub async fn version(&self) -> Result<String, Error> {
        let reply = self
            .call("asking for the server's version", Purpose::Read, || {
                let mut client = self.health.clone();
                async move { client.health_check(HealthCheckRequest {}).await }
            })
            .await?;
        Ok(reply.version)
    }

    /// An answer of the server's that nothing can be done with.
    pub fn unusable(&self, call: &'static str, reason: impl Into<String>) -> Error {
        Error::Answer { call, address: self.target.address(), reason: reason.into() }
    }

    fn gave_up(&self, call: &'static str, purpose: Purpose, attempts: u32, reason: String) -> Error {
        let advice = match purpose {
            Purpose::Load => "it goes on where it stopped",
            Purpose::Read => "nothing was lost",
        };
        Error::GaveUp { call, attempts, address: self.target.address(), reason, advice }
    }

    fn refusal(&self, call: &'static str, status: &Status) -> Error {
        let (address, reason) = (self.target.address(), reason(status));
        match status.code() {
            Code::Unauthenticated | Code::PermissionDenied => {
                Error::Key { address, given: self.target.key.is_some(), reason }
            }
            _ => Error::Refused { call, address, reason },
        }
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // Dropping a runtime waits for it, which a task of its own, or of another runtime, must not do.
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_background();
        }
    }
}

fn endpoint(target: &Target) -> Result<Endpoint, Error> {
    let settings = &target.settings;
    let setup = |reason: String| Error::Setup { what: format!("the connection to {}", target.address()), reason };
    let tls = target.is_encrypted();
    let uri = format!("{}://{}", if tls { "https" } else { "http" }, target.address());
    let endpoint = Endpoint::from_shared(uri)
        .and_then(|endpoint| endpoint.user_agent(concat!("pericope/", env!("CARGO_PKG_VERSION"))))
        .map_err(|e| setup(e.to_string()))?
        .connect_timeout(settings.connect_timeout)
        .http2_keep_alive_interval(Duration::from_secs(30))
        .keep_alive_timeout(Duration::from_secs(20))
        .tcp_nodelay(true);
    if !tls {
        return Ok(endpoint);
    }
    let config = match &settings.ca {
        None => ClientTlsConfig::new().with_native_roots(),
        Some(path) => {
            let pem = std::fs::read(path).map_err(|e| Error::Setup {
                what: format!("the certificate {}", path.display()),
                reason: e.to_string(),
            })?;
            ClientTlsConfig::new().ca_certificate(Certificate::from_pem(pem))
        }
    };
    endpoint.tls_config(config).map_err(|e| setup(error_chain(&e)))
}
