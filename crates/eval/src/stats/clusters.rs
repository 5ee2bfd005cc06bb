//! Differences summed by document.

use super::mean;

/// The standard error of a mean: sd / sqrt(n), sd being the sample standard deviation (n - 1). `None` for fewer than two
/// values.
#[must_use]
pub fn standard_error(values: &[f64]) -> Option<f64> {
    let n = values.len();
    if n < 2 {
        return None;
    }
    let center = mean(values);
    let variance = values.iter().map(|x| (x - center).powi(2)).sum::<f64>() / (n - 1) as f64;
    Some((variance / n as f64).sqrt())
}

/// Paired differences of questions, summed by the document that answers them: questions of one document share its cuts,
/// so the document is the unit that is drawn and whose sign is flipped (Cameron, Gelbach and Miller 2008).
#[derive(Debug, Clone, PartialEq)]
pub struct Clustered {
    /// By document, the sum of its questions' differences.
    sums: Vec<f64>,
    /// By document, its questions.
    counts: Vec<f64>,
    /// Squared deviations of the questions' differences from their mean, summed.
    squares: f64,
}

impl Clustered {
    /// Sums differences by document: `documents[i]` is the number of the document of question i. Numbers need not be
    /// dense. `None` where the lists are empty or of different lengths, or a difference is not finite.
    #[must_use]
    pub fn new(differences: &[f64], documents: &[usize]) -> Option<Self> {
        if differences.is_empty()
            || differences.len() != documents.len()
            || !differences.iter().all(|difference| difference.is_finite())
        {
            return None;
        }
        let mut order: Vec<(usize, f64)> = documents.iter().copied().zip(differences.iter().copied()).collect();
        // Stable, so that sums have the order of the questions.
        order.sort_by_key(|(document, _)| *document);
        let (mut sums, mut counts, mut last) = (Vec::new(), Vec::new(), None);
        for (document, difference) in order {
            if last.replace(document) != Some(document) {
                sums.push(0.0);
                counts.push(0.0);
            }
            if let (Some(sum), Some(count)) = (sums.last_mut(), counts.last_mut()) {
                *sum += difference;
                *count += 1.0;
            }
        }
        let center = mean(differences);
        let squares = differences.iter().map(|difference| (difference - center).powi(2)).sum();
        Some(Self { sums, counts, squares })
    }

    /// Returns the number of documents.
    #[must_use]
    pub fn documents(&self) -> usize {
        self.sums.len()
    }

    /// Returns the number of questions.
    #[must_use]
    pub fn questions(&self) -> usize {
        self.counts.iter().sum::<f64>() as usize
    }

    /// Returns the sums by document.
    #[must_use]
    pub fn sums(&self) -> &[f64] {
        &self.sums
    }

    /// Returns the questions by document.
    #[must_use]
    pub fn counts(&self) -> &[f64] {
        &self.counts
    }

    /// Returns the mean over the questions: sum of d_j over sum of n_j.
    #[must_use]
    pub fn estimate(&self) -> f64 {
        self.sums.iter().sum::<f64>() / self.counts.iter().sum::<f64>()
    }

    /// Returns the standard error of the estimate from the variance by document: with e_j = d_j - estimate * n_j, the root
    /// of D / (D - 1) * sum e_j^2 / (sum n_j)^2, the linearised variance of a ratio (Cochran 1977, section 6.4). With one
    /// question each it is sd / sqrt(n). `None` for a single document.
    #[must_use]
    pub fn standard_error(&self) -> Option<f64> {
        let documents = self.documents() as f64;
        let (estimate, questions) = (self.estimate(), self.counts.iter().sum::<f64>());
        let residual = |(sum, count): (&f64, &f64)| (sum - estimate * count).powi(2);
        let squares: f64 = self.sums.iter().zip(&self.counts).map(residual).sum();
        (documents > 1.0).then(|| (documents / (documents - 1.0) * squares).sqrt() / questions)
    }

    /// Returns the design effect: the variance by document over the variance that the same questions would have, were they
    /// independent (Kish 1965). At 4, four hundred questions are worth one hundred. `None` where it cannot be had: a single
    /// document, or no difference that varies.
    #[must_use]
    pub fn design_effect(&self) -> Option<f64> {
        let n = self.counts.iter().sum::<f64>();
        let by_question = self.squares / (n - 1.0) / n;
        let by_document = self.standard_error()?.powi(2);
        // What sums of equal numbers leave behind is no variance.
        (n > 1.0 && by_question > 1e-24).then(|| by_document / by_question)
    }

    /// Returns the acceleration of BCa from the estimates without one document each (Efron and Tibshirani 1993, equation
    /// 14.15); 0 where they do not vary.
    pub(super) fn acceleration(&self) -> f64 {
        let (sum, count) = (self.sums.iter().sum::<f64>(), self.counts.iter().sum::<f64>());
        if self.documents() < 2 {
            return 0.0;
        }
        let without: Vec<f64> = self.sums.iter().zip(&self.counts).map(|(d, n)| (sum - d) / (count - n)).collect();
        let center = mean(&without);
        let moment = |power: i32| without.iter().map(|x| (center - x).powi(power)).sum::<f64>();
        let spread = moment(2).powf(1.5);
        if spread > 1e-30 { moment(3) / (6.0 * spread) } else { 0.0 }
    }
}

/// The number of each name, from 0 in the order of first appearance.
#[must_use]
pub fn numbered<S: AsRef<str>>(names: &[S]) -> Vec<usize> {
    let mut known: std::collections::HashMap<&str, usize> = std::collections::HashMap::new();
    names
        .iter()
        .map(|name| {
            let next = known.len();
            *known.entry(name.as_ref()).or_insert(next)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn one_question_each_is_the_plain_standard_error() {
        let values = [0.3, -0.1, 0.0, 0.7, 0.2];
        let each = Clustered::new(&values, &[4, 3, 2, 1, 0]).unwrap();
        assert!((each.standard_error().unwrap() - standard_error(&values).unwrap()).abs() < 1e-15);
        assert!((each.design_effect().unwrap() - 1.0).abs() < 1e-12);
        assert_eq!((each.documents(), each.questions()), (5, 5));
    }

    #[test]
    fn questions_that_repeat_each_other_count_once() {
        let once = [0.4, -0.2, 0.1, 0.0, 0.3, -0.1];
        let (mut values, mut documents) = (Vec::new(), Vec::new());
        for (document, value) in once.iter().enumerate() {
            values.extend([*value; 5]);
            documents.extend([document; 5]);
        }
        let five = Clustered::new(&values, &documents).unwrap();
        assert!((five.standard_error().unwrap() - standard_error(&once).unwrap()).abs() < 1e-12);
        // 30 questions with the variance of 6: (30 - 1) / (6 - 1).
        assert!((five.design_effect().unwrap() - 29.0 / 5.0).abs() < 1e-9);
    }

    #[test]
    fn what_cannot_be_had_is_absent() {
        let one = Clustered::new(&[0.1, 0.5], &[7, 7]).unwrap();
        assert_eq!((one.standard_error(), one.design_effect(), one.acceleration()), (None, None, 0.0));
        assert_eq!(Clustered::new(&[0.0; 4], &[0, 0, 1, 1]).unwrap().design_effect(), None);
        assert_eq!(Clustered::new(&[], &[]), None);
        assert_eq!(Clustered::new(&[f64::NAN], &[0]), None);
        assert_eq!(numbered(&["b", "a", "b"]), [0, 1, 0]);
    }
}
