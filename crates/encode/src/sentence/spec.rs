use std::path::MAIN_SEPARATOR;

/// An embedder's spec: what it is, and options behind commas (`models/e5,dimensions=256,prompts=e5-base-v2`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct EmbedderSpec<'a> {
    /// All before the options.
    pub base: &'a str,
    /// The first numbers of a vector that are kept.
    pub dimensions: Option<usize>,
    /// Tokens of a text that are read at most.
    pub max_tokens: Option<usize>,
    /// The name of the model whose prompts are taken, or `none`.
    pub prompts: Option<&'a str>,
}

/// The options that there are.
const OPTIONS: [&str; 3] = ["dimensions", "max_tokens", "prompts"];

impl<'a> EmbedderSpec<'a> {
    /// Splits a spec.
    ///
    /// # Errors
    /// A line about an option that is not known, is there twice, or has no number above 0.
    pub(crate) fn parse(spec: &'a str) -> Result<Self, String> {
        let mut found = Self { base: spec, dimensions: None, max_tokens: None, prompts: None };
        while let Some((base, key, value)) = last_option(found.base) {
            found.base = base;
            let twice = || format!("{key} is there twice in {spec:?}");
            match key {
                "dimensions" => found.dimensions = once(found.dimensions, number(key, value)?).ok_or_else(twice)?,
                "max_tokens" => found.max_tokens = once(found.max_tokens, number(key, value)?).ok_or_else(twice)?,
                "prompts" => found.prompts = once(found.prompts, value).ok_or_else(twice)?,
                _ => return Err(format!("there is no option {key:?} in {spec:?}; known: {}", OPTIONS.join(", "))),
            }
        }
        Ok(found)
    }

    /// Whether there are options.
    pub(crate) fn has_options(&self) -> bool {
        self.dimensions.is_some() || self.max_tokens.is_some() || self.prompts.is_some()
    }

    /// The spec with its options in a fixed order, `base` in place of its own.
    pub(crate) fn named(&self, base: &str) -> String {
        let number = |key: &str, value: Option<usize>| value.map(|n| format!(",{key}={n}")).unwrap_or_default();
        let prompts = self.prompts.map(|name| format!(",prompts={name}")).unwrap_or_default();
        format!("{base}{}{}{prompts}", number("dimensions", self.dimensions), number("max_tokens", self.max_tokens))
    }
}

/// `Some(Some(value))` where there was none before.
#[allow(clippy::option_option)]
fn once<T>(before: Option<T>, value: T) -> Option<Option<T>> {
    before.is_none().then_some(Some(value))
}

/// The last option of a spec, and all before it. What stands behind a comma and has no `=` is part of a path, and so is what has a
/// separator of folders before its `=`.
fn last_option(spec: &str) -> Option<(&str, &str, &str)> {
    let (base, option) = spec.rsplit_once(',')?;
    let (key, value) = option.split_once('=')?;
    (!key.contains(MAIN_SEPARATOR) && !base.is_empty()).then_some((base, key, value))
}

fn number(key: &str, value: &str) -> Result<usize, String> {
    let number = value.parse::<usize>().ok().filter(|n| *n > 0);
    number.ok_or_else(|| format!("{key} is {value:?}: a number above 0 is meant"))
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::EmbedderSpec;

    #[test]
    fn options_stand_behind_commas() {
        let spec = EmbedderSpec::parse("a/b,c,prompts=none,dimensions=256").unwrap();
        assert_eq!(
            (spec.base, spec.dimensions, spec.max_tokens, spec.prompts),
            ("a/b,c", Some(256), None, Some("none"))
        );
        assert_eq!(spec.named("x"), "x,dimensions=256,prompts=none");
        assert!(spec.has_options());
        assert_eq!(EmbedderSpec::parse("minilm").unwrap().named("minilm"), "minilm");
        for (wrong, says) in [
            ("m,dimensions=0", "dimensions is \"0\": a number above 0 is meant"),
            ("m,max_tokens=x", "max_tokens is \"x\""),
            ("m,dims=3", "there is no option \"dims\" in \"m,dims=3\"; known: dimensions, max_tokens, prompts"),
            ("m,dimensions=3,dimensions=4", "dimensions is there twice"),
        ] {
            let said = EmbedderSpec::parse(wrong).unwrap_err();
            assert!(said.contains(says), "{said}");
        }
    }
}
