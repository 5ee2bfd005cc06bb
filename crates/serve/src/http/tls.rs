use std::path::Path;
use std::sync::Arc;

use rustls::ServerConfig;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::TlsAcceptor;

use super::options::TlsFiles;

/// HTTP/2, as TLS negotiates it.
pub(super) const H2: &[u8] = b"h2";

/// Reads a certificate with its key.
///
/// # Errors
/// A sentence that names the file.
pub(super) fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, String> {
    let bad = |path: &Path, reason: &dyn std::fmt::Display| format!("{}: {reason}", path.display());
    let chain = CertificateDer::pem_file_iter(&files.certificate)
        .and_then(|chain| chain.collect::<Result<Vec<CertificateDer<'static>>, _>>())
        .map_err(|e| bad(&files.certificate, &e))?;
    if chain.is_empty() {
        return Err(bad(&files.certificate, &"there is no certificate in it (PEM)"));
    }
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|e| bad(&files.key, &e))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| e.to_string())?
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|e| bad(&files.certificate, &e))?;
    config.alpn_protocols = vec![H2.to_vec(), b"http/1.1".to_vec()];
    Ok(TlsAcceptor::from(Arc::new(config)))
}
