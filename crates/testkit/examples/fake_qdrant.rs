//! The Qdrant server of the tests, in memory, on a port: for trials by hand.
//!
//! ```text
//! cargo run -p pericope-testkit --features qdrant --example fake_qdrant -- --port 6334 --key sesame --fault upsert:half:3
//! pericope index docs --into qdrant://localhost:6334/docs
//! ```
//! Faults are `CALL:FAULT:TIMES` and happen to the next calls of that kind, in the order given. An empty line on
//! standard input prints what was asked up to now; its end stops the server.

use std::error::Error;
use std::io::BufRead;

use pericope_testkit::qdrant::{Call, Fault, Options, Server};

fn main() -> Result<(), Box<dyn Error>> {
    let mut options = Options { port: 6334, ..Options::default() };
    let mut faults: Vec<(Call, Fault, usize)> = Vec::new();
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or_else(|| format!("{name} needs a value"))?;
        match name.as_str() {
            "--port" => options.port = value.parse()?,
            "--key" => options.key = Some(value),
            "--fault" => {
                let [call, fault, times] = value.split(':').collect::<Vec<_>>()[..] else {
                    return Err(format!("`{value}` is not CALL:FAULT:TIMES").into());
                };
                faults.push((call.parse()?, fault.parse()?, times.parse()?));
            }
            _ => return Err(format!("there is no {name}; there are --port, --key, --fault").into()),
        }
    }
    let server = Server::start_with(options)?;
    for (call, fault, times) in faults {
        server.fail(call, fault, times);
    }
    println!("qdrant://{}", server.address());
    for line in std::io::stdin().lock().lines() {
        line?;
        println!("{:?}; faults left: {}", server.counts(), server.faults_left());
        for collection in server.collections() {
            println!("{collection}: {} points", server.points(&collection).len());
        }
    }
    Ok(())
}
