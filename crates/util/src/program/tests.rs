#![allow(clippy::unwrap_used)]
use std::time::Duration;

use super::{Program, ProgramError, ProgramLimits};

const PATIENT: ProgramLimits =
    ProgramLimits { time: Duration::from_secs(60), first: Duration::ZERO, setting: "patience=SECONDS", answer: 1000 };

fn shell(script: &str, limits: ProgramLimits) -> Program {
    Program::new(vec!["/bin/sh".into(), "-c".into(), script.into()], limits).unwrap()
}

fn line(program: &Program, question: &str) -> Result<String, ProgramError> {
    program.ask(question, |answer| Ok(answer.to_owned()))
}

#[test]
fn one_start_answers_many_questions() {
    let program = shell("while read -r line; do echo \"$$ $line\"; done", PATIENT);
    let first = line(&program, "one").unwrap();
    let (number, rest) = first.split_once(' ').unwrap();
    assert_eq!(rest, "one");
    for question in ["two", "dr\u{e4}i", ""] {
        assert_eq!(line(&program, question).unwrap(), format!("{number} {question}"));
    }
}

/// Larger than any pipe holds: nobody waits for the other.
#[test]
fn long_lines_go_both_ways() {
    let program = shell("cat", ProgramLimits { answer: 9 << 20, ..PATIENT });
    let long = "x".repeat(3 << 20);
    assert_eq!(line(&program, &long).unwrap(), long);
}

#[test]
fn the_end_of_a_program_is_told_with_its_last_words() {
    let program = shell("echo one >&2; printf 'two \\033[2J\\n' >&2; exit 7", PATIENT);
    let error = line(&program, "x").unwrap_err();
    let ProgramError::Ended { how, last, .. } = &error else { panic!("{error}") };
    assert_eq!((how.as_str(), last.as_str()), ("status 7", "two \\u{1b}[2J"));
    assert!(!error.to_string().contains('\n'));
    let killed = line(&shell("kill -9 $$", PATIENT), "x").unwrap_err();
    assert!(killed.to_string().contains("signal 9"), "{killed}");
    let half = line(&shell("read -r line; printf half", PATIENT), "x").unwrap_err();
    assert!(half.to_string().contains("middle of its answer, after 4 bytes"), "{half}");
    let none = Program::new(vec!["/no/such/program".into()], PATIENT).unwrap();
    assert!(matches!(line(&none, "x"), Err(ProgramError::NotStarted { .. })));
}

#[test]
fn answers_have_limits() {
    let at_most = |script: &str, answer| line(&shell(script, ProgramLimits { answer, ..PATIENT }), "x");
    assert_eq!(at_most("read -r line; echo 12345", 5).unwrap(), "12345");
    assert!(at_most("read -r line; echo 123456", 5).unwrap_err().to_string().contains("longer than 5 bytes"));
    assert!(at_most("yes '' | tr -d '\\n' | cat /dev/zero", 1000).unwrap_err().to_string().contains("longer than"));
    let no_text = at_most("read -r line; printf '\\377\\n'", 9).unwrap_err();
    assert!(no_text.to_string().contains("no UTF-8"), "{no_text}");
}

/// Models are loaded once; who hangs later hangs again.
#[test]
fn the_first_answer_alone_has_more_time() {
    let limits = ProgramLimits { time: Duration::from_millis(200), first: Duration::from_secs(60), ..PATIENT };
    let program = shell("read -r line; sleep 1; echo first; read -r line; sleep 60", limits);
    assert_eq!(line(&program, "x").unwrap(), "first");
    for _ in 0..2 {
        // The second of them starts it again, and it is not ready in time.
        let error = line(&program, "x").unwrap_err();
        assert!(matches!(error, ProgramError::TimedOut { seconds: 0, .. }), "{error}");
        assert!(error.to_string().contains("the setting patience=SECONDS gives it longer"), "{error}");
    }
}

/// The child of a program that is ended ends with it: the pipe that it holds is closed.
#[test]
fn a_program_that_sleeps_is_ended_with_its_children() {
    let running =
        super::Running::start(&["/bin/sh".into(), "-c".into(), "sleep 1000 & echo $!; wait".into()], "sleeper", 100);
    let mut running = running.unwrap();
    let child = running.ask("x", None, "sleeper", &PATIENT).unwrap();
    let error = running.ask("y", Some(Duration::from_millis(50)), "sleeper", &PATIENT).unwrap_err();
    assert_eq!(error, ProgramError::TimedOut { program: "sleeper".into(), seconds: 0, setting: "patience=SECONDS" });
    drop(running);
    // Gone, or dead and not yet buried by whoever inherited it. A busy system takes its time to end what was told to.
    let state = || std::fs::read_to_string(format!("/proc/{child}/stat")).unwrap_or_default();
    let dead = (0..1000).any(|_| {
        let state = state();
        let dead = state.is_empty() || state.contains(") Z ") || state.contains(") X ");
        if !dead {
            std::thread::sleep(Duration::from_millis(5));
        }
        dead
    });
    assert!(dead, "{}", state());
}

#[test]
fn after_three_failures_in_a_row_it_is_left_alone() {
    let folder = tempfile::tempdir().unwrap();
    let starts = folder.path().join("starts");
    let script = format!("echo start >> '{}'; read -r line; echo \"$line\"; read -r line; exit 1", starts.display());
    let program = shell(&script, PATIENT);
    let refuse = |program: &Program| program.ask("x", |_| Err::<(), _>("not this".to_owned())).unwrap_err();
    assert!(line(&program, "a").is_ok());
    assert!(refuse(&program).to_string().contains("ended before it answered"));
    assert!(refuse(&program).to_string().contains("not this"));
    // One that succeeds begins the count anew.
    assert!(line(&program, "b").is_ok());
    (0..3).for_each(|_| drop(refuse(&program)));
    let error = line(&program, "c").unwrap_err().to_string();
    assert!(error.contains("3 times in a row") && error.contains("not this"), "{error}");
    assert_eq!(std::fs::read_to_string(&starts).unwrap().lines().count(), 5);
}
