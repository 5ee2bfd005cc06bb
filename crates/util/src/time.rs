use std::time::Duration;

/// Returns the time that a document of so many bytes may take: `time`, and as long again for each megabyte (1,000,000
/// bytes) of it. `None`, no limit, where `time` is zero.
#[must_use]
pub fn time_limit(time: Duration, bytes: u64) -> Option<Duration> {
    let megabytes = u32::try_from(bytes / 1_000_000).unwrap_or(u32::MAX);
    (!time.is_zero()).then(|| time.saturating_mul(megabytes.saturating_add(1)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn large_documents_may_take_longer() {
        let minute = Duration::from_secs(60);
        assert_eq!(time_limit(Duration::ZERO, 5), None);
        assert_eq!(time_limit(minute, 0), Some(minute));
        assert_eq!(time_limit(minute, 999_999), Some(minute));
        assert_eq!(time_limit(minute, 2_500_000), Some(3 * minute));
        assert_eq!(time_limit(Duration::MAX, u64::MAX), Some(Duration::MAX));
    }
}
