//! What a call costs the client: CPU and memory for many items, each an answer and nothing else, from a server in another
//! process.
//!
//! `cargo run --release -p pericope-llm --example throughput [ITEMS]` (Linux: figures come from /proc).

use std::io::{BufRead, BufReader};
use std::process::{Command, Stdio};
use std::time::Instant;

use pericope_llm::{LlmConfig, LlmGenerator, ProviderKind, Shared, map_concurrent};
use pericope_testkit::llm::{Act, Server};

type Any = Box<dyn std::error::Error>;

fn main() -> Result<(), Any> {
    let argument = std::env::args().nth(1);
    if argument.as_deref() == Some("serve") {
        let server = Server::start(|_| "An answer of a few words.".to_owned(), |_| Act::Answer)?;
        println!("{}", server.base_url());
        // Until the other process goes away.
        std::io::stdin().read_line(&mut String::new())?;
        return Ok(());
    }
    let items: usize = argument.map_or(Ok(10_000), |n| n.parse())?;
    let mut server =
        Command::new(std::env::current_exe()?).arg("serve").stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut url = String::new();
    BufReader::new(server.stdout.take().ok_or("no output")?).read_line(&mut url)?;

    let folder = std::env::temp_dir().join(format!("pericope-throughput-{}", std::process::id()));
    let shared = Shared::open(&folder.join("cache.sqlite"), None, false)?;
    let mut config = LlmConfig::new(ProviderKind::OpenAi, "any");
    config.base_url = Some(url.trim().to_owned());
    config.concurrency = 8;
    let generator = LlmGenerator::from_config(&config, &shared)?;
    let chunk = "A chunk of a hundred words or so stands here, as it would in an experiment. ".repeat(8);
    let questions: Vec<String> = (0..items).map(|i| format!("What is item {i}?")).collect();
    let ask = |questions: &[String]| -> Result<(f64, f64), Any> {
        let (cpu, started) = (cpu_seconds()?, Instant::now());
        let done = map_concurrent(8, questions, |_, question| generator.answer(question, &[&chunk, &chunk, &chunk]));
        if let Some(error) = done.stopped {
            return Err(error.into());
        }
        for result in done.results.into_iter().flatten() {
            result?;
        }
        Ok((cpu_seconds()? - cpu, started.elapsed().as_secs_f64()))
    };
    let tenth = items / 10;
    ask(questions.get(..tenth).unwrap_or_default())?;
    let memory = resident_mib()?;
    let (cpu, wall) = ask(questions.get(tenth..).unwrap_or_default())?;
    let n = (items - tenth) as f64;
    println!("asked: {:.3} ms of CPU an item, {:.0} items a second", cpu * 1000.0 / n, n / wall);
    println!("memory: {memory:.1} MiB after {tenth} items, {:.1} MiB after {items}", resident_mib()?);
    let (cpu, wall) = ask(&questions)?;
    println!(
        "from the cache: {:.3} ms of CPU an item, {:.0} items a second",
        cpu * 1000.0 / items as f64,
        items as f64 / wall
    );
    drop(server.stdin.take());
    server.wait()?;
    std::fs::remove_dir_all(folder)?;
    Ok(())
}

/// User and system time of this process; /proc counts it in hundredths of a second.
fn cpu_seconds() -> Result<f64, Any> {
    let stat = std::fs::read_to_string("/proc/self/stat")?;
    let after = stat.rsplit_once(')').ok_or("no stat")?.1;
    let fields: Vec<&str> = after.split_whitespace().collect();
    let ticks: f64 = fields.get(11..13).ok_or("no times")?.iter().filter_map(|t| t.parse::<f64>().ok()).sum();
    Ok(ticks / 100.0)
}

fn resident_mib() -> Result<f64, Any> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).ok_or("no VmRSS")?;
    let kib: f64 = line.split_whitespace().nth(1).ok_or("no VmRSS")?.parse()?;
    Ok(kib / 1024.0)
}
