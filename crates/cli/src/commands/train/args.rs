//! What `pericope train` is told; what one training alone is told stands beside it.

use std::path::PathBuf;

use clap::{Args, Subcommand};

use super::embed::{TRAIN_EMBED_EXAMPLES, TrainEmbedArgs};
use super::hiercrf::{TRAIN_HIERCRF_EXAMPLES, TrainHiercrfArgs};
use super::judge::{TRAIN_JUDGE_EXAMPLES, TrainJudgeArgs};
use super::shared::TrainArgs;
use super::topic::{TRAIN_TOPIC_EXAMPLES, TrainTopicArgs};
use crate::args::at_least_one;
use crate::places;

/// `pericope train`
#[derive(Debug, Subcommand)]
pub enum TrainCommand {
    /// Compute the sentence vectors of training data once, for the trainings that read vectors
    #[command(after_help = TRAIN_EMBED_EXAMPLES)]
    Embed(TrainEmbedArgs),
    /// HierCRF: the tree of a document's segments, from vectors of its sentences
    #[command(after_help = TRAIN_HIERCRF_EXAMPLES)]
    Hiercrf(TrainHiercrfArgs),
    /// Judge: which blocks of a text answer a question, and where (CogLTX); for answers, reranking and reading without chunks
    #[command(after_help = TRAIN_JUDGE_EXAMPLES)]
    Judge(TrainJudgeArgs),
    /// Topic: where a document's sections end, from vectors of its sentences, words, paragraphs and form
    #[command(after_help = TRAIN_TOPIC_EXAMPLES)]
    Topic(TrainTopicArgs),
    /// WeSWin: a boundary's probability after each sentence, read in windows; with questions, WeSWin-Ret
    #[command(after_help = TRAIN_WESWIN_EXAMPLES)]
    Weswin(TrainWeswinArgs),
    /// NSP: whether a sentence follows the one before it
    #[command(after_help = TRAIN_NSP_EXAMPLES)]
    Nsp(TrainNspArgs),
}

const TRAIN_WESWIN_EXAMPLES: &str = "Examples:
  pericope train weswin --data docs.seg.jsonl --data wiki.jsonl --out models/mine
  pericope train weswin --data few.jsonl --start shipped --partition ss-4 --learning-rate 5e-5 --out models/tuned
  pericope segment README.md --segmenter weswin:model=models/mine

Documents are parted by a hash of their ids: 80 in 100 train, 10 validate, and 10 are left for a test of the model
(--validation, --test and --by part them otherwise):
  pericope segment-eval --data docs.seg.jsonl --split test -s weswin:model=models/mine

Training ends when the F1 on the validation documents rises no more. Stopped at any moment, the same command goes on from
the state in --out, which is saved once a minute: at most the last 60 seconds are lost.
With --questions each validation says how often the sentence ranked first answers, and the mean reciprocal rank (MRR).
Frozen layers are run once; what they give is kept in --out until the end (768 bytes a token of MiniLM).
Make data from documentation: pericope dataset from-docs docs/ --out questions.json --segmentation docs.seg.jsonl";

/// `pericope train weswin`
#[derive(Debug, Args)]
pub struct TrainWeswinArgs {
    #[command(flatten)]
    pub common: TrainArgs,
    /// Questions in SQuAD's layout, for the head that says which sentences answer; may be given several times. They are
    /// parted as documents are; without any the model has no such head
    #[arg(long, value_name = "FILE.json", value_parser = places::path())]
    pub questions: Vec<PathBuf>,
    /// A batch of questions comes with every so many steps
    #[arg(long, value_name = "N", default_value_t = 6, value_parser = at_least_one)]
    pub questions_every: usize,
    /// Give a batch of questions a step of its own rather than a part in that of the boundaries; with --questions-every 1
    /// batches of boundaries and of questions alternate, as published
    #[arg(long)]
    pub questions_apart: bool,
    /// Training sequences: cr-1, or ss-4 where documents are few
    #[arg(long, value_name = "PARTITION", default_value = "cr-1")]
    pub partition: String,
}

const TRAIN_NSP_EXAMPLES: &str = "Examples:
  pericope train nsp --data docs.seg.jsonl --data wiki.jsonl --out models/nsp
  pericope segment README.md --segmenter nsp:model=models/nsp
  pericope segment README.md --segmenter nsp:model=/path/to/bert-base-uncased,one_minus_p=1e-4     (no training needed)

Neighbouring sentences against sentences from another document. Documents are parted as for `train weswin`.";

/// `pericope train nsp`
#[derive(Debug, Args)]
pub struct TrainNspArgs {
    #[command(flatten)]
    pub common: TrainArgs,
}
