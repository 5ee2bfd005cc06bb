//! Averages of predictions, and reading again only where they leave doubt.

use std::collections::HashMap;
use std::ops::Range;

use super::model::{Logits, WeSWin};
use super::partition::{Partition, Window};
use super::plan::Plan;
use super::weighting::{Curve, Weighting};
use crate::sentences::Sentences;

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

    /// Takes in what is known of a window's sentences where they were context of a window that read the same.
    fn add_spare(&mut self, window: &Window, known: &[Option<f32>], weights: &[f64]) {
        for i in window.active.clone() {
            if let Some(odds) = known[i - window.read.start] {
                self.add(&Window { read: window.read.clone(), active: i..i + 1 }, &[odds], weights);
            }
        }
    }

    /// The mean of sentence `i`; 0 where nothing was predicted.
    fn mean(&self, i: usize) -> f64 {
        if self.weights[i] > 0.0 { self.sums[i] / self.weights[i] } else { 0.0 }
    }

    /// True where predictions of `weight` more, whatever they are, leave sentence `i` on its side of `threshold`.
    fn decided(&self, i: usize, weight: f64, threshold: f64) -> bool {
        let all = self.weights[i] + weight;
        let (least, most) = (self.sums[i] / all, (self.sums[i] + weight) / all);
        most <= threshold || least > threshold
    }

    pub(crate) fn all(&self) -> Vec<f64> {
        (0..self.sums.len()).map(|i| self.mean(i)).collect()
    }
}

/// Windows that are read together before their logits are averaged: bounds memory, and is enough to fill batches.
const STEP: usize = 1024;

/// The log-odds of sentences that a base window read as context, by the sentences that it read; none where one was
/// labelled. A refining window that reads the same sentences would give the same numbers.
type Spare = HashMap<Range<usize>, Vec<Option<f32>>>;

impl WeSWin {
    /// The probability of a boundary after each sentence, document by document. `threshold` is the threshold that `plan` reads
    /// for, where it is adaptive.
    ///
    /// Sequences of all documents are sorted by length and read in common batches, some 1,000 at a time; what is found for a
    /// document does not depend on the others.
    ///
    /// # Errors
    /// As [`WeSWin::read`].
    pub fn probabilities(
        &self,
        documents: &[&Sentences],
        plan: Plan,
        weighting: Weighting,
        threshold: f64,
    ) -> candle_core::Result<Vec<Vec<f64>>> {
        let mut means: Vec<Means> = documents.iter().map(|d| Means::new(d.len())).collect();
        let mut weigh = Weights::new(weighting, &self.settings().curve);
        let (first, adaptive) = match plan {
            Plan::All(partition) => (partition, false),
            Plan::Adaptive { base, .. } => (base, true),
        };
        let mut spare: Vec<Spare> = vec![Spare::new(); documents.len()];
        let all = documents.iter().enumerate();
        let all = all.flat_map(|(d, document)| self.windows(document, first).into_iter().map(move |w| (d, w)));
        let mut all = all.peekable();
        while all.peek().is_some() {
            let step: Vec<(usize, Window)> = all.by_ref().take(STEP).collect();
            if !adaptive {
                self.take_in(documents, step, &mut weigh, &mut means)?;
                continue;
            }
            // Labels of context cost nothing, and may be asked for below.
            let whole = step.iter().map(|(d, w)| (*d, Window { read: w.read.clone(), active: w.read.clone() }));
            let read = self.read(documents, whole.collect())?;
            for ((d, window), Logits { odds, .. }) in step.into_iter().zip(read) {
                let start = window.read.start;
                let labelled = window.active.start - start..window.active.end - start;
                means[d].add(&window, &odds[labelled.clone()], weigh.of(window.read.len()));
                let spare = spare[d].entry(window.read).or_insert_with(|| odds.into_iter().map(Some).collect());
                spare[labelled].fill(None);
            }
        }
        if let Plan::Adaptive { refine, margin, .. } = plan {
            self.refine(documents, refine, (threshold, margin), &spare, &mut weigh, &mut means)?;
        }
        Ok(means.iter().map(Means::all).collect())
    }

    fn take_in(
        &self,
        documents: &[&Sentences],
        windows: Vec<(usize, Window)>,
        weigh: &mut Weights<'_>,
        means: &mut [Means],
    ) -> candle_core::Result<()> {
        let owners: Vec<usize> = windows.iter().map(|(d, _)| *d).collect();
        for (owner, Logits { window, odds }) in owners.into_iter().zip(self.read(documents, windows)?) {
            means[owner].add(&window, &odds, weigh.of(window.read.len()));
        }
        Ok(())
    }

