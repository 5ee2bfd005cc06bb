//! TLS, and HTTP/2 over it.

use std::io::Write;
use std::net::{SocketAddr, TcpStream};
use std::path::Path;
use std::sync::Arc;

use pericope_serve::http::TlsFiles;
use rustls::pki_types::ServerName;
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

use crate::common::{Reply, read_reply, send_raw, serve};

/// A certificate for this machine, and a client that believes it.
fn certificate(folder: &Path) -> (TlsFiles, RootCertStore) {
    let made = rcgen::generate_simple_self_signed(vec!["localhost".to_owned()]).unwrap();
    let files = TlsFiles { certificate: folder.join("cert.pem"), key: folder.join("key.pem") };
    std::fs::write(&files.certificate, made.cert.pem()).unwrap();
    std::fs::write(&files.key, made.signing_key.serialize_pem()).unwrap();
    let mut roots = RootCertStore::empty();
    roots.add(made.cert.der().clone()).unwrap();
    (files, roots)
}

fn connect(address: SocketAddr, roots: RootCertStore, protocols: &[&[u8]]) -> StreamOwned<ClientConnection, TcpStream> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    let client = ClientConnection::new(Arc::new(config), ServerName::try_from("localhost").unwrap()).unwrap();
    let stream = TcpStream::connect(address).unwrap();
    stream.set_read_timeout(Some(std::time::Duration::from_secs(60))).unwrap();
    StreamOwned::new(client, stream)
}

#[test]
fn a_client_that_says_nothing_does_not_hold_up_the_end() {
    let folder = tempfile::tempdir().unwrap();
    let (files, _) = certificate(folder.path());
    let server = serve(|options| options.tls = Some(files));
    let _silent = TcpStream::connect(server.address).unwrap();
    // So that it is taken before the end.
    std::thread::sleep(std::time::Duration::from_millis(200));
    let begun = std::time::Instant::now();
    server.end().unwrap();
    assert!(begun.elapsed().as_secs() < 5, "{:?}", begun.elapsed());
}

#[test]
fn answers_come_over_tls() {
    let folder = tempfile::tempdir().unwrap();
    let (files, roots) = certificate(folder.path());
    let server = serve(|options| options.tls = Some(files));
    let mut stream = connect(server.address, roots.clone(), &[]);
    stream
        .write_all(b"GET /v1/search?q=moon&mode=bm25 HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n")
        .unwrap();
    let reply: Reply = read_reply(stream);
    assert_eq!(reply.status, 200);
    assert!(!reply.json()["hits"].as_array().unwrap().is_empty());
    // Plain HTTP is none here, and a stranger's certificate is not believed.
    let mut plain = send_raw(server.address, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n");
    let mut bytes = Vec::new();
    let _ = std::io::Read::read_to_end(&mut plain, &mut bytes);
    assert!(!String::from_utf8_lossy(&bytes).contains("200 OK"));
    let mut stranger = connect(server.address, RootCertStore::empty(), &[]);
    assert!(stranger.write_all(b"GET /healthz HTTP/1.1\r\n\r\n").is_err());
}

#[test]
fn http_2_is_spoken_where_the_client_speaks_it() {
    let folder = tempfile::tempdir().unwrap();
    let (files, roots) = certificate(folder.path());
    let server = serve(|options| options.tls = Some(files));
    let (address, runtime) =
        (server.address, tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap());
    runtime.block_on(async move {
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"h2".to_vec()];
        let stream = tokio::net::TcpStream::connect(address).await.unwrap();
        let connector = tokio_rustls::TlsConnector::from(Arc::new(config));
        let stream = connector.connect(ServerName::try_from("localhost").unwrap(), stream).await.unwrap();
        assert_eq!(stream.get_ref().1.alpn_protocol(), Some(&b"h2"[..]));
        let io = hyper_util::rt::TokioIo::new(stream);
        let executor = hyper_util::rt::TokioExecutor::new();
        let (mut sender, connection) = hyper::client::conn::http2::handshake(executor, io).await.unwrap();
        tokio::spawn(connection);
        let uri = "https://localhost/v1/search?q=moon&mode=bm25";
        let request = hyper::Request::get(uri).body(axum::body::Body::empty()).unwrap();
        let response = sender.send_request(request).await.unwrap();
        assert_eq!(response.status(), 200);
        let body = axum::body::to_bytes(axum::body::Body::new(response.into_body()), 1 << 20).await.unwrap();
        let answer: serde_json::Value = serde_json::from_slice(&body).unwrap();
        assert!(!answer["hits"].as_array().unwrap().is_empty());
    });
}
