//! Who may ask: keys and their scopes, and the names under which a server on a loopback address is asked.

use std::net::IpAddr;

use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, HOST, ORIGIN};
use axum::http::{HeaderMap, Uri};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use super::app::App;
use super::cors::EVERYBODY;
use super::keys::{PREFIX, Scope};
use crate::service::Problem;

/// The name of the key that a request came with.
#[derive(Clone)]
pub(super) struct KeyName(pub(super) String);

/// Lets requests through whose key has the scope `search`.
pub(super) async fn search(State(app): State<App>, request: Request, next: Next) -> Response {
    pass(&app, Scope::Search, request, next).await
}

/// Lets requests through whose key has the scope `admin`.
pub(super) async fn admin(State(app): State<App>, request: Request, next: Next) -> Response {
    pass(&app, Scope::Admin, request, next).await
}

async fn pass(app: &App, needed: Scope, request: Request, next: Next) -> Response {
    match allowed(app, needed, &request) {
        Ok(name) => {
            let mut response = next.run(request).await;
            if let Some(name) = name {
                response.extensions_mut().insert(KeyName(name));
            }
            response
        }
        Err(problem) => {
            app.metrics.rejected("key");
            problem.into_response()
        }
    }
}

/// The name of the key, where keys are needed.
fn allowed(app: &App, needed: Scope, request: &Request) -> Result<Option<String>, Problem> {
    let Some(keys) = &app.keys else {
        // Without keys, a page of another site could have a browser send what it may not read.
        return match needed == Scope::Admin && is_foreign(app, request) {
            true => {
                Err(Problem::new(403, "foreign-origin", "Not allowed", "a page of another site may not ask for this"))
            }
            false => Ok(None),
        };
    };
    let unknown = |detail| Problem::new(401, "no-key", "A key is needed", detail);
    let key = presented(request).ok_or_else(|| unknown("send Authorization: Bearer KEY"))?;
    let (name, scope) = keys.find(&key).ok_or_else(|| unknown("the key is not known here (any more)"))?;
    match scope >= needed {
        true => Ok(Some(name)),
        false => {
            let detail = format!("the key {name} has the scope {scope}, and this needs {needed}");
            Err(Problem::new(403, "wrong-scope", "Not allowed", detail))
        }
    }
}

/// The header, and the parameter, in which widgets for Algolia send a key.
const ALGOLIA: &str = "x-algolia-api-key";

