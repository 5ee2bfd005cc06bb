//! The command that is told how a night went.
//!
//! It runs in a process group of its own, so that what it started can be ended with it.

use std::io::{self, Write};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Runs a command with these variables in its environment and `json` on its standard input; what it prints goes to our
/// standard error. After `limit` it is stopped, with everything that it started.
///
/// # Errors
/// In words, where it cannot be started, ends with another status than 0, or was stopped.
pub(super) fn call(
    program: &str,
    arguments: &[String],
    variables: &[(&str, &str)],
    json: &str,
    limit: Duration,
) -> Result<(), String> {
    let mut command = Command::new(program);
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::from(io::stderr()));
    // No variable can hold a NUL.
    command.envs(variables.iter().map(|(name, value)| (*name, value.replace('\0', "\u{fffd}"))));
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let interrupted = interrupt::watch();
    let mut child = command.spawn().map_err(|e| format!("it cannot be started: {e}"))?;
    let writer = child.stdin.take().map(|mut stdin| {
        let json = json.to_owned();
        // A command that does not read would hold us up; one that closes the pipe early is no error.
        std::thread::spawn(move || {
            let _ = stdin.write_all(json.as_bytes());
        })
    });
    let ended = wait(&mut child, limit, &interrupted);
    // A grandchild may hold the pipe open without reading: it is not waited for.
    if let Some(writer) = writer.filter(|writer| ended.is_ok() && writer.is_finished()) {
        let _ = writer.join();
    }
    ended
}

fn wait(child: &mut Child, limit: Duration, interrupted: &interrupt::Watch) -> Result<(), String> {
    let start = Instant::now();
    loop {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("it ended with {status}")),
            Ok(None) if interrupted.is_told() => {
                stop(child);
                interrupted.obey();
                return Err("it was interrupted".to_owned());
            }
            Ok(None) if start.elapsed() >= limit => {
                stop(child);
                return Err(format!("it was stopped after {} seconds (nightly.timeout_seconds)", limit.as_secs()));
            }
            Ok(None) => std::thread::sleep(Duration::from_millis(20)),
            Err(e) => return Err(e.to_string()),
        }
    }
}

/// Ends a command that runs, and what it started.
fn stop(child: &mut Child) {
    #[cfg(unix)]
    if let Some(group) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
        let _ = rustix::process::kill_process_group(group, rustix::process::Signal::KILL);
    }
    let _ = child.kill();
    let _ = child.wait();
}

/// Ctrl-C in a terminal does not reach a process group of its own: it is passed on.
#[cfg(unix)]
mod interrupt {
    use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
    use std::sync::{Arc, OnceLock};

    use signal_hook::consts::{SIGINT, SIGTERM};
    use signal_hook::{flag, low_level};

    struct Signals {
        /// No command runs: signals do what they do without us.
        idle: Arc<AtomicBool>,
        /// The signal that came while a command ran; 0: none.
        told: Arc<AtomicUsize>,
    }

    static SIGNALS: OnceLock<Signals> = OnceLock::new();

    /// Holds signals back as long as it lives.
    pub(super) struct Watch(&'static Signals);

    pub(super) fn watch() -> Watch {
        let signals = SIGNALS.get_or_init(|| {
            let signals = Signals { idle: Arc::new(AtomicBool::new(true)), told: Arc::default() };
            for signal in [SIGINT, SIGTERM] {
                // Where the system lets nobody handle its signals, they end us and not the command.
                if flag::register_conditional_default(signal, Arc::clone(&signals.idle)).is_ok() {
                    let number = usize::try_from(signal).unwrap_or_default();
                    let _ = flag::register_usize(signal, Arc::clone(&signals.told), number);
                }
            }
            signals
        });
        signals.idle.store(false, Ordering::SeqCst);
        Watch(signals)
    }

    impl Watch {
        pub(super) fn is_told(&self) -> bool {
            self.0.told.load(Ordering::SeqCst) != 0
        }

        /// Does what the signal would have done.
        pub(super) fn obey(&self) {
            let signal = i32::try_from(self.0.told.load(Ordering::SeqCst)).unwrap_or(SIGTERM);
            let _ = low_level::emulate_default_handler(signal);
        }
    }

    impl Drop for Watch {
        fn drop(&mut self) {
            self.0.idle.store(true, Ordering::SeqCst);
        }
    }
}

#[cfg(not(unix))]
mod interrupt {
    pub(super) struct Watch;

    pub(super) fn watch() -> Watch {
        Watch
    }

    impl Watch {
        pub(super) fn is_told(&self) -> bool {
            false
        }

        pub(super) fn obey(&self) {}
    }
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used)]
    use std::time::Duration;

    use super::call;

    fn sh(script: &str, seconds: u64) -> Result<(), String> {
        call("sh", &["-c".to_owned(), script.to_owned()], &[("X", "a\0b")], "{}", Duration::from_secs(seconds))
    }

    #[test]
    fn what_a_stopped_command_started_is_stopped_with_it() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("pid");
        // The grandchild would outlive its parent by far.
        let error = sh(&format!("sleep 600 & echo $! > {}; wait", file.display()), 1).unwrap_err();
        assert!(error.contains("stopped after 1 seconds"), "{error}");
        let pid: i32 = std::fs::read_to_string(&file).unwrap().trim().parse().unwrap();
        let gone = (0..200).any(|_| {
            // A process that has ended and that nobody waited for is a zombie: it runs no more.
            let state = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let runs = !state.is_empty() && !state.contains(") Z ");
            if runs {
                std::thread::sleep(Duration::from_millis(20));
            }
            !runs
        });
        assert!(gone, "process {pid} runs on");
    }

    #[test]
    fn what_a_command_says_with_its_status_is_passed_on() {
        assert_eq!(sh("test \"$X\" = 'a\u{fffd}b' && cat > /dev/null", 10), Ok(()));
        assert!(sh("exit 3", 10).unwrap_err().contains("exit status: 3"));
        assert!(
            call("/no/such/program", &[], &[], "", Duration::from_secs(1)).unwrap_err().contains("cannot be started")
        );
    }
}
