//! What a program writes: answers on its standard output, and words for people on its standard error.

use std::io::{BufRead, BufReader, Read};
use std::sync::mpsc::SyncSender;
use std::sync::{Arc, Mutex, PoisonError};

use super::notices::tell;

/// Bytes of a line of standard error that are kept.
const LINE: u64 = 2_000;
/// Lines of standard error that are passed on.
const TOLD: usize = 1_000;

/// What was read of standard output.
#[derive(Debug)]
pub(super) enum Piece {
    Line(Vec<u8>),
    /// A line that is longer than an answer may be.
    TooLong,
    /// The end, with the bytes of a line that was not finished.
    End(usize),
}

/// Hands over standard output line by line, until nobody wants it.
pub(super) fn read_answers(output: impl Read, most: u64, pieces: &SyncSender<Piece>) {
    let mut output = BufReader::with_capacity(1 << 16, output);
    loop {
        let mut line = Vec::new();
        // One more than the limit, and the line end.
        let read = output.by_ref().take(most.saturating_add(2)).read_until(b'\n', &mut line);
        let whole = line.last() == Some(&b'\n');
        if whole {
            line.pop();
        }
        let piece = match read {
            Ok(_) if line.len() as u64 > most => Piece::TooLong,
            Ok(_) if whole => Piece::Line(line),
            _ => Piece::End(line.len()),
        };
        let ends = !matches!(piece, Piece::Line(_));
        if pieces.send(piece).is_err() || ends {
            return;
        }
    }
}

/// Passes standard error on line by line, and keeps the last one.
pub(super) fn read_words(output: impl Read, program: &str, last: &Arc<Mutex<String>>) {
    let mut output = BufReader::new(output);
    let mut told = 0usize;
    loop {
        let mut line = Vec::new();
        match output.by_ref().take(LINE).read_until(b'\n', &mut line) {
            Ok(0) | Err(_) => return,
            Ok(_) => {}
        }
        let text = String::from_utf8_lossy(&line);
        let text = crate::visible_line(text.trim_end()).into_owned();
        if text.is_empty() {
            continue;
        }
        told = told.saturating_add(1);
        match told {
            ..=TOLD => tell(&format!("{program}: {text}")),
            _ if told == TOLD + 1 => tell(&format!("{program}: more than {TOLD} lines; the rest is not shown")),
            _ => {}
        }
        *last.lock().unwrap_or_else(PoisonError::into_inner) = text;
    }
}
