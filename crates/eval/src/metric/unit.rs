use crate::format;

/// The scale of a metric's values, and how they read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Unit {
    /// A share 0..=1, shown as percent; differences in points.
    Share,
    /// A score 0..=10, shown with two decimals.
    Ten,
    /// Any other number, shown with three decimals.
    Plain,
}

impl Unit {
    /// Returns the least and the greatest value; both infinite where the scale is not known.
    #[must_use]
    pub fn range(self) -> (f64, f64) {
        match self {
            Unit::Share => (0.0, 1.0),
            Unit::Ten => (0.0, 10.0),
            Unit::Plain => (f64::NEG_INFINITY, f64::INFINITY),
        }
    }

    /// Returns the width of the scale, by which differences of several metrics are compared; 1 where it is not known.
    #[must_use]
    pub fn scale(self) -> f64 {
        match self {
            Unit::Ten => 10.0,
            Unit::Share | Unit::Plain => 1.0,
        }
    }

    /// A value on its own: `71.2 %`, `6.25`.
    #[must_use]
    pub fn value(self, x: f64) -> String {
        match self {
            Unit::Share => format::percent(x),
            Unit::Ten => format::decimal(x, 2),
            Unit::Plain => format::decimal(x, 3),
        }
    }

    /// A value in a table whose head names the unit: `71.2`, `6.25`.
    #[must_use]
    pub fn bare(self, x: f64) -> String {
        match self {
            Unit::Share => format::decimal(100.0 * x, 1),
            Unit::Ten => format::decimal(x, 2),
            Unit::Plain => format::decimal(x, 3),
        }
    }

    /// A difference with its sign, without unit: `+5.2`.
    #[must_use]
    pub fn difference(self, x: f64) -> String {
        match self {
            Unit::Share => format::signed(100.0 * x, 1),
            Unit::Ten => format::signed(x, 2),
            Unit::Plain => format::signed(x, 3),
        }
    }

    /// What a difference is counted in, with a space before it where there is a word.
    #[must_use]
    pub fn points(self) -> &'static str {
        match self {
            Unit::Share => " points",
            Unit::Ten | Unit::Plain => "",
        }
    }

    /// A unit for the head of a table's column or a chart's axis; empty where there is none.
    #[must_use]
    pub fn mark(self) -> &'static str {
        match self {
            Unit::Share => "%",
            Unit::Ten => "of 10",
            Unit::Plain => "",
        }
    }
}
