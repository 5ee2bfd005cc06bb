//! The worker's side.

use std::io::{self, BufReader, Write};
use std::path::Path;
use std::process::exit;
use std::sync::mpsc::{Receiver, channel};

use super::limits::{self, Base};
use super::protocol::{MOST_HEADINGS, Reply, Request, exactly, head, send};
use crate::encoding::Decoded;
use crate::error::ReadError;
use crate::formats::reader;

/// Decodes files for the process that started this one, and ends with it: this function does not return.
///
/// A program calls it when it is started as a worker ([`WorkerPool::new`](super::WorkerPool::new)), before it does
/// anything else: standard input and output belong to the conversation. The process gives up the right to open or write
/// files. On Linux it limits its memory for each file.
pub fn serve() -> ! {
    let base = limits::lock();
    let (files, queue) = channel();
    std::thread::spawn(move || work(&queue));
    // Who reads on while a file is decoded notices that the other side is gone, and that nobody waits for an answer.
    let status = match listen(base, &mut |file| files.send(file).is_ok()) {
        Err(error) if error.kind() != io::ErrorKind::UnexpectedEof => 1,
        _ => 0,
    };
    exit(status)
}

/// Hands on what is asked, until nothing more comes or `hand_on` says so.
fn listen(base: Base, hand_on: &mut dyn FnMut((Request, Vec<u8>)) -> bool) -> io::Result<()> {
    let mut from = BufReader::new(io::stdin().lock());
    loop {
        let request: Request = head(&mut from)?;
        limits::memory(base, request.memory);
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(usize::try_from(request.bytes).unwrap_or(usize::MAX)).map_err(io::Error::other)?;
        exactly(&mut from, request.bytes, &mut bytes)?;
        if !hand_on((request, bytes)) {
            return Ok(());
        }
    }
}

/// Answers until nobody listens.
fn work(queue: &Receiver<(Request, Vec<u8>)>) {
    for (request, bytes) in queue {
        let (reply, text) = answer(&request, bytes);
        if send(&mut io::stdout().lock(), &reply, text.as_bytes()).is_err() {
            break;
        }
    }
    let _ = io::stdout().flush();
    exit(0);
}

fn answer(request: &Request, bytes: Vec<u8>) -> (Reply, String) {
    let Some(reader) = reader(&request.format) else {
        return (Reply::broken(&format!("no reader for {}", request.format)), String::new());
    };
    let reply = match reader.decode(Path::new(""), bytes) {
        Ok(Decoded { text, encoding, missing, mut headings }) if text.len() as u64 <= request.most_text => {
            headings.truncate(MOST_HEADINGS);
            return (Reply::Text { bytes: text.len() as u64, encoding, missing, headings }, text);
        }
        Ok(_) => Reply::broken(&format!("it holds more than {} MB of text", request.most_text / 1_000_000)),
        Err(ReadError::NoText { .. }) => Reply::NoText,
        Err(ReadError::Encrypted { .. }) => Reply::Encrypted,
        Err(ReadError::Pdf { message, .. }) => Reply::broken(&message),
        Err(error) => Reply::broken(&error.to_string()),
    };
    (reply, String::new())
}
