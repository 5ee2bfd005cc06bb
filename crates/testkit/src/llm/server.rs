use std::collections::HashMap;
use std::net::{Ipv4Addr, SocketAddr, TcpListener};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, Uri};
use axum::response::Response;
use serde_json::Value;
use tokio::sync::oneshot;

use super::replies;
use super::seen::{Act, Seen};

type Answer = dyn Fn(&Seen) -> String + Send + Sync;
type Plan = dyn Fn(&Seen) -> Act + Send + Sync;

struct Inner {
    answer: Box<Answer>,
    plan: Box<Plan>,
    calls: AtomicUsize,
    under_way: AtomicUsize,
    most_at_once: AtomicUsize,
    before: Mutex<HashMap<String, usize>>,
    log: Mutex<Vec<Seen>>,
    /// Tokens written that a service would charge for.
    charged: AtomicUsize,
}

/// A running server; it ends when dropped.
pub struct Server {
    inner: Arc<Inner>,
    address: SocketAddr,
    stop: Option<oneshot::Sender<()>>,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Server {
    /// Starts a server on a free port. `answer` says what a well-behaved model would; `plan` says how the call goes.
    ///
    /// # Errors
    /// The system's, where there is no port or no thread.
    pub fn start(
        answer: impl Fn(&Seen) -> String + Send + Sync + 'static,
        plan: impl Fn(&Seen) -> Act + Send + Sync + 'static,
    ) -> std::io::Result<Self> {
        let inner = Arc::new(Inner {
            answer: Box::new(answer),
            plan: Box::new(plan),
            calls: AtomicUsize::new(0),
            under_way: AtomicUsize::new(0),
            most_at_once: AtomicUsize::new(0),
            before: Mutex::default(),
            log: Mutex::default(),
            charged: AtomicUsize::new(0),
        });
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        listener.set_nonblocking(true)?;
        let address = listener.local_addr()?;
        let (stop, stopped) = oneshot::channel();
        let router = Router::new().fallback(handle).with_state(inner.clone());
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let thread = std::thread::Builder::new().name("test-server".into()).spawn(move || {
            runtime.block_on(async move {
                let Ok(listener) = tokio::net::TcpListener::from_std(listener) else { return };
                let serve = async { axum::serve(listener, router).await };
                tokio::select! {
                    _ = serve => {}
                    _ = stopped => {}
                }
            });
        })?;
        Ok(Self { inner, address, stop: Some(stop), thread: Some(thread) })
    }

    /// `http://127.0.0.1:PORT/v1`.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Calls so far.
    #[must_use]
    pub fn calls(&self) -> usize {
        self.inner.calls.load(Ordering::SeqCst)
    }

    /// Most calls that were under way at the same time.
    #[must_use]
    pub fn most_at_once(&self) -> usize {
        self.inner.most_at_once.load(Ordering::SeqCst)
    }

    /// The tokens (words) of all answers that a model has written, those that never arrived included: what a service would
    /// put on its bill. Prompts are free.
    #[must_use]
    pub fn charged(&self) -> usize {
        self.inner.charged.load(Ordering::SeqCst)
    }

    /// Every call so far.
    #[must_use]
    pub fn log(&self) -> Vec<Seen> {
        self.inner.log.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(stop) = self.stop.take() {
            // It may have ended by itself.
            let _ = stop.send(());
        }
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

async fn handle(State(inner): State<Arc<Inner>>, uri: Uri, headers: HeaderMap, body: Bytes) -> Response {
    let _under_way = UnderWay::new(&inner);
    let seen = inner.see(&uri, &headers, &body);
    let act = (inner.plan)(&seen);
    let answer = (inner.answer)(&seen);
    if act.is_charged() {
        inner.charged.fetch_add(replies::words(&answer), Ordering::SeqCst);
    }
    if let Act::Slow(wait) = act {
        tokio::time::sleep(wait).await;
    }
    replies::respond(&seen, &act, &answer)
}

/// Counts a call until it is answered, or until the client has gone away.
struct UnderWay<'a>(&'a Inner);

impl<'a> UnderWay<'a> {
    fn new(inner: &'a Inner) -> Self {
        let at_once = inner.under_way.fetch_add(1, Ordering::SeqCst) + 1;
        inner.most_at_once.fetch_max(at_once, Ordering::SeqCst);
        Self(inner)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.under_way.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Inner {
    fn see(&self, uri: &Uri, headers: &HeaderMap, body: &[u8]) -> Seen {
        let body: Value = serde_json::from_slice(body).unwrap_or(Value::Null);
        let text = |message: &Value| message.get("content").and_then(Value::as_str).unwrap_or_default().to_owned();
        let messages = body.get("messages").and_then(Value::as_array).cloned().unwrap_or_default();
        let user = messages.iter().find(|message| message.get("role").is_some_and(|role| role == "user"));
        let mark = user.map_or_else(|| body.get("input").map(Value::to_string).unwrap_or_default(), text);
        let mut prompt: Vec<String> =
            body.get("system").and_then(Value::as_str).map(str::to_owned).into_iter().collect();
        prompt.extend(messages.iter().map(text));
        let before = {
            let mut before = self.before.lock().unwrap_or_else(PoisonError::into_inner);
            let count = before.entry(mark).or_default();
            *count += 1;
            *count - 1
        };
        let seen = Seen {
            path: uri.path().to_owned(),
            prompt: prompt.join("\n"),
            before,
            number: self.calls.fetch_add(1, Ordering::SeqCst),
            headers: headers
                .iter()
                .map(|(name, value)| (name.to_string(), value.to_str().unwrap_or_default().to_owned()))
                .collect(),
            body,
        };
        self.log.lock().unwrap_or_else(PoisonError::into_inner).push(seen.clone());
        seen
    }
}
