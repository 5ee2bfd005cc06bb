//! The speed of the LSTM and of HierCRF on this machine.
//!
//! ```text
//! cargo run --release -p pericope-learn --example tree_speed
//! RAYON_NUM_THREADS=1 cargo run --release -p pericope-learn --example tree_speed
//! ```
//!
//! Multiply-adds are those of the matrix products. The bound is what the same matrix kernel does on as many rows at once without
//! anything between its products.
#![allow(clippy::unwrap_used)]

use std::ops::{ControlFlow, Range};
use std::time::Instant;

use candle_core::{Device, Tensor};
use pericope_encode::kernels::{Finish, Linear, Precision, padded_rows};
use pericope_learn::corpus::{Headings, Record, SequenceDocument};
use pericope_learn::hiercrf::chart::{Triangle, best, inside, marginals};
use pericope_learn::hiercrf::{HierCrf, open};
use pericope_learn::sequence::{BiLstm, Parameters};
use pericope_learn::training::{HierCrfOptions, TreeData, TreeDocument, VectorSource, Ways, train_hiercrf};
use rayon::prelude::*;

/// The shortest of some runs, in seconds.
fn seconds(times: usize, mut run: impl FnMut()) -> f64 {
    run();
    let one = |_| {
        let begin = Instant::now();
        run();
        begin.elapsed().as_secs_f64()
    };
    (0..times).map(one).fold(f64::INFINITY, f64::min)
}

fn numbers(len: usize) -> Vec<f32> {
    (0..len).map(|i| ((i * 7_919) % 1_009) as f32 / 1_009.0 - 0.5).collect()
}

/// Vectors that are made of a text's bytes.
struct Made;

const INPUT: usize = 384;

impl VectorSource for Made {
    fn encoder(&self) -> (&str, &str) {
        ("made", "1")
    }

    fn dimension(&self) -> usize {
        INPUT
    }

    fn vectors(&self, texts: &[&str]) -> Result<Vec<f32>, String> {
        let sum = |text: &str| text.bytes().fold(0usize, |sum, byte| sum * 31 % 65_521 + byte as usize);
        let row = |text: &&str| {
            let sum = sum(text);
            (0..INPUT).map(move |k| ((sum + k) * 7_919 % 1_009) as f32 / 1_009.0 - 0.5)
        };
        Ok(texts.iter().flat_map(row).collect())
    }
}

fn lstm(hidden: usize, documents: usize, time: usize) {
    let threads = rayon::current_num_threads();
    let rows = documents.min(16);
    let packed = Linear::new(&numbers(4 * hidden * hidden), &vec![0.0; 4 * hidden], hidden, Precision::Single);
    let x = numbers(padded_rows(rows) * hidden);
    let bound = seconds(5, || {
        (0..threads).into_par_iter().for_each(|_| {
            let mut out = vec![0.0; padded_rows(rows) * 4 * hidden];
            (0..time).for_each(|_| packed.apply(rows, &x, Finish::Bias, &mut out));
        });
    });
    let bound = (threads * time * rows * 4 * hidden * hidden) as f64 / bound;

    let parameters = Parameters::new(&BiLstm::parameters("l", INPUT, hidden), 1, &Device::Cpu).unwrap();
    let layer = BiLstm::new(&parameters, "l", INPUT, hidden, &Device::Cpu).unwrap();
    let x = Tensor::from_vec(numbers(documents * time * INPUT), (documents, time, INPUT), &Device::Cpu).unwrap();
    let lengths = vec![time; documents];
    let forward = seconds(5, || drop(layer.forward(&x, &lengths).unwrap()));
    let both = seconds(5, || drop(layer.forward(&x, &lengths).unwrap().sum_all().unwrap().backward().unwrap()));
    let once = (2 * documents * time * 4 * hidden * (hidden + INPUT)) as f64;
    println!(
        "LSTM, {documents} x {time} sentences, {hidden} units, {threads} threads: {:.1} ms, with gradient {:.1} ms; \
         {:.1} and {:.1} G multiply-adds/s, bound {:.1}",
        1e3 * forward,
        1e3 * both,
        once / forward / 1e9,
        3.0 * once / both / 1e9,
        bound / 1e9
    );
}

fn main() {
    for documents in [1, 8, 32] {
        lstm(240, documents, 200);
    }
    let scores = Triangle::of(200, |start, end| ((start * 31 + end * 17) % 101) as f64 / 50.0 - 1.0);
    let sums = inside(&scores);
    println!(
        "200 sentences on one thread: inside {:.2} ms, marginals {:.2} ms, best tree {:.2} ms",
        1e3 * seconds(20, || drop(inside(&scores))),
        1e3 * seconds(20, || drop(marginals(&scores, &sums))),
        1e3 * seconds(20, || drop(best(&scores)))
    );
    let record = |d: usize| Record {
        id: d.to_string(),
        sentences: (0..200).map(|i| format!("{d} sentence {i}")).collect(),
        boundaries: (1..20).map(|s| 10 * s).collect(),
        levels: (1..20).map(|s| 1 + u8::from(s % 3 == 0)).collect(),
        ..Record::default()
    };
    let documents: Vec<TreeDocument> =
        (0..16).map(|d| TreeDocument::new(&SequenceDocument::new(&record(d), Headings::Dropped), 3)).collect();
    let folder = std::env::temp_dir().join(format!("tree_speed-{}", std::process::id()));
    for batch in [1, 16] {
        let options =
            HierCrfOptions { synthetic: 0.0, batch, epochs: 100.0, max_steps: 4, ..HierCrfOptions::default() };
        let data = TreeData { train: Ways::one(&documents), validation: Ways::default(), vectors: &Made };
        let (mut times, mut last) = (Vec::new(), Instant::now());
        let mut watch = |_| {
            times.push(last.elapsed().as_secs_f64());
            last = Instant::now();
            ControlFlow::Continue(())
        };
        train_hiercrf(None, &data, &options, &folder.join(batch.to_string()), "", &mut watch).unwrap();
        let step = times.iter().skip(1).copied().fold(f64::INFINITY, f64::min);
        println!("a step of training on {batch} documents of 200 sentences: {:.0} ms", 1e3 * step);
    }
    let model = HierCrf::load(&open(&folder.join("1").display().to_string()).unwrap(), &Device::Cpu).unwrap();
    let long = 20_000;
    let read = seconds(2, || {
        let mut vectors = |range: Range<usize>| Ok(numbers(range.len() * INPUT));
        model.read(long, &mut vectors).unwrap();
    });
    println!("one document of {long} sentences, vectors given: {:.0} sentences/s", long as f64 / read);
    let _ = std::fs::remove_dir_all(folder);
}
