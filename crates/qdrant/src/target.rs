use std::fmt;
use std::net::IpAddr;

use crate::{Error, Listener, Settings};

/// The port that Qdrant answers gRPC on, where none is given.
const DEFAULT_PORT: u16 = 6334;

/// The address of a collection: `qdrant://[KEY@]HOST[:PORT]/COLLECTION[?SETTING=VALUE&...]`, `qdrants://` for TLS.
///
/// An API key is better kept out of the address, in the environment: `PERICOPE_QDRANT_API_KEY`, or `QDRANT_API_KEY`
/// where that is not set. Printing a target never prints its key.
#[derive(Clone, PartialEq)]
pub struct Target {
    /// Name or address of the host; an IPv6 address in brackets.
    pub host: String,
    /// The port of its gRPC service.
    pub port: u16,
    /// Name of the collection, or of the alias in front of it.
    pub collection: String,
    /// The API key, if there is one.
    pub key: Option<String>,
    /// The settings by which the collection is made and its server called.
    pub settings: Settings,
    /// What hears of long waits and of keys in plain text; nobody at first.
    pub listener: Listener,
}

impl Target {
    /// True where `text` is meant as such an address, right or wrong, and not as a folder: it begins with `qdrant:`, or with
    /// any scheme and `//`. A folder that is called so has `./` before its name.
    #[must_use]
    pub fn is_one(text: &str) -> bool {
        let Some((scheme, rest)) = text.split_once(':') else { return false };
        let can_be = |c: char| c.is_ascii_alphanumeric() || "+-.".contains(c);
        // A single letter is a drive.
        let is_scheme = scheme.len() > 1 && scheme.starts_with(|c: char| c.is_ascii_alphabetic());
        let is_ours = ["qdrant", "qdrants"].iter().any(|ours| scheme.eq_ignore_ascii_case(ours));
        is_scheme && scheme.chars().all(can_be) && (is_ours || rest.starts_with("//"))
    }

    /// Reads an address; the key is taken from the environment where the address holds none.
    ///
    /// # Errors
    /// [`Error::Target`] where it is none, [`Error::Setting`] for a setting that does not exist or cannot be so.
    pub fn parse(url: &str) -> Result<Self, Error> {
        let from_environment = ["PERICOPE_QDRANT_API_KEY", "QDRANT_API_KEY"]
            .into_iter()
            .find_map(|name| std::env::var(name).ok().filter(|key| !key.is_empty()));
        Self::parse_with_key(url, from_environment)
    }

    /// The same with the key to use where the address holds none.
    ///
    /// # Errors
    /// As [`parse`](Self::parse).
    pub fn parse_with_key(url: &str, key: Option<String>) -> Result<Self, Error> {
        let wrong = |reason: &str| Error::Target { url: without_key(url), reason: reason.to_owned() };
        let (scheme, rest) = url.split_once("://").ok_or_else(|| wrong("it has no ://"))?;
        let mut settings = Settings::default();
        match scheme.to_ascii_lowercase().as_str() {
            "qdrant" => {}
            "qdrants" => settings.tls = true,
            _ => return Err(wrong("it begins with neither qdrant:// nor qdrants://")),
        }
        let (place, query) = rest.split_once('?').unwrap_or((rest, ""));
        // A key may hold slashes and at signs; neither a host nor a collection does.
        let (given, place) = match place.rsplit_once('@') {
            Some((key, place)) => (Some(decoded(key).ok_or_else(|| wrong("its key is not text"))?), place),
            None => (None, place),
        };
        let (authority, collection) = place.split_once('/').ok_or_else(|| wrong("it names no collection"))?;
        let collection =
            decoded(collection.trim_end_matches('/')).ok_or_else(|| wrong("its collection is not text"))?;
        if collection.is_empty() {
            return Err(wrong("it names no collection"));
        }
        // What the server allows in a name.
        if collection.len() > 200 || collection.chars().any(|c| "<>:\"/\\|?*".contains(c) || c.is_control()) {
            return Err(wrong("a collection's name has at most 200 bytes and none of <>:\"/\\|?*"));
        }
        let (host, port) = host_and_port(authority).map_err(wrong)?;
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            let value = decoded(value).ok_or_else(|| wrong("a setting is not text"))?;
            settings.set(key, &value).map_err(|error| match query.contains('@') {
                // This may be the rest of a key, which no message may show.
                true => wrong("it has a setting that does not exist, or a key with a ? in it, to be written %3F"),
                false => error,
            })?;
        }
        let key = given.filter(|key| !key.is_empty()).or(key);
        if key.as_ref().is_some_and(|key| !key.chars().all(|c| c.is_ascii_graphic())) {
            return Err(wrong("its API key holds something else than ASCII letters, digits and signs"));
        }
        Ok(Self { host, port, collection, key, settings, listener: Listener::default() })
    }

    /// True where there is a key that travels unencrypted to another machine.
    #[must_use]
    pub fn shows_key(&self) -> bool {
        self.key.is_some() && !self.is_encrypted() && !is_local(&self.host)
    }

    /// True where the connection is encrypted.
    pub(crate) fn is_encrypted(&self) -> bool {
        self.settings.tls || self.settings.ca.is_some()
    }

    /// `host:port`, as messages name the server.
    #[must_use]
    pub fn address(&self) -> String {
        format!("{}:{}", self.host, self.port)
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let scheme = if self.settings.tls { "qdrants" } else { "qdrant" };
        write!(f, "{scheme}://{}:{}/{}", self.host, self.port, self.collection)
    }
}

