#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

pub mod http;
pub mod mcp;
pub mod pages;
pub mod service;
