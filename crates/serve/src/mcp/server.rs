//! The protocol on top of the service.

use std::sync::Arc;
use std::time::Duration;

use rmcp::model::{
    CallToolRequestParams, CallToolResponse, Implementation, ListToolsResult, PaginatedRequestParams,
    ServerCapabilities, ServerConfig, Tool,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use tokio::sync::Semaphore;

use super::calls::{Call, NoCall, failed};
use super::tools::{INSTRUCTIONS, TOOLS};
use crate::service::Service;

/// Calls of all clients that are worked on at once. Others wait for their turn.
pub const AT_ONCE: usize = 16;

/// Answers clients. Cheap to clone: all clones share the service and the limit of calls at once.
#[derive(Clone)]
pub struct Server {
    service: Arc<Service>,
    turns: Arc<Semaphore>,
    limit: Option<Duration>,
}

impl Server {
    /// Returns a server on top of a service.
    #[must_use]
    pub fn new(service: Arc<Service>) -> Self {
        Self { service, turns: Arc::new(Semaphore::new(AT_ONCE)), limit: None }
    }

    /// Works on so many calls at once, at least one, and gives up those that take longer, waiting included.
    #[must_use]
    pub fn within(self, calls: usize, limit: Duration) -> Self {
        Self { turns: Arc::new(Semaphore::new(calls.max(1))), limit: Some(limit), ..self }
    }

    async fn answer_in_time(&self, call: Call) -> Result<CallToolResponse, ErrorData> {
        let Some(limit) = self.limit else { return self.answer(call).await };
        tokio::time::timeout(limit, self.answer(call)).await.unwrap_or_else(|_| {
            let seconds = limit.as_secs_f64();
            Ok(failed(&format!("the call took longer than {seconds} s, the limit of this server")).into())
        })
    }

    async fn answer(&self, call: Call) -> Result<CallToolResponse, ErrorData> {
        let ended = |_| ErrorData::internal_error("the server is ending", None);
        let turn = Arc::clone(&self.turns).acquire_owned().await.map_err(ended)?;
        let service = Arc::clone(&self.service);
        let work = move || {
            let result = call.run(&service);
            // A call that nobody waits for any more has its turn until it ends.
            drop(turn);
            result
        };
        match tokio::task::spawn_blocking(work).await {
            Ok(result) => Ok(result.into()),
            Err(_) => Ok(failed("the search failed on the server: see its log").into()),
        }
    }
}

impl ServerHandler for Server {
    fn get_info(&self) -> ServerConfig {
        let about = Implementation::new("pericope", env!("CARGO_PKG_VERSION")).with_title("Pericope");
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(about)
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(TOOLS.clone()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        TOOLS.iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let call = match Call::parse(&request.name, request.arguments) {
            Ok(call) => call,
            Err(NoCall::Wrong(why)) => return Ok(failed(&why).into()),
            Err(NoCall::Unknown) => {
                let names: Vec<&str> = TOOLS.iter().map(|tool| &*tool.name).collect();
                let why = format!("there is no tool {:?}; the tools are {}", request.name, names.join(", "));
                return Err(ErrorData::invalid_params(why, None));
            }
        };
        tokio::select! {
            // Nobody waits for a call that was cancelled. One that has no turn yet never gets one.
            () = context.ct.cancelled() => Err(ErrorData::internal_error("cancelled", None)),
            answer = self.answer_in_time(call) => answer,
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use pericope::Engine;
    use pericope::index::pipeline::index_documents;
    use pericope::read::{ReadOptions, read_text};
    use pericope::store::RunSummary;
    use rmcp::ServiceExt;
    use rmcp::model::{CallToolRequest, ClientRequest};
    use rmcp::service::PeerRequestOptions;

    use super::*;
    use crate::service::{NamedPlace, ServiceOptions};

    fn service(folder: &std::path::Path) -> Arc<Service> {
        let place = folder.join("docs.idx").display().to_string();
        let engine = Engine::new().with_tokenizer("words");
        let chunker = engine.chunker("sentence").unwrap();
        let spec = engine.index_spec(&chunker, None).unwrap();
        let mut store = pericope::stores::create(&place, &spec, true, 1 << 20).unwrap();
        let page = read_text("a.md", "markdown", "# Foxes\n\nThey dig dens.\n", &ReadOptions::default()).unwrap();
        index_documents(store.as_mut(), [Ok(page)], move |document| chunker.chunks(document), |_| {}).unwrap();
        store.finish(&RunSummary::default()).unwrap();
        Arc::new(Service::open(vec![NamedPlace::parse(&place).unwrap()], ServiceOptions::default()).unwrap())
    }

    #[tokio::test]
    async fn a_call_that_takes_too_long_says_so() {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::new(service(folder.path())).within(1, Duration::from_millis(20));
        let arguments = || serde_json::json!({"query": "dens"}).as_object().cloned();
        let call = || Call::parse("search", arguments()).unwrap();
        let turn = Arc::clone(&server.turns).acquire_owned().await.unwrap();
        let text = |answer: CallToolResponse| format!("{answer:?}");
        let late = text(server.answer_in_time(call()).await.unwrap());
        assert!(late.contains("took longer than 0.02 s"), "{late}");
        drop(turn);
        let server = Server { limit: None, ..server };
        assert!(text(server.answer_in_time(call()).await.unwrap()).contains("a.md"));
    }

    #[tokio::test]
    async fn a_cancelled_call_is_not_waited_for_and_never_begins() {
        let folder = tempfile::tempdir().unwrap();
        let server = Server::new(service(folder.path()));
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let turns = Arc::clone(&server.turns);
        let serving = tokio::spawn(async move { server.serve(ours).await.unwrap().waiting().await });
        let client = ().serve(theirs).await.unwrap();
        // Others have all the turns: a call waits, until it is cancelled.
        let all = turns.acquire_many(u32::try_from(AT_ONCE).unwrap()).await.unwrap();
        let search = || {
            let arguments = serde_json::json!({"query": "dens"}).as_object().cloned().unwrap();
            CallToolRequestParams::new("search").with_arguments(arguments)
        };
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(search()));
        let waiting = client.send_cancellable_request(request, PeerRequestOptions::no_options()).await.unwrap();
        assert_eq!(client.list_all_tools().await.unwrap().len(), 5, "others are answered");
        waiting.cancel(Some("nobody waits".into())).await.unwrap();
        assert_eq!(client.list_all_tools().await.unwrap().len(), 5);
        drop(all);
        let answer = client.call_tool(search()).await.unwrap();
        assert_eq!(answer.is_error, Some(false));
        // The turn of the call that was cancelled is nobody's.
        assert_eq!(turns.acquire_many(u32::try_from(AT_ONCE).unwrap()).await.unwrap().num_permits(), AT_ONCE);
        client.cancel().await.unwrap();
        serving.await.unwrap().unwrap();
    }
}
