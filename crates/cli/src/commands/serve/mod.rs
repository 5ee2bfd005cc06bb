//! `pericope serve` and `pericope keys`

mod args;
mod follow;
pub mod keys;

pub use args::{AddressArgs, KeysCommand, SERVE_EXAMPLES, ServeArgs, ServedRerankArgs, ServerArgs};

use std::io::Write;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use pericope::EngineError;
use pericope_serve::http::{HttpOptions, LogFormat, Logging, ServeError, Server, TlsFiles};
use pericope_serve::service::{AddressRules, NamedPlace, NamedReranker, Problem, Service, ServiceOptions, is_name};
use pericope_util::visible_json;

use self::args::LogArg;
use self::follow::Followers;
use crate::places;
use crate::project::{self, Project};
use crate::resources::{embedder, reranker, reranker_spec};
use crate::status::{Failure, Outcome, Status};
use crate::terminal::name;

/// Runs the command.
pub fn run(mut args: ServeArgs) -> Outcome {
    let rerankers = args.rerank.opened()?;
    of_project(&mut args.indexes, &mut args.follow, &mut args.server, &mut args.addresses)?;
    let stop = crate::interrupt::flag_while("requests that are running are finished")?;
    let service = Arc::new(open(&args.indexes, rerankers, &args.addresses)?);
    let options = options("--bind", &args.bind, &args.server)?;
    let server = Server::bind(Arc::clone(&service), options).map_err(failure)?;
    let followers = Followers::start(&args.follow, &args.indexes, &service)?;
    let names = service.names().collect::<Vec<_>>().join(", ");
    tell!("serving {names} at {}; Ctrl-C ends", server.url());
    server.run_until(&stop).map_err(failure)?;
    followers.join();
    Ok(Status::Done)
}

/// The settings of a server at an address, which `flag` gave.
pub fn options(flag: &str, bind: &str, args: &ServerArgs) -> Result<HttpOptions, Failure> {
    let tls = args.tls_cert.clone().zip(args.tls_key.clone());
    Ok(HttpOptions {
        keys: args.keys.clone(),
        insecure_no_keys: args.insecure_no_keys,
        tls: tls.map(|(certificate, key)| TlsFiles { certificate, key }),
        insecure_no_tls: args.insecure_no_tls,
        cors: args.cors.clone(),
        hosts: args.host.clone(),
        limits: args.limits.limits(),
        log: logging(args.log, args.log_queries),
        ..HttpOptions::new(address(flag, bind)?)
    })
}

/// Where no index is named, takes the one of the project that the working directory belongs to, and its prefix. The working
/// directory is the project's folder afterwards, as it was when documents got their names.
pub fn of_project(
    indexes: &mut Vec<String>,
    follow: &mut [String],
    server: &mut ServerArgs,
    addresses: &mut AddressArgs,
) -> Result<(), Failure> {
    if !indexes.is_empty() {
        return Ok(());
    }
    let project = project::required("--in")?;
    for file in [&mut server.keys, &mut server.tls_cert, &mut server.tls_key].into_iter().flatten() {
        *file = std::path::absolute(&*file).map_err(Failure::usage)?;
    }
    let called = project.root().file_name().and_then(|name| name.to_str()).filter(|name| is_name(name));
    let called = called.unwrap_or("index").to_owned();
    // The name of the one index may stand before a path.
    let path_of = |text: &String| PathBuf::from(text.strip_prefix(&format!("{called}=")).unwrap_or(text));
    let followed: Vec<PathBuf> = follow.iter().map(path_of).collect();
    let followed = project.inside(&followed, "name the index that it belongs to with --in")?;
    for (path, inside) in follow.iter_mut().zip(followed) {
        *path = inside.to_string_lossy().into_owned();
    }
    if addresses.url_prefix.is_empty() {
        addresses.url_prefix.extend(project.settings()?.url_prefix);
    }
    indexes.push(format!("{called}={}", project.searched()?));
    Ok(())
}

