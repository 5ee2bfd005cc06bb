use std::ops::Range;

use pulp::{Arch, Simd, WithSimd};

use super::aligned::Aligned;
use super::linear::{lanes, store, tile};
use super::rows::ROW_TILE;

/// Vectors side by side in a panel of keys or values. Head sizes are multiples of 32, two of the widest vectors.
pub(super) const PANEL: usize = 2;

/// The shape of multi-head attention.
#[derive(Debug, Clone, Copy)]
pub struct Attention {
    /// Number of heads.
    pub heads: usize,
    /// Number of heads of keys and values: as many, or fewer, each of which serves as many heads of queries that follow each other.
    pub groups: usize,
    /// Numbers of a head: a multiple of 32.
    pub head: usize,
}

impl Attention {
    /// True where the kernel can work with this shape.
    #[must_use]
    pub fn fits(&self) -> bool {
        let Self { heads, groups, head } = *self;
        heads > 0 && groups > 0 && heads.is_multiple_of(groups) && head > 0 && head.is_multiple_of(32)
    }

    /// Numbers of a row of queries, keys and values.
    #[must_use]
    pub fn joined(&self) -> usize {
        (self.heads + 2 * self.groups) * self.head
    }

    pub(super) fn hidden(&self) -> usize {
        self.heads * self.head
    }
}

/// The tokens that a token sees, of its own sequence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// All of them.
    All,
    /// So many on either side.
    Around(usize),
    /// Those before it, and itself.
    Before,
}

impl Reach {
    /// The places that the token at `place` of a sequence of `len` sees.
    #[must_use]
    pub fn of(self, place: usize, len: usize) -> Range<usize> {
        match self {
            Self::All => 0..len,
            Self::Around(around) => place.saturating_sub(around)..(place + around + 1).min(len),
            Self::Before => 0..place + 1,
        }
    }
}

/// What the distance of two tokens adds to their score, head by head.
#[derive(Debug)]
pub struct Distances {
    longest: usize,
    /// For each head the numbers of the offsets from `1 - longest` to `longest - 1`, times the root of the head's size: what
    /// scores are divided by once they are summed.
    numbers: Vec<f32>,
}

impl Distances {
    /// The numbers of `of(head, offset)` for sequences of at most `longest` tokens; the offset is the place of the token that
    /// is looked at less that of the one that looks.
    #[must_use]
    pub fn new(shape: Attention, longest: usize, of: impl Fn(usize, isize) -> f32) -> Self {
        let root = (shape.head as f32).sqrt();
        let last = longest.saturating_sub(1) as isize;
        let numbers = (0..shape.heads).flat_map(|head| (-last..=last).map(move |offset| (head, offset)));
        Self { longest, numbers: numbers.map(|(head, offset)| of(head, offset) * root).collect() }
    }

    /// The numbers that a token's scores with all `len` tokens of its sequence get.
    fn row(&self, head: usize, place: usize, len: usize) -> &[f32] {
        &self.numbers[head * (2 * self.longest - 1) + self.longest - 1 - place..][..len]
    }
}

/// Memory of [`attend`], kept from call to call.
#[derive(Debug, Default)]
pub struct AttendScratch {
    keys: Aligned,
    values: Aligned,
    scores: Aligned,
}

/// Scaled dot-product attention inside each sequence: `softmax(Q Kᵀ / sqrt(head)) V`, head by head.
///
/// `qkv` holds rows of queries, keys and values side by side ([`Attention::joined`] numbers); `sequences` are ranges of rows;
/// `out` gets rows of the hidden size. Sequences never see each other, so nothing is padded, and what is beyond a token's `reach` is
/// not worked out but for some tokens at its edges. `distances` are added to scores before the softmax.
///
/// # Panics
/// Where `qkv` has no [`ROW_TILE`] rows beyond the last sequence (their content does not matter), and where a sequence is
/// longer than `distances` knows.
pub fn attend(
    (shape, reach): (Attention, Reach),
    sequences: &[Range<usize>],
    qkv: &[f32],
    distances: Option<&Distances>,
    scratch: &mut AttendScratch,
    out: &mut [f32],
) {
    let longest = sequences.iter().map(ExactSizeIterator::len).max().unwrap_or(0);
    let keys = longest.next_multiple_of(lanes() * PANEL);
    scratch.keys.reserve(keys * shape.head);
    scratch.values.reserve(keys * shape.head);
    scratch.scores.reserve(keys * ROW_TILE);
    Arch::new().dispatch(Attend { shape, reach, sequences, qkv, distances, scratch, out });
}

struct Attend<'a> {
    shape: Attention,
    reach: Reach,
    sequences: &'a [Range<usize>],
    qkv: &'a [f32],
    distances: Option<&'a Distances>,
    scratch: &'a mut AttendScratch,
    out: &'a mut [f32],
}

