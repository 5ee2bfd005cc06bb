//! Averages of predictions, and reading again only where they leave doubt.

use super::model::{Logits, WeSWin};
use super::partition::{Partition, Window};
use super::plan::Plan;
use super::sequence::Sentences;
use super::weighting::Weighting;

/// Weighted means of probabilities, sentence by sentence.
pub(crate) struct Means {
    sums: Vec<f64>,
    weights: Vec<f64>,
}

impl Means {
    pub(crate) fn new(sentences: usize) -> Self {
        Self { sums: vec![0.0; sentences], weights: vec![0.0; sentences] }
    }

    /// Takes in the predictions of a sequence; `weights` has one number a sentence of `read`.
    pub(crate) fn add(&mut self, window: &Window, odds: &[f32], weights: &[f64]) {
        for (i, &odds) in window.active.clone().zip(odds) {
            let weight = weights[i - window.read.start];
            self.sums[i] += weight / (1.0 + (-f64::from(odds)).exp());
            self.weights[i] += weight;
        }
    }

    /// The mean of sentence `i`; 0 where nothing was predicted.
    fn mean(&self, i: usize) -> f64 {
        if self.weights[i] > 0.0 { self.sums[i] / self.weights[i] } else { 0.0 }
    }

    /// True where predictions of `weight` more, whatever they are, leave sentence `i` on its side of `tau`.
    fn decided(&self, i: usize, weight: f64, tau: f64) -> bool {
        let all = self.weights[i] + weight;
        let (least, most) = (self.sums[i] / all, (self.sums[i] + weight) / all);
        most <= tau || least > tau
    }

    pub(crate) fn all(&self) -> Vec<f64> {
        (0..self.sums.len()).map(|i| self.mean(i)).collect()
    }
}

/// Windows that are read together before their logits are averaged: bounds memory, and is enough to fill batches.
const STEP: usize = 1024;

impl WeSWin {
    /// The probability of a boundary after each sentence, document by document. `tau` is the threshold that `plan` reads
    /// for, where it is adaptive.
    ///
    /// # Errors
    /// As [`WeSWin::read`].
    pub fn probabilities(
        &self,
        documents: &[&Sentences],
        plan: Plan,
        weighting: Weighting,
        tau: f64,
    ) -> candle_core::Result<Vec<Vec<f64>>> {
        let mut means: Vec<Means> = documents.iter().map(|d| Means::new(d.len())).collect();
        let first = match plan {
            Plan::All(partition) => partition,
            Plan::Adaptive { base, .. } => base,
        };
        let all = documents.iter().enumerate();
        let all = all.flat_map(|(d, document)| self.windows(document, first).into_iter().map(move |w| (d, w)));
        let mut all = all.peekable();
        while all.peek().is_some() {
            let step: Vec<(usize, Window)> = all.by_ref().take(STEP).collect();
            self.take_in(documents, step, weighting, &mut means)?;
        }
        if let Plan::Adaptive { refine, margin, .. } = plan {
            self.refine(documents, refine, weighting, (tau, margin), &mut means)?;
        }
        Ok(means.iter().map(Means::all).collect())
    }

    fn take_in(
        &self,
        documents: &[&Sentences],
        windows: Vec<(usize, Window)>,
        weighting: Weighting,
        means: &mut [Means],
    ) -> candle_core::Result<()> {
        let owners: Vec<usize> = windows.iter().map(|(d, _)| *d).collect();
        for (owner, Logits { window, odds }) in owners.into_iter().zip(self.read(documents, windows)?) {
            let weights = weighting.weights(window.read.len(), &self.settings().curve);
            means[owner].add(&window, &odds, &weights);
        }
        Ok(())
    }

