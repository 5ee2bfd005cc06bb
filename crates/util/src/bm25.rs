use std::collections::HashMap;

/// How much a term's frequency counts, and a document's length.
const K1: f64 = 1.2;
const B: f64 = 0.75;

/// BM25 (Robertson and Zaragoza 2009) over short texts of ids, with Lucene's never negative idf.
#[derive(Debug, Clone, Default)]
pub struct Bm25 {
    /// Texts by term, with its frequency in each.
    postings: HashMap<u32, Vec<(usize, u32)>>,
    lengths: Vec<usize>,
}

impl Bm25 {
    /// Takes texts in.
    pub fn new<'a>(texts: impl IntoIterator<Item = &'a [u32]>) -> Self {
        let mut made = Self::default();
        for (i, text) in texts.into_iter().enumerate() {
            made.lengths.push(text.len());
            for &term in text {
                let postings = made.postings.entry(term).or_default();
                match postings.last_mut() {
                    Some((last, count)) if *last == i => *count += 1,
                    _ => postings.push((i, 1)),
                }
            }
        }
        made
    }

    /// The score of every text for a query, at least 0. A term that stands twice in the query counts once.
    #[must_use]
    pub fn scores(&self, query: &[u32]) -> Vec<f64> {
        let n = self.lengths.len() as f64;
        let mean = (self.lengths.iter().sum::<usize>() as f64 / n.max(1.0)).max(1.0);
        let mut scores = vec![0.0; self.lengths.len()];
        let mut terms = query.to_vec();
        terms.sort_unstable();
        terms.dedup();
        for postings in terms.iter().filter_map(|term| self.postings.get(term)) {
            let df = postings.len() as f64;
            let idf = (1.0 + (n - df + 0.5) / (df + 0.5)).ln();
            for &(i, count) in postings {
                let (tf, length) = (f64::from(count), self.lengths[i] as f64);
                scores[i] += idf * tf * (K1 + 1.0) / (tf + K1 * (1.0 - B + B * length / mean));
            }
        }
        scores
    }
}

#[cfg(test)]
mod tests {
    use super::Bm25;

    /// By hand: n = 3, df = 2, mean length 2.
    #[test]
    fn scores_by_hand() {
        let texts: [&[u32]; 3] = [&[1, 2], &[1, 1, 1], &[3]];
        let found = Bm25::new(texts).scores(&[1, 1, 9]);
        let idf = (1.0f64 + 1.5 / 2.5).ln();
        let expected = [idf * 2.2 / 2.2, idf * 3.0 * 2.2 / (3.0 + 1.2 * (0.25 + 0.75 * 1.5)), 0.0];
        assert!(found.iter().zip(expected).all(|(a, b)| (a - b).abs() < 1e-12), "{found:?}");
        assert!(Bm25::new([]).scores(&[1]).is_empty());
    }
}
