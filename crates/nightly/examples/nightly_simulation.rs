//! Makes a history of so many simulated nights and writes its page, to look at and to weigh:
//! `cargo run -p pericope-nightly --example nightly_simulation -- FOLDER NIGHTS`.
//!
//! Everything in it is made up and says so; no figure was measured. On the last night the semantic chunker fails.

#[allow(dead_code, clippy::unwrap_used, clippy::expect_used)]
#[path = "../tests/it/support.rs"]
mod support;

use std::path::PathBuf;

use pericope_nightly::{History, conclude, write};
use support::{Fault, World, add_unseen, experiment, write_run};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args_os().skip(1);
    let folder = PathBuf::from(arguments.next().ok_or("give the folder to write into")?);
    let nights: u32 = arguments.next().and_then(|n| n.to_str()?.parse().ok()).unwrap_or(30);
    let experiment = experiment("");
    let mut history = History::open(&folder, &experiment.name)?;
    let mut world = World::new(172);
    for number in 1..nights {
        // A failed night now and then.
        let failed = number % 37 == 19;
        let fault = if failed { Fault { chunker: "fixed", share: 0.08, ..Fault::NONE } } else { Fault::NONE };
        let night = world.night(fault);
        if number + 1 == nights {
            write_run(&folder, &night);
        }
        add_unseen(&mut history, night, failed);
    }
    let fault = Fault { chunker: "semantic", share: 0.15, slower: 2.5, ..Fault::NONE };
    let night = world.night(fault);
    write_run(&folder, &night);
    let conclusion = conclude(&history, night, &experiment, &folder, None)?;
    history.append(&conclusion.night)?;
    let written = write(&history, &conclusion, &experiment, &folder, &pericope_report::HtmlPages)?;
    println!("{}", conclusion.night.line);
    for path in [&written.page, &written.json, &written.feed, &written.markdown, &history.path().to_owned()] {
        println!("{:>12} bytes  {}", std::fs::metadata(path)?.len(), path.display());
    }
    Ok(())
}
