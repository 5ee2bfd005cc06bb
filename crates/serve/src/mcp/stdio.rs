//! One client, over the standard streams.

use std::io;
use std::sync::Arc;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;

use super::server::Server;
use crate::service::Service;

/// Serves one client over standard input and output until it closes them. Nothing else may write to standard output.
///
/// # Errors
/// What the streams say, and a client that speaks another protocol.
pub fn stdio(service: Arc<Service>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(async {
        match Server::new(service).serve(rmcp::transport::stdio()).await {
            Ok(running) => running.waiting().await.map(drop).map_err(io::Error::other),
            // A client that goes before it has said anything is none.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(io::Error::other(error)),
        }
    });
    // A read of standard input, and a call that nobody waits for, may never end.
    runtime.shutdown_background();
    served
}
