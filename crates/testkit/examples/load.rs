//! Sends GET requests to a server at a constant rate, and prints what came of them as JSON.
//!
//! ```text
//! cargo run --release -p pericope-testkit --features load --example load -- \
//!   --address 127.0.0.1:7700 --paths paths.txt --rate 1000 --seconds 30 --connections 64 --key KEY
//! ```
//! `paths.txt` holds a path with its query a line. Times are in milliseconds, from the moment when a request was to be sent.

use std::error::Error;
use std::time::Duration;

use pericope_testkit::load::{Latencies, Load};

fn times(of: &Latencies) -> String {
    let at = |share| of.quantile(share).unwrap_or(0) as f64 / 1e3;
    format!(
        r#"{{"count": {}, "p50": {}, "p95": {}, "p99": {}, "max": {}}}"#,
        of.len(),
        at(0.5),
        at(0.95),
        at(0.99),
        of.longest() as f64 / 1e3
    )
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut load = Load {
        address: "127.0.0.1:7700".parse()?,
        paths: Vec::new(),
        headers: Vec::new(),
        rate: 100.0,
        duration: Duration::from_secs(10),
        connections: 32,
        timeout: Duration::from_secs(10),
    };
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
        match name.as_str() {
            "--address" => load.address = value.parse()?,
            "--paths" => load.paths = std::fs::read_to_string(value)?.lines().map(str::to_owned).collect(),
            "--rate" => load.rate = value.parse()?,
            "--seconds" => load.duration = Duration::from_secs_f64(value.parse()?),
            "--connections" => load.connections = value.parse()?,
            "--timeout" => load.timeout = Duration::from_secs_f64(value.parse()?),
            "--key" => load.headers.push(("Authorization".to_owned(), format!("Bearer {value}"))),
            _ => return Err(format!("there is no {name}").into()),
        }
    }
    if load.paths.is_empty() || load.rate <= 0.0 {
        return Err("give --paths, a file with a path a line, and a --rate over 0".into());
    }
    let found = load.run();
    let statuses: Vec<_> = found.statuses.iter().map(|(status, count)| format!(r#""{status}": {count}"#)).collect();
    let failures: Vec<_> = found.failures.iter().map(|(kind, count)| format!("{kind:?}: {count}")).collect();
    println!(
        r#"{{"planned": {}, "unsent": {}, "seconds": {:.3}, "statuses": {{{}}}, "failures": {{{}}}, "answered": {}, "refused": {}, "late": {}}}"#,
        found.planned,
        found.unsent,
        found.took.as_secs_f64(),
        statuses.join(", "),
        failures.join(", "),
        times(&found.answered),
        times(&found.refused),
        times(&found.late)
    );
    Ok(())
}
