use std::ops::Range;

use serde::{Deserialize, Serialize};

/// The reason for which a list of numbers is not a segmentation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BoundaryError {
    /// A boundary at 0, at the document's end or beyond it.
    #[error("boundary {boundary} is outside 1..={last} (the document has {sentences} sentences, and its end is not listed)",
        last = sentences.saturating_sub(1))]
    OutOfRange {
        /// The offending boundary.
        boundary: usize,
        /// The number of sentences of the document.
        sentences: usize,
    },
    /// Boundaries that repeat or go back.
    #[error("boundaries must increase: {next} follows {previous}")]
    NotIncreasing {
        /// The boundary before.
        previous: usize,
        /// The boundary that does not come after it.
        next: usize,
    },
}

/// A segmentation of `n` sentences: strictly increasing indices `b`, `1 <= b <= n - 1`; a segment ends after the
/// `b`-th sentence (1-based). The document's end is never listed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Boundaries {
    sentences: usize,
    after: Vec<usize>,
}

impl Boundaries {
    /// Checks and wraps `after`.
    ///
    /// # Errors
    /// [`BoundaryError`] for an index out of range, or a list that does not increase.
    pub fn new(sentences: usize, after: Vec<usize>) -> Result<Self, BoundaryError> {
        let mut previous = 0;
        for &boundary in &after {
            if boundary == 0 || boundary >= sentences {
                return Err(BoundaryError::OutOfRange { boundary, sentences });
            }
            if boundary <= previous {
                return Err(BoundaryError::NotIncreasing { previous, next: boundary });
            }
            previous = boundary;
        }
        Ok(Self { sentences, after })
    }

    /// Returns one segment: no boundary at all.
    #[must_use]
    pub fn none(sentences: usize) -> Self {
        Self { sentences, after: Vec::new() }
    }

    /// Returns the gaps whose score lies above `threshold`; `scores[i]` belongs to the gap after sentence `i + 1`, so a document of n
    /// sentences has n - 1 scores.
    #[must_use]
    pub fn above(scores: &[f64], threshold: f64) -> Self {
        let after = scores.iter().enumerate().filter(|&(_, &s)| s > threshold).map(|(i, _)| i + 1).collect();
        Self { sentences: scores.len() + 1, after }
    }

    /// Returns the `count` gaps with the highest scores (all gaps, if there are fewer); ties go to the left.
    #[must_use]
    pub fn top(scores: &[f64], count: usize) -> Self {
        let mut order: Vec<usize> = (0..scores.len()).collect();
        order.sort_by(|&a, &b| scores[b].total_cmp(&scores[a]).then(a.cmp(&b)));
        order.truncate(count);
        order.sort_unstable();
        Self { sentences: scores.len() + 1, after: order.into_iter().map(|i| i + 1).collect() }
    }

    /// The boundary indices.
    #[must_use]
    pub fn after(&self) -> &[usize] {
        &self.after
    }

    /// The number of sentences of the document.
    #[must_use]
    pub fn sentences(&self) -> usize {
        self.sentences
    }

    /// The number of segments: boundaries + 1, or 0 for a document without sentences.
    #[must_use]
    pub fn segments(&self) -> usize {
        if self.sentences == 0 { 0 } else { self.after.len() + 1 }
    }

    /// The numbers of the sentences (1-based) after which a paragraph ends, where a data set gives `given`: without the
    /// document's end, and with every boundary, since a segment ends with its last paragraph. Nothing where nothing is given.
    ///
    /// ```
    /// let boundaries = pericope_api::Boundaries::new(4, vec![3])?;
    /// assert_eq!(boundaries.paragraph_ends(vec![1, 4])?, [1, 3]);
    /// assert_eq!(boundaries.paragraph_ends(vec![])?, []);
    /// # Ok::<(), pericope_api::BoundaryError>(())
    /// ```
    ///
    /// # Errors
    /// [`BoundaryError`] where they do not increase, or lie outside the document.
    pub fn paragraph_ends(&self, mut given: Vec<usize>) -> Result<Vec<usize>, BoundaryError> {
        given.pop_if(|last| *last == self.sentences());
        if given.is_empty() {
            return Ok(given);
        }
        let mut ends = Self::new(self.sentences(), given)?.after().to_vec();
        ends.extend(self.after());
        ends.sort_unstable();
        ends.dedup();
        Ok(ends)
    }

    /// The segments as half-open ranges of 0-based sentence indices.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        let starts = std::iter::once(0).chain(self.after.iter().copied());
        let ends = self.after.iter().copied().chain(std::iter::once(self.sentences));
        starts.zip(ends).filter(|(start, end)| start < end).map(|(start, end)| start..end)
    }

    /// Segment lengths in sentences, in order ("masses" in segeval).
    pub fn masses(&self) -> impl Iterator<Item = usize> + '_ {
        self.ranges().map(|range| range.len())
    }
}

#[cfg(test)]
mod tests {
    use super::{Boundaries, BoundaryError};

    #[test]
    fn the_end_of_the_document_is_no_boundary() {
        assert!(Boundaries::new(3, vec![1, 2]).is_ok());
        assert_eq!(Boundaries::new(3, vec![3]), Err(BoundaryError::OutOfRange { boundary: 3, sentences: 3 }));
        assert_eq!(Boundaries::new(0, vec![]).map(|b| b.segments()), Ok(0));
        assert_eq!(Boundaries::new(9, vec![4, 4]), Err(BoundaryError::NotIncreasing { previous: 4, next: 4 }));
    }

    #[test]
    fn masses_sum_to_the_sentences() {
        let b = Boundaries::new(9, vec![2, 3, 8]).unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(b.masses().collect::<Vec<_>>(), [2, 1, 5, 1]);
        assert_eq!(b.segments(), 4);
    }

    #[test]
    fn top_breaks_ties_to_the_left() {
        assert_eq!(Boundaries::top(&[0.2, 0.9, 0.2, 0.9], 3).after(), [1, 2, 4]);
        assert_eq!(Boundaries::above(&[0.5, 0.6], 0.5).after(), [2]);
    }
}