/// What was asked as it may be logged, a query string or a body: with nothing in the place of a key.
pub(super) fn without_key(query: &str) -> String {
    let shown = |pair: &str| {
        let name = pair.split_once('=').map_or(pair, |(name, _)| name);
        let is_key = form_urlencoded::parse(name.as_bytes()).any(|(name, _)| name.eq_ignore_ascii_case(ALGOLIA));
        if is_key { format!("{name}=***") } else { pair.to_owned() }
    };
    let query = query.split('&').map(shown).collect::<Vec<_>>().join("&");
    let mut parts = query.split(PREFIX);
    let mut safe = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        safe.push_str("***");
        safe.push_str(part.trim_start_matches(|c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_')));
    }
    safe
}

/// The key of a request. Widgets for Algolia send theirs in a header or a parameter of their own.
fn presented(request: &Request) -> Option<String> {
    if let Some(value) = request.headers().get(AUTHORIZATION) {
        let (scheme, key) = value.to_str().ok()?.split_once(' ')?;
        return scheme.eq_ignore_ascii_case("bearer").then(|| key.trim().to_owned());
    }
    let path = request.uri().path();
    if !(path.starts_with("/1/") || path == "/v1/docsearch") {
        return None;
    }
    if let Some(value) = request.headers().get(ALGOLIA) {
        return value.to_str().ok().map(str::to_owned);
    }
    let pairs = form_urlencoded::parse(request.uri().query()?.as_bytes());
    pairs.into_owned().find_map(|(name, value)| name.eq_ignore_ascii_case(ALGOLIA).then_some(value))
}

/// Whether a page of another site sent the request.
fn is_foreign(app: &App, request: &Request) -> bool {
    let Some(origin) = request.headers().get(ORIGIN) else { return false };
    let Ok(origin) = origin.to_str() else { return true };
    let host = origin.split_once("://").map_or("", |(_, host)| host);
    let ours = authority(request.headers(), request.uri()).is_some_and(|ours| ours.eq_ignore_ascii_case(host));
    !ours && !app.cors.iter().any(|known| known == origin && known != EVERYBODY)
}

/// The host and port that a request was sent to, as it says itself.
fn authority(headers: &HeaderMap, uri: &Uri) -> Option<String> {
    let said = headers.get(HOST).and_then(|host| host.to_str().ok());
    said.map(str::to_owned).or_else(|| uri.authority().map(ToString::to_string))
}

/// Refuses requests to a server on a loopback address that were sent to another name: a page may have its own name lead
/// here (DNS rebinding).
pub(super) async fn host(State(app): State<App>, request: Request, next: Next) -> Response {
    let asked = authority(request.headers(), request.uri()).unwrap_or_default();
    if app.loopback && !is_known(&asked, &app.hosts) {
        app.metrics.rejected("host");
        let detail = "this server answers only to names of this machine; a proxy's names are given by --host";
        return Problem::new(421, "wrong-host", "The request is for another host", detail).into_response();
    }
    next.run(request).await
}

/// Checks that requests can name the hosts that the user gave.
///
/// # Errors
/// A sentence about the first that none can.
pub(super) fn check_hosts(hosts: &[String]) -> Result<(), String> {
    let is_name = |host: &String| !host.is_empty() && !host.contains('/') && is_known(host, std::slice::from_ref(host));
    match hosts.iter().find(|host| !is_name(host)) {
        None => Ok(()),
        Some(bad) => Err(format!(
            "{} is no name of a host: the name alone, without scheme and port, as docs.example.org",
            bad.escape_debug()
        )),
    }
}

fn is_known(authority: &str, more: &[String]) -> bool {
    let name = match authority.rsplit_once(':') {
        Some((name, port)) if port.chars().all(|c| c.is_ascii_digit()) && !authority.ends_with(']') => name,
        _ => authority,
    };
    let name = name.trim_end_matches('.').to_ascii_lowercase();
    let bare = name.strip_prefix('[').and_then(|name| name.strip_suffix(']')).unwrap_or(&name);
    name == "localhost"
        || name.ends_with(".localhost")
        || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
        || more.iter().any(|known| known.eq_ignore_ascii_case(&name))
}

#[cfg(test)]
mod tests {
    use super::{check_hosts, is_known, without_key};

    #[test]
    fn a_key_in_an_address_is_not_logged() {
        for (asked, logged) in [
            ("query=a&x-algolia-api-key=pericope_x&page=1", "query=a&x-algolia-api-key=***&page=1"),
            ("X-Algolia-API-Key=pericope_x", "X-Algolia-API-Key=***"),
            ("x%2Dalgolia%2Dapi%2Dkey=pericope_x", "x%2Dalgolia%2Dapi%2Dkey=***"),
            ("query=x-algolia-api-key", "query=x-algolia-api-key"),
            (r#"{"apiKey":"pericope_aB-3_x","query":"a"}"#, r#"{"apiKey":"***","query":"a"}"#),
        ] {
            assert_eq!(without_key(asked), logged);
        }
    }

    #[test]
    fn a_host_that_no_request_can_name_is_refused() {
        for good in ["docs.example.org", "Docs.Example.org", "10.0.0.1", "[2001:db8::1]"] {
            assert_eq!(check_hosts(&[good.to_owned()]), Ok(()), "{good}");
        }
        for bad in ["", "docs.example.org:8443", "https://docs.example.org", "docs.example.org/", "docs.example.org."] {
            assert!(check_hosts(&["localhost".to_owned(), bad.to_owned()]).is_err(), "{bad}");
        }
    }

    #[test]
    fn names_of_this_machine() {
        let more = ["Docs.Example.org".to_owned()];
        for good in [
            "localhost",
            "LOCALHOST:7700",
            "127.0.0.1:7700",
            "127.1.2.3",
            "[::1]:7700",
            "[::1]",
            "a.localhost:1",
            "docs.example.org",
        ] {
            assert!(is_known(good, &more), "{good}");
        }
        for bad in [
            "",
            "evil.example",
            "evil.example:7700",
            "127.0.0.1.evil.example",
            "localhost.evil",
            "10.0.0.1",
            ":80",
            "x@localhost",
        ] {
            assert!(!is_known(bad, &more), "{bad}");
        }
    }
}
