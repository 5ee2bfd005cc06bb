//! Segmentations of least cost: dynamic programmes over a table of what every possible segment costs.
//!
//! Several segmenters differ in nothing but the cost of a segment. They fill a [`SegmentCosts`], which knows the cheapest
//! segmentation with a given number of segments, the cheapest one at a given price a segment, and how much of all the
//! probability lies on segmentations that have a boundary at a gap.

mod counting;
mod exp;
mod marginals;
mod table;
#[cfg(test)]
mod tests;

pub use marginals::scores;
pub use table::SegmentCosts;
