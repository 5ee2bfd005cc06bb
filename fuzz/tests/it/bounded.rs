//! Every target for some seconds: `PERICOPE_FUZZ_SECONDS` says how many (2 unless set), `PERICOPE_FUZZ_SEED` which changes
//! are drawn (7 unless set).

use std::path::Path;

use pericope_fuzz::TARGETS;
use pericope_fuzz::runner::{self, Options};

fn number<T: std::str::FromStr>(name: &str, default: T) -> T {
    match std::env::var(name) {
        Ok(value) => value.parse().unwrap_or_else(|_| panic!("{name}={value} is no number")),
        Err(_) => default,
    }
}

#[test]
fn no_target_breaks_a_law() {
    let options = Options {
        seconds: number("PERICOPE_FUZZ_SECONDS", 2.0),
        jobs: std::thread::available_parallelism().map_or(1, usize::from),
        seed: number("PERICOPE_FUZZ_SEED", 7),
        folder: Path::new(env!("CARGO_TARGET_TMPDIR")).join("fuzz"),
    };
    let targets: Vec<_> = TARGETS.iter().collect();
    let outcomes = runner::run(Path::new(env!("CARGO_BIN_EXE_pericope-fuzz")), &targets, &options).unwrap();
    println!("{}", runner::table(&outcomes));
    let findings: Vec<String> =
        outcomes.iter().flat_map(|o| o.findings.iter().map(|f| format!("{}: {f}", o.target))).collect();
    assert!(findings.is_empty(), "{} findings:\n{}", findings.len(), findings.join("\n"));
    for outcome in &outcomes {
        assert!(outcome.executions > 1, "{} ran {} inputs", outcome.target, outcome.executions);
    }
}
