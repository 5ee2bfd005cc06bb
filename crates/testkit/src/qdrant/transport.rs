//! Sockets that can be cut.

use std::future::Future;
use std::io;
use std::pin::Pin;
use std::sync::atomic::Ordering;
use std::sync::{Arc, MutexGuard, PoisonError};
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::{TcpListener, TcpStream};
use tokio_stream::wrappers::TcpListenerStream;
use tokio_stream::{Stream, StreamExt};
use tonic::transport::server::{Connected, TcpConnectInfo};

use super::services::Shared;

/// The connections of a listener, each of which ends when all are to end.
pub(super) fn incoming(listener: TcpListener, shared: Arc<Shared>) -> impl Stream<Item = io::Result<Cuttable>> {
    TcpListenerStream::new(listener).map(move |stream| {
        let mut cut = shared.cut.subscribe();
        let cut = Box::pin(async move {
            // An error means that the server is gone, which is as good.
            drop(cut.changed().await);
        });
        let stream = stream?;
        // Else every answer waits for the client's system to acknowledge its headers, 40 ms.
        stream.set_nodelay(true)?;
        let refused = shared.refusing.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |n| n.checked_sub(1)).is_ok();
        if refused {
            stream.set_zero_linger()?;
        }
        Ok(Cuttable { stream, shared: Arc::clone(&shared), cut, is_cut: refused })
    })
}

pub(super) struct Cuttable {
    stream: TcpStream,
    shared: Arc<Shared>,
    cut: Pin<Box<dyn Future<Output = ()> + Send>>,
    is_cut: bool,
}

impl Cuttable {
    fn torn(&self) -> MutexGuard<'_, Option<usize>> {
        self.shared.torn.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn check(&mut self, cx: &mut Context<'_>) -> io::Result<()> {
        if !self.is_cut && self.cut.as_mut().poll(cx).is_ready() {
            self.is_cut = true;
            // Closing then sends a reset instead of a farewell.
            self.stream.set_zero_linger()?;
        }
        if self.is_cut { Err(io::ErrorKind::ConnectionReset.into()) } else { Ok(()) }
    }
}

impl Connected for Cuttable {
    type ConnectInfo = TcpConnectInfo;

    fn connect_info(&self) -> Self::ConnectInfo {
        self.stream.connect_info()
    }
}

impl AsyncRead for Cuttable {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        self.check(cx)?;
        Pin::new(&mut self.stream).poll_read(cx, buf)
    }
}

impl AsyncWrite for Cuttable {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buf: &[u8]) -> Poll<io::Result<usize>> {
        self.check(cx)?;
        let left = *self.torn();
        let Some(left) = left else { return Pin::new(&mut self.stream).poll_write(cx, buf) };
        let part = buf.get(..left.min(buf.len())).unwrap_or(buf);
        let sent = match part.is_empty() {
            true => 0,
            false => ready!(Pin::new(&mut self.stream).poll_write(cx, part))?,
        };
        let left = left - sent;
        *self.torn() = (left > 0).then_some(left);
        if left > 0 {
            return Poll::Ready(Ok(sent));
        }
        // An end, not a reset: what was sent arrives.
        self.is_cut = true;
        Poll::Ready(Err(io::ErrorKind::ConnectionReset.into()))
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        self.check(cx)?;
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
