#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod budget;
mod cache;
mod client;
pub mod config;
mod context;
pub mod embeddings;
mod error;
pub mod generate;
mod http;
mod items;
mod json;
pub mod judge;
mod prompt;
pub mod providers;
mod request;
mod secret;
mod structured;
#[cfg(feature = "testing")]
pub mod testing;
mod tokens;

pub use budget::{Budget, Estimate, Spent};
pub use cache::{Cache, CacheKey};
pub use client::{Answered, Client, Shared};
pub use config::LlmConfig;
pub use context::InContext;
pub use embeddings::OpenAiEmbeddings;
pub use error::LlmError;
pub use generate::{LlmAnswer, LlmGenerator};
pub use items::{Items, each};
pub use json::objects;
pub use judge::{Judgement, LlmJudge};
pub use prompt::{Prompt, PromptError};
pub use providers::Provider;
pub use request::{Finish, Message, Reply, Request, Role, Schema, Usage};
pub use secret::Secret;
pub use structured::Checked;
pub use tokens::Tokens;
