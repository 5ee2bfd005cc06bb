//! The protocol's services over the engine.

mod collections;
mod points;

use std::future::pending;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use qdrant_client::qdrant::qdrant_server::Qdrant;
use qdrant_client::qdrant::{HealthCheckReply, HealthCheckRequest};
use tokio::sync::watch;
use tonic::{Request, Response, Status};

use super::engine::Engine;
use super::faults::{Call, Fault, Faults};

/// What a server holds, whether it runs or not.
#[derive(Default)]
pub(super) struct Shared {
    pub engine: Engine,
    pub faults: Faults,
    /// Changes when all connections are to be reset.
    pub cut: watch::Sender<u64>,
    /// The bytes that connections may still send before they end; without a limit where there is nothing.
    pub torn: Mutex<Option<usize>>,
    /// Connections that are closed as soon as they are made.
    pub refusing: AtomicUsize,
    /// Listings never end.
    pub circling: AtomicBool,
}

impl Shared {
    pub fn reset_connections(&self) {
        self.cut.send_modify(|times| *times += 1);
    }

    /// Serves a call, or lets it fail as ordered; `half` does a part of it.
    async fn serve<T>(
        &self,
        call: Call,
        whole: impl FnOnce() -> Result<T, Status>,
        half: impl FnOnce() -> Result<T, Status>,
    ) -> Result<Response<T>, Status> {
        let lost = || Status::unavailable("a fault that was ordered");
        match self.faults.begin(call) {
            None => whole().map(Response::new),
            Some(Fault::Code(code)) => Err(Status::new(code, "a fault that was ordered")),
            Some(Fault::Half) => half().and(Err(lost())),
            Some(Fault::Lost) => whole().and(Err(lost())),
            Some(Fault::Reset) => {
                self.reset_connections();
                // The connection takes this call with it.
                pending().await
            }
            Some(Fault::ResetAfter) => {
                whole()?;
                self.reset_connections();
                pending().await
            }
            Some(Fault::Slow(time)) => {
                tokio::time::sleep(time).await;
                whole().map(Response::new)
            }
            Some(Fault::Late(time)) => {
                let answer = whole()?;
                tokio::time::sleep(time).await;
                Ok(Response::new(answer))
            }
            Some(Fault::Busy(time)) => {
                let mut status = Status::resource_exhausted("a fault that was ordered");
                if let Ok(seconds) = time.as_secs_f64().to_string().parse() {
                    status.metadata_mut().insert("retry-after", seconds);
                }
                Err(status)
            }
            Some(Fault::Torn(bytes)) => {
                let answer = whole()?;
                *self.torn.lock().unwrap_or_else(PoisonError::into_inner) = Some(bytes);
                Ok(Response::new(answer))
            }
            Some(Fault::Refused) => {
                self.refusing.store(2, Ordering::Relaxed);
                self.reset_connections();
                pending().await
            }
        }
    }

    /// The same for calls of which there are no halves.
    async fn serve_whole<T>(
        &self,
        call: Call,
        whole: impl FnOnce() -> Result<T, Status>,
    ) -> Result<Response<T>, Status> {
        self.serve(call, whole, || Err(Status::unavailable("a fault that was ordered"))).await
    }
}

#[tonic::async_trait]
impl Qdrant for Shared {
    async fn health_check(&self, _: Request<HealthCheckRequest>) -> Result<Response<HealthCheckReply>, Status> {
        Ok(Response::new(HealthCheckReply {
            title: "qdrant - vector search engine (in memory, for tests)".to_owned(),
            version: "1.20.0".to_owned(),
            commit: None,
        }))
    }
}

/// The calls of a service that are not served. Written out as the macro `async_trait` does, which does not look into
/// macros.
macro_rules! unserved {
    ($($name:ident $request:ident $response:ident;)*) => {$(
        fn $name<'life, 'future>(
            &'life self,
            _: tonic::Request<qdrant_client::qdrant::$request>,
        ) -> std::pin::Pin<Box<
            dyn Future<Output = Result<tonic::Response<qdrant_client::qdrant::$response>, tonic::Status>>
                + Send
                + 'future,
        >>
        where
            'life: 'future,
            Self: 'future,
        {
            let message = concat!("the test server does not serve ", stringify!($name));
            Box::pin(async move { Err(tonic::Status::unimplemented(message)) })
        }
    )*};
}
pub(super) use unserved;
