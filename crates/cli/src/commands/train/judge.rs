//! `pericope train judge`

use std::path::{Path, PathBuf};

use clap::Args;
use pericope_encode::Base;
use pericope_eval::format::plural;
use pericope_learn::cogltx::{BLOCK, CHECKPOINT, Checkpoint, QUERY, TOKENS, open};
use pericope_learn::training::{
    ELSEWHERE, JudgeData, JudgeOptions, ORDER_WEIGHT, Options, PairOptions, Unsupervised, train_judge,
};

use super::judge_data::Questions;
use super::over_vectors::watched;
use super::report::{Done, notes};
use super::shared::{EncoderArgs, EndArgs, HoldoutArgs, LayerArgs};
use crate::places;
use crate::status::{Failure, Outcome, Status};

pub const TRAIN_JUDGE_EXAMPLES: &str = "Examples:
  pericope train judge --data questions.json --out models/judge
  pericope train judge --data data/train --held-out data/heldout --by source --half --out models/judge
  pericope train judge --data data/train --data questions.json --batch 16 --max-steps 2000 --out models/judge
  pericope train judge --data own.json --unsupervised --epochs 6 --out models/judge
  pericope train judge --data own.json --start models/judge --learning-rate 4e-5 --out models/tuned

Questions come from files in SQuAD's layout (*.json): the blocks that hold part of the answer are relevant. Documents with known
sections (*.jsonl, *.jsonl.gz) give questions too: a heading asks for its section, half of the time with the headings above it
(--headings); a sentence asks for the rest of its section, which it is left out of (--sentences). Both are parted by a hash of the
documents' ids, or of their sources (--by source): 80 in 100 train, 10 validate, 10 are left. Near copies go together, documents with
sections and those that questions are asked about alike: where one of them is left, all are.
Each validation reads blocks by themselves and says how often a relevant one has a higher score than another (AUC), and the F1 of
the answers' tokens; the weights with the best mean of the two are kept. Stopped at any moment, the same command goes on from the
state in --out, which is saved once a minute: at most the last 60 seconds are lost.
The model reads for experiments: [answer] generator = \"cogltx\", model = \"models/judge\".";

/// `pericope train judge`
#[derive(Debug, Args)]
pub struct TrainJudgeArgs {
    /// Questions in SQuAD's layout (*.json), documents with known sections (*.jsonl, *.jsonl.gz), or folders of either, whose *.json
    /// are read where no *.jsonl is there; may be given several times
    #[arg(long, required = true, num_args = 1.., value_name = "PATH", value_parser = places::path())]
    pub data: Vec<PathBuf>,
    #[command(flatten)]
    pub encoder: EncoderArgs,
    /// Go on from a trained judge instead of the base model: a file or folder of an earlier training; --out must be another folder
    #[arg(long, value_name = "MODEL", value_parser = clap::builder::NonEmptyStringValueParser::new())]
    pub start: Option<String>,
    #[command(flatten)]
    pub holdout: HoldoutArgs,
    /// Headings of a document that ask for their sections, at most
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub headings: usize,
    /// Sentences of a document that ask for the rest of their sections, at most
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub sentences: usize,
    /// Tokens of a sequence, special tokens included [default: 512, or what the base model reads]
    #[arg(long, value_name = "N")]
    pub tokens: Option<usize>,
    /// Tokens of a block, at most [default: 63, or those of --start]
    #[arg(long, value_name = "N")]
    pub block: Option<usize>,
    /// Tokens of a question that are read [default: 64, or those of --start]
    #[arg(long, value_name = "N")]
    pub query: Option<usize>,
    #[command(flatten)]
    pub layers: LayerArgs,
    /// Passes over the questions
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    pub epochs: f64,
    /// Questions of a step
    #[arg(long, value_name = "N", default_value_t = 32)]
    pub batch: usize,
    /// Questions whose gradients a thread works out at once: less memory where it is lower
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub micro_batch: usize,
    /// Highest learning rate of the encoder; published is 4e-5, for a larger model
    #[arg(long, value_name = "X", default_value_t = 1e-4)]
    pub learning_rate: f64,
    /// Highest learning rate of the heads
    #[arg(long, value_name = "X", default_value_t = 1e-3)]
    pub head_learning_rate: f64,
    /// Blocks of other texts that the blocks of a question compete with, at most; 0: none, for a judge that searches one text at a time
    #[arg(long, value_name = "N", default_value_t = ELSEWHERE)]
    pub elsewhere: usize,
    /// Weight of the order of a question's blocks beside the relevance of each; 0: none, as published
    #[arg(long, value_name = "X", default_value_t = ORDER_WEIGHT)]
    pub order_weight: f64,
    /// Weight of the answers' ends beside the relevance of blocks
    #[arg(long, value_name = "X", default_value_t = 0.25)]
    pub span_weight: f64,
    /// Do not take the blocks that hold the answer for the relevant ones: begin with those that have most words of the question, and
    /// label them anew after each pass by how much worse the answer's place is found without each
    #[arg(long)]
    pub unsupervised: bool,
    /// Blocks of a question that are relevant to begin with, at most
    #[arg(long, value_name = "N", default_value_t = 3, requires = "unsupervised")]
    pub start_blocks: usize,
    /// A block without which the reader loses more than so many nats becomes relevant
    #[arg(long, value_name = "NATS", default_value_t = 0.2, requires = "unsupervised")]
    pub up: f64,
    /// A block without which it loses less than so many nats, negative where it gains, becomes irrelevant
    #[arg(long, value_name = "NATS", default_value_t = -0.05, requires = "unsupervised", allow_negative_numbers = true)]
    pub down: f64,
    /// Validations without a better result after which training ends
    #[arg(long, value_name = "N", default_value_t = 3)]
    pub patience: usize,
    /// Validations a pass
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub validations: usize,
    #[command(flatten)]
    pub end: EndArgs,
}

