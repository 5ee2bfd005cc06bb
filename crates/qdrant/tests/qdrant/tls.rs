use pericope_qdrant::{Collection, Target};
use pericope_testkit::qdrant::{Options, Server};

use crate::common::record;

/// A server with a certificate of its own making, and the file with that certificate.
fn encrypted() -> (Server, tempfile::NamedTempFile) {
    let made = rcgen::generate_simple_self_signed(["localhost".to_owned(), "127.0.0.1".to_owned()]).unwrap();
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), made.cert.pem()).unwrap();
    let tls = Some((made.cert.pem(), made.signing_key.serialize_pem()));
    (Server::start_with(Options { tls, ..Options::default() }).unwrap(), file)
}

#[test]
fn an_encrypted_server_is_known_by_its_certificate() {
    let (server, file) = encrypted();
    let url = format!("qdrants://localhost:{}/docs?ca={}", server.address().port(), file.path().display());
    let collection = Collection::open_or_create(&Target::parse(&url).unwrap(), &record()).unwrap();
    assert_eq!(collection.count().unwrap(), 0);
    assert_eq!(server.collections(), ["docs-1"]);
}

#[test]
fn a_certificate_that_is_not_known_is_the_reason() {
    let (server, _file) = encrypted();
    // The system's certificates do not know it.
    let url = format!("qdrants://localhost:{}/docs?retries=1&backoff=0.01", server.address().port());
    let message = Collection::open_or_create(&Target::parse(&url).unwrap(), &record()).unwrap_err().to_string();
    assert!(message.contains("certificate"), "{message}");
    assert!(!message.contains('\n'));
    assert!(server.collections().is_empty());
}

#[test]
fn a_certificate_that_cannot_be_read_is_named() {
    let target = |ca: &std::path::Path| {
        Target::parse(&format!("qdrants://localhost:6334/docs?retries=0&ca={}", ca.display())).unwrap()
    };
    let folder = tempfile::tempdir().unwrap();
    let missing = folder.path().join("missing.pem");
    let message = Collection::open(&target(&missing)).unwrap_err().to_string();
    assert!(message.contains("missing.pem"), "{message}");
}
