use jiff::Timestamp;

/// The current time in UTC, to the second, as RFC 3339 writes it: `2026-09-21T14:13:19Z`.
#[must_use]
pub fn now_rfc3339() -> String {
    rfc3339(Timestamp::now().as_second())
}

/// A time in seconds since 1970 in UTC, as RFC 3339 writes it. Times outside the years -9999 to 9999 become the nearest
/// time inside.
#[must_use]
pub fn rfc3339(seconds: i64) -> String {
    let end = if seconds < 0 { Timestamp::MIN } else { Timestamp::MAX };
    Timestamp::from_second(seconds).unwrap_or(end).to_string()
}

/// The whole seconds from a time in RFC 3339 until now: 0 for one that is yet to come, `None` for a text that is none.
#[must_use]
pub fn seconds_since(time: &str) -> Option<u64> {
    let then: Timestamp = time.parse().ok()?;
    Some(u64::try_from(Timestamp::now().as_second().saturating_sub(then.as_second())).unwrap_or(0))
}

#[cfg(test)]
mod tests {
    use super::{now_rfc3339, rfc3339, seconds_since};

    #[test]
    fn ages_are_counted_from_the_past() {
        let hour = jiff::Timestamp::now().as_second() - 3600;
        assert!(seconds_since(&rfc3339(hour)).is_some_and(|age| (3600..3700).contains(&age)));
        assert_eq!(seconds_since("2999-01-01T00:00:00Z"), Some(0));
        assert_eq!(seconds_since("yesterday"), None);
    }

    #[test]
    fn known_dates() {
        assert_eq!(rfc3339(0), "1970-01-01T00:00:00Z");
        assert_eq!(rfc3339(951_782_400), "2000-02-29T00:00:00Z");
        assert_eq!(rfc3339(1_789_999_999), "2026-09-21T14:13:19Z");
    }

    #[test]
    fn now_has_no_fraction_and_is_in_utc() {
        let now = now_rfc3339();
        assert!(now.len() == 20 && now.ends_with('Z'), "{now}");
    }
}