    /// Reads windows of `refine` around the sentences in doubt: in each round, for each of them, the unread window that
    /// weighs most. A sentence leaves doubt when the windows still unread cannot move it across the threshold.
    fn refine(
        &self,
        documents: &[&Sentences],
        refine: Partition,
        weighting: Weighting,
        (tau, margin): (f64, f64),
        means: &mut [Means],
    ) -> candle_core::Result<()> {
        let mut open: Vec<Open> = (documents.iter().zip(&*means).enumerate())
            .filter_map(|(d, (document, means))| {
                let last = document.len().saturating_sub(1);
                let doubt: Vec<usize> = (0..last).filter(|&i| (means.mean(i) - tau).abs() < margin).collect();
                (!doubt.is_empty()).then(|| Open::new(d, self.windows(document, refine), doubt))
            })
            .collect();
        loop {
            let mut chosen = Vec::new();
            for open in &mut open {
                let weigh = |w: &Window| weighting.weights(w.read.len(), &self.settings().curve);
                let next = open.choose(&means[open.document], tau, weigh);
                chosen.extend(next.into_iter().map(|w| (open.document, w)));
            }
            if chosen.is_empty() {
                return Ok(());
            }
            self.take_in(documents, chosen, weighting, means)?;
        }
    }
}

/// A document with sentences in doubt.
struct Open {
    document: usize,
    windows: Vec<Option<Window>>,
    doubt: Vec<usize>,
}

impl Open {
    fn new(document: usize, windows: Vec<Window>, doubt: Vec<usize>) -> Self {
        Self { document, windows: windows.into_iter().map(Some).collect(), doubt }
    }

    /// The windows to be read next, which count as read from here on; none when nothing is in doubt.
    fn choose(&mut self, means: &Means, tau: f64, weigh: impl Fn(&Window) -> Vec<f64>) -> Vec<Window> {
        let mut chosen: Vec<usize> = Vec::new();
        let windows = &self.windows;
        self.doubt.retain(|&i| {
            // Starts increase, so the windows that hold a sentence are neighbours.
            let unread = windows.iter().enumerate().filter_map(|(at, w)| {
                let w = w.as_ref().filter(|w| w.active.contains(&i))?;
                Some((at, weigh(w)[i - w.read.start]))
            });
            let unread: Vec<(usize, f64)> = unread.collect();
            let rest: f64 = unread.iter().map(|(_, weight)| weight).sum();
            let most = unread.iter().copied().reduce(|a, b| if b.1 > a.1 { b } else { a });
            match most {
                Some((at, _)) if !means.decided(i, rest, tau) => {
                    chosen.push(at);
                    true
                }
                _ => false,
            }
        });
        chosen.sort_unstable();
        chosen.dedup();
        chosen.into_iter().filter_map(|at| self.windows[at].take()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::{Means, Open};
    use crate::weswin::Window;

    fn window(start: usize, end: usize) -> Window {
        Window { read: start..end, active: start..end }
    }

    #[test]
    fn means_are_weighted() {
        let mut means = Means::new(3);
        means.add(&window(0, 2), &[0.0, 100.0], &[1.0, 1.0]);
        means.add(&window(1, 3), &[-100.0, 0.0], &[0.5, 1.0]);
        let all = means.all();
        assert!((all[0] - 0.5).abs() < 1e-12 && (all[1] - 2.0 / 3.0).abs() < 1e-12 && (all[2] - 0.5).abs() < 1e-12);
    }

    #[test]
    fn reading_ends_when_nothing_can_flip() {
        let mut means = Means::new(4);
        means.add(&window(0, 4), &[-9.0, 0.1, -9.0, -9.0], &[1.0; 4]);
        // 0.525 of weight 1: three windows more could flip it, whatever the first says.
        let mut open = Open::new(0, vec![window(0, 3), window(1, 4), window(2, 4)], vec![1]);
        let weigh = |w: &Window| if w.read.start == 1 { vec![0.9; 3] } else { vec![0.2; 3] };
        assert_eq!(open.choose(&means, 0.5, weigh), [window(1, 4)]);
        means.add(&window(1, 4), &[9.0, -9.0, -9.0], &[0.9; 3]);
        // The last window weighs 0.2: it cannot.
        assert!(open.choose(&means, 0.5, weigh).is_empty() && open.doubt.is_empty());
    }
}
