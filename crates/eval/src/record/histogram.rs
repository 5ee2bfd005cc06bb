//! Chunks by size.

use serde::{Deserialize, Serialize};

/// Chunks counted by their tokens: bin `i` holds sizes in `i * width .. (i + 1) * width`. One that is read has at most
/// 65,536 bins of at most 65,536 tokens, and at most 2^53 chunks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "AnyHistogram")]
pub struct Histogram {
    /// Width of a bin in tokens, at least 1.
    pub width: usize,
    /// Chunks in each bin; trailing empty bins are left out.
    pub counts: Vec<usize>,
    /// Chunks larger than the last possible bin.
    pub beyond: usize,
}

/// A histogram as a file says it.
#[derive(Deserialize)]
struct AnyHistogram {
    width: usize,
    counts: Vec<usize>,
    #[serde(default)]
    beyond: usize,
}

impl TryFrom<AnyHistogram> for Histogram {
    type Error = &'static str;

    fn try_from(found: AnyHistogram) -> Result<Self, Self::Error> {
        let AnyHistogram { width, counts, beyond } = found;
        let total = counts.iter().try_fold(beyond, |sum, count| sum.checked_add(*count));
        if !(1..=1 << 16).contains(&width) || counts.len() > 1 << 16 || total.is_none_or(|total| total as u64 > 1 << 53)
        {
            return Err("a histogram of chunk sizes has a width, bins or counts that no run has");
        }
        Ok(Self { width, counts, beyond })
    }
}

impl Histogram {
    /// Width of the bins that [`Histogram::of`] fills: fine enough to be drawn together with others on one axis.
    pub const WIDTH: usize = 8;
    /// Bins at most; with [`Histogram::WIDTH`] they reach to 4,096 tokens.
    pub const BINS: usize = 512;

    /// Counts chunk sizes given in tokens.
    #[must_use]
    pub fn of(tokens: impl IntoIterator<Item = usize>) -> Self {
        let (mut counts, mut beyond) = (Vec::new(), 0);
        for size in tokens {
            let bin = size / Self::WIDTH;
            if bin >= Self::BINS {
                beyond += 1;
                continue;
            }
            if counts.len() <= bin {
                counts.resize(bin + 1, 0);
            }
            if let Some(count) = counts.get_mut(bin) {
                *count += 1;
            }
        }
        Self { width: Self::WIDTH, counts, beyond }
    }

    /// All chunks counted.
    #[must_use]
    pub fn total(&self) -> usize {
        self.counts.iter().sum::<usize>() + self.beyond
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::Histogram;

    #[test]
    fn histogram_counts_every_chunk_once() {
        let histogram = Histogram::of([0, 7, 8, 4095, 4096, 1_000_000]);
        assert_eq!(&histogram.counts[..2], [2, 1]);
        assert_eq!((histogram.counts.len(), histogram.beyond, histogram.total()), (512, 2, 6));
        assert_eq!(Histogram::of([]).total(), 0);
    }

    #[test]
    fn a_histogram_from_a_file_can_be_added_up() {
        let read = |text: &str| serde_json::from_str::<Histogram>(text);
        let written = serde_json::to_string(&Histogram::of([3, 9, 5000])).unwrap();
        assert_eq!(read(&written).unwrap(), Histogram::of([3, 9, 5000]));
        for wrong in [
            r#"{"width":0,"counts":[1]}"#,
            r#"{"width":18446744073709551615,"counts":[1]}"#,
            r#"{"width":8,"counts":[18446744073709551615,1]}"#,
            r#"{"width":8,"counts":[1],"beyond":18446744073709551615}"#,
        ] {
            assert!(read(wrong).unwrap_err().to_string().contains("a histogram"), "{wrong}");
        }
    }
}
