#![doc = include_str!("../README.md")]
#![forbid(unsafe_code)]

mod account;
mod ask;
mod batch;
mod budget;
mod cache;
mod client;
pub mod config;
mod context;
mod embeddings;
mod error;
mod fence;
mod generate;
mod http;
mod json;
pub mod judge;
mod notices;
mod prompt;
pub mod providers;
mod request;
mod secret;
mod service;
mod spent;
mod structured;
mod tokens;

pub use account::{Account, Attempt};
pub use ask::{LlmAsker, WrittenQuestion};
pub use batch::{BatchResult, map_concurrent};
pub use budget::Budget;
pub use cache::Cache;
pub use client::{Answered, Client, Shared};
pub use config::{LlmConfig, ProviderKind};
pub use embeddings::OpenAiEmbeddings;
pub use error::LlmError;
pub use generate::{LlmAnswer, LlmGenerator};
pub use judge::{Judgement, LlmJudge};
pub use notices::on_notice;
pub use prompt::{Prompt, PromptError};
pub use providers::Provider;
pub use request::{Finish, Message, Reply, Request, Role, Schema, Usage};
pub use service::{JsonAnswer, JsonService};
pub use spent::Spent;
pub use tokens::Tokens;
