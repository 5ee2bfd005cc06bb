//! The bounded run without guidance: seeds, and changes to them, for some seconds a target.
//!
//! Every target has a process of its own, so that one which dies (a stack overflow, memory) or hangs costs nothing but
//! itself, and is a finding like any other.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::{Target, corpus, find, findings, mutate::Mutator};

/// The file in which a worker keeps the input that it is at.
const CURRENT: &str = "current";
/// The time beyond its own after which a worker is taken to hang.
const GRACE: Duration = Duration::from_secs(60);
/// Address space of a worker in KiB, where the shell can limit it.
const ADDRESS_SPACE_KIB: u64 = 6 << 20;
/// Findings of one target that are kept: a broken target has thousands.
const MOST: usize = 20;

/// What came out for one target.
#[derive(Debug, Clone)]
pub struct Outcome {
    /// The target.
    pub target: &'static str,
    /// Inputs that were run.
    pub executions: u64,
    /// Milliseconds of the slowest input.
    pub slowest_ms: f64,
    /// Length of the slowest input in bytes.
    pub slowest_bytes: u64,
    /// A line for each finding: place, words, file of the input.
    pub findings: Vec<String>,
}

/// How long, how wide and where.
#[derive(Debug, Clone)]
pub struct Options {
    /// Seconds a target.
    pub seconds: f64,
    /// Targets at once.
    pub jobs: usize,
    /// Seed of the changes.
    pub seed: u64,
    /// Folder for inputs: of findings, and of what is run.
    pub folder: PathBuf,
}

