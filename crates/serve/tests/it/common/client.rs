//! HTTP/1.1 by hand: what is sent is what a test says, byte for byte.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use serde_json::Value;

/// An answer.
#[derive(Debug)]
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: Vec<u8>,
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    pub fn text(&self) -> String {
        String::from_utf8(self.body.clone()).unwrap()
    }

    pub fn json(&self) -> Value {
        serde_json::from_slice(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.text()))
    }

    /// The code of a problem, whose form is checked.
    pub fn code(&self) -> String {
        assert_eq!(self.header("content-type"), Some("application/problem+json"), "{self:?}");
        let json = self.json();
        assert_eq!(json["status"], self.status);
        assert_eq!(json["request_id"].as_str(), self.header("x-request-id"));
        assert!(json["title"].is_string() && json["detail"].is_string() && json["type"] == "about:blank", "{json}");
        json["code"].as_str().unwrap().to_owned()
    }
}

/// Sends bytes, and hands the open connection back.
pub fn send_raw(address: SocketAddr, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    stream.write_all(bytes).unwrap();
    stream
}

/// Reads an answer up to the end of the connection.
pub fn read_reply(mut stream: impl Read) -> Reply {
    let mut bytes = Vec::new();
    // A server that closes on bytes it has not read resets the connection after its answer.
    let _ = stream.read_to_end(&mut bytes);
    let end = bytes.windows(4).position(|four| four == b"\r\n\r\n").unwrap_or_else(|| {
        panic!("no answer: {:?}", String::from_utf8_lossy(&bytes));
    });
    let head = String::from_utf8(bytes[..end].to_vec()).unwrap();
    let mut lines = head.split("\r\n");
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers: Vec<(String, String)> =
        lines.map(|line| line.split_once(": ").unwrap()).map(|(name, value)| (name.into(), value.into())).collect();
    Reply { status, headers, body: bytes[end + 4..].to_vec() }
}

/// The bytes of a request.
pub fn request(method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Vec<u8> {
    let mut head = format!("{method} {path} HTTP/1.1\r\nConnection: close\r\n");
    if !headers.iter().any(|(name, _)| name.eq_ignore_ascii_case("host")) {
        head.push_str("Host: localhost\r\n");
    }
    for (name, value) in headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    if method == "POST" {
        head.push_str(&format!("Content-Length: {}\r\n", body.len()));
    }
    [head.as_bytes(), b"\r\n", body].concat()
}

pub fn ask(address: SocketAddr, method: &str, path: &str, headers: &[(&str, &str)], body: &[u8]) -> Reply {
    read_reply(send_raw(address, &request(method, path, headers, body)))
}

pub fn get(address: SocketAddr, path: &str) -> Reply {
    ask(address, "GET", path, &[], b"")
}

pub fn post(address: SocketAddr, path: &str, body: &Value) -> Reply {
    ask(address, "POST", path, &[("Content-Type", "application/json")], body.to_string().as_bytes())
}
