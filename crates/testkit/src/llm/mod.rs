//! A server over real HTTP that speaks chat completions, embeddings and Anthropic's messages, and misbehaves as it is told.
//!
//! It is our own because the tests need what mock servers such as wiremock do not have: a body that breaks off in the
//! middle, a count of the calls under way at once, and a plan by the item that a call is about.
//!
//! ```
//! use pericope_testkit::llm::{Act, Server};
//!
//! let server = Server::start(
//!     |_| "Blue.".to_owned(),
//!     |seen| if seen.before == 0 { Act::Status(500) } else { Act::Answer },
//! )?;
//! assert!(server.base_url().ends_with("/v1"));
//! assert_eq!(server.calls(), 0);
//! # Ok::<(), std::io::Error>(())
//! ```

mod replies;
mod seen;
mod server;

pub use seen::{Act, Seen};
pub use server::Server;
