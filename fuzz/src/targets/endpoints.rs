//! What servers answer over HTTP: bodies and whole answers of language models and embedding servers.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex, OnceLock};

use pericope_llm::config::ProviderKind;
use pericope_llm::{Client, LlmConfig, Message, OpenAiEmbeddings, Request, Role, Shared};

use super::parts::choice;

pub(super) const WORDS: &[&str] = &[
    "{\"choices\":[{\"message\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}",
    "\"usage\":",
    "{\"prompt_tokens\":18446744073709551615,\"completion_tokens\":1}",
    "\"content\":[{\"type\":\"text\",\"text\":\"a\"}]",
    "\"stop_reason\":\"end_turn\"",
    "\"data\":[{\"index\":0,\"embedding\":[1,2]}]",
    "\"error\":{\"message\":",
    "\"code\":",
    "\"index\":",
    "1e999",
    "-1",
    "null",
    "HTTP/1.1 200 OK\r\n",
    "HTTP/1.1 429 No\r\n",
    "retry-after: 0\r\n",
    "content-length: ",
    "transfer-encoding: chunked\r\n",
    "\r\n\r\n",
    "0\r\n\r\n",
    "ffffffffffffffff\r\n",
    "content-type: application/json\r\n",
    "connection: close\r\n",
    "location: /\r\n",
    "content-encoding: gzip\r\n",
];

/// A server on this machine that gives every request the same answer.
struct Server {
    address: String,
    answer: Arc<Mutex<Vec<u8>>>,
}

fn server() -> &'static Server {
    static SERVER: OnceLock<Server> = OnceLock::new();
    SERVER.get_or_init(|| {
        let listener = TcpListener::bind("127.0.0.1:0").expect("a port of this machine");
        let address = format!("http://{}/v1", listener.local_addr().expect("it is bound"));
        let answer: Arc<Mutex<Vec<u8>>> = Arc::default();
        let given = Arc::clone(&answer);
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let bytes = given.lock().map(|bytes| bytes.clone()).unwrap_or_default();
                // A client that hangs up is its own business.
                let _ = serve(stream, &bytes);
            }
        });
        Server { address, answer }
    })
}

/// Reads one request to its end and answers it.
fn serve(stream: TcpStream, answer: &[u8]) -> std::io::Result<()> {
    let mut lines = BufReader::new(stream.try_clone()?);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if lines.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap_or(0);
        }
    }
    std::io::copy(&mut lines.take(length), &mut std::io::sink())?;
    (&stream).write_all(answer)?;
    stream.shutdown(std::net::Shutdown::Write)
}

pub(super) fn endpoints(data: &[u8]) {
    let (kind, data) = choice(data, 8);
    let (status, body) = choice(data, 8);
    let answer = match status {
        // The whole answer, head and all.
        7 => body.to_vec(),
        _ => {
            let status = ["200 OK", "200 OK", "200 OK", "400 Bad", "401 No", "429 Later", "500 Broken"][status];
            let length = body.len();
            let head = format!(
                "HTTP/1.1 {status}\r\ncontent-type: application/json\r\nretry-after: 0\r\ncontent-length: {length}\r\n\
                 connection: close\r\n\r\n"
            );
            [head.as_bytes(), body].concat()
        }
    };
    let server = server();
    *server.answer.lock().expect("no other thread panics with it") = answer;
    let provider = if kind % 2 == 0 { ProviderKind::OpenAi } else { ProviderKind::Anthropic };
    let mut config = LlmConfig::new(provider, "model");
    config.base_url = Some(server.address.clone());
    config.retries = 0;
    config.timeout_seconds = 5.0;
    if kind < 6 {
        let shared = Shared::in_memory().expect("a cache in memory");
        let client = Client::from_config(&config, &shared).expect("a configuration without keys");
        let request = Request::new(vec![Message::new(Role::User, "question")], 16);
        if let Ok(answered) = client.complete(&request) {
            assert!(answered.cost.is_finite() && answered.cost >= 0.0);
            let _ = answered.text();
        }
        let total = client.total();
        assert!(total.cost.is_finite() && total.cost >= 0.0);
    } else {
        config.provider = ProviderKind::OpenAi;
        let shared = Shared::in_memory().expect("a cache in memory");
        let dimensions = if kind == 6 { Some(2) } else { None };
        if let Ok(encoder) = OpenAiEmbeddings::new(&config, dimensions, &shared)
            && let Ok(vectors) = encoder.vectors(&["one"])
        {
            let length = vectors[0].iter().map(|x| f64::from(*x).powi(2)).sum::<f64>();
            assert!(length == 0.0 || (length - 1.0).abs() < 1e-3, "a vector of length {length}");
        }
    }
}