    /// Reads windows of `refine` around the sentences in doubt: in each round, for each of them, the unread window that
    /// weighs most. A sentence leaves doubt when the windows still unread cannot move it across the threshold. Windows that
    /// read what a base window has read are not read again.
    fn refine(
        &self,
        documents: &[&Sentences],
        refine: Partition,
        (threshold, margin): (f64, f64),
        spare: &[Spare],
        weigh: &mut Weights<'_>,
        means: &mut [Means],
    ) -> candle_core::Result<()> {
        let mut open: Vec<Open> = Vec::new();
        for (d, (document, means)) in documents.iter().zip(means.iter_mut()).enumerate() {
            let last = document.len().saturating_sub(1);
            let doubt: Vec<usize> = (0..last).filter(|&i| (means.mean(i) - threshold).abs() < margin).collect();
            if doubt.is_empty() {
                continue;
            }
            let mut windows = self.windows(document, refine);
            windows.retain(|window| {
                let Some(known) = spare[d].get(&window.read) else { return true };
                means.add_spare(window, known, weigh.of(window.read.len()));
                false
            });
            open.push(Open::new(d, windows, doubt));
        }
        loop {
            let mut chosen = Vec::new();
            for open in &mut open {
                let next =
                    open.choose(&means[open.document], threshold, |w, i| weigh.of(w.read.len())[i - w.read.start]);
                chosen.extend(next.into_iter().map(|w| (open.document, w)));
            }
            if chosen.is_empty() {
                return Ok(());
            }
            self.take_in(documents, chosen, weigh, means)?;
        }
    }
}

/// The weights of sequences by their number of sentences, each worked out once.
struct Weights<'a> {
    weighting: Weighting,
    curve: &'a Curve,
    known: HashMap<usize, Vec<f64>>,
}

impl<'a> Weights<'a> {
    fn new(weighting: Weighting, curve: &'a Curve) -> Self {
        Self { weighting, curve, known: HashMap::new() }
    }

    fn of(&mut self, sentences: usize) -> &[f64] {
        let Self { weighting, curve, .. } = *self;
        self.known.entry(sentences).or_insert_with(|| weighting.weights(sentences, curve))
    }
}

/// A document with sentences in doubt.
struct Open {
    document: usize,
    windows: Vec<Window>,
    /// True for windows that were chosen.
    read: Vec<bool>,
    doubt: Vec<usize>,
}

impl Open {
    fn new(document: usize, windows: Vec<Window>, doubt: Vec<usize>) -> Self {
        Self { document, read: vec![false; windows.len()], windows, doubt }
    }

    /// The windows to be read next, which count as read from here on; none when nothing is in doubt. `weigh` gives the
    /// weight of a window's label for a sentence.
    fn choose(&mut self, means: &Means, threshold: f64, mut weigh: impl FnMut(&Window, usize) -> f64) -> Vec<Window> {
        let mut chosen: Vec<usize> = Vec::new();
        let Self { windows, read, doubt, .. } = self;
        doubt.retain(|&i| {
            // Starts and ends of what is labelled increase, so the windows that label a sentence are neighbours.
            let from = windows.partition_point(|w| w.active.end <= i);
            let to = windows.partition_point(|w| w.active.start <= i);
            let (mut rest, mut most) = (0.0, None::<(usize, f64)>);
            for at in (from..to).filter(|&at| !read[at]) {
                let weight = weigh(&windows[at], i);
                rest += weight;
                if most.is_none_or(|(_, before)| weight > before) {
                    most = Some((at, weight));
                }
            }
            match most {
                Some((at, _)) if !means.decided(i, rest, threshold) => {
                    chosen.push(at);
                    true
                }
                _ => false,
            }
        });
        chosen.sort_unstable();
        chosen.dedup();
        chosen.iter().for_each(|&at| read[at] = true);
        chosen.into_iter().map(|at| windows[at].clone()).collect()
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
        let weigh = |w: &Window, _: usize| if w.read.start == 1 { 0.9 } else { 0.2 };
        assert_eq!(open.choose(&means, 0.5, weigh), [window(1, 4)]);
        means.add(&window(1, 4), &[9.0, -9.0, -9.0], &[0.9; 3]);
        // The last window weighs 0.2: it cannot.
        assert!(open.choose(&means, 0.5, weigh).is_empty() && open.doubt.is_empty());
    }

    #[test]
    fn the_windows_of_a_sentence_are_found_without_looking_at_the_others() {
        // Ten thousand windows, three of which hold the sentence: only these are weighed.
        let windows: Vec<Window> = (0..10_000).map(|start| window(start, start + 3)).collect();
        let mut means = Means::new(10_002);
        means.add(&window(0, 10_002), &[0.1; 10_002], &[1.0; 10_002]);
        let mut open = Open::new(0, windows, vec![5_000]);
        let mut weighed = Vec::new();
        let chosen = open.choose(&means, 0.5, |w, i| {
            weighed.push(w.read.start);
            (i - w.read.start) as f64
        });
        assert_eq!((weighed, chosen), (vec![4_998, 4_999, 5_000], vec![window(4_998, 5_001)]));
        assert_eq!(open.choose(&means, 0.5, |_, _| 1.0), [window(4_999, 5_002)]);
    }
}
