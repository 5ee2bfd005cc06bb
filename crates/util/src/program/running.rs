use std::io::Write;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use super::output::{Piece, read_answers, read_words};
use super::{ProgramError, ProgramLimits, live, notices};

/// A program that was told that nothing more comes has so long to end by itself.
const GRACE: Duration = Duration::from_secs(2);
/// Between two looks at a process.
const LOOK: Duration = Duration::from_millis(10);

/// A program that runs, and the threads that hold its three ends.
#[derive(Debug)]
pub(super) struct Running {
    child: Child,
    /// `None` once its standard input is closed.
    questions: Option<SyncSender<Vec<u8>>>,
    answers: Receiver<Piece>,
    /// Says when standard error has ended.
    silence: Receiver<()>,
    last: Arc<Mutex<String>>,
    /// It ends by itself when its input does: nothing is wrong with it.
    well: bool,
}

impl Running {
    pub(super) fn start(words: &[String], shown: &str, most: u64) -> Result<Self, ProgramError> {
        let not_started = |reason: String| ProgramError::NotStarted { program: shown.to_owned(), reason };
        let Some((file, arguments)) = words.split_first() else {
            return Err(ProgramError::Words("no program is named".into()));
        };
        notices::prepare();
        let mut command = Command::new(file);
        command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Python keeps its output back where nobody sits at a terminal, and may not write UTF-8.
        command.env("PYTHONUNBUFFERED", "1").env("PYTHONUTF8", "1");
        // In a group of its own it can be ended with everything that it starts.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let started = live::start(|| command.spawn()).ok_or(ProgramError::Interrupted)?;
        let mut child = started.map_err(|error| not_started(error.to_string()))?;
        let ends = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(mut stdin), Some(stdout), Some(stderr)) = ends else {
            live::end(&mut child);
            return Err(not_started("it has no standard input or output".into()));
        };
        let (questions, asked) = sync_channel::<Vec<u8>>(1);
        let (pieces, answers) = sync_channel(1);
        let (quiet, silence) = sync_channel(1);
        let last = Arc::<Mutex<String>>::default();
        let (name, words) = (name(file), Arc::clone(&last));
        // A program that does not read holds up this thread, and not the one that waits for its answer.
        thread::spawn(move || {
            for line in asked {
                if stdin.write_all(&line).and_then(|()| stdin.flush()).is_err() {
                    return;
                }
            }
        });
        thread::spawn(move || read_answers(stdout, most, &pieces));
        thread::spawn(move || {
            read_words(stderr, &name, &words);
            let _ = quiet.send(());
        });
        Ok(Self { child, questions: Some(questions), answers, silence, last, well: false })
    }

    /// Sends a line and waits for one.
    pub(super) fn ask(
        &mut self,
        line: &str,
        time: Option<Duration>,
        shown: &str,
        limits: &ProgramLimits,
    ) -> Result<String, ProgramError> {
        self.well = false;
        let mut bytes = Vec::with_capacity(line.len() + 1);
        bytes.extend_from_slice(line.as_bytes());
        bytes.push(b'\n');
        // Where the program is gone, its output has ended too, which says more.
        if let Some(questions) = &self.questions {
            let _ = questions.try_send(bytes);
        }
        let piece = match time {
            None => self.answers.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(time) => self.answers.recv_timeout(time),
        };
        let no_answer = |problem: String| Err(ProgramError::NoAnswer { program: shown.to_owned(), problem });
        match piece {
            Ok(Piece::Line(line)) => match String::from_utf8(line) {
                Ok(text) => {
                    self.well = true;
                    Ok(text)
                }
                Err(_) => no_answer("its answer is no UTF-8".into()),
            },
            Ok(Piece::TooLong) => no_answer(format!("its answer is longer than {} bytes", limits.answer)),
            Ok(Piece::End(bytes)) if bytes > 0 => {
                no_answer(format!("it ended in the middle of its answer, after {bytes} bytes{}", self.words()))
            }
            Ok(Piece::End(_)) | Err(RecvTimeoutError::Disconnected) => Err(self.ended(shown)),
            Err(RecvTimeoutError::Timeout) => {
                let seconds = time.map_or(0, |time| time.as_secs());
                Err(ProgramError::TimedOut { program: shown.to_owned(), seconds, setting: limits.setting })
            }
        }
    }

    /// Why its output ended.
    fn ended(&mut self, shown: &str) -> ProgramError {
        let how = self.wait(GRACE).map_or_else(|| "it closed its output".to_owned(), how);
        live::end(&mut self.child);
        // What it wrote last may still be on its way; a process that it left behind may hold the pipe for ever.
        let _ = self.silence.recv_timeout(GRACE);
        ProgramError::Ended { program: shown.to_owned(), how, last: self.last() }
    }

    fn words(&self) -> String {
        let _ = self.silence.recv_timeout(GRACE);
        let last = self.last();
        if last.is_empty() { last } else { format!("; its last line on standard error: {last}") }
    }

    fn last(&self) -> String {
        self.last.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    /// Waits for its end.
    fn wait(&mut self, time: Duration) -> Option<ExitStatus> {
        let start = Instant::now();
        loop {
            match self.child.try_wait() {
                Ok(Some(status)) => return Some(status),
                Ok(None) if start.elapsed() < time => thread::sleep(LOOK),
                _ => return None,
            }
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // No more questions: its standard input ends.
        self.questions = None;
        if self.well {
            let _ = self.wait(GRACE);
        }
        live::end(&mut self.child);
    }
}

/// The file's own name, to stand before its lines.
fn name(file: &str) -> String {
    let name = std::path::Path::new(file).file_name().map_or(file.into(), |name| name.to_string_lossy());
    crate::visible_line(&name).into_owned()
}

#[cfg(unix)]
fn how(status: ExitStatus) -> String {
    use std::os::unix::process::ExitStatusExt;
    match (status.code(), status.signal()) {
        (Some(code), _) => format!("status {code}"),
        (None, Some(signal)) => format!("signal {signal}"),
        (None, None) => "no status".into(),
    }
}

#[cfg(not(unix))]
fn how(status: ExitStatus) -> String {
    status.code().map_or_else(|| "no status".into(), |code| format!("status {code}"))
}