impl fmt::Debug for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Target")
            .field("url", &self.to_string())
            .field("key", &self.key.as_ref().map(|_| "(hidden)"))
            .field("settings", &self.settings)
            .finish()
    }
}

fn host_and_port(authority: &str) -> Result<(String, u16), &'static str> {
    let (host, port) = match authority.rsplit_once(':') {
        // The last colon of an IPv6 address is inside its brackets.
        Some((host, port)) if !port.ends_with(']') => (host, Some(port)),
        _ => (authority, None),
    };
    let bracketed = host.starts_with('[') && host.ends_with(']');
    if host.is_empty() || (host.contains(':') && !bracketed) {
        return Err("its host is missing, or an IPv6 address without brackets");
    }
    if !host.chars().all(|c| c.is_ascii_alphanumeric() || "-._[]:".contains(c)) {
        return Err("its host holds something else than letters, digits, dots and hyphens");
    }
    let port = match port {
        None => DEFAULT_PORT,
        Some(port) => match port.parse() {
            Ok(0) | Err(_) => return Err("its port is not a number from 1 to 65535"),
            Ok(port) => port,
        },
    };
    Ok((host.to_owned(), port))
}

/// True for a host that is this machine by its name or address.
fn is_local(host: &str) -> bool {
    let host = host.to_ascii_lowercase();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    match address.parse::<IpAddr>() {
        Ok(address) => address.to_canonical().is_loopback(),
        Err(_) => host == "localhost" || host.ends_with(".localhost"),
    }
}

/// Resolves `%41`; nothing where the bytes are no UTF-8 or a percent sign stands alone.
pub(crate) fn decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        if first == b'%' {
            let digits = std::str::from_utf8(after.get(..2)?).ok()?;
            if !digits.bytes().all(|b| b.is_ascii_hexdigit()) {
                return None;
            }
            bytes.push(u8::from_str_radix(digits, 16).ok()?);
            rest = after.get(2..)?;
        } else {
            bytes.push(first);
            rest = after;
        }
    }
    String::from_utf8(bytes).ok()
}

