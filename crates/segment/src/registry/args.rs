use crate::resources::{Limits, Resources};
use crate::spec::{Spec, SpecError};

/// A spec's settings while a segmenter is built from them, with the checks and messages that all segmenters share.
pub struct SpecArgs<'a> {
    spec: &'a Spec,
    overrides: Limits,
    defaults: Limits,
}

impl<'a> SpecArgs<'a> {
    pub(super) fn new(spec: &'a Spec, resources: &dyn Resources) -> Self {
        Self { spec, overrides: resources.overrides(), defaults: resources.defaults() }
    }

    /// Returns a setting as it is written.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&'a str> {
        self.spec.get(key)
    }

    /// Returns a whole number of at least `least`, or `default`.
    ///
    /// # Errors
    /// [`SpecError::BadValue`] for anything else.
    pub fn count(&self, key: &str, default: usize, least: usize) -> Result<usize, SpecError> {
        Ok(self.maybe_count(key, least)?.unwrap_or(default))
    }

    /// Returns a whole number of at least `least`, if it is given.
    ///
    /// # Errors
    /// [`SpecError::BadValue`] for anything else.
    pub fn maybe_count(&self, key: &str, least: usize) -> Result<Option<usize>, SpecError> {
        let Some(text) = self.get(key) else { return Ok(None) };
        match text.parse::<usize>() {
            Ok(number) if number >= least => Ok(Some(number)),
            _ => Err(self.bad(key, text, &format!("a whole number of at least {least}"))),
        }
    }

    /// Returns a number in `range`, if it is given.
    ///
    /// # Errors
    /// [`SpecError::BadValue`] for anything else.
    pub fn maybe_number(&self, key: &str, range: std::ops::RangeInclusive<f64>) -> Result<Option<f64>, SpecError> {
        let Some(text) = self.get(key) else { return Ok(None) };
        match text.parse::<f64>() {
            Ok(number) if range.contains(&number) => Ok(Some(number)),
            _ => Err(self.bad(key, text, &format!("a number from {} to {}", range.start(), range.end()))),
        }
    }

    /// Returns a number from 0 to 1, if it is given.
    ///
    /// # Errors
    /// [`SpecError::BadValue`] for anything else.
    pub fn maybe_share(&self, key: &str) -> Result<Option<f64>, SpecError> {
        self.maybe_number(key, 0.0..=1.0)
    }

    /// Returns the place, from 0, of a setting among the given words; 0 where it is not given.
    ///
    /// # Errors
    /// [`SpecError::BadValue`] for any other word.
    pub fn choice(&self, key: &str, words: &[&str]) -> Result<usize, SpecError> {
        let Some(text) = self.get(key) else { return Ok(0) };
        let place = words.iter().position(|word| *word == text);
        place.ok_or_else(|| self.bad(key, text, &format!("one of {}", words.join(", "))))
    }

    /// Refuses `other` beside `key`.
    ///
    /// # Errors
    /// [`SpecError::Unavailable`] where both are given.
    pub fn excludes(&self, key: &str, other: &str) -> Result<(), SpecError> {
        if self.get(key).is_some() && self.get(other).is_some() {
            return Err(self.unavailable(format!("give `{key}` or `{other}`, not both")));
        }
        Ok(())
    }

    /// The limits in force: overrides, else this spec's, else defaults.
    pub(super) fn limits(&self) -> Result<Limits, SpecError> {
        Ok(self.asked_limits()?.or(self.defaults))
    }

    /// The limits that somebody asked for: overrides, else this spec's.
    pub(super) fn asked_limits(&self) -> Result<Limits, SpecError> {
        let own = Limits {
            max_tokens: self.maybe_count("max_tokens", 0)?,
            min_tokens: self.maybe_count("min_tokens", 0)?,
            target_tokens: self.maybe_count("target_tokens", 0)?,
            overlap: self.maybe_count("overlap", 0)?,
        };
        Ok(self.overrides.or(own))
    }

    /// The limit in force, in tokens; `None`: none.
    pub(crate) fn max_tokens(&self) -> Option<usize> {
        self.limits().ok().and_then(|limits| limits.max_tokens).filter(|&max| max != 0)
    }

    /// Returns the overlap in force, in sentences unless the segmenter counts it otherwise; 0: none.
    #[must_use]
    pub fn overlap(&self) -> usize {
        self.limits().ok().and_then(|limits| limits.overlap).unwrap_or(0)
    }

    /// Returns an error about a value.
    #[must_use]
    pub fn bad(&self, key: &str, value: impl std::fmt::Display, expected: &str) -> SpecError {
        SpecError::BadValue {
            name: self.spec.name.clone(),
            key: key.to_owned(),
            value: value.to_string(),
            expected: expected.to_owned(),
        }
    }

    /// Returns an error about something that is missing.
    #[must_use]
    pub fn unavailable(&self, reason: String) -> SpecError {
        SpecError::Unavailable { spec: self.spec.to_string(), reason }
    }
}