impl WithSimd for Attend<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        if S::REGISTER_COUNT >= 32 { self.run::<S, 8>(simd) } else { self.run::<S, 4>(simd) }
    }
}

impl Attend<'_> {
    #[inline(always)]
    fn run<S: Simd, const ROWS: usize>(self, simd: S) {
        let Self { shape, reach, sequences, qkv, distances, scratch, out } = self;
        let width = PANEL * S::F32_LANES;
        let (hidden, head, stride) = (shape.hidden(), shape.head, shape.joined());
        let served = hidden / shape.groups;
        let scale = simd.splat_f32s((head as f32).sqrt().recip());
        for rows in sequences {
            let len = rows.len();
            let qkv = &qkv[rows.start * stride..];
            for group in 0..shape.groups {
                let keys = &mut scratch.keys[..len.next_multiple_of(width) * head];
                pack_keys(&qkv[hidden + group * head..], stride, len, head, width, keys);
                let values = &mut scratch.values[..len * head];
                pack_values(&qkv[hidden + (shape.groups + group) * head..], stride, len, head, width, values);
                let columns = (group * served..(group + 1) * served).step_by(head);
                for (column, first) in columns.flat_map(|column| (0..len).step_by(ROWS).map(move |row| (column, row))) {
                    let live = ROWS.min(len - first);
                    // Keys that any of these rows sees, from the first of a panel on.
                    let low = reach.of(first, len).start / width * width;
                    let seen = reach.of(first + live - 1, len).end - low;
                    let padded = seen.next_multiple_of(width);
                    let scores = &mut scratch.scores[..ROWS * padded];
                    let keys = &keys[low * head..(low + padded) * head];
                    products::<S, ROWS>(simd, &qkv[first * stride + column..], (stride, head), keys, scores);
                    let mut shares = [simd.splat_f32s(0.0); ROWS];
                    for (r, row) in scores.chunks_exact_mut(padded).take(live).enumerate() {
                        if let Some(distances) = distances {
                            let more = &distances.row(column / head, first + r, len)[low..low + seen];
                            row[..seen].iter_mut().zip(more).for_each(|(v, more)| *v += more);
                        }
                        let own = reach.of(first + r, len);
                        row[..own.start - low].fill(f32::NEG_INFINITY);
                        row[own.end - low..].fill(f32::NEG_INFINITY);
                        shares[r] = simd.splat_f32s(exponentials(simd, row, scale).recip());
                    }
                    for (p, panel) in values.chunks_exact(len * width).enumerate() {
                        let (panel, _) = S::as_simd_f32s(panel);
                        let (panel, _) = panel.as_chunks::<PANEL>();
                        let sums = tile::<S, ROWS, PANEL>(simd, scores, padded, seen, &panel[low..]);
                        for r in 0..live {
                            let mut row = sums[r];
                            for v in &mut row {
                                *v = simd.mul_f32s(*v, shares[r]);
                            }
                            let at = (rows.start + first + r) * hidden + column + p * width;
                            store::<S, PANEL>(&mut out[at..], row);
                        }
                    }
                }
            }
        }
    }
}

/// Products of `ROWS` rows of `x`, `stride` floats apart and `head` long, with packed keys.
#[inline(always)]
pub(super) fn products<S: Simd, const ROWS: usize>(
    simd: S,
    x: &[f32],
    (stride, head): (usize, usize),
    keys: &[f32],
    out: &mut [f32],
) {
    let (width, padded) = (PANEL * S::F32_LANES, out.len() / ROWS);
    for (p, panel) in keys.chunks_exact(head * width).enumerate() {
        let (panel, _) = S::as_simd_f32s(panel);
        let (panel, _) = panel.as_chunks::<PANEL>();
        let sums = tile::<S, ROWS, PANEL>(simd, x, stride, head, panel);
        for (r, sums) in sums.iter().enumerate() {
            store::<S, PANEL>(&mut out[r * padded + p * width..], *sums);
        }
    }
}

/// Panels of `width` keys; each holds, for every number of the head, that number of its keys. Missing keys are zeros.
#[inline(always)]
pub(super) fn pack_keys(from: &[f32], stride: usize, len: usize, head: usize, width: usize, keys: &mut [f32]) {
    for (p, panel) in keys.chunks_exact_mut(head * width).enumerate() {
        for c in 0..width {
            let j = p * width + c;
            if j < len {
                for (d, &value) in from[j * stride..][..head].iter().enumerate() {
                    panel[d * width + c] = value;
                }
            } else {
                for row in panel.chunks_exact_mut(width) {
                    row[c] = 0.0;
                }
            }
        }
    }
}

