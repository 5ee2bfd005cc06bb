//! A Qdrant server in memory, for tests: the real protocol on a real socket, and faults to order.
//!
//! It holds what a server holds (collections, payload indexes, aliases, points with named dense and sparse vectors) and
//! answers the calls that `pericope-qdrant` makes: making, listing and deleting collections and aliases, upsert, delete, get,
//! scroll, count, and query with prefetches, reciprocal rank fusion, filters, exact dense search and sparse search with
//! the IDF modifier. Everything else is answered with `unimplemented`, never with a guess. Like a server in strict mode
//! it refuses to filter by fields that have no index.
//!
//! ```
//! use pericope_testkit::qdrant::{Call, Fault, Server};
//!
//! let server = Server::start()?;
//! server.fail(Call::Upsert, Fault::Half, 2);
//! println!("{}", server.url("docs"));
//! assert_eq!(server.faults_left(), 2);
//! # Ok::<(), std::io::Error>(())
//! ```

mod engine;
mod faults;
mod services;
mod transport;

use std::collections::{BTreeMap, HashMap};
use std::io;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use qdrant_client::qdrant::collections_server::CollectionsServer;
use qdrant_client::qdrant::points_server::PointsServer;
use qdrant_client::qdrant::qdrant_server::QdrantServer;
use qdrant_client::qdrant::vectors_config::Config;
use qdrant_client::qdrant::{CreateCollection, Distance, PointStruct, VectorParams, VectorParamsMap, VectorsConfig};
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use tonic::service::interceptor::InterceptedService;
use tonic::transport::{Identity, Server as Transport, ServerTlsConfig};
use tonic::{Request, Status};

pub use self::engine::PointData;
pub use self::faults::{Call, Counts, Fault};
use self::services::Shared;
use self::transport::incoming;

/// How long a server that is stopped may take to let its sockets go.
const STOPPING: Duration = Duration::from_secs(5);

/// What a server is to be like.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The port on 127.0.0.1; 0 takes a free one.
    pub port: u16,
    /// The API key that every call must carry.
    pub key: Option<String>,
    /// Certificate and private key (PEM), for TLS.
    pub tls: Option<(String, String)>,
}

/// A server that runs until it is stopped or dropped. What it holds outlives [`stop`](Self::stop).
pub struct Server {
    shared: Arc<Shared>,
    options: Options,
    address: SocketAddr,
    running: Option<Runtime>,
}

impl Server {
    /// Starts one on a free port, without a key.
    ///
    /// # Errors
    /// The system's, where there is no port or thread to be had.
    pub fn start() -> io::Result<Self> {
        Self::start_with(Options::default())
    }

