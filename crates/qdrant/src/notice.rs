use std::fmt;
use std::sync::Arc;
use std::time::Duration;

/// A thing that whoever waits for a call should hear. As text it is one line.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub enum Notice {
    /// A call is made again, but not for a while.
    Waiting {
        /// The call.
        call: &'static str,
        /// `host:port`.
        address: String,
        /// The time until it is made again.
        wait: Duration,
        /// The attempts that were made.
        made: u32,
        /// The attempts that are made at most.
        attempts: u32,
        /// The last failure.
        reason: String,
    },
    /// The API key travels unencrypted to another machine.
    PlainKey {
        /// `host:port`.
        address: String,
    },
}

impl fmt::Display for Notice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Waiting { call, address, wait, made, attempts, reason } => write!(
                f,
                "{call} failed at {address} ({reason}); attempt {} of {attempts} in {:.0} s",
                made.saturating_add(1),
                wait.as_secs_f64().ceil()
            ),
            Self::PlainKey { address } => write!(
                f,
                "warning: the API key goes to {address} as plain text, which others on the way can read; \
                 write qdrants:// for TLS"
            ),
        }
    }
}

type Hear = dyn Fn(&Notice) + Send + Sync;

/// A function that hears [`Notice`]s, from any thread. Two listeners count as equal: they do not change what is done.
#[derive(Clone, Default)]
pub struct Listener(Option<Arc<Hear>>);

impl Listener {
    /// Returns a listener that calls `hear`.
    pub fn new(hear: impl Fn(&Notice) + Send + Sync + 'static) -> Self {
        Self(Some(Arc::new(hear)))
    }

    pub(crate) fn tell(&self, notice: &Notice) {
        if let Some(hear) = &self.0 {
            hear(notice);
        }
    }
}

impl PartialEq for Listener {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for Listener {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_some() { "Listener(..)" } else { "Listener(none)" })
    }
}
