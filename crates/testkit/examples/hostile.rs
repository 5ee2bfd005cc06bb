//! Writes a nasty document to standard output, for trials by hand.
//!
//! ```text
//! cargo run -p pericope-testkit --example hostile -- --list
//! cargo run -p pericope-testkit --example hostile -- rst_colons 100000 > colons.rst
//! ```

use std::error::Error;
use std::io::Write;

use pericope_testkit::hostile;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let mut out = std::io::stdout().lock();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["--list"] => {
            for family in hostile::families().chain(hostile::untrusted()) {
                writeln!(out, "{}\t{}\t{}", family.name, family.extension, family.scale)?;
            }
        }
        [name, scale] => {
            let scale = scale.parse().map_err(|_| format!("the scale {scale:?} is no number"))?;
            let (_, bytes) = hostile::document(name, scale)
                .ok_or_else(|| format!("there is no family {name:?}; --list shows all"))?;
            out.write_all(&bytes)?;
        }
        _ => return Err("use: hostile --list, or: hostile NAME SCALE".into()),
    }
    Ok(())
}