/// The address as it may be shown.
fn without_key(url: &str) -> String {
    let (scheme, rest) = url.split_once("://").unwrap_or(("", url));
    // A key may hold any sign, a question mark too: the last at sign ends it.
    let rest = rest.rsplit_once('@').map_or(rest, |(_, rest)| rest);
    if scheme.is_empty() { rest.to_owned() } else { format!("{scheme}://{rest}") }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::path::PathBuf;

    use super::*;

    fn parse(url: &str) -> Result<Target, Error> {
        Target::parse_with_key(url, None)
    }

    #[test]
    fn the_whole_and_the_least() {
        let target = parse("qdrant://localhost/docs").unwrap();
        assert_eq!((target.host.as_str(), target.port, target.collection.as_str()), ("localhost", 6334, "docs"));
        assert_eq!((target.key.clone(), target.settings.tls), (None, false));
        assert_eq!(target.to_string(), "qdrant://localhost:6334/docs");

        let url = "qdrants://a%2Fb@c@[2001:db8::1]:7000/my%20docs?shards=2&ca=/etc/ca.pem&quantization=scalar";
        let target = parse(url).unwrap();
        assert_eq!(target.address(), "[2001:db8::1]:7000");
        assert_eq!(target.collection, "my docs");
        assert_eq!(target.key.as_deref(), Some("a/b@c"));
        assert!(target.settings.tls);
        assert_eq!(target.settings.shards, Some(2));
        assert_eq!(target.settings.ca, Some(PathBuf::from("/etc/ca.pem")));
        assert!(!format!("{target:?} {target}").contains("a/b@c"));
        assert!(parse("qdrant://h/c?tls=1").unwrap().settings.tls);
    }

    #[test]
    fn every_scheme_is_an_address_and_ours_are_in_any_case() {
        for (url, tls) in [("QDRANT://h/c", false), ("Qdrants://h/c", true)] {
            assert!(Target::is_one(url) && parse(url).unwrap().settings.tls == tls, "{url}");
        }
        for wrong in ["http://127.0.0.1:6333/docs", "grpc://h:6334/docs", "qdrant:x", "QDRANT:/h/c", "s3://b/x"] {
            assert!(Target::is_one(wrong), "{wrong} would be a folder");
            let message = parse(wrong).unwrap_err().to_string();
            assert!(message.contains("write qdrant://HOST:6334/COLLECTION"), "{message}");
        }
        for folder in ["docs.idx", "a/b", "./http://x", "C://docs", "a:b", "qdrant", "über://x", "", "://x"] {
            assert!(!Target::is_one(folder), "{folder}");
        }
    }

    #[test]
    fn a_key_shows_on_the_way_to_another_machine_alone() {
        let shows = |url| Target::parse_with_key(url, Some("key".to_owned())).unwrap().shows_key();
        for url in [
            "qdrant://localhost/c",
            "qdrant://LOCALHOST:7/c",
            "qdrant://db.localhost/c",
            "qdrant://127.0.0.1/c",
            "qdrant://127.8.9.1/c",
            "qdrant://[::1]:6334/c",
            "qdrant://[::ffff:127.0.0.1]/c",
            "qdrants://example.org/c",
            "qdrant://example.org/c?tls=on",
            "qdrant://example.org/c?ca=ca.pem",
        ] {
            assert!(!shows(url), "{url}");
        }
        for url in [
            "qdrant://example.org/c",
            "qdrant://10.0.0.7/c",
            "qdrant://localhost.example.org/c",
            "qdrant://[2001:db8::1]/c",
            "qdrant://0.0.0.0/c",
        ] {
            assert!(shows(url), "{url}");
        }
        assert!(!parse("qdrant://example.org/c").unwrap().shows_key(), "there is no key");
    }

    #[test]
    fn the_address_has_the_last_word_on_the_key() {
        let key = |url| Target::parse_with_key(url, Some("env".to_owned())).unwrap().key.unwrap();
        assert_eq!(key("qdrant://h/c"), "env");
        assert_eq!(key("qdrant://url@h/c"), "url");
    }

    #[test]
    fn errors_are_one_line_and_hide_the_key() {
        for (url, reason) in [
            ("localhost/docs", "no ://"),
            ("http://secret@h/c", "neither qdrant://"),
            ("qdrant://secret@h", "no collection"),
            ("qdrant://secret@h/", "no collection"),
            ("qdrant://secret@h/a/b", "none of"),
            ("qdrant://secret@/c", "host is missing"),
            ("qdrant://secret@::1/c", "without brackets"),
            ("qdrant://secret@h:0/c", "its port"),
            ("qdrant://secret@h:99999/c", "its port"),
            ("qdrant://secret@h x/c", "its host holds"),
            ("qdrant://secret@h/%zz", "not text"),
            ("qdrant://secret@h/c?nothing=1", "no such setting"),
            ("qdrant://se%0acret@h/c", "API key holds"),
            ("qdrant://ab?secret@h/c", "no collection"),
            ("qdrant://a/b?secret@h/c", "%3F"),
            ("qdrant://a/b?shards=secret@h/c", "%3F"),
        ] {
            let message = parse(url).unwrap_err().to_string();
            assert!(message.contains(reason), "{url}: {message}");
            assert!(!message.contains("secret") && !message.contains('\n'), "{message}");
        }
    }
}
