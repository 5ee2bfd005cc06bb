//! The service as tools for agents, by the Model Context Protocol.
//!
//! [`Server`] answers the protocol on top of a [`Service`](crate::service::Service): `search`, `fetch`, `read`, `list` and
//! `status`. Every answer comes twice, as text that models read well and as structured content with a schema. What is
//! wrong with a call is said in its answer, in words; the connection goes on.
//!
//! [`stdio`] serves one client over the standard streams, [`router`] many over streamable HTTP.

mod answers;
mod arguments;
mod calls;
mod http;
mod messages;
mod schema;
mod server;
mod stdio;
mod text;
mod tools;

pub use self::http::{AgentOptions, MOST_SESSIONS, router};
pub use self::server::{AT_ONCE, Server};
pub use self::stdio::stdio;
