//! What `pericope models` is told.

use std::path::PathBuf;

use clap::Subcommand;

const PULL_EXAMPLES: &str = "Examples:
  pericope models pull minilm
  pericope models pull static                # gets minilm, and makes its static vectors
  pericope models pull multilingual-e5-small
  HF_ENDPOINT=https://mirror.example pericope models pull bge-m3

Files of minilm are checked against published checksums. Of the others the hub's own checksums are recorded at the first
pull, with the commit; `models verify` compares with them.";

const DISTIL_EXAMPLES: &str = "Examples:
  pericope models distil                     # of minilm, for --embedder static; half a minute to a few minutes
  pericope models distil minilm --dimension 128 --out small-vectors
  pericope index docs/ --into docs.idx --segmenter fusion --embedder static
  pericope segment docs/ --segmenter fusion:embedder=static:small-vectors

Every token of the vocabulary goes through the encoder by itself; the vectors go to their principal components and are
weighted by how rare the token is (Model2Vec's recipe). A text's vector is the mean of its tokens'.";

/// `pericope models`
#[derive(Debug, Subcommand)]
pub enum ModelsCommand {
    /// Show the models that are known and which are installed
    List {
        /// One JSON document on standard output
        #[arg(long)]
        json: bool,
    },
    /// Fetch a model and check it; goes on where an interrupted fetch stopped
    #[command(after_help = PULL_EXAMPLES)]
    Pull {
        /// Name, as `models list` shows it
        #[arg(default_value = "minilm")]
        name: String,
    },
    /// Make static vectors of an encoder: one vector a token, a hundred times as quick to embed with
    #[command(after_help = DISTIL_EXAMPLES)]
    Distil {
        /// The encoder: an installed model, or a folder with config.json, model.safetensors and tokenizer.json
        #[arg(default_value = "minilm", value_name = "NAME|DIR")]
        model: String,
        /// Folder of the static vectors, in Model2Vec's layout [default: that of the embedder `static`, for minilm]
        #[arg(long, value_name = "DIR")]
        out: Option<PathBuf>,
        /// Numbers of a vector, at most the encoder's
        #[arg(long, value_name = "N", default_value_t = 256, value_parser = clap::value_parser!(u32).range(1..=65_536))]
        dimension: u32,
        /// One JSON document on standard output
        #[arg(long)]
        json: bool,
    },
    /// Compare an installed model's files with their checksums
    Verify {
        /// Name; all installed models where none is given
        name: Option<String>,
    },
}
