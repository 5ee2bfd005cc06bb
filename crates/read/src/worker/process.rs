//! One worker, seen from outside.

use std::io::{self, BufReader, Read, Write};
use std::process::{Child, ChildStderr, Command, Stdio};
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::JoinHandle;
use std::time::Duration;

use super::death::Death;
use super::protocol::{Reply, Request, exactly, head, send};

/// Bytes of its last words that are kept.
const LAST_WORDS: usize = 4 << 10;
/// How long its last words are waited for, once it is dead: somebody else may hold the pipe.
const A_MOMENT: Duration = Duration::from_millis(500);

/// What a worker is asked, and what it says.
type Question = (Request, Arc<Vec<u8>>);
type Answer = (Reply, Vec<u8>);

/// A running worker. It ends when this is dropped.
#[derive(Debug)]
pub(super) struct Worker {
    child: Child,
    questions: Option<Sender<Question>>,
    answers: Receiver<io::Result<Answer>>,
    last_words: Receiver<String>,
    threads: Vec<JoinHandle<()>>,
}

impl Worker {
    /// Starts one.
    pub fn start(mut command: Command) -> Result<Self, Death> {
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        // Its last words are to say why it ends, not where.
        command.env("RUST_BACKTRACE", "0");
        // Ctrl-C is for the program, which still wants an answer to what it asked.
        #[cfg(unix)]
        std::os::unix::process::CommandExt::process_group(&mut command, 0);
        let mut child = command.spawn().map_err(|error| Death::NotStarted(error.to_string()))?;
        let (Some(input), Some(output), Some(errors)) = (child.stdin.take(), child.stdout.take(), child.stderr.take())
        else {
            return Err(Death::NotStarted("it has no pipes".into()));
        };
        let (questions, to_ask) = channel();
        let (to_tell, answers) = channel();
        let (to_repeat, last_words) = channel();
        // Pipes cannot be waited on for a while only; whoever waits for these threads can.
        let threads = vec![
            std::thread::spawn(move || talk(input, BufReader::new(output), &to_ask, &to_tell)),
            std::thread::spawn(move || {
                let _ = to_repeat.send(tail(errors));
            }),
        ];
        Ok(Self { child, questions: Some(questions), answers, last_words, threads })
    }

    /// True while nothing ended it.
    pub fn is_alive(&mut self) -> bool {
        matches!(self.child.try_wait(), Ok(None))
    }

    /// Asks, and waits for the answer, at most for `limit` where there is one. After an error this worker is dead.
    pub fn ask(&mut self, request: Request, bytes: Arc<Vec<u8>>, limit: Option<Duration>) -> Result<Answer, Death> {
        let asked = self.questions.as_ref().is_some_and(|questions| questions.send((request, bytes)).is_ok());
        let answer = match limit {
            _ if !asked => Err(RecvTimeoutError::Disconnected),
            Some(limit) => self.answers.recv_timeout(limit),
            None => self.answers.recv().map_err(|_| RecvTimeoutError::Disconnected),
        };
        match answer {
            Ok(Ok(answer)) => Ok(answer),
            Err(RecvTimeoutError::Timeout) => {
                let _ = self.child.kill();
                Err(Death::Time)
            }
            // It said something else than it may, or closed its mouth on the way to its end.
            Ok(Err(_)) | Err(RecvTimeoutError::Disconnected) => Err(self.why()),
        }
    }

    fn why(&mut self) -> Death {
        let words = match self.last_words.recv_timeout(A_MOMENT) {
            Ok(words) => words,
            Err(_) => {
                let _ = self.child.kill();
                self.last_words.recv_timeout(A_MOMENT).unwrap_or_default()
            }
        };
        Death::of(self.child.wait().ok(), &words)
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        self.questions = None;
        let _ = self.child.kill();
        let _ = self.child.wait();
        // A thread that somebody else's copy of a pipe holds up is nobody's loss.
        for thread in self.threads.drain(..).filter(JoinHandle::is_finished) {
            let _ = thread.join();
        }
    }
}

/// Asks one question after the other, until nobody has one or the worker is gone.
fn talk(
    mut input: impl Write,
    mut output: impl Read,
    questions: &Receiver<Question>,
    answers: &Sender<io::Result<Answer>>,
) {
    for (request, bytes) in questions {
        let most = request.most_text;
        let answer = send(&mut input, &request, &bytes).and_then(|()| listen(&mut output, most));
        drop(bytes);
        let over = answer.is_err();
        if answers.send(answer).is_err() || over {
            return;
        }
    }
}

fn listen(output: &mut impl Read, most: u64) -> io::Result<Answer> {
    let reply: Reply = head(output)?;
    let mut text = Vec::new();
    if let Reply::Text { bytes, .. } = reply {
        if bytes > most {
            return Err(io::ErrorKind::InvalidData.into());
        }
        exactly(output, bytes, &mut text)?;
    }
    Ok((reply, text))
}

/// The end of what it says on standard error.
fn tail(mut errors: ChildStderr) -> String {
    let (mut kept, mut block) = (Vec::new(), [0; 1024]);
    while let Ok(read @ 1..) = errors.read(&mut block) {
        kept.extend_from_slice(block.get(..read).unwrap_or_default());
        kept.drain(..kept.len().saturating_sub(LAST_WORDS));
    }
    String::from_utf8_lossy(&kept).into_owned()
}
