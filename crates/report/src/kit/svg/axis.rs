//! Scales and their ticks.

/// A linear scale from values to coordinates.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scale {
    pub low: f64,
    pub high: f64,
    from: f64,
    to: f64,
}

impl Scale {
    /// Maps `low..=high` to `from..=to`. A range without extent maps to the middle.
    pub fn new((low, high): (f64, f64), (from, to): (f64, f64)) -> Self {
        Self { low, high, from, to }
    }

    /// The coordinate of a value.
    pub fn at(&self, value: f64) -> f64 {
        let extent = self.high - self.low;
        if extent.abs() < f64::EPSILON {
            return f64::midpoint(self.from, self.to);
        }
        self.from + (value - self.low) / extent * (self.to - self.from)
    }
}

/// A step of 1, 2 or 5 times a power of ten that cuts `extent` into at most `parts`.
pub(crate) fn step(extent: f64, parts: f64) -> f64 {
    if !extent.is_finite() || extent <= 0.0 {
        return 1.0;
    }
    let raw = extent / parts;
    let power = 10_f64.powf(raw.log10().floor());
    [1.0, 2.0, 5.0, 10.0].into_iter().map(|m| m * power).find(|s| *s >= raw * (1.0 - 1e-9)).unwrap_or(10.0 * power)
}

/// The multiples of `step` from `low` to `high`, at most a hundred.
pub(crate) fn ticks(low: f64, high: f64, step: f64) -> Vec<f64> {
    if !(low.is_finite() && high.is_finite() && step > 0.0) {
        return Vec::new();
    }
    let first = (low / step - 1e-9).ceil();
    (0..100).map(|i| (first + f64::from(i)) * step).take_while(|x| *x <= high + step * 1e-9).collect()
}

/// A range with round ends that holds all values with some air, at least `least` wide, and within `bounds`.
pub(crate) fn around(values: impl IntoIterator<Item = f64>, least: f64, bounds: (f64, f64)) -> (f64, f64) {
    let (mut low, mut high) = (f64::INFINITY, f64::NEG_INFINITY);
    for value in values.into_iter().filter(|x| x.is_finite()) {
        low = low.min(value);
        high = high.max(value);
    }
    if low > high {
        return (bounds.0.max(0.0), bounds.1.min(bounds.0.max(0.0) + least));
    }
    let air = ((high - low) * 0.12).max((least - (high - low)) / 2.0);
    let (mut low, mut high) = ((low - air).max(bounds.0), (high + air).min(bounds.1));
    // From a low start it is no loss to begin at zero, and it spares the reader a doubt.
    if low > 0.0 && low < 0.4 * high {
        low = bounds.0.max(0.0);
    }
    // Widening to whole ticks may call for wider ticks; that ends after a step or two.
    for _ in 0..4 {
        let unit = step(high - low, 5.0);
        let wider = ((low / unit + 1e-9).floor() * unit, (high / unit - 1e-9).ceil() * unit);
        let done = wider == (low, high);
        (low, high) = wider;
        if done {
            break;
        }
    }
    (low, high)
}

/// The range of the values with a little air; its ends need not be round.
pub(crate) fn padded(values: impl IntoIterator<Item = f64>) -> (f64, f64) {
    let ends = |(low, high): (f64, f64), x: f64| (low.min(x), high.max(x));
    let (low, high) = values.into_iter().filter(|x| x.is_finite()).fold((f64::INFINITY, f64::NEG_INFINITY), ends);
    if low > high {
        return (-1.0, 1.0);
    }
    let air = if high > low { 0.05 * (high - low) } else { 1.0 };
    (low - air, high + air)
}

/// The tops of blocks of these heights, one below the other from `top` on, and the end of the last.
pub(crate) fn stacked(top: f64, heights: impl IntoIterator<Item = f64>) -> (Vec<f64>, f64) {
    let mut end = top;
    let next = |height: f64| {
        let top = end;
        end += height;
        top
    };
    let tops = heights.into_iter().map(next).collect();
    (tops, end)
}

/// As many decimals as the ticks need.
pub(crate) fn decimals(step: f64) -> usize {
    (0..6).find(|&d| (step * 10_f64.powi(d) - (step * 10_f64.powi(d)).round()).abs() < 1e-6).unwrap_or(6) as usize
}

#[cfg(test)]
mod tests {
    use super::{Scale, around, decimals, padded, step, ticks};

    #[test]
    fn steps_are_round() {
        assert_eq!(step(1.0, 5.0), 0.2);
        assert_eq!(step(37.0, 5.0), 10.0);
        assert_eq!(step(0.0, 5.0), 1.0);
        assert_eq!(decimals(0.25), 2);
        assert_eq!(decimals(50.0), 0);
    }

    #[test]
    fn ticks_stay_inside() {
        assert_eq!(ticks(0.0, 1.0, 0.5), [0.0, 0.5, 1.0]);
        assert_eq!(ticks(-3.0, 5.0, 2.0), [-2.0, 0.0, 2.0, 4.0]);
        assert!(ticks(f64::NAN, 1.0, 0.5).is_empty());
    }

    #[test]
    fn ranges_hold_their_values() {
        let (low, high) = around([62.0, 71.0], 10.0, (0.0, 100.0));
        assert!(low <= 62.0 && high >= 71.0 && low > 0.0, "{low} {high}");
        assert_eq!((low, high), (60.0, 75.0));
        assert_eq!(around([2.0, 30.0], 10.0, (0.0, 100.0)).0, 0.0);
        assert_eq!(around([99.0, 100.0], 10.0, (0.0, 100.0)).1, 100.0);
        assert_eq!(around([f64::NAN], 10.0, (0.0, 100.0)), (0.0, 10.0));
        assert_eq!(padded([-10.0, f64::NAN, 10.0]), (-11.0, 11.0));
        assert_eq!(padded([0.0, 0.0]), (-1.0, 1.0));
    }

    #[test]
    fn a_range_without_extent_is_drawn_in_the_middle() {
        assert_eq!(Scale::new((3.0, 3.0), (0.0, 100.0)).at(3.0), 50.0);
    }
}
