//! A kit of charts as inline SVG: it knows numbers, names and places, and nothing of runs or metrics. Colours come from
//! the page's style sheet by class, so that they follow the dark mode; every series has a colour and a marker of its own,
//! so that no chart depends on telling colours apart.

pub(crate) mod axis;
pub(crate) mod file;
mod forest;
mod histogram;
mod lines;
mod marks;
mod spark;

pub(crate) use forest::{Interval, forest};
pub(crate) use histogram::{SizeRow, histograms};
pub(crate) use lines::{LineChart, Point, Series, lines};
pub(crate) use marks::{COLOURS, WIDTH, at, badge, bar, class, figure, label, marker, rule};
pub(crate) use spark::{Spark, extremes};
