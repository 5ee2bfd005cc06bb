/// Buckets for each doubling: a quantile is right to 1 part in 64.
const STEPS: u64 = 64;

/// How many times took how long: a histogram of times in microseconds, with buckets that widen with the time.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Latencies {
    counts: Vec<u64>,
    total: u64,
    most: u64,
}

/// The number of the bucket of a time.
fn bucket(micros: u64) -> usize {
    if micros < STEPS {
        return micros as usize;
    }
    let doublings = u64::from((micros / STEPS).ilog2()) + 1;
    ((doublings * STEPS) + (micros >> (doublings - 1)) - STEPS) as usize
}

/// The highest time of a bucket.
fn highest(bucket: usize) -> u64 {
    let bucket = bucket as u64;
    if bucket < STEPS {
        return bucket;
    }
    let (doublings, step) = (bucket / STEPS, bucket % STEPS);
    ((STEPS + step + 1) << (doublings - 1)) - 1
}

impl Latencies {
    /// Takes a time in microseconds.
    pub fn add(&mut self, micros: u64) {
        let bucket = bucket(micros);
        if self.counts.len() <= bucket {
            self.counts.resize(bucket + 1, 0);
        }
        self.counts[bucket] += 1;
        self.total += 1;
        self.most = self.most.max(micros);
    }

    /// Takes all times of another histogram.
    pub fn merge(&mut self, other: &Self) {
        if self.counts.len() < other.counts.len() {
            self.counts.resize(other.counts.len(), 0);
        }
        self.counts.iter_mut().zip(&other.counts).for_each(|(count, more)| *count += more);
        self.total += other.total;
        self.most = self.most.max(other.most);
    }

    /// The number of times.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.total
    }

    /// True where there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.total == 0
    }

    /// The longest time, in microseconds; 0 of none.
    #[must_use]
    pub fn longest(&self) -> u64 {
        self.most
    }

    /// The time, in microseconds, that a share (0 to 1) of all times do not exceed: at most 1 part in 64 above the true
    /// one, never below it. Nothing of no times.
    #[must_use]
    pub fn quantile(&self, share: f64) -> Option<u64> {
        let wanted = ((self.total as f64 * share.clamp(0.0, 1.0)).ceil() as u64).max(1);
        let mut seen = 0;
        let found = self.counts.iter().position(|count| {
            seen += count;
            seen >= wanted
        })?;
        Some(highest(found).min(self.most))
    }
}
