//! `pericope mcp`

use std::sync::Arc;

use clap::Args;
use pericope_serve::http::{HttpOptions, Server};
use pericope_serve::mcp::{self, AgentOptions};

use crate::commands::serve::{self, AddressArgs, ServedRerankArgs, ServerArgs};
use crate::status::{Failure, Outcome, Status};

pub const MCP_EXAMPLES: &str = "Examples:
  pericope mcp                                   (in a project: see pericope init)
  pericope mcp --in docs.idx --in api=qdrant://localhost:6334/api
  pericope mcp --in docs.idx --http 127.0.0.1:7701
  claude mcp add docs -- pericope mcp --in /home/me/docs.idx

An agent starts the command and speaks with it over the standard streams; with --http many agents ask one server, at
http://HOST:PORT/mcp. The tools are search, fetch, read, list and status. docs/mcp.md has more: settings of agents, what the
tools take and give, keys.";

/// `pericope mcp`
#[derive(Debug, Args)]
pub struct McpArgs {
    /// An index: its folder, or a collection on a Qdrant server, with NAME= before it for a name of its own; may be given
    /// several times, and calls that name no index mean the first [default: the project's index]
    #[arg(long = "in", value_name = "[NAME=]DIR|URL")]
    pub indexes: Vec<String>,
    /// Serve over HTTP at this address, instead of over the standard streams; port 0 takes a free one
    #[arg(long, value_name = "HOST:PORT")]
    pub http: Option<String>,
    #[command(flatten)]
    pub rerank: ServedRerankArgs,
    #[command(flatten)]
    pub server: ServerArgs,
    #[command(flatten)]
    pub addresses: AddressArgs,
}

/// Runs the command.
pub fn run(mut args: McpArgs) -> Outcome {
    let rerankers = args.rerank.opened()?;
    serve::of_project(&mut args.indexes, &mut [], &mut args.server, &mut args.addresses)?;
    let service = Arc::new(serve::open(&args.indexes, rerankers, &args.addresses)?);
    let Some(bind) = &args.http else {
        if args.server.is_about_access() {
            return Err(Failure::usage(
                "--keys, --tls-cert, --cors and --host are for a server: give --http HOST:PORT too",
            ));
        }
        let warmed = Arc::clone(&service);
        // The first call need not wait for what the client's greeting leaves time for.
        let warm = std::thread::Builder::new().name("warm".into());
        warm.spawn(move || warmed.warm().iter().for_each(|note| tell!("{note}"))).map_err(Failure::runtime)?;
        mcp::stdio(service).map_err(Failure::runtime)?;
        return Ok(Status::Done);
    };
    let stop = crate::interrupt::flag_while("requests that are running are finished")?;
    let options = serve::options("--http", bind, &args.server)?;
    let agents = AgentOptions {
        origins: options.cors.clone(),
        calls: options.limits.workers,
        request: options.limits.request,
        ending: options.ending.clone(),
    };
    let options = HttpOptions { more: Some(mcp::router(Arc::clone(&service), agents)), ..options };
    let names = service.names().collect::<Vec<_>>().join(", ");
    let server = Server::bind(Arc::clone(&service), options).map_err(serve::failure)?;
    tell!("serving {names} to agents at {}mcp; Ctrl-C ends", server.url());
    server.run_until(&stop).map_err(serve::failure)?;
    Ok(Status::Done)
}
