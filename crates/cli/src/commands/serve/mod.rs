//! `pericope serve` and `pericope keys`

mod args;
mod follow;
pub mod keys;

pub use args::{KeysCommand, SERVE_EXAMPLES, ServeArgs};

use std::io::Write;
use std::net::{SocketAddr, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::Arc;

use pericope_index::is_index;
use pericope_serve::http::{HttpOptions, LogFormat, Logging, ServeError, Server, TlsFiles};
use pericope_serve::service::{AddressRules, NamedPlace, Problem, Service, ServiceOptions, is_name};
use pericope_util::visible_json;

use self::args::{AddressArgs, LogArg};
use self::follow::Followers;
use crate::places;
use crate::project::{self, Project};
use crate::resources::{embedder, shown};
use crate::status::{Failure, Outcome, Status};
use crate::terminal::name;

/// Runs the command.
pub fn run(mut args: ServeArgs) -> Outcome {
    if args.indexes.is_empty() {
        of_project(&mut args)?;
    }
    let stop = crate::interrupt::flag()?;
    let service = Arc::new(open(&args.indexes, addresses(&args.addresses)?)?);
    let tls = args.tls_cert.clone().zip(args.tls_key.clone());
    let options = HttpOptions {
        keys: args.keys.clone(),
        insecure_no_keys: args.insecure_no_keys,
        tls: tls.map(|(certificate, key)| TlsFiles { certificate, key }),
        insecure_no_tls: args.insecure_no_tls,
        cors: args.cors.clone(),
        hosts: args.host.clone(),
        limits: args.limits.limits(),
        log: logging(args.log, args.log_queries),
        ..HttpOptions::new(address(&args.bind)?)
    };
    let server = Server::bind(Arc::clone(&service), options).map_err(failure)?;
    let followers = Followers::start(&args.follow, &args.indexes, &service)?;
    let names = service.names().collect::<Vec<_>>().join(", ");
    tell!("serving {names} at {}; Ctrl-C ends", server.url());
    server.run_until(&stop).map_err(failure)?;
    followers.join();
    Ok(Status::Done)
}

/// Takes the index of the project that the working directory belongs to, and its prefix. The working directory is the
/// project's folder afterwards, as it was when documents got their names.
fn of_project(args: &mut ServeArgs) -> Result<(), Failure> {
    let project = project::required("--in")?;
    let index = project.index();
    if !is_index(&index) {
        return Err(Failure::usage(format!("{}: there is no index yet; `pericope index` makes it", shown(&index))));
    }
    for file in [&mut args.keys, &mut args.tls_cert, &mut args.tls_key].into_iter().flatten() {
        *file = std::path::absolute(&*file).map_err(Failure::usage)?;
    }
    let followed: Vec<PathBuf> = args.follow.iter().map(PathBuf::from).collect();
    let followed = project.inside(&followed)?;
    args.follow = followed.iter().map(|path| path.to_string_lossy().into_owned()).collect();
    if args.addresses.url_prefix.is_empty() {
        args.addresses.url_prefix.extend(project.settings()?.url_prefix);
    }
    let called = project.root().file_name().and_then(|name| name.to_str()).filter(|name| is_name(name));
    args.indexes = vec![format!("{}={}", called.unwrap_or("index"), Project::index_from_root())];
    project.enter()
}

/// Opens the indexes of `--in`.
pub fn open(indexes: &[String], addresses: AddressRules) -> Result<Service, Failure> {
    let named = |text: &String| {
        let named = NamedPlace::parse(text)?;
        places::index(&named.place)?;
        Ok(named)
    };
    let named = indexes.iter().map(named).collect::<Result<Vec<_>, String>>();
    let named = named.map_err(|reason| Failure::usage(format!("--in: {reason}")))?;
    let options = ServiceOptions {
        encoders: Arc::new(|name| embedder(name, false).map_err(|failure| failure.to_string())),
        addresses,
        notice: Arc::new(|text| tell!("{}", name(text))),
    };
    Service::open(named, options).map_err(refused)
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

/// The address of `--bind`: numbers, or a name that the system knows.
fn address(text: &str) -> Result<SocketAddr, Failure> {
    let wrong = |reason: &dyn std::fmt::Display| {
        Failure::usage(format!("--bind: {text} is no address of this machine ({reason}): as 127.0.0.1:7700"))
    };
    let mut found = text.to_socket_addrs().map_err(|e| wrong(&e))?;
    found.next().ok_or_else(|| wrong(&"nothing has that name"))
}

fn failure(error: ServeError) -> Failure {
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
