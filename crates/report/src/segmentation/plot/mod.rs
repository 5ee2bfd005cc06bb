//! Plots of segmentations: a bar a segmenter with a tile a segment, and bars of scores.
//!
//! The functions that end in `_svg` make files that stand alone; the others draw the same into a page.

mod bars;
mod document;
mod speed;
mod tiles;

pub use bars::{Bar, BarGroup, bars_svg, groups};
pub(crate) use bars::{NOTE as BARS_NOTE, bars};
pub(crate) use document::shown;
pub use document::{DocumentPlot, TileRow, extremes};
pub(crate) use speed::speed;
pub use speed::{SpeedPoint, speed_svg, speeds};
pub(crate) use tiles::tiles;
pub use tiles::{MOST_DOCUMENTS, MOST_ROWS, tiles_svg};