/// Runs targets, each in a process of `program`, and returns their outcomes in the order of their names.
///
/// # Errors
/// Where a process cannot be started or a file cannot be written.
pub fn run(program: &Path, targets: &[&'static Target], options: &Options) -> std::io::Result<Vec<Outcome>> {
    let waiting = Mutex::new(targets.iter().copied());
    let done = Mutex::new(Vec::new());
    let work = || -> std::io::Result<()> {
        loop {
            let Some(target) = waiting.lock().expect("no worker panics").next() else { return Ok(()) };
            let outcome = supervise(program, target, options)?;
            done.lock().expect("no worker panics").push(outcome);
        }
    };
    std::thread::scope(|scope| {
        let workers: Vec<_> = (0..options.jobs.max(1)).map(|_| scope.spawn(work)).collect();
        workers.into_iter().try_for_each(|worker| worker.join().expect("no worker panics"))
    })?;
    let mut done = done.into_inner().expect("no worker panics");
    done.sort_by_key(|outcome| targets.iter().position(|target| target.name == outcome.target));
    Ok(done)
}

/// Starts a worker and waits for its end.
fn supervise(program: &Path, target: &'static Target, options: &Options) -> std::io::Result<Outcome> {
    let folder = options.folder.join(target.name);
    fs::create_dir_all(&folder)?;
    let (out, err) = (folder.join("out"), folder.join("err"));
    let mut command = limited(program);
    command.env("PERICOPE_FUZZ_WORKER", program);
    command.arg("worker").arg(target.name).arg(options.seconds.to_string()).arg(options.seed.to_string());
    // Files of targets go to memory where there is such a folder: SQLite waits for disks.
    let memory = Path::new("/dev/shm");
    if memory.is_dir() {
        command.env("TMPDIR", memory);
    }
    command.arg(&options.folder).stdin(Stdio::null()).stdout(File::create(&out)?).stderr(File::create(&err)?);
    let mut child = command.spawn()?;
    let end = Instant::now() + Duration::from_secs_f64(options.seconds) + GRACE;
    let status = loop {
        match child.try_wait()? {
            Some(status) => break Some(status),
            None if Instant::now() > end => {
                child.kill()?;
                child.wait()?;
                break None;
            }
            None => std::thread::sleep(Duration::from_millis(20)),
        }
    };
    let report: Value = serde_json::from_slice(&fs::read(&out)?).unwrap_or_default();
    let mut outcome = Outcome {
        target: target.name,
        executions: report["executions"].as_u64().unwrap_or(0),
        slowest_ms: report["slowest_ms"].as_f64().unwrap_or(0.0),
        slowest_bytes: report["slowest_bytes"].as_u64().unwrap_or(0),
        findings: Vec::new(),
    };
    let found = report["findings"].as_array().into_iter().flatten();
    outcome.findings.extend(found.filter_map(Value::as_str).map(str::to_owned));
    let died = match status {
        Some(status) if status.success() => return Ok(outcome),
        Some(status) => format!("died ({status})"),
        None => "hangs".to_owned(),
    };
    let said = String::from_utf8_lossy(&fs::read(&err)?).trim().lines().last().unwrap_or_default().to_owned();
    let input = saved(&fs::read(folder.join(CURRENT))?);
    let file = findings::save(&options.folder, target.name, &format!("died_{}", input.len()), &input)?;
    outcome.findings.push(format!("{died}: {said}: {}", file.display()));
    Ok(outcome)
}

/// The command of a worker; where there is a shell, with a limit to its memory.
fn limited(program: &Path) -> Command {
    if cfg!(target_os = "linux") {
        let mut command = Command::new("sh");
        command.arg("-c").arg(format!("ulimit -v {ADDRESS_SPACE_KIB}; exec \"$0\" \"$@\"")).arg(program);
        return command;
    }
    Command::new(program)
}

/// The input in a worker's file: its length as text, a line end, the bytes.
fn saved(file: &[u8]) -> Vec<u8> {
    let end = file.iter().position(|&byte| byte == b'\n').unwrap_or(0);
    let length = std::str::from_utf8(&file[..end]).ok().and_then(|text| text.trim().parse::<usize>().ok());
    file.iter().skip(end + 1).take(length.unwrap_or(0)).copied().collect()
}

/// The process of one target: runs inputs for some seconds and prints what came out as JSON.
///
/// # Errors
/// Where the input or a finding cannot be written.
///
/// # Panics
/// Where there is no target of that name.
pub fn work(target: &str, seconds: f64, seed: u64, folder: &Path) -> std::io::Result<()> {
    let target = find(target).expect("a target of that name");
    findings::install();
    let own = folder.join(target.name);
    fs::create_dir_all(&own)?;
    let mut current = File::create(own.join(CURRENT))?;
    let (mut mutator, seeds) = (Mutator::new(seed), corpus::seeds(target.name));
    let (mut executions, mut slowest, mut slowest_bytes) = (0_u64, Duration::ZERO, 0);
    let (mut places, mut found) = (BTreeSet::new(), Vec::new());
    let end = Instant::now() + Duration::from_secs_f64(seconds);
    let mut waiting = seeds.iter();
    loop {
        let data = match waiting.next() {
            Some(seed) => seed.clone(),
            None if Instant::now() > end => break,
            None => {
                let (one, other) = (mutator.below(seeds.len()), mutator.below(seeds.len()));
                mutator.mutate(&seeds[one], &seeds[other], target.words, target.longest)
            }
        };
        // One write, so that the file is whole whenever the process dies.
        current.seek(SeekFrom::Start(0))?;
        current.write_all(&[format!("{:>9}\n", data.len()).as_bytes(), &data].concat())?;
        let started = Instant::now();
        let run = findings::guarded(target, &data);
        let took = started.elapsed();
        executions += 1;
        if took > slowest {
            (slowest, slowest_bytes) = (took, data.len());
        }
        if let Err(finding) = run
            && places.len() < MOST
            && places.insert(finding.place.clone())
        {
            let file = findings::save(folder, target.name, &finding.place, &data)?;
            found.push(format!("{}: {}: {}", finding.place, finding.message, file.display()));
        }
    }
    let report = json!({
        "executions": executions,
        "slowest_ms": slowest.as_secs_f64() * 1e3,
        "slowest_bytes": slowest_bytes,
        "findings": found,
    });
    println!("{report}");
    Ok(())
}

/// The outcomes as a table of Markdown.
#[must_use]
pub fn table(outcomes: &[Outcome]) -> String {
    use std::fmt::Write;
    let mut text = String::from("| target | executions | slowest input | findings |\n| --- | --: | --: | --: |\n");
    for outcome in outcomes {
        let Outcome { target, executions, slowest_ms, slowest_bytes, findings } = outcome;
        let _ = writeln!(
            text,
            "| {target} | {executions} | {slowest_ms:.0} ms ({slowest_bytes} bytes) | {} |",
            findings.len()
        );
    }
    text
}
