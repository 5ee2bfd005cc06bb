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

#[cfg(test)]
mod tests {
    use super::{now_rfc3339, rfc3339};

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
