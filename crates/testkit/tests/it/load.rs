use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::http::{StatusCode, Uri};
use axum::response::Response;
use pericope_testkit::load::{Latencies, Load};
use proptest::prelude::*;

/// Starts a server whose answer depends on the path and on how many requests came before.
fn server<F>(answer: impl Fn(Uri, u64) -> F + Clone + Send + Sync + 'static) -> (SocketAddr, Arc<AtomicU64>)
where
    F: Future<Output = Response> + Send + 'static,
{
    let count = Arc::new(AtomicU64::new(0));
    let counted = Arc::clone(&count);
    let handler = move |uri: Uri| answer(uri, counted.fetch_add(1, Ordering::SeqCst));
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    listener.set_nonblocking(true).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        runtime.block_on(async move {
            let listener = tokio::net::TcpListener::from_std(listener).unwrap();
            axum::serve(listener, Router::new().fallback(handler)).await.unwrap();
        });
    });
    (address, count)
}

fn of(status: u16, body: &'static str) -> Response {
    Response::builder().status(StatusCode::from_u16(status).unwrap()).body(Body::from(body)).unwrap()
}

fn load(address: SocketAddr, paths: &[&str]) -> Load {
    Load {
        address,
        paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        headers: vec![("Authorization".to_owned(), "Bearer sesame".to_owned())],
        rate: 1000.0,
        duration: Duration::from_millis(100),
        connections: 4,
        timeout: Duration::from_secs(20),
    }
}

#[test]
fn every_request_is_sent_once_and_every_status_is_counted() {
    let (address, count) = server(|uri, _| async move {
        match uri.path() {
            "/busy" => of(429, "later"),
            "/gone" => of(404, ""),
            _ => of(200, "here"),
        }
    });
    let outcome = load(address, &["/a?q=1", "/busy", "/a?q=2", "/gone"]).run();
    assert_eq!((outcome.planned, outcome.unsent, count.load(Ordering::SeqCst)), (100, 0, 100));
    assert_eq!(outcome.statuses.into_iter().collect::<Vec<_>>(), [(200, 50), (404, 25), (429, 25)]);
    assert_eq!((outcome.answered.len(), outcome.refused.len(), outcome.late.len()), (50, 50, 100));
    assert!(outcome.failures.is_empty(), "{:?}", outcome.failures);
    // The last request begins 99 ms after the first.
    assert!(outcome.took >= Duration::from_millis(99), "{:?}", outcome.took);
}

/// Closes every connection after one answer, without having said so.
#[test]
fn a_connection_that_was_closed_while_idle_is_opened_anew() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let mut head = [0; 4096];
            if stream.read(&mut head).is_ok_and(|length| length > 0) {
                stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").unwrap();
            }
        }
    });
    let outcome = Load { connections: 1, rate: 100.0, ..load(address, &["/"]) }.run();
    assert_eq!((outcome.answered.len(), outcome.failures.len()), (10, 0), "{outcome:?}");
}

#[test]
fn waiting_for_a_connection_counts() {
    let (address, _) = server(|_, _| async {
        tokio::time::sleep(Duration::from_millis(20)).await;
        of(200, "slow")
    });
    let one = Load { connections: 1, duration: Duration::from_millis(10), ..load(address, &["/"]) };
    let outcome = one.run();
    // Ten requests, one a millisecond; the n-th answer cannot be there before n times 20 ms.
    assert_eq!(outcome.answered.len(), 10);
    assert!(outcome.answered.longest() >= 191_000, "{outcome:?}");
    assert!(outcome.answered.quantile(0.5).unwrap() >= 96_000, "{outcome:?}");
    assert!(outcome.late.longest() >= 171_000, "{outcome:?}");
}

#[test]
fn what_cannot_begin_before_the_end_is_counted_as_unsent() {
    let (address, count) = server(|_, _| async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        of(200, "slow")
    });
    let one = Load { connections: 1, timeout: Duration::from_millis(200), ..load(address, &["/"]) };
    let outcome = one.run();
    // 100 ms and 200 more hold no more than seven answers of 50 ms.
    assert_eq!(outcome.planned, 100);
    assert!(outcome.unsent >= 93, "{outcome:?}");
    assert_eq!(outcome.planned - outcome.unsent, count.load(Ordering::SeqCst));
}

#[test]
fn a_connection_that_ends_is_opened_again() {
    let (address, _) = server(|_, number| async move {
        if number % 3 == 0 {
            return Response::builder().header("connection", "close").body(Body::from("bye")).unwrap();
        }
        // Of unknown length: it is sent in chunks.
        let parts = ["in ", "", "chunks"].map(Ok::<_, std::io::Error>);
        Response::new(Body::from_stream(futures_util::stream::iter(parts)))
    });
    let outcome = load(address, &["/"]).run();
    assert_eq!(outcome.statuses.into_iter().collect::<Vec<_>>(), [(200, 100)], "{:?}", outcome.failures);
}

#[test]
fn a_server_that_is_not_there_or_speaks_no_http_is_a_failure() {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().take(2) {
            // Asked, it says something else and hangs up.
            let mut stream = stream.unwrap();
            drop(std::io::Read::read(&mut stream, &mut [0; 1024]));
            drop(std::io::Write::write_all(&mut stream, b"220 mail\r\n"));
        }
    });
    let few = Load { rate: 10.0, duration: Duration::from_millis(400), connections: 1, ..load(address, &["/"]) };
    let outcome = few.run();
    assert_eq!(outcome.failures.values().sum::<u64>(), 4, "{outcome:?}");
    assert_eq!(outcome.failures.get("invalid data"), Some(&2), "{outcome:?}");
    assert!(outcome.statuses.is_empty() && outcome.answered.is_empty());
}

proptest! {
    #[test]
    fn a_quantile_is_at_most_a_64th_too_high(
        mut times in prop::collection::vec(0u64..10_000_000, 1..300),
        share in 0.0..=1.0f64,
        cut in 0usize..300,
    ) {
        let cut = cut.min(times.len());
        let (mut one, mut other) = (Latencies::default(), Latencies::default());
        times[..cut].iter().for_each(|time| one.add(*time));
        times[cut..].iter().for_each(|time| other.add(*time));
        one.merge(&other);
        times.sort_unstable();
        let wanted = ((times.len() as f64 * share).ceil() as usize).max(1) - 1;
        let (found, exact) = (one.quantile(share).unwrap(), times[wanted]);
        prop_assert!(exact <= found && found <= exact + exact / 64, "{} {}", found, exact);
        prop_assert_eq!((one.len(), one.longest()), (times.len() as u64, *times.last().unwrap()));
    }
}

#[test]
fn of_nothing_there_is_no_quantile() {
    assert_eq!(Latencies::default().quantile(0.5), None);
    assert!(Latencies::default().is_empty());
}
