//! Writes a report of a made-up run, to look at: `cargo run -p pericope-report --example sample_report -- FOLDER`.
//!
//! Everything in it is synthetic and says so; no figure was measured. With a second argument the run is written twice,
//! under two names, with an overview above.

#[allow(dead_code, clippy::unwrap_used, clippy::expect_used)]
#[path = "../tests/it/support/mod.rs"]
mod support;

use std::path::PathBuf;

use pericope_report::run::{Report, table, write, write_many};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("give the folder to write into")?);
    let (summary, run, items) = support::run(160);
    print!("{}", table(&summary, 100));
    let report = Report::new(summary, run, &items);
    let written = if arguments.next().is_some() {
        let (summary, run, items) = support::run(120);
        let other = Report { label: Some("synthetic, fewer questions".into()), ..Report::new(summary, run, &items) };
        write_many(&folder, &[report, other])?
    } else {
        write(&folder, &report)?
    };
    println!("\n{}", written.html.display());
    Ok(())
}
