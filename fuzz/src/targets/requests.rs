//! Requests to `pericope serve`: paths, queries, headers and bodies, or the bytes of a whole connection.

use std::io::{Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use pericope::read::{ReadOptions, read_text};
use pericope::store::RunSummary;
use pericope::stores;
use pericope::{Engine, EngineError};
use pericope_serve::http::{HttpOptions, Limits, Server};
use pericope_serve::service::{AddressRules, NamedPlace, Service, ServiceOptions};

use super::parts::{choice, parts};

pub(super) const WORDS: &[&str] = &[
    "/v1/search?q=moon",
    "&mode=bm25",
    "&mode=hybrid",
    "&k=10",
    "&path=guide/",
    "&heading=Tides",
    "&type=md",
    "&context=1",
    "&group=document",
    "&budget=200",
    "&offsets=chars",
    "&index=docs",
    "/v1/documents/guide%2Ftides.md",
    "?start=0&end=40",
    "?lines=1-3",
    "/v1/chunks/",
    "?before=1&after=1",
    "/v1/segment",
    "/v1/compare",
    "/v1/docsearch?query=moon",
    "/1/indexes/docs/query",
    "/1/indexes/*/queries",
    "/v1/indexes/docs/refresh",
    "/docs/",
    "/metrics",
    "{\"text\":\"One. Two.\",\"segmenter\":\"fixed:words=3\"}",
    "\"format\":\"markdown\"",
    "\"max_tokens\":",
    "{\"requests\":[{\"indexName\":\"docs\",\"params\":\"query=moon&hitsPerPage=3\"}]}",
    "\"highlightPreTag\":",
    "HTTP/1.1\r\n",
    "Host: localhost\r\n",
    "Content-Length: ",
    "Transfer-Encoding: chunked\r\n",
    "Expect: 100-continue\r\n",
    "Origin: http://localhost\r\n",
    "Content-Type: application/json\r\n",
    "X-Request-Id: a\r\n",
    "Authorization: Bearer a\r\n",
    "\r\n\r\n",
    "%00",
    "%ff",
    "..%2f",
    "18446744073709551615",
    "-1",
    "\u{1e}",
];

const PAGES: &[(&str, &str, &str)] = &[
    (
        "guide/tides.md",
        "markdown",
        "# Tides\n\nThe moon pulls the sea twice a day.\n\n## Neap tides\n\nThey come with the half moon.\n",
    ),
    ("api/errors.html", "html", "<h1 id=\"errors\">Errors</h1><p>Token expired: sign in again &amp; retry.</p>"),
    ("notes/ümlaut.txt", "plain", "Über dem Moor steht der Mond.\nZweite Zeile mit Ebbe und Flut.\n"),
];

/// The time within which an answer must be complete.
const PATIENCE: Duration = Duration::from_secs(20);

/// Starts a server over an index of a few pages; it answers as long as the process lives.
fn address() -> SocketAddr {
    static ADDRESS: OnceLock<SocketAddr> = OnceLock::new();
    *ADDRESS.get_or_init(|| {
        let folder = tempfile::tempdir().expect("a temporary folder").keep();
        let place = folder.join("docs.idx").display().to_string();
        let engine = Engine::new().with_tokenizer("words");
        let chunker = engine.chunker("structure:max_tokens=20").expect("a good spec");
        let spec = engine.index_spec(&chunker, None).expect("a good spec");
        let mut writer = stores::create(&place, &spec, true, 1 << 30).expect("a new index");
        for (id, format, text) in PAGES {
            let document = read_text(id, format, *text, &ReadOptions::default()).expect("a good page");
            writer.add(&document, &chunker.chunks(&document).expect("chunks")).expect("a document can be added");
        }
        writer.finish(&RunSummary::default()).expect("an index can be finished");
        let named = vec![NamedPlace::parse(&place).expect("a good place")];
        let mut addresses = AddressRules::default();
        addresses.add("https://example.org/docs").expect("a good address");
        // No request makes an encoder: what is read here is requests.
        let encoders = Arc::new(|name: &str| Err(EngineError::Usage(format!("there is no embedder {name} here"))));
        let options = ServiceOptions { addresses, encoders, ..ServiceOptions::default() };
        let service = Arc::new(Service::open(named, options).expect("a whole index"));
        let mut http = HttpOptions::new(([127, 0, 0, 1], 0).into());
        // A request that never ends its head or body is let go of early.
        let (head, request) = (Duration::from_millis(500), Duration::from_secs(10));
        http.limits = Limits { head, request, body: 16 << 10, ..Limits::default() };
        let server = Server::bind(service, http).expect("a port of this machine");
        let address = server.address();
        std::thread::spawn(move || server.run_until(&AtomicBool::new(false)));
        address
    })
}

pub(super) fn requests(data: &[u8]) {
    let (kind, data) = choice(data, 4);
    let request = match kind {
        // The whole connection, as it is.
        3 => data.to_vec(),
        _ => {
            let mut parts = parts(data);
            let mut next = || parts.next().unwrap_or_default();
            let (path, headers, body) = (next(), next(), next());
            let method: &[u8] = if kind == 0 { b"GET /" } else { b"POST /" };
            let json: &[u8] = if kind == 2 { b"" } else { b"Content-Type: application/json\r\n" };
            let length = if kind == 0 { String::new() } else { format!("Content-Length: {}\r\n", body.len()) };
            let path = path.strip_prefix(b"/").unwrap_or(path);
            let close = b" HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n";
            [method, path, close, json, length.as_bytes(), headers, b"\r\n", body].concat()
        }
    };
    answered(&talk(&request));
}

/// Sends bytes, and reads until the server closes the connection.
fn talk(request: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(address()).expect("the server listens");
    stream.set_read_timeout(Some(PATIENCE)).expect("a time that is not zero");
    // A server that has refused the head closes before it has read the body.
    let _ = stream.write_all(request);
    let _ = stream.shutdown(Shutdown::Write);
    let (mut answer, mut piece) = (Vec::new(), [0; 8192]);
    loop {
        match stream.read(&mut piece) {
            Ok(0) => return answer,
            Ok(count) => answer.extend_from_slice(&piece[..count]),
            Err(error) if error.kind() == std::io::ErrorKind::ConnectionReset => return answer,
            Err(error) => panic!("no end of the answer within {PATIENCE:?}: {error}"),
        }
    }
}

/// Checks the laws of the first answer. What is no HTTP may be answered by nothing at all, and an input may hold two requests.
fn answered(answer: &[u8]) {
    let Some(end) = answer.windows(4).position(|four| four == b"\r\n\r\n") else {
        assert!(answer.is_empty(), "half an answer: {:?}", String::from_utf8_lossy(answer));
        return;
    };
    let head = std::str::from_utf8(&answer[..end]).expect("headers are text");
    let mut lines = head.split("\r\n");
    let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|word| word.parse::<u16>().ok());
    let status = status.unwrap_or_else(|| panic!("no status in {head:?}"));
    assert!((100..500).contains(&status) || status == 503, "status {status}: {:?}", String::from_utf8_lossy(answer));
    let (mut kind, mut length) = ("", 0);
    for line in lines {
        let (name, value) = line.split_once(": ").unwrap_or_else(|| panic!("a header without a name in {head:?}"));
        assert!(!name.eq_ignore_ascii_case("set-cookie"), "a header of the request's own in {head:?}");
        match name {
            "content-type" => kind = value,
            "content-length" => length = value.parse().unwrap_or_else(|_| panic!("no length in {head:?}")),
            _ => {}
        }
    }
    // The answer to a HEAD has a length and no body; what has no length is not sent at once.
    let body = answer.get(end + 4..end + 4 + length).unwrap_or_default();
    if matches!(kind, "application/json" | "application/problem+json") && !body.is_empty() {
        let body: serde_json::Value = serde_json::from_slice(body).expect("what is called JSON is JSON");
        if kind == "application/problem+json" {
            assert_eq!(body["status"], status);
            assert!(body["code"].is_string() && body["detail"].is_string(), "{body}");
        }
    }
}
