//! Encodes the lines of a file and prints one line of JSON with the time taken.
//!
//! `encode_speed FILE [--embedder minilm] [--threads N] [--out VECTORS.f32] [--serve]`: `--out` writes the vectors as raw little-endian
//! floats, and `--serve` encodes the file again for every line on standard input, so that another program can take turns
//! with this one.

use std::error::Error;
use std::io::{BufRead, Write};
use std::time::Instant;

use pericope_encode::registry::{counter, embedder};

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (mut file, mut threads, mut out, mut serve, mut name) = (None, 0, None, false, "minilm".to_owned());
    while let Some(argument) = arguments.next() {
        match argument.as_str() {
            "--threads" => threads = arguments.next().ok_or("--threads needs a number")?.parse()?,
            "--out" => out = arguments.next(),
            "--embedder" => name = arguments.next().ok_or("--embedder needs a name")?,
            "--serve" => serve = true,
            _ => file = Some(argument),
        }
    }
    let text =
        std::fs::read_to_string(file.ok_or("usage: encode_speed FILE [--threads N] [--out VECTORS] [--serve]")?)?;
    let texts: Vec<&str> = text.lines().collect();
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;

    let start = Instant::now();
    let model = embedder(&name)?.ok_or("none gives no vectors")?;
    let load_seconds = start.elapsed().as_secs_f64();
    // The word pieces of MiniLM, whichever model reads them.
    let counter = counter("minilm")?;
    let tokens: usize = texts.iter().map(|t| (counter.count(t) + 2).min(model.max_tokens())).sum();

    let run = || -> Result<(), Box<dyn Error>> {
        let start = Instant::now();
        let vectors = model.encode(&texts)?;
        let seconds = start.elapsed().as_secs_f64();
        if let Some(out) = &out {
            std::fs::write(out, vectors.values().iter().flat_map(|v| v.to_le_bytes()).collect::<Vec<u8>>())?;
        }
        println!(
            r#"{{"sentences":{},"tokens":{tokens},"load_seconds":{load_seconds:.4},"seconds":{seconds:.4}}}"#,
            texts.len()
        );
        Ok(std::io::stdout().flush()?)
    };
    if serve {
        println!("ready");
        std::io::stdout().flush()?;
        for line in std::io::stdin().lock().lines() {
            line?;
            run()?;
        }
        return Ok(());
    }
    run()
}
