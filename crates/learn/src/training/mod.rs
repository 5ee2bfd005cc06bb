//! Training on candle: AdamW with warm-up, frozen lower layers whose outputs are kept on disk, gradient accumulation,
//! early stopping, and a state on disk that an interrupted run goes on from.

mod adamw;
mod data;
mod events;
mod feed;
mod fit;
mod frozen;
mod gradients;
mod hiercrf;
mod judge;
mod nsp;
mod numbers;
mod options;
mod over_vectors;
mod pairs;
mod ranking;
mod robert;
mod runs;
mod sequences;
mod sitting;
mod state;
mod topic;
mod tune;
mod variables;
mod weswin;

pub use adamw::{AdamW, Moments, Schedule};
pub use data::{AskedDocument, Data, LabelledDocument, PreparedQuestion};
pub use events::{Event, Judged, Ranking, TrainReport, Validation, Watch};
pub use feed::Feed;
pub use fit::check_target;
pub use hiercrf::{HierCrfOptions, Metric, TreeData, TreeDocument, Ways, train_hiercrf};
pub use judge::{
    AnswerTokens, ELSEWHERE, JudgeData, JudgeOptions, JudgeQuestion, JudgeText, ORDER_WEIGHT, PairOptions,
    Unsupervised, pairs_of, train_judge,
};
pub use nsp::train_nsp;
pub use options::{Options, TrainError};
pub use over_vectors::VectorSource;
pub use pairs::{Pair, pairs};
pub(crate) use robert::train_robert;
pub use runs::Example;
pub use topic::{Part, TopicData, TopicOptions, topic_examples, topic_f1, topic_validation, train_topic};
pub use tune::{Grid, Tried, Tuning, tune};
pub use weswin::train_weswin;
