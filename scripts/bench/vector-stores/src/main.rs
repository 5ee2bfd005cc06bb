//! Ways to keep the vectors of an index, beside each other. `../bench-vectors` runs the steps and prints the table.
//!
//! Every step is a process of its own, so that its memory is its own. A step ends with one line of JSON.
#![deny(unsafe_code)]

mod data;
#[cfg(feature = "ours")]
mod errors;
mod exact;
#[cfg(feature = "ours")]
mod make;
mod steps;
mod usage;
mod ways;

/// The product's own files as they are: the module is compiled here a second time, since it is nobody's outside its crate.
#[cfg(feature = "ours")]
#[path = "../../../../crates/index/src/vectors/mod.rs"]
#[allow(dead_code, unused_imports)]
mod vectors;

use anyhow::{Context, bail};

/// What the product's module asks of its crate.
#[cfg(feature = "ours")]
pub(crate) use errors::IndexError;

fn main() -> anyhow::Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let line = match arguments.as_slice() {
        #[cfg(feature = "ours")]
        ["make", sentences, questions, rows, into] => {
            make::make(sentences.as_ref(), questions.as_ref(), number(rows)?, into.as_ref())?
        }
        ["truth", data, rows] => exact::truth(data.as_ref(), number(rows)?)?,
        ["build", way, data, rows, dir] => steps::build(way, data.as_ref(), number(rows)?, dir.as_ref())?,
        ["open", way, data, dir, depth] => steps::open(way, data.as_ref(), dir.as_ref(), number(depth)?)?,
        ["tune", way, data, rows, dir] => steps::tune(way, data.as_ref(), number(rows)?, dir.as_ref())?,
        ["search", way, data, dir, depth] => steps::search(way, data.as_ref(), dir.as_ref(), number(depth)?)?,
        ["add", way, data, rows, dir] => steps::add(way, data.as_ref(), number(rows)?, dir.as_ref())?,
        ["read", way, data, rows, dir, depth] => {
            steps::read(way, data.as_ref(), number(rows)?, dir.as_ref(), number(depth)?)?
        }
        _ => bail!("this program is run by scripts/bench/bench-vectors"),
    };
    println!("{line}");
    Ok(())
}

fn number(text: &str) -> anyhow::Result<usize> {
    text.parse().with_context(|| format!("{text:?} is no number"))
}