    /// Starts one.
    ///
    /// # Errors
    /// The system's, where the port is taken or the certificate is none.
    pub fn start_with(options: Options) -> io::Result<Self> {
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, options.port));
        let mut server = Self { shared: Arc::default(), options, address, running: None };
        server.restart()?;
        Ok(server)
    }

    /// Where it listens.
    #[must_use]
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// The address of a collection on it, with settings that make tests quick: retries after at most 20 ms.
    #[must_use]
    pub fn url(&self, collection: &str) -> String {
        format!("qdrant://{}/{collection}?backoff=0.005&max_backoff=0.02", self.address)
    }

    /// Closes all connections and the port. The collections stay.
    pub fn stop(&mut self) {
        if let Some(runtime) = self.running.take() {
            self.shared.reset_connections();
            runtime.shutdown_timeout(STOPPING);
        }
    }

    /// Listens again, on the same port.
    ///
    /// # Errors
    /// The system's, where somebody else took the port.
    pub fn restart(&mut self) -> io::Result<()> {
        self.stop();
        let runtime = Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
        let listener = runtime.block_on(TcpListener::bind(self.address))?;
        self.address = listener.local_addr()?;
        let mut transport = Transport::builder();
        if let Some((certificate, key)) = &self.options.tls {
            let tls = ServerTlsConfig::new().identity(Identity::from_pem(certificate, key));
            transport = transport.tls_config(tls).map_err(io::Error::other)?;
        }
        let wanted = self.options.key.clone();
        let check = move |request: Request<()>| match &wanted {
            Some(key) if request.metadata().get("api-key").is_none_or(|given| given != key.as_str()) => {
                Err(Status::unauthenticated("Invalid API key or JWT"))
            }
            _ => Ok(request),
        };
        let points = PointsServer::from_arc(Arc::clone(&self.shared)).max_decoding_message_size(usize::MAX);
        let collections = CollectionsServer::from_arc(Arc::clone(&self.shared));
        // A server tells anybody that it is there.
        let health = QdrantServer::from_arc(Arc::clone(&self.shared));
        let router = transport
            .add_service(InterceptedService::new(points, check.clone()))
            .add_service(InterceptedService::new(collections, check))
            .add_service(health);
        let connections = incoming(listener, Arc::clone(&self.shared));
        runtime.spawn(async move { router.serve_with_incoming(connections).await });
        self.running = Some(runtime);
        Ok(())
    }

    /// Lets the next `times` calls of a kind fail. Faults of one kind are used up in the order of these calls.
    pub fn fail(&self, call: Call, fault: Fault, times: usize) {
        self.shared.faults.add(call, fault, times);
    }

    /// Lets one call of a kind fail, after `well` of them that go well.
    pub fn fail_after(&self, call: Call, fault: Fault, well: usize) {
        self.shared.faults.add_after(call, fault, well);
    }

    /// Lets every listing come back to its beginning, instead of ending.
    pub fn list_in_circles(&self) {
        self.shared.circling.store(true, Ordering::Relaxed);
    }

    /// The aliases, each with the collection that it stands for.
    #[must_use]
    pub fn aliases(&self) -> BTreeMap<String, String> {
        self.shared.engine.aliases()
    }

    /// Forgets the faults that have not happened.
    pub fn mend(&self) {
        self.shared.faults.clear();
    }

    /// Faults that have not happened yet.
    #[must_use]
    pub fn faults_left(&self) -> usize {
        self.shared.faults.left()
    }

    /// What was asked of it up to now.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.shared.faults.counts()
    }

    /// All points of a collection (or alias), by id; empty where there is none of the name.
    #[must_use]
    pub fn points(&self, collection: &str) -> BTreeMap<String, PointData> {
        self.shared.engine.dump(collection)
    }

    /// Makes a collection as another program would: with one dense vector (of that name, or of none) compared by cosine, and points
    /// with any payload.
    ///
    /// # Errors
    /// In words, where the points do not fit together or a payload is no object.
    pub fn fill(
        &self,
        collection: &str,
        vector: Option<&str>,
        points: &[(Vec<f32>, serde_json::Value)],
    ) -> Result<(), String> {
        let size = points.first().map_or(1, |(vector, _)| vector.len()) as u64;
        let params = VectorParams { size, distance: Distance::Cosine.into(), ..VectorParams::default() };
        let config = match vector {
            Some(name) => Config::ParamsMap(VectorParamsMap { map: [(name.to_owned(), params)].into() }),
            None => Config::Params(params),
        };
        let create = CreateCollection {
            collection_name: collection.to_owned(),
            vectors_config: Some(VectorsConfig { config: Some(config) }),
            ..CreateCollection::default()
        };
        self.shared.engine.create(create).map_err(|status| status.to_string())?;
        let point = |(number, (data, payload)): (u64, &(Vec<f32>, serde_json::Value))| {
            let payload = qdrant_client::Payload::try_from(payload.clone()).map_err(|error| error.to_string())?;
            Ok(match vector {
                Some(name) => PointStruct::new(number, HashMap::from([(name.to_owned(), data.clone())]), payload),
                None => PointStruct::new(number, data.clone(), payload),
            })
        };
        let points: Vec<PointStruct> = (1..).zip(points).map(point).collect::<Result<_, String>>()?;
        self.shared.engine.upsert(collection, &points).map_err(|status| status.to_string())
    }

    /// The names of all collections.
    #[must_use]
    pub fn collections(&self) -> Vec<String> {
        self.shared.engine.names()
    }

    /// What was asked for when the collection was made, in the protocol's words; for tests of settings.
    #[must_use]
    pub fn creation(&self, collection: &str) -> Option<String> {
        self.shared.engine.creation(collection)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(runtime) = self.running.take() {
            self.shared.reset_connections();
            runtime.shutdown_background();
        }
    }
}
