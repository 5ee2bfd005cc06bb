/// The reasons for which a text with variables cannot be expanded. The text itself is in no message: it may hold a secret.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum VariableError {
    /// A variable without a value and without a default.
    #[error("the environment variable {0} is not set")]
    Unset(String),
    /// A `${` that no `}` follows.
    #[error("'${{' without '}}'")]
    Unclosed,
}

/// Replaces `${NAME}` by the value of a variable, and `${NAME:-text}` by the value or else by `text`.
///
/// An empty value counts as none. A `$` without a brace is text.
///
/// ```
/// use pericope_api::expand_variables;
///
/// let variable = |name: &str| (name == "HOME").then(|| "/home/me".to_owned());
/// assert_eq!(expand_variables("${HOME}/data", variable)?, "/home/me/data");
/// assert_eq!(expand_variables("${DATA:-/srv}/a$b", variable)?, "/srv/a$b");
/// assert!(expand_variables("${DATA}", variable).is_err());
/// # Ok::<(), pericope_api::VariableError>(())
/// ```
///
/// # Errors
/// [`VariableError`].
pub fn expand_variables(text: &str, variable: impl Fn(&str) -> Option<String>) -> Result<String, VariableError> {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, tail)) = rest.split_once("${") {
        out.push_str(before);
        let (inner, after) = tail.split_once('}').ok_or(VariableError::Unclosed)?;
        let (name, default) = match inner.split_once(":-") {
            Some((name, default)) => (name, Some(default)),
            None => (inner, None),
        };
        match (variable(name).filter(|value| !value.is_empty()), default) {
            (Some(value), _) => out.push_str(&value),
            (None, Some(default)) => out.push_str(default),
            (None, None) => return Err(VariableError::Unset(name.to_owned())),
        }
        rest = after;
    }
    out.push_str(rest);
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::{VariableError, expand_variables};

    #[test]
    fn variables_and_defaults() {
        let variable = |name: &str| match name {
            "A" => Some("x".to_owned()),
            "EMPTY" => Some(String::new()),
            _ => None,
        };
        let expand = |text| expand_variables(text, variable);
        assert_eq!(expand("Bearer ${A}!").as_deref(), Ok("Bearer x!"));
        assert_eq!(expand("a${A}c${A}").as_deref(), Ok("axcx"));
        assert_eq!(expand("${B:-b}/${EMPTY:-e}/${A:-a}").as_deref(), Ok("b/e/x"));
        assert_eq!(expand("$A {A} $").as_deref(), Ok("$A {A} $"));
        assert_eq!(expand("${NOPE}/x"), Err(VariableError::Unset("NOPE".into())));
        assert_eq!(expand("${EMPTY}"), Err(VariableError::Unset("EMPTY".into())));
        assert_eq!(expand("secret ${A"), Err(VariableError::Unclosed));
        assert_eq!(VariableError::Unclosed.to_string(), "'${' without '}'");
    }
}
