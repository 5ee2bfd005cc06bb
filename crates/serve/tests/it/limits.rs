//! Sizes, times, queues and ends.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use crate::common::{ask, get, metric, read_reply, send_raw, serve, serve_blocking, until};

const WAITS: &[u8] = b"GET /v1/search?q=wait&mode=dense HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";

#[test]
fn a_full_queue_refuses_at_once() {
    let (server, blocks) = serve_blocking(|options| {
        options.limits.workers = 1;
        options.limits.queue = 1;
    });
    let server = server.ready();
    let first = send_raw(server.address, WAITS);
    blocks.entered();
    let second = send_raw(server.address, &String::from_utf8_lossy(WAITS).replace("wait", "wait+more").into_bytes());
    // The two, and the request that asks.
    until(|| metric(server.address, "pericope_requests_in_flight") == Some(3.0));
    for _ in 0..5 {
        let refused = get(server.address, "/v1/search?q=moon&mode=bm25");
        assert_eq!((refused.status, refused.code().as_str()), (429, "busy"));
        assert_eq!(refused.header("retry-after"), Some("1"));
    }
    // What needs no worker is answered.
    assert_eq!(get(server.address, "/healthz").status, 200);
    assert_eq!(metric(server.address, "pericope_rejected_total{reason=\"busy\"}"), Some(5.0));
    blocks.let_go();
    assert_eq!(read_reply(first).status, 200);
    blocks.entered();
    blocks.let_go();
    assert_eq!(read_reply(second).status, 200);
    assert_eq!(get(server.address, "/v1/search?q=moon&mode=bm25").status, 200);
}

#[test]
fn a_request_that_takes_too_long_is_given_up() {
    let (server, blocks) = serve_blocking(|options| {
        options.limits.workers = 2;
        options.limits.request = Duration::from_secs(2);
    });
    let server = server.ready();
    let reply = read_reply(send_raw(server.address, WAITS));
    assert_eq!((reply.status, reply.code().as_str()), (504, "time-limit"));
    assert_eq!(metric(server.address, "pericope_rejected_total{reason=\"time\"}"), Some(1.0));
    blocks.let_go();
    assert_eq!(get(server.address, "/v1/search?q=moon&mode=bm25").status, 200);
}

#[test]
fn a_request_that_runs_is_finished_when_the_server_ends() {
    let (server, blocks) = serve_blocking(|options| options.limits.drain = Duration::from_secs(50));
    let server = server.ready();
    let address = server.address;
    let running = send_raw(address, WAITS);
    blocks.entered();
    server.stop();
    until(|| TcpStream::connect(address).is_err());
    blocks.let_go();
    let reply = read_reply(running);
    assert_eq!(reply.status, 200);
    assert!(!reply.json()["hits"].as_array().unwrap().is_empty());
    assert!(server.end().is_ok());
}

#[test]
fn a_server_that_must_end_does_not_wait_for_ever() {
    let (server, blocks) = serve_blocking(|options| options.limits.drain = Duration::from_millis(100));
    let server = server.ready();
    let running = send_raw(server.address, WAITS);
    blocks.entered();
    assert!(server.end().is_ok());
    drop((running, blocks));
}

#[test]
fn bodies_have_a_size() {
    let server = serve(|options| options.limits.body = 1000);
    let json = [("Content-Type", "application/json")];
    let large = vec![b' '; 1001];
    let reply = ask(server.address, "POST", "/v1/segment", &json, &large);
    assert_eq!((reply.status, reply.code().as_str()), (413, "body-too-large"));
    // The size is said, and nothing of it needs to come.
    let head =
        "POST /v1/segment HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\nContent-Type: application/json\r\n";
    let said = send_raw(server.address, format!("{head}Content-Length: 99999999999\r\n\r\n").as_bytes());
    assert_eq!(read_reply(said).status, 413);
    // The size is not said.
    let chunks = format!("{head}Transfer-Encoding: chunked\r\n\r\n3e9\r\n{}\r\n0\r\n\r\n", " ".repeat(1001));
    assert_eq!(read_reply(send_raw(server.address, chunks.as_bytes())).status, 413);
    let text = format!("{{\"text\": \"{}\"}}", "a".repeat(900));
    assert_eq!(ask(server.address, "POST", "/v1/segment", &json, text.as_bytes()).status, 200);
    let reply = ask(server.address, "POST", "/v1/segment", &[("Content-Type", "text/plain")], b"{\"text\": \"a\"}");
    assert_eq!((reply.status, reply.code().as_str()), (415, "not-json"));
}

#[test]
fn slow_clients_are_sent_away() {
    let server = serve(|options| {
        options.limits.head = Duration::from_millis(300);
        options.limits.request = Duration::from_millis(600);
    });
    // A head that never ends, and a connection that says nothing at all.
    for start in [&b"GET /v1/search?q=a HTTP/1.1\r\nHost: local"[..], b""] {
        let mut stream = send_raw(server.address, start);
        let mut rest = Vec::new();
        let _ = stream.read_to_end(&mut rest);
        assert!(!String::from_utf8_lossy(&rest).contains(" 200 "), "{rest:?}");
    }
    // A body that never ends.
    let head = b"POST /v1/segment HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 100\r\nConnection: close\r\n\r\n{";
    let mut slow = send_raw(server.address, head);
    slow.write_all(b"\"text\"").unwrap();
    let reply = read_reply(slow);
    assert_eq!((reply.status, reply.code().as_str()), (408, "slow-body"));
    assert_eq!(get(server.address, "/healthz").status, 200);
}

#[test]
fn connections_have_a_number() {
    let server = serve(|options| {
        options.limits.connections = 2;
        options.limits.head = Duration::from_secs(1);
    });
    let idle: Vec<TcpStream> = (0..2).map(|_| send_raw(server.address, b"")).collect();
    // The third waits until the limit of time has closed one of them.
    assert_eq!(get(server.address, "/healthz").status, 200);
    drop(idle);
}

#[test]
fn heads_have_a_size() {
    let server = serve(|_| ());
    let long = format!("/v1/search?q={}", "a".repeat(100_000));
    let request = format!("GET {long} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n");
    let mut stream = TcpStream::connect(server.address).unwrap();
    // The server may close before all of it is sent.
    let _ = stream.write_all(request.as_bytes());
    let mut answer = Vec::new();
    let _ = stream.read_to_end(&mut answer);
    let answer = String::from_utf8_lossy(&answer).into_owned();
    assert!(answer.is_empty() || answer.starts_with("HTTP/1.1 4"), "{answer}");
    assert_eq!(get(server.address, "/healthz").status, 200);
}
