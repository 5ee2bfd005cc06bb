//! Writes what `topic` learns from, for a trainer that makes the vectors of sentences itself (`scripts/research/tune-topic`).
//!
//! ```text
//! cargo run --release -p pericope-learn --example topic_examples -- OUT EPOCHS TRAIN_DIR VALIDATION_DIR
//! ```
//!
//! The folders hold documents as `pericope dataset split` writes them. OUT gets `sentences.jsonl`, every text once, and for each epoch
//! (`train-0` ...) and `validation` five arrays in little-endian bytes: `lengths` (u32, rows of each example), `counts` (u16, sentences of
//! each row), `sentences` (u32, lines of `sentences.jsonl` from 0), `numbers` (f16, 18 a row, cosines 0) and `ends` (u8, 1: a segment ends
//! behind the row). Validation has each document whole, and again without its paragraphs where they are known.
#![allow(clippy::expect_used, clippy::cast_possible_truncation)]

use std::collections::HashMap;
use std::fs;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

use half::f16;
use pericope_learn::corpus::{Record, Records};
use pericope_learn::training::{Example, TopicOptions, topic_examples, topic_validation};
use rayon::prelude::*;

fn records(folder: &str) -> Vec<Record> {
    let found = Records::read(&[folder.into()], &[]).expect("the folder can be read");
    assert!(found.skipped.problems.is_empty(), "{:?}", found.skipped.problems);
    found.documents
}

/// Texts by their number.
#[derive(Default)]
struct Texts(HashMap<String, u32>, Vec<String>);

impl Texts {
    fn number(&mut self, text: String) -> u32 {
        *self.0.entry(text).or_insert_with_key(|text| {
            self.1.push(text.clone());
            self.1.len() as u32 - 1
        })
    }
}

fn write(out: &Path, set: &str, examples: Vec<Example>, texts: &mut Texts) {
    let open = |array: &str| {
        let path = out.join(format!("{set}.{array}"));
        BufWriter::new(fs::File::create(&path).expect("the file can be made"))
    };
    let [mut lengths, mut counts, mut sentences, mut numbers, mut ends] =
        ["lengths", "counts", "sentences", "numbers", "ends"].map(open);
    let put = |file: &mut BufWriter<fs::File>, bytes: &[u8]| file.write_all(bytes).expect("the disk has room");
    let mut rows = 0;
    for example in examples {
        assert_eq!(example.rows.len(), example.ends.len(), "a row for each label");
        assert_eq!(example.rows.len(), example.numbers.len(), "numbers for each row");
        rows += example.rows.len();
        put(&mut lengths, &(example.rows.len() as u32).to_le_bytes());
        for text in example.sentences {
            put(&mut sentences, &texts.number(text).to_le_bytes());
        }
        for ((row, own), end) in example.rows.iter().zip(&example.numbers).zip(&example.ends) {
            put(&mut counts, &(row.len() as u16).to_le_bytes());
            own.iter().for_each(|&number| put(&mut numbers, &f16::from_f32(number).to_le_bytes()));
            put(&mut ends, &[u8::from(*end)]);
        }
    }
    eprintln!("{set}: {rows} rows");
}

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [out, epochs, train, validation] = &arguments[..] else {
        eprintln!("usage: topic_examples OUT EPOCHS TRAIN_DIR VALIDATION_DIR");
        std::process::exit(2);
    };
    let (out, epochs) = (PathBuf::from(out), epochs.parse::<usize>().expect("a number of epochs"));
    fs::create_dir_all(&out).expect("the folder can be made");
    let mut texts = Texts::default();
    write(&out, "validation", topic_validation(&records(validation)), &mut texts);
    let (train, options) = (records(train), TopicOptions::default());
    for epoch in 0..epochs {
        let examples = topic_examples(&train, &options, epoch).collect();
        write(&out, &format!("train-{epoch}"), examples, &mut texts);
    }
    let file = fs::File::create(out.join("sentences.jsonl")).expect("the file can be made");
    let mut file = BufWriter::new(file);
    for text in &texts.1 {
        serde_json::to_writer(&mut file, text).expect("the disk has room");
        file.write_all(b"\n").expect("the disk has room");
    }
}