/// Runs the command.
pub fn run(args: &TrainJudgeArgs, quiet: bool) -> Outcome {
    let base = Base::open(&args.encoder.base).map_err(Failure::usage)?;
    let start = args.start.as_deref().map(open).transpose().map_err(Failure::usage)?;
    let options = options(args, &base, start.as_ref());
    let pairs = PairOptions {
        headings: args.headings,
        sentences: args.sentences,
        block: options.block,
        query: options.query,
        seed: args.end.seed,
    };
    let questions = Questions::read(&args.data, &args.holdout, &base, &pairs)?;
    if questions.train.is_empty() {
        return Err(Failure::usage("no question is left to train on: give more data, or --no-holdout"));
    }
    let Questions { train, validation, corpus, counts, unreadable } = &questions;
    if !quiet {
        let [train, validation] = [counts.train, counts.validation].map(|count| plural(count, "question"));
        tell!("{train} to train on, {validation} to validate on");
    }
    let notes = notes(&args.data, corpus.train.len(), &format!("; {} questions", train.len()));
    let data = JudgeData { train, validation };
    let out: &Path = &args.encoder.out;
    let report = watched(corpus, quiet, |tell| train_judge(&base, start.as_ref(), data, &options, out, &notes, tell));
    let Some(report) = report? else { return Ok(Status::Interrupted) };
    let path = out.join(CHECKPOINT);
    let checkpoint = Checkpoint::read(&path).map_err(Failure::runtime)?;
    if args.end.half {
        checkpoint.write(&path, true).map_err(Failure::runtime)?;
    }
    let (split, unreadable, settings) = (corpus.report.clone(), *unreadable, checkpoint.settings);
    Done { name: "judge", out, split, questions: Some(*counts), unreadable, report, settings, options }
        .tell(args.end.json, "trained")
}

fn options(args: &TrainJudgeArgs, base: &Base, start: Option<&Checkpoint>) -> JudgeOptions {
    let settings = start.map(|start| &start.settings);
    let tokens = settings.map_or(TOKENS, |settings| settings.tokens).min(base.config.max_tokens());
    JudgeOptions {
        common: Options {
            tokens: args.tokens.unwrap_or(tokens),
            frozen: args.layers.frozen.min(base.config.num_hidden_layers),
            rank: args.layers.rank.unwrap_or_else(|| start.map_or(0, |start| start.low_rank().rank())),
            epochs: args.epochs,
            batch: args.batch,
            micro_batch: args.micro_batch,
            learning_rate: args.learning_rate,
            head_learning_rate: args.head_learning_rate,
            patience: args.patience,
            validations: args.validations,
            max_steps: args.end.max_steps,
            seed: args.end.seed,
            ..Options::judge()
        },
        block: args.block.or(settings.map(|settings| settings.block)).unwrap_or(BLOCK),
        query: args.query.or(settings.map(|settings| settings.query)).unwrap_or(QUERY),
        elsewhere: args.elsewhere,
        order_weight: args.order_weight,
        span_weight: args.span_weight,
        unsupervised: args.unsupervised.then_some(Unsupervised {
            start: args.start_blocks,
            up: args.up,
            down: args.down,
        }),
    }
}
