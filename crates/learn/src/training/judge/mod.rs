//! Training of the judge and the reasoner of CogLTX.

mod data;
mod fit;
mod loss;
mod options;
mod pairs;
mod sample;
mod unsupervised;
mod validation;

pub use data::{AnswerTokens, JudgeData, JudgeQuestion, JudgeText};
pub use fit::train_judge;
pub use options::{ELSEWHERE, JudgeOptions, ORDER_WEIGHT, Unsupervised};
pub use pairs::{PairOptions, pairs_of};
