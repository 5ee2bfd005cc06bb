//! Faults to order, and a count of what was asked.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::str::FromStr;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use tonic::Code;

/// A kind of call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Call {
    /// Storing points.
    Upsert,
    /// Deleting points.
    Delete,
    /// Searching.
    Query,
    /// Listing points.
    Scroll,
    /// Reading points by their ids.
    Get,
    /// Counting points.
    Count,
    /// Making a payload index.
    CreateIndex,
    /// Making a collection.
    CreateCollection,
    /// Deleting a collection.
    DropCollection,
    /// Looking at a collection.
    Info,
    /// Listing collections.
    List,
    /// Listing aliases.
    ListAliases,
    /// Changing aliases.
    ChangeAliases,
}

impl Call {
    const NAMED: &[(&str, Call)] = &[
        ("upsert", Call::Upsert),
        ("delete", Call::Delete),
        ("query", Call::Query),
        ("scroll", Call::Scroll),
        ("get", Call::Get),
        ("count", Call::Count),
        ("create-index", Call::CreateIndex),
        ("create-collection", Call::CreateCollection),
        ("drop-collection", Call::DropCollection),
        ("info", Call::Info),
        ("list", Call::List),
        ("list-aliases", Call::ListAliases),
        ("change-aliases", Call::ChangeAliases),
    ];
}

impl FromStr for Call {
    type Err = String;

    fn from_str(s: &str) -> Result<Self, String> {
        let names = || Self::NAMED.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
        let found = Self::NAMED.iter().find(|(name, _)| *name == s);
        found.map(|(_, call)| *call).ok_or_else(|| format!("there is no call `{s}`; there are {}", names()))
    }
}

/// What goes wrong with a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Fault {
    /// Nothing is done; the answer is this code.
    Code(Code),
    /// Half of the points are stored or deleted; the answer is `unavailable`.
    Half,
    /// All is done; the answer is `unavailable`.
    Lost,
    /// Nothing is done; all connections are reset.
    Reset,
    /// All is done; all connections are reset before the answer.
    ResetAfter,
    /// All is done, this much later.
    Slow(Duration),
    /// All is done now, and answered this much later.
    Late(Duration),
    /// Nothing is done; the answer is that the server is too busy, and wants to be left alone for this long.
    Busy(Duration),
    /// All is done; of the answer only so many bytes come, and then the connection's end.
    Torn(usize),
    /// Nothing is done; all connections are reset, and the next two are closed as soon as they are made.
    Refused,
}

impl FromStr for Fault {
    type Err = String;

    /// `unavailable`, `exhausted`, `invalid`, `half`, `lost`, `reset`, `reset-after`, `refused`, `slow-MILLISECONDS` or
    /// `busy-SECONDS`.
    fn from_str(s: &str) -> Result<Self, String> {
        match s {
            "unavailable" => Ok(Self::Code(Code::Unavailable)),
            "exhausted" => Ok(Self::Code(Code::ResourceExhausted)),
            "invalid" => Ok(Self::Code(Code::InvalidArgument)),
            "half" => Ok(Self::Half),
            "lost" => Ok(Self::Lost),
            "reset" => Ok(Self::Reset),
            "reset-after" => Ok(Self::ResetAfter),
            "refused" => Ok(Self::Refused),
            _ => {
                let number = |name: &str| s.strip_prefix(name).and_then(|number| number.parse().ok());
                let slow = number("slow-").map(|ms| Self::Slow(Duration::from_millis(ms)));
                let busy = || number("busy-").map(|seconds| Self::Busy(Duration::from_secs(seconds)));
                slow.or_else(busy).ok_or_else(|| {
                    format!(
                        "there is no fault `{s}`; there are unavailable, exhausted, invalid, half, lost, reset, \
                         reset-after, refused, slow-MILLISECONDS, busy-SECONDS"
                    )
                })
            }
        }
    }
}

/// What was asked of a server since it was started first.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Counts {
    /// Calls of each kind, those that failed included.
    pub calls: BTreeMap<Call, u64>,
    /// The most upserts that were under way at the same time.
    pub most_upserts_at_once: usize,
    /// The most points in one upsert.
    pub most_points: usize,
    /// The largest upsert in encoded bytes.
    pub most_bytes: usize,
}

/// The faults that are still to happen, and the counts.
#[derive(Default)]
pub(super) struct Faults {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    /// Nothing stands for a call that goes well.
    planned: HashMap<Call, VecDeque<Option<Fault>>>,
    counts: Counts,
    upserts: usize,
}

impl Faults {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn add(&self, call: Call, fault: Fault, times: usize) {
        self.state().planned.entry(call).or_default().extend(std::iter::repeat_n(Some(fault), times));
    }

    pub fn add_after(&self, call: Call, fault: Fault, well: usize) {
        let calls = std::iter::repeat_n(None, well).chain([Some(fault)]);
        self.state().planned.entry(call).or_default().extend(calls);
    }

    pub fn clear(&self) {
        self.state().planned.clear();
    }

    pub fn left(&self) -> usize {
        self.state().planned.values().flatten().flatten().count()
    }

    pub fn counts(&self) -> Counts {
        self.state().counts.clone()
    }

    /// Counts a call and says what is to go wrong with it.
    pub fn begin(&self, call: Call) -> Option<Fault> {
        let mut state = self.state();
        *state.counts.calls.entry(call).or_default() += 1;
        state.planned.get_mut(&call)?.pop_front().flatten()
    }

    /// Counts an upsert until the guard is dropped.
    pub fn upsert(&self, points: usize, bytes: usize) -> UnderWay<'_> {
        let mut state = self.state();
        state.upserts += 1;
        let upserts = state.upserts;
        let counts = &mut state.counts;
        counts.most_upserts_at_once = counts.most_upserts_at_once.max(upserts);
        counts.most_points = counts.most_points.max(points);
        counts.most_bytes = counts.most_bytes.max(bytes);
        UnderWay(self)
    }
}

/// An upsert that is being served.
pub(super) struct UnderWay<'a>(&'a Faults);

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.state().upserts -= 1;
    }
}
