//! A clock that was set back.

use std::fs;
use std::path::Path;

use pericope_testkit::faults::{Ended, Plan, Program, can_trace, trace};

use super::nightly::Night;
use super::table::Scenario;

/// Two years, in seconds.
const BACK: i64 = -2 * 365 * 86_400;

fn set_back() -> Plan {
    Plan { clock: BACK, ..Plan::default() }
}

#[test]
fn nights_are_ordered_by_their_number_whatever_the_clock_says() {
    if !can_trace() {
        eprintln!("SKIPPED: a clock set back: processes may not be traced here");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    Night::prepare(folder.path());
    let traced = trace(&Night.program(folder.path()), &set_back()).unwrap();
    assert_eq!(traced.ended, Ended::Status(0), "{}", traced.stderr);
    let read = || -> serde_json::Value {
        serde_json::from_str(&fs::read_to_string(folder.path().join("nights.h/latest.json")).unwrap()).unwrap()
    };
    let year = |night: &serde_json::Value| -> i32 { night["started"].as_str().unwrap()[..4].parse().unwrap() };
    let earlier = read();
    assert_eq!((earlier["night"].as_u64(), earlier["reference"]["night"].as_u64()), (Some(2), Some(1)));
    let traced = trace(&Night.program(folder.path()), &Plan::default()).unwrap();
    assert_eq!(traced.ended, Ended::Status(0), "{}", traced.stderr);
    let last = read();
    assert_eq!((last["night"].as_u64(), last["reference"]["night"].as_u64()), (Some(3), Some(2)));
    assert!(year(&earlier) < year(&last), "the clock of the second night was set back");
    assert_eq!(Night.state(folder.path()).unwrap().as_array().unwrap().len(), 3);
}

#[test]
fn a_file_that_changed_is_indexed_again_whatever_the_clock_says() {
    if !can_trace() {
        eprintln!("SKIPPED: a clock set back: processes may not be traced here");
        return;
    }
    let folder = tempfile::tempdir().unwrap();
    let docs = folder.path().join("docs");
    fs::create_dir(&docs).unwrap();
    let index = |folder: &Path, plan: &Plan| {
        let program = Program::new(env!("CARGO_BIN_EXE_pericope"), folder)
            .env("PERICOPE_HOME", folder.join("no-home").to_string_lossy())
            .args(["index", "docs", "--into", "x.idx", "--embedder", "none", "--tokenizer", "words"]);
        let traced = trace(&program, plan).unwrap();
        assert_eq!(traced.ended, Ended::Status(0), "{}", traced.stderr);
    };
    let search = |folder: &Path, word: &str| {
        let program =
            Program::new(env!("CARGO_BIN_EXE_pericope"), folder).args(["search", word, "--in", "x.idx", "--json"]);
        let traced = trace(&program, &Plan::default()).unwrap();
        assert_eq!(traced.ended, Ended::Status(0), "{}", traced.stderr);
        traced.stdout.contains(word)
    };
    // Files of the same length, written in the past and in the future of the clock that the command sees.
    for (plan, word) in [(Plan::default(), "badger"), (set_back(), "weasel"), (Plan::default(), "rabbit")] {
        fs::write(docs.join("a.txt"), format!("A {word} slept.\n")).unwrap();
        index(folder.path(), &plan);
        assert!(search(folder.path(), word), "{word} is not found");
    }
}
