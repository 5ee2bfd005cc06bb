use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fmt::Display;

use crate::resources::{Limits, Resources};
use crate::spec::{Spec, SpecError};

/// A spec's settings while a segmenter is built from them, with the checks and messages that all segmenters share.
///
/// Every value that is read from it with its default is noted as the value in force: [`settings`](super::settings()) shows it.
pub struct SpecArgs<'a> {
    spec: &'a Spec,
    overrides: Limits,
    defaults: Limits,
    /// The values in force that were read so far, by key.
    settled: RefCell<BTreeMap<String, String>>,
    /// Whether the settings alone are wanted.
    only_settings: bool,
    /// Whether the build was ended for that.
    ended: Cell<bool>,
}

impl<'a> SpecArgs<'a> {
    pub(super) fn new(spec: &'a Spec, resources: &dyn Resources) -> Self {
        Self {
            spec,
            overrides: resources.overrides(),
            defaults: resources.defaults(),
            settled: RefCell::default(),
            only_settings: false,
            ended: Cell::new(false),
        }
    }

    /// For a build of which only the settings are wanted.
    pub(super) fn of_settings(spec: &'a Spec, resources: &dyn Resources) -> Self {
        Self { only_settings: true, ..Self::new(spec, resources) }
    }

    /// The values in force that were read, by key, and whether the build went on after [`before_files`](Self::before_files).
    pub(super) fn into_settled(self) -> (BTreeMap<String, String>, bool) {
        (self.settled.into_inner(), !self.ended.get())
    }

    /// Ends a build of which only the settings are wanted. A segmenter that reads files calls it when it has read its settings,
    /// before it opens the first.
    ///
    /// # Errors
    /// [`SpecError::Unavailable`] where only the settings are wanted.
    pub fn before_files(&self) -> Result<(), SpecError> {
        if self.only_settings {
            self.ended.set(true);
            return Err(self.unavailable("only its settings are wanted".into()));
        }
        Ok(())
    }

    /// Notes the value in force of a setting whose default is worked out: from another setting, or from a model.
    pub fn settle(&self, key: &str, value: impl Display) {
        self.settled.borrow_mut().insert(key.to_owned(), value.to_string());
    }

    fn settled<T: Display>(&self, key: &str, value: T) -> T {
        self.settle(key, &value);
        value
    }

    /// Returns the spec itself.
    #[must_use]
    pub fn spec(&self) -> &'a Spec {
        self.spec
    }

    /// Returns a setting as it is written.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&'a str> {
        self.spec.get(key)
    }

    /// Returns a setting as it is written, or `default`.
    #[must_use]
    pub fn text(&self, key: &str, default: &'a str) -> &'a str {
        self.settled(key, self.get(key).unwrap_or(default))
    }

    /// Returns a whole number of at least `least`, or `default`.
    ///
    /// # Errors
    /// [`SpecError::BadValue`] for anything else.
    pub fn count(&self, key: &str, default: usize, least: usize) -> Result<usize, SpecError> {
        Ok(self.settled(key, self.maybe_count(key, least)?.unwrap_or(default)))
    }

    /// Returns a whole number of at least `least`, if it is given.
    ///
    /// # Errors
    /// [`SpecError::BadValue`] for anything else.
    pub fn maybe_count(&self, key: &str, least: usize) -> Result<Option<usize>, SpecError> {
        let Some(text) = self.get(key) else { return Ok(None) };
        match text.parse::<usize>() {
            Ok(number) if number >= least => Ok(Some(self.settled(key, number))),
            _ => Err(self.bad(key, text, &format!("a whole number of at least {least}"))),
        }
    }

    /// Returns a whole number in `range`, or `default`.
    ///
    /// # Errors
    /// [`SpecError::BadValue`] for anything else.
    pub fn count_within(
        &self,
        key: &str,
        default: usize,
        range: std::ops::RangeInclusive<usize>,
    ) -> Result<usize, SpecError> {
        let number = self.count(key, default, *range.start())?;
        match number <= *range.end() {
            true => Ok(number),
            false => {
                let expected = format!("a whole number from {} to {}", range.start(), range.end());
                Err(self.bad(key, number.to_string(), &expected))
            }
        }
    }

    /// Returns a number in `range`, or `default`.
    ///
    /// # Errors
    /// [`SpecError::BadValue`] for anything else.
    pub fn number(&self, key: &str, default: f64, range: std::ops::RangeInclusive<f64>) -> Result<f64, SpecError> {
        Ok(self.settled(key, self.maybe_number(key, range)?.unwrap_or(default)))
    }

    /// Returns a number in `range`, if it is given.
    ///
    /// # Errors
    /// [`SpecError::BadValue`] for anything else.
    pub fn maybe_number(&self, key: &str, range: std::ops::RangeInclusive<f64>) -> Result<Option<f64>, SpecError> {
        let Some(text) = self.get(key) else { return Ok(None) };
        match text.parse::<f64>() {
            Ok(number) if range.contains(&number) => Ok(Some(self.settled(key, number))),
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
        let Some(text) = self.get(key) else {
            words.first().into_iter().for_each(|word| self.settle(key, word));
            return Ok(0);
        };
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

    /// Returns the limit in force, in tokens; `None`: none.
    #[must_use]
    pub fn max_tokens(&self) -> Option<usize> {
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
