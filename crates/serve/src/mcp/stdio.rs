//! One client, over the standard streams.

use std::io;
use std::pin::pin;
use std::sync::Arc;

use rmcp::ServiceExt;
use rmcp::service::ServerInitializeError;
use tokio::io::{
    AsyncBufReadExt, AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt, BufReader, DuplexStream, ReadHalf, WriteHalf,
};
use tokio::sync::Mutex;

use super::messages::refusal;
use super::server::Server;
use crate::service::Service;

/// Bytes on their way between the streams and the server.
const PIPE: usize = 64 << 10;
/// Bytes of a message that is looked at before the server reads it; it refuses longer ones itself.
const LONGEST: u64 = 4 << 20;

/// Serves one client over standard input and output until it closes them. Nothing else may write to standard output.
///
/// # Errors
/// What the streams say, and a client that speaks another protocol.
pub fn stdio(service: Arc<Service>) -> io::Result<()> {
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
    let served = runtime.block_on(over(Server::new(service), tokio::io::stdin(), tokio::io::stdout()));
    // A read of standard input, and a call that nobody waits for, may never end.
    runtime.shutdown_background();
    served
}

/// Serves over any two streams. Messages that the protocol cannot read are answered here.
async fn over(
    server: Server,
    input: impl AsyncRead + Unpin + Send + 'static,
    output: impl AsyncWrite + Unpin + Send + 'static,
) -> io::Result<()> {
    let (ours, theirs) = tokio::io::duplex(PIPE);
    let (answers, messages) = tokio::io::split(ours);
    let output = Arc::new(Mutex::new(output));
    tokio::spawn(hear(input, messages, Arc::clone(&output)));
    let mut telling = pin!(tell(answers, output));
    let mut serving = pin!(async {
        match server.serve(theirs).await {
            Ok(running) => running.waiting().await.map(drop).map_err(io::Error::other),
            // A client that goes before it has said anything is none.
            Err(ServerInitializeError::ConnectionClosed(_)) => Ok(()),
            Err(error) => Err(io::Error::other(error)),
        }
    });
    tokio::select! {
        // What the server said last is on its way still.
        served = &mut serving => telling.await.and(served),
        told = &mut telling => match told {
            Ok(()) => serving.await,
            // Nobody reads any more.
            Err(error) if error.kind() == io::ErrorKind::BrokenPipe => Ok(()),
            Err(error) => Err(error),
        },
    }
}

/// Passes messages on to the server until there are no more, which it is told.
async fn hear(
    input: impl AsyncRead + Unpin,
    mut server: WriteHalf<DuplexStream>,
    output: Arc<Mutex<impl AsyncWrite + Unpin>>,
) {
    // However it ends, there are no more, and one that writes back is told by the other direction.
    let _ = pass_on(input, &mut server, &output).await;
    let _ = server.shutdown().await;
}

async fn pass_on(
    input: impl AsyncRead + Unpin,
    server: &mut WriteHalf<DuplexStream>,
    output: &Mutex<impl AsyncWrite + Unpin>,
) -> io::Result<()> {
    let mut input = BufReader::new(input);
    let (mut line, mut is_whole) = (Vec::new(), true);
    loop {
        line.clear();
        if (&mut input).take(LONGEST).read_until(b'\n', &mut line).await? == 0 {
            return if is_whole { Ok(()) } else { server.write_all(b"\n").await };
        }
        // The last line of what is piped in may lack its end, without which nobody would read it.
        if !line.ends_with(b"\n") && (line.len() as u64) < LONGEST {
            line.push(b'\n');
        }
        let begins = std::mem::replace(&mut is_whole, line.ends_with(b"\n"));
        match refusal(&line).filter(|_| begins && is_whole) {
            Some(answer) => say(output, format!("{answer}\n").as_bytes()).await?,
            None => server.write_all(&line).await?,
        }
    }
}

/// Passes answers of the server on until there are no more.
async fn tell(server: ReadHalf<DuplexStream>, output: Arc<Mutex<impl AsyncWrite + Unpin>>) -> io::Result<()> {
    let mut server = BufReader::new(server);
    let mut line = Vec::new();
    loop {
        line.clear();
        if server.read_until(b'\n', &mut line).await? == 0 {
            return Ok(());
        }
        say(&output, &line).await?;
    }
}

async fn say(output: &Mutex<impl AsyncWrite + Unpin>, line: &[u8]) -> io::Result<()> {
    let mut output = output.lock().await;
    output.write_all(line).await?;
    output.flush().await
}