/// Panels of `width` numbers of the head; each holds these numbers of every value in turn.
#[inline(always)]
pub(super) fn pack_values(from: &[f32], stride: usize, len: usize, head: usize, width: usize, values: &mut [f32]) {
    debug_assert_eq!(head % width, 0);
    for (p, panel) in values.chunks_exact_mut(len * width).enumerate() {
        for (j, row) in panel.chunks_exact_mut(width).enumerate() {
            row.copy_from_slice(&from[j * stride + p * width..][..width]);
        }
    }
}

/// Replaces scores by `exp((score - greatest) * scale)` and returns their sum.
#[inline(always)]
pub(super) fn exponentials<S: Simd>(simd: S, row: &mut [f32], scale: S::f32s) -> f32 {
    let (row, _) = S::as_mut_simd_f32s(row);
    let mut greatest = simd.splat_f32s(f32::MIN);
    for &v in row.iter() {
        greatest = simd.max_f32s(greatest, v);
    }
    let greatest = simd.splat_f32s(simd.reduce_max_f32s(greatest));
    let mut sum = simd.splat_f32s(0.0);
    for v in row.iter_mut() {
        *v = super::math::exp(simd, simd.mul_f32s(simd.sub_f32s(*v, greatest), scale));
        sum = simd.add_f32s(sum, *v);
    }
    simd.reduce_sum_f32s(sum)
}

#[cfg(test)]
mod tests {
    use std::ops::Range;

    use super::{AttendScratch, Attention, Distances, Reach, attend};
    use crate::kernels::rows::padded_rows;

    /// What the tests add for a distance.
    fn number(head: usize, offset: isize) -> f32 {
        ((offset * 3 + head as isize) as f32 * 0.7).sin()
    }

    /// Attention of head `h` at row `i` of a sequence, straight from the definition.
    fn plain(shape: Attention, qkv: &[f32], h: usize, (i, seen): (usize, Range<usize>), add: bool) -> Vec<f64> {
        let Attention { heads, groups, head } = shape;
        let group = h / (heads / groups);
        let at = |row: usize, block: usize, d: usize| f64::from(qkv[row * shape.joined() + block * head + d]);
        let score = |j: usize| {
            let more = if add { f64::from(number(h, j as isize - i as isize)) } else { 0.0 };
            (0..head).map(|d| at(i, h, d) * at(j, heads + group, d)).sum::<f64>() / (head as f64).sqrt() + more
        };
        let scores: Vec<f64> = seen.clone().map(score).collect();
        let greatest = scores.iter().copied().fold(f64::MIN, f64::max);
        let shares: Vec<f64> = scores.iter().map(|score| (score - greatest).exp()).collect();
        let sum: f64 = shares.iter().sum();
        let value = |j: usize, d: usize| at(j, heads + groups + group, d);
        (0..head).map(|d| seen.clone().zip(&shares).map(|(j, share)| share / sum * value(j, d)).sum()).collect()
    }

    #[test]
    fn agrees_with_the_definition_for_every_length_and_reach() {
        let lengths = [1, 2, 7, 8, 31, 32, 33, 70, 130];
        let total: usize = lengths.iter().sum();
        let mut sequences = Vec::new();
        for len in lengths {
            let start = sequences.last().map_or(0, |before: &Range<usize>| before.end);
            sequences.push(start..start + len);
        }
        for groups in [3, 1] {
            let shape = Attention { heads: 3, groups, head: 32 };
            let hidden = shape.hidden();
            let rows = padded_rows(total);
            let qkv: Vec<f32> = (0..rows * shape.joined()).map(|i| ((i * 7919) % 1009) as f32 / 250.0 - 2.0).collect();
            let by_distance = Distances::new(shape, 130, number);
            for reach in [Reach::All, Reach::Around(5), Reach::Around(40), Reach::Before] {
                for distances in [None, Some(&by_distance)] {
                    let mut out = vec![0.0; rows * hidden];
                    attend((shape, reach), &sequences, &qkv, distances, &mut AttendScratch::default(), &mut out);
                    for sequence in &sequences {
                        let own = &qkv[sequence.start * shape.joined()..];
                        for (i, h) in (0..sequence.len()).flat_map(|i| (0..3).map(move |h| (i, h))) {
                            let seen = reach.of(i, sequence.len());
                            let want = plain(shape, own, h, (i, seen), distances.is_some());
                            for (d, want) in want.iter().enumerate() {
                                let got = f64::from(out[(sequence.start + i) * hidden + h * 32 + d]);
                                assert!(
                                    (got - want).abs() < 1e-5,
                                    "{sequence:?} row {i}, {reach:?}: {got} against {want}"
                                );
                            }
                        }
                    }
                }
            }
        }
    }
}
