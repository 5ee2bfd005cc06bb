//! The HTTP client of every Pericope crate that talks to a server: ureq with rustls, ring and the system's certificates.
//!
//! [`config`] is the beginning of every agent. The caller adds its timeouts.
//!
//! ```
//! use std::time::Duration;
//!
//! let agent = pericope_net::config().timeout_global(Some(Duration::from_secs(30))).build().new_agent();
//! # let _ = agent;
//! ```
#![forbid(unsafe_code)]

use std::sync::Arc;

pub use ureq;

use ureq::Agent;
use ureq::config::ConfigBuilder;
use ureq::tls::{RootCerts, TlsConfig};
use ureq::typestate::AgentScope;

/// Returns the settings that every agent shares.
///
/// Certificates are checked by the operating system. They are first needed for the first `https` request: a machine
/// without certificates can still talk to itself over `http`. Responses with a status of 400 or more are answers, not
/// errors.
#[must_use]
pub fn config() -> ConfigBuilder<AgentScope> {
    let crypto = Arc::new(rustls::crypto::ring::default_provider());
    let tls =
        TlsConfig::builder().root_certs(RootCerts::PlatformVerifier).unversioned_rustls_crypto_provider(crypto).build();
    Agent::config_builder()
        .tls_config(tls)
        .user_agent(concat!("pericope/", env!("CARGO_PKG_VERSION")))
        .http_status_as_error(false)
}
