//! As much of HTTP/1.1 as a generator of load needs: one request after another on a connection.

use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

/// The longest line of a head, in bytes.
const LINE: u64 = 16 << 10;

/// A connection that is kept.
pub(super) struct Connection {
    stream: BufReader<TcpStream>,
    body: Vec<u8>,
}

/// An answer: its status, and whether another request may follow.
pub(super) struct Answer {
    pub status: u16,
    pub keep: bool,
}

fn wrong(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

impl Connection {
    pub fn open(address: SocketAddr, timeout: Duration) -> io::Result<Self> {
        let stream = TcpStream::connect_timeout(&address, timeout)?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(timeout))?;
        stream.set_write_timeout(Some(timeout))?;
        Ok(Self { stream: BufReader::new(stream), body: Vec::new() })
    }

    /// Sends a whole request and reads the whole answer.
    pub fn ask(&mut self, request: &[u8]) -> io::Result<Answer> {
        self.stream.get_mut().write_all(request)?;
        let status = self.line()?;
        let code = status.strip_prefix("HTTP/1.1 ").and_then(|rest| rest.get(..3)?.parse().ok());
        let code: u16 = code.ok_or_else(|| wrong("no status line"))?;
        let (mut length, mut chunked, mut keep) = (0, false, true);
        loop {
            let line = self.line()?;
            let Some((name, value)) = line.split_once(':') else {
                if line.is_empty() { break } else { return Err(wrong("a header without a colon")) }
            };
            match (name.to_ascii_lowercase().as_str(), value.trim()) {
                ("content-length", value) => length = value.parse().map_err(|_| wrong("no length"))?,
                ("transfer-encoding", value) => chunked = value.eq_ignore_ascii_case("chunked"),
                ("connection", value) => keep = !value.eq_ignore_ascii_case("close"),
                _ => {}
            }
        }
        if chunked {
            while let size @ 1.. = u64::from_str_radix(&self.line()?, 16).map_err(|_| wrong("no size of a chunk"))? {
                self.read(size)?;
                self.line()?;
            }
            self.line()?;
        } else {
            self.read(length)?;
        }
        Ok(Answer { status: code, keep })
    }

    /// A line without its end.
    fn line(&mut self) -> io::Result<String> {
        let mut line = String::new();
        if (&mut self.stream).take(LINE).read_line(&mut line)? == 0 {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
        line.truncate(line.trim_end().len());
        Ok(line)
    }

    /// Reads so many bytes and forgets them.
    fn read(&mut self, length: u64) -> io::Result<()> {
        self.body.clear();
        let read = (&mut self.stream).take(length).read_to_end(&mut self.body)?;
        if read as u64 == length { Ok(()) } else { Err(io::ErrorKind::UnexpectedEof.into()) }
    }
}
