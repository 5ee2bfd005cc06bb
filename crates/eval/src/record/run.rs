//! `run.json`: what was run, from what, and where.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

/// `run.json`: what was run, in enough detail to run it again.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
pub struct RunRecord {
    /// Name of the experiment.
    pub name: String,
    /// The configuration with all defaults and overrides in place.
    #[serde(default)]
    pub config: serde_json::Value,
    /// Version of the program.
    pub version: String,
    /// SHA-256 of what went in.
    #[serde(default)]
    pub checksums: Checksums,
    /// What tokens were counted with.
    #[serde(default)]
    pub tokenizer: String,
    /// Seeds by what they are for.
    #[serde(default)]
    pub seeds: BTreeMap<String, u64>,
    /// When the run began (RFC 3339).
    #[serde(default)]
    pub started: String,
    /// When it ended (RFC 3339); empty while it runs.
    #[serde(default)]
    pub finished: String,
    /// Seconds that it took, all sessions of a resumed run together.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub seconds: Option<f64>,
    /// What all calls of models cost in all sessions, failed items and checks of the judge included; absent where nothing
    /// was paid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paid: Option<f64>,
    /// The part of it that no server confirmed: calls that broke off, at the most that they may have cost, and servers that
    /// do not say what they used; absent where there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub paid_estimated: Option<f64>,
    /// The prompt templates as used, by name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub prompts: BTreeMap<String, String>,
    /// Where it ran.
    #[serde(default)]
    pub machine: Machine,
}

/// SHA-256 (hexadecimal) by name or path.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Checksums {
    /// Data files.
    #[serde(default)]
    pub data: BTreeMap<String, String>,
    /// Model files.
    #[serde(default)]
    pub models: BTreeMap<String, String>,
    /// What the chunkers' segmenters say about their weights, by the chunker's name.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub chunkers: BTreeMap<String, String>,
    /// Prompt templates.
    #[serde(default)]
    pub prompts: BTreeMap<String, String>,
}

/// The machine that a run ran on.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Machine {
    /// Processor cores that the program could use.
    #[serde(default)]
    pub cores: usize,
    /// Operating system and architecture.
    #[serde(default)]
    pub os: String,
}
