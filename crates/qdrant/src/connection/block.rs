use std::future::Future;
use std::pin::pin;
use std::sync::Arc;
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Waits for a future on this thread. Unlike the runtime's own it does not panic inside another runtime, so that a
/// program that is itself asynchronous may call us from a thread that it can spare.
pub(crate) fn block_on<F: Future>(future: F) -> F::Output {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut context = Context::from_waker(&waker);
    let mut future = pin!(future);
    loop {
        match future.as_mut().poll(&mut context) {
            Poll::Ready(output) => return output,
            // A wake-up between the poll and here is remembered, so that this returns at once.
            Poll::Pending => thread::park(),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;

    #[test]
    fn waits_for_another_thread() {
        let (sender, receiver) = tokio::sync::oneshot::channel();
        let other = thread::spawn(move || sender.send(7).unwrap());
        assert_eq!(block_on(receiver), Ok(7));
        other.join().unwrap();
    }

    #[test]
    fn works_inside_a_runtime() {
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
        let answer = runtime.block_on(async { block_on(async { 7 }) });
        assert_eq!(answer, 7);
    }
}
