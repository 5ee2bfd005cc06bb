//! Flags that several trainings take. Each group stands together in their help, so that its order is the same everywhere.

use std::path::PathBuf;

use clap::Args;
use pericope_learn::corpus::SplitOptions;

use crate::args::at_least_one;
use crate::commands::dataset::SplitArgs;
use crate::places;

/// What of the documents is kept from training.
#[derive(Debug, Args)]
pub struct HoldoutArgs {
    /// Train on all documents, those that are otherwise kept for validation and test too, but for those of --held-out
    #[arg(long)]
    pub no_holdout: bool,
    #[command(flatten)]
    pub split: SplitArgs,
}

impl HoldoutArgs {
    /// The options of the split.
    pub fn options(&self) -> SplitOptions {
        self.split.options(self.no_holdout)
    }
}

/// Where a trained encoder is written, and what it begins as.
#[derive(Debug, Args)]
pub struct EncoderArgs {
    /// Folder of the model and of the state that an interrupted training goes on from
    #[arg(long, value_name = "DIR", value_parser = places::path())]
    pub out: PathBuf,
    /// Base model: the name of an installed one, or a folder with config.json, model.safetensors and tokenizer.json
    #[arg(long, value_name = "NAME|DIR", default_value = "minilm", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub base: String,
}

/// The layers of an encoder that are trained.
#[derive(Debug, Args)]
pub struct LayerArgs {
    /// Lower layers that stay as they are
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub frozen: usize,
    /// Train changes of this rank to the matrices of the layers, in place of the layers themselves (LoRA): a small model, though every
    /// layer changes (with --frozen 0); 0: the layers themselves [default: that of the model of --start; 0 without one]
    #[arg(long, value_name = "N")]
    pub rank: Option<usize>,
}

/// How the training of an encoder ends, and what it leaves.
#[derive(Debug, Args)]
pub struct EndArgs {
    /// Steps at most; 0: as many as the passes have
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub max_steps: usize,
    /// Seed of the order and of what is drawn at random
    #[arg(long, value_name = "N", default_value_t = 7)]
    pub seed: u64,
    /// Write half precision: half the size
    #[arg(long)]
    pub half: bool,
    /// One JSON document on standard output
    #[arg(long)]
    pub json: bool,
}

/// How long a training over sentence vectors goes on, and what it tells at the end.
#[derive(Debug, Args)]
pub struct CourseArgs {
    /// Validations an epoch
    #[arg(long, value_name = "N", default_value_t = 1)]
    pub validations: usize,
    /// End after so many validations without a better result
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub patience: usize,
    /// Steps at most; 0: as many as the epochs have
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub max_steps: usize,
    /// Seed of weights, order, examples and dropout
    #[arg(long, value_name = "N", default_value_t = 7)]
    pub seed: u64,
    /// One JSON document on standard output
    #[arg(long)]
    pub json: bool,
}

/// What every training of an encoder on documents with known boundaries takes.
#[derive(Debug, Args)]
pub struct TrainArgs {
    /// Documents with known boundaries, as segment-eval reads them, or folders with files *.jsonl and *.jsonl.gz; may be
    /// given several times
    #[arg(long, required = true, value_name = "PATH", value_parser = places::path())]
    pub data: Vec<PathBuf>,
    #[command(flatten)]
    pub encoder: EncoderArgs,
    /// Go on from a trained model instead of the base model: a file or folder of an earlier training (weswin: or `shipped`).
    /// Layers that it trained and that are frozen now stay as it has them; --out must be another folder
    #[arg(long, value_name = "MODEL", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub start: Option<String>,
    #[command(flatten)]
    pub holdout: HoldoutArgs,
    /// Tokens of a sequence, special tokens included [default: 512, or what the base model reads; nsp: 256]
    #[arg(long, value_name = "N")]
    pub tokens: Option<usize>,
    #[command(flatten)]
    pub layers: LayerArgs,
    /// Passes over the data, at most [default: 4; nsp: 1]
    #[arg(long, value_name = "X")]
    pub epochs: Option<f64>,
    /// Sequences a step [default: 8; nsp: 32]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub batch: Option<usize>,
    /// Sequences whose gradients are worked out at once: less memory where it is lower [default: 2; nsp: 8]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub micro_batch: Option<usize>,
    /// Highest learning rate of the encoder [default: 1.5e-4; nsp: 1e-4]
    #[arg(long, value_name = "X")]
    pub learning_rate: Option<f64>,
    /// Highest learning rate of the heads
    #[arg(long, value_name = "X", default_value_t = 1e-3)]
    pub head_learning_rate: f64,
    /// Validations without a better F1 after which training ends
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = at_least_one)]
    pub patience: usize,
    /// Validations a pass [default: 4; nsp: 8]
    #[arg(long, value_name = "N", value_parser = at_least_one)]
    pub validations: Option<usize>,
    #[command(flatten)]
    pub end: EndArgs,
}
