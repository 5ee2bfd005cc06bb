//! Tests of the generator of load, against a small server.
#![allow(clippy::unwrap_used, clippy::expect_used)]

mod load;