/// Opens the indexes of `--in`; requests may name these rerankers.
pub fn open(indexes: &[String], rerankers: OpenedRerankers, args: &AddressArgs) -> Result<Service, Failure> {
    let mut addresses = addresses(args)?;
    let named = |text: &String| {
        let named = NamedPlace::parse(text)?;
        places::index(&named.place)?;
        Ok(named)
    };
    let named = indexes.iter().map(named).collect::<Result<Vec<_>, String>>();
    let named = named.map_err(|reason| Failure::usage(format!("--in: {reason}")))?;
    if args.url_prefix.is_empty() {
        for NamedPlace { name, place } in &named {
            let Some(project) = Project::of_index(Path::new(place)) else { continue };
            match project.trusted_settings("name an index with --in") {
                Ok(settings) => addresses.prefixes.extend(settings.url_prefix.map(|prefix| (name.clone(), prefix))),
                Err(failure) => tell!("{}: its documents have no addresses: {failure}", crate::terminal::name(name)),
            }
        }
    }
    let options = ServiceOptions {
        encoders: Arc::new(|name| {
            embedder(name, false).map_err(|failure| match &failure {
                Failure::Usage(_) => EngineError::Usage(failure.to_string()),
                Failure::Runtime(_) => EngineError::Runtime(failure.to_string()),
            })
        }),
        rerankers: rerankers.named,
        rerank_depth: rerankers.depth,
        addresses,
        notice: Arc::new(|text| tell!("{}", name(text))),
    };
    Service::open(named, options).map_err(refused)
}

/// The rerankers that requests may name, and the hits that they score.
pub struct OpenedRerankers {
    named: Vec<NamedReranker>,
    depth: usize,
}

impl ServedRerankArgs {
    /// Opens the rerankers, each under its own name or that of its kind. Before the project's folder is entered: a folder
    /// that the flag names is seen from the working directory.
    pub fn opened(&self) -> Result<OpenedRerankers, Failure> {
        let mut named = Vec::new();
        for text in &self.rerank {
            let (name, spec) = NamedReranker::parse(text);
            let (spec, entry) = reranker_spec(spec)?;
            // `none` is there anyway.
            if let Some(reranker) = reranker(&spec)? {
                named.push(NamedReranker { name: name.unwrap_or(entry.name).to_owned(), reranker });
            }
        }
        Ok(OpenedRerankers { named, depth: self.rerank_depth as usize })
    }
}

/// The rules that the flags give.
fn addresses(args: &AddressArgs) -> Result<AddressRules, Failure> {
    let strip = args.url_strip.iter().map(|ending| ending.trim_start_matches('.').to_owned()).collect();
    let mut rules = AddressRules { root: args.url_root.clone(), strip, ..AddressRules::default() };
    for prefix in &args.url_prefix {
        rules.add(prefix).map_err(|reason| Failure::usage(format!("--url-prefix: {reason}")))?;
    }
    Ok(rules)
}

fn logging(format: LogArg, queries: bool) -> Logging {
    let format = match format {
        LogArg::Json => LogFormat::Json,
        LogArg::Text => LogFormat::Text,
        LogArg::None => LogFormat::None,
    };
    let sink = move |line: &str| {
        let line = if format == LogFormat::Json { visible_json(line) } else { name(line) };
        // A log that cannot be written is no reason to stop.
        let _ = writeln!(std::io::stderr().lock(), "{line}");
    };
    Logging { format, queries, sink: Arc::new(sink), notice: Arc::new(|text| tell!("{}", name(text))) }
}

/// The address of `flag`: numbers, or a name that the system knows.
fn address(flag: &str, text: &str) -> Result<SocketAddr, Failure> {
    let wrong = |reason: &dyn std::fmt::Display| {
        Failure::usage(format!("{flag}: {text} is no address of this machine ({reason}): as 127.0.0.1:7700"))
    };
    let mut found = text.to_socket_addrs().map_err(|e| wrong(&e))?;
    found.next().ok_or_else(|| wrong(&"nothing has that name"))
}

/// What the user can mend before a server runs, and what went wrong while running.
pub fn failure(error: ServeError) -> Failure {
    match error {
        ServeError::Usage(_) => Failure::usage(error),
        ServeError::Io { .. } => Failure::runtime(error),
    }
}

/// What the user can mend before anything runs, and what went wrong while running.
fn refused(problem: Problem) -> Failure {
    match problem.status {
        400..=499 => Failure::usage(problem.detail),
        _ => Failure::runtime(problem.detail),
    }
}
