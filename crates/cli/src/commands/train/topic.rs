//! `pericope train topic`

use clap::{Args, ValueEnum};
use pericope_learn::corpus::{Headings, Record, SequenceDocument};
use pericope_learn::topic::{CHECKPOINT, Checkpoint, Recurrence, Sizes, Without, open};
use pericope_learn::training::{Part, TopicData, TopicOptions, train_topic};

use super::adapt::Adapting;
use super::over_vectors::{OverVectorsArgs, check_vectors, watched};
use super::report::{Done, notes};
use super::shared::CourseArgs;
use crate::status::{Failure, Outcome, Status};

pub const TRAIN_TOPIC_EXAMPLES: &str = "Examples:
  pericope train embed --data data/train --out vectors
  pericope train topic --data data/train --vectors vectors --out models/topic
  pericope train topic --data data/train --vectors vectors --held-out data/heldout --by source --out models/topic
  pericope train topic --data own.jsonl --vectors vectors --start models/topic --learning-rate 1e-4 --out models/tuned
  pericope train embed --data own.jsonl --for shipped --out own-vectors
  pericope train topic --data own.jsonl --vectors own-vectors --start shipped --adapt --test 0.3 --out models/mine
  pericope segment README.md --segmenter topic:model=models/topic,granularity=fine

An example is a run of sentences of a document. Headings are left out of half of them, and are sentences in the others, which half
of the examples know as headings. A part of the examples is joined with runs of other documents (--joined), and of a part with
known paragraphs these are hidden (--hidden-paragraphs). The model with the best F1 on the validation documents is kept, and the
weights of words and lengths beside it are those with the best F1 there where the number of sections is not known. Stopped
at any moment, the same command goes on from the state in --out, which is saved once a minute: at most the last 60 seconds are
lost.";

/// `pericope train topic`
#[derive(Debug, Args)]
pub struct TrainTopicArgs {
    #[command(flatten)]
    pub common: OverVectorsArgs,
    /// What of the model of --start is fitted; numbers: the weights of sequence model, words, lengths and boundaries alone, on the
    /// documents for validation; heads: its upper layers too
    #[arg(long, value_name = "PART", default_value = "all", value_enum, requires_ifs = [("numbers", "start"), ("heads", "start")])]
    pub fit: Fit,
    /// Fit to these documents nothing but the weights of words, lengths and bias (numbers), the upper layers too (heads), and all
    /// of the model of --start; measure all on the test documents, and take the cheapest that may be as good as the best
    #[arg(long, requires = "start", conflicts_with_all = ["no_holdout", "fit"])]
    pub adapt: bool,
    /// Units of each direction of a layer [default: 192, or those of --start]
    #[arg(long, value_name = "N")]
    pub hidden: Option<usize>,
    /// Numbers that a sentence's vector is projected to [default: 256, or those of --start]
    #[arg(long, value_name = "N")]
    pub projection: Option<usize>,
    /// Layers that read in both directions [default: 2, or those of --start]
    #[arg(long, value_name = "N")]
    pub layers: Option<usize>,
    /// Units of the layer that says whether a gap is a boundary [default: 128, or those of --start]
    #[arg(long, value_name = "N")]
    pub head: Option<usize>,
    /// Numbers of the vector of a cue, a word that a sentence begins or ends with; 0: none is read [default: 16, or that of --start]
    #[arg(long, value_name = "N")]
    pub cue: Option<usize>,
    /// What reads the rows in both directions [default: lstm, or that of --start]
    #[arg(long, value_name = "KIND")]
    pub recurrence: Option<RecurrenceArg>,
    /// What is left unread beside the vectors, to see what it gives; those of --start where none is named
    #[arg(long, value_name = "KIND", value_delimiter = ',', conflicts_with = "adapt")]
    pub without: Vec<WithoutArg>,
    /// Sentences of an example, at most
    #[arg(long, value_name = "N", default_value_t = 256)]
    pub window: usize,
    /// Share of the examples that are joined with runs of other documents, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.4)]
    pub joined: f64,
    /// Share of the examples with known paragraphs that do not know them, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.5)]
    pub hidden_paragraphs: f64,
    /// Share of the examples in which a paragraph is a sentence, as in texts that are given so, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.1)]
    pub paragraph_units: f64,
    /// Passes over the documents
    #[arg(long, value_name = "X", default_value_t = 6.0)]
    pub epochs: f64,
    /// Examples of a step
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub batch: usize,
    /// Highest learning rate
    #[arg(long, value_name = "X", default_value_t = 1e-3)]
    pub learning_rate: f64,
    /// Share of the steps in which the learning rate rises from 0; then it falls to 0 at the end
    #[arg(long, value_name = "SHARE", default_value_t = 0.05)]
    pub warm_up: f64,
    /// Weight decay
    #[arg(long, value_name = "X", default_value_t = 0.01)]
    pub decay: f64,
    /// Share of units that are left out at random, 0 to 1
    #[arg(long, value_name = "SHARE", default_value_t = 0.3)]
    pub dropout: f64,
    /// Norm that a gradient is scaled down to where it is longer
    #[arg(long, value_name = "X", default_value_t = 1.0)]
    pub clip: f64,
    #[command(flatten)]
    pub course: CourseArgs,
}

