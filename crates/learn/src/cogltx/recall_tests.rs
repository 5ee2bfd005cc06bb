#![allow(clippy::unwrap_used)]

use std::cell::RefCell;

use candle_core::Result;

use super::{GROUP, Limits, MemRecall, Reads};

/// Blocks of ten tokens with scores by hand; says what it was asked.
struct Fake {
    n: usize,
    alone: fn(&[usize], usize) -> f32,
    together: fn(&[usize], usize) -> f32,
    asked: RefCell<Vec<(Vec<usize>, usize)>>,
    read: RefCell<Vec<Vec<usize>>>,
}

impl Fake {
    fn new(n: usize, alone: fn(&[usize], usize) -> f32, together: fn(&[usize], usize) -> f32) -> Self {
        Self { n, alone, together, asked: RefCell::default(), read: RefCell::default() }
    }
}

impl Reads for Fake {
    fn blocks(&self) -> usize {
        self.n
    }

    fn alone(&self, kept: &[usize], blocks: &[usize]) -> Result<Vec<(f32, usize)>> {
        self.asked.borrow_mut().push((kept.to_vec(), blocks.len()));
        Ok(blocks.iter().map(|&i| ((self.alone)(kept, i), 10)).collect())
    }

    fn together(&self, blocks: &[usize]) -> Result<Vec<f32>> {
        self.read.borrow_mut().push(blocks.to_vec());
        Ok(blocks.iter().map(|&i| (self.together)(blocks, i)).collect())
    }
}

const LIMITS: Limits = Limits { tokens: 100, block: 10 };

/// What answers a part of the question leads to the rest: block 7 shines only beside block 30.
fn leads(kept: &[usize], i: usize) -> f32 {
    match i {
        30 => 0.9,
        7 if kept.contains(&30) => 0.8,
        _ => 0.001 * i as f32,
    }
}

#[test]
fn what_was_found_helps_to_find_the_rest() {
    let fake = Fake::new(60, leads, leads);
    let found = MemRecall::new(2, true).over(&fake, 12, LIMITS).unwrap();
    assert!(found.kept.contains(&30) && found.kept.contains(&7) && found.kept.is_sorted(), "{:?}", found.kept);
    // A query of 12 tokens and blocks of 11 with their [SEP]: eight fit 100.
    assert_eq!(fake.read.borrow()[0], [30, 53, 54, 55, 56, 57, 58, 59]);
    assert_eq!(*fake.asked.borrow(), [(vec![], 60), (vec![30, 58, 59], 57)]);
    assert_eq!((found.scores[30], found.tokens[3]), (0.9, 10));
    // In one step block 7 is never seen beside block 30.
    let fake = Fake::new(60, leads, leads);
    let found = MemRecall::new(1, true).over(&fake, 12, LIMITS).unwrap();
    assert!(found.kept.contains(&30) && !found.kept.contains(&7), "{:?}", found.kept);
    assert_eq!(found.kept.len(), 5);
}

#[test]
fn rehearsal_undoes_what_the_competition_mistook_and_kept_blocks_decay() {
    // Alone block 2 looks best; together with block 4 it is nothing.
    let alone: fn(&[usize], usize) -> f32 = |_, i| if i == 2 { 0.9 } else { 0.1 + 0.01 * i as f32 };
    let together: fn(&[usize], usize) -> f32 = |_, i| if i == 2 { 0.0 } else { 0.5 + 0.01 * i as f32 };
    let kept = |rehearsal: bool, together| {
        let fake = Fake::new(20, alone, together);
        MemRecall::new(2, rehearsal).over(&fake, 12, LIMITS).unwrap().kept
    };
    assert_eq!(kept(true, together), [15, 16, 17, 18, 19]);
    assert_eq!(kept(false, together), [2, 16, 17, 18, 19]);
    // Block 19 is kept after the first step, when few others have been read, and lost in the second.
    let decays: fn(&[usize], usize) -> f32 = |all, i| match i {
        19 if all.contains(&12) => 0.0,
        _ => 0.1 + 0.01 * i as f32,
    };
    let later: fn(&[usize], usize) -> f32 = |kept, i| if i == 12 && !kept.is_empty() { 1.0 } else { 0.01 * i as f32 };
    let fake = Fake::new(20, later, decays);
    let found = MemRecall::new(2, true).over(&fake, 12, Limits { tokens: 90, block: 10 }).unwrap();
    assert_eq!(fake.asked.borrow()[1].0, [17, 18, 19]);
    assert!(!found.kept.contains(&19), "{:?}", found.kept);
}

#[test]
fn every_block_is_read_once_a_step_in_groups() {
    let fake = Fake::new(3 * GROUP + 5, |_, i| i as f32, |_, i| i as f32);
    MemRecall::default().over(&fake, 12, LIMITS).unwrap();
    let asked = fake.asked.borrow();
    assert!(asked.iter().all(|(_, count)| *count <= GROUP));
    assert_eq!(asked.iter().map(|(_, count)| count).sum::<usize>(), 2 * (3 * GROUP + 5) - 3);
    let none = MemRecall::default().over(&Fake::new(0, |_, _| 0.0, |_, _| 0.0), 12, LIMITS).unwrap();
    assert_eq!(none, super::Recalled::default());
}

#[test]
fn what_is_kept_leaves_room_for_one_more() {
    let fake = Fake::new(40, |_, i| i as f32, |_, i| i as f32);
    // 12 for the query, 11 for the block that competes: three more fit 60.
    let found = MemRecall::new(3, true).over(&fake, 12, Limits { tokens: 60, block: 10 }).unwrap();
    assert_eq!(found.kept, [37, 38, 39]);
    assert_eq!(MemRecall::new(3, true).strides, [3, 5, 5]);
    assert_eq!((MemRecall::new(0, true).strides, MemRecall::new(2, true)), (vec![5], MemRecall::default()));
}
