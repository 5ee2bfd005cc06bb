//! Segmenters that compare the words of neighbouring text.

mod bayesseg;
mod c99;
mod cohesion;
#[cfg(test)]
mod languages;
mod path;
mod ranks;
#[cfg(test)]
mod samples;
mod texttiling;
mod u00;
mod words;

pub(crate) use bayesseg::BAYESSEG;
pub use bayesseg::BayesSeg;
pub use c99::C99;
pub(crate) use c99::C99_ENTRY;
pub(crate) use texttiling::TEXTTILING;
pub use texttiling::TextTiling;
pub use u00::U00;
pub(crate) use u00::U00_ENTRY;
pub(crate) use words::Words;