/// What of a model is fitted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Fit {
    /// The weights beside the model
    Numbers,
    /// Its upper layers, and those weights
    Heads,
    /// All of it
    All,
}

impl From<Fit> for Part {
    fn from(fit: Fit) -> Self {
        match fit {
            Fit::Numbers => Self::Numbers,
            Fit::Heads => Self::Heads,
            Fit::All => Self::All,
        }
    }
}

/// The layers that read a document in both directions.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum RecurrenceArg {
    /// Long short-term memory
    Lstm,
    /// A gated linear recurrence (minGRU): no matrix product at a step
    Gated,
}

impl From<RecurrenceArg> for Recurrence {
    fn from(arg: RecurrenceArg) -> Self {
        match arg {
            RecurrenceArg::Lstm => Self::Lstm,
            RecurrenceArg::Gated => Self::Gated,
        }
    }
}

/// Numbers beside the vectors of sentences.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum WithoutArg {
    /// Length, first and last character, capitals, headings
    Form,
    /// Cosines on both sides of a gap
    Cosines,
    /// What words on both sides of a gap say
    Words,
    /// Ends of paragraphs
    Paragraphs,
}

/// What those leave unread.
fn without(kinds: &[WithoutArg]) -> Without {
    let is = |kind| kinds.contains(&kind);
    Without {
        form: is(WithoutArg::Form),
        cosines: is(WithoutArg::Cosines),
        words: is(WithoutArg::Words),
        paragraphs: is(WithoutArg::Paragraphs),
    }
}

/// Runs the command.
pub fn run(args: &TrainTopicArgs, quiet: bool) -> Outcome {
    let common = &args.common;
    let vectors = common.vectors()?;
    let start = common.start.as_deref().map(open).transpose().map_err(Failure::usage)?;
    let options = options(args, start.as_ref(), vectors.dimension());
    let corpus = common.corpus()?;
    let tested: &[Record] = if args.adapt { &corpus.test } else { &[] };
    for record in corpus.train.iter().chain(&corpus.validation).chain(tested) {
        let all = SequenceDocument::new(record, Headings::Kept);
        check_vectors(&vectors, all.sentences.iter().map(String::as_str))?;
    }
    let notes = notes(&common.data, corpus.train.len(), "");
    if let (Some(start), true) = (&start, args.adapt) {
        let (corpus, vectors, out, json) = (&corpus, &vectors, common.out.as_path(), args.course.json);
        return Adapting { start, corpus, vectors, options, out, notes, quiet, json }.run();
    }
    let (mut train, mut validation) = (corpus.train.as_slice(), corpus.validation.as_slice());
    if args.fit == Fit::Numbers {
        // A few numbers are fitted on the documents for validation, the usual lengths on those to train on: ten pages may have one kind.
        validation = if validation.is_empty() { train } else { validation };
        train = if train.is_empty() { validation } else { train };
    }
    let data = TopicData { train, validation, vectors: &vectors };
    let report =
        watched(&corpus, quiet, |tell| train_topic(start.as_ref(), &data, &options, &common.out, &notes, tell));
    let Some(report) = report? else { return Ok(Status::Interrupted) };
    let settings = Checkpoint::read(&common.out.join(CHECKPOINT)).map_err(Failure::runtime)?.settings;
    let (name, out, unreadable) = ("topic", common.out.as_path(), corpus.skipped.count);
    let done = Done { name, out, split: corpus.report, questions: None, unreadable, report, settings, options };
    done.tell(args.course.json, "as many sections as are best for F1 and WindowDiff together")
}

fn options(args: &TrainTopicArgs, start: Option<&Checkpoint>, dimension: usize) -> TopicOptions {
    let sizes = start.map_or_else(|| Sizes { input: dimension, ..Sizes::default() }, |start| start.settings.sizes);
    TopicOptions {
        part: args.fit.into(),
        sizes: Sizes {
            input: sizes.input,
            projection: args.projection.unwrap_or(sizes.projection),
            hidden: args.hidden.unwrap_or(sizes.hidden),
            layers: args.layers.unwrap_or(sizes.layers),
            head: args.head.unwrap_or(sizes.head),
            cue: args.cue.unwrap_or(sizes.cue),
            recurrence: args.recurrence.map_or(sizes.recurrence, Into::into),
            without: if args.without.is_empty() { sizes.without } else { without(&args.without) },
        },
        window: args.window,
        joined: args.joined,
        hidden_paragraphs: args.hidden_paragraphs,
        paragraph_units: args.paragraph_units,
        epochs: args.epochs,
        batch: args.batch,
        learning_rate: args.learning_rate,
        warm_up: args.warm_up,
        decay: args.decay,
        dropout: args.dropout,
        clip: args.clip,
        validations: args.course.validations,
        patience: args.course.patience,
        max_steps: args.course.max_steps,
        seed: args.course.seed,
    }
}
