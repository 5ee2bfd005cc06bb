use super::layout::Layout;
use super::spec::EmbedderSpec;
use crate::encoders::Opened;
use crate::models::{KnownEmbedder, ModelError, embedder_by_name};
use crate::prompts::Prompts;
use crate::tokens::Framed;

/// Tokens of a text that are read: what is asked for, what the files say, what the model has positions for; the least of them.
///
/// # Errors
/// [`ModelError::Unusable`] where special tokens fill it.
pub(super) fn window(
    layout: &Layout,
    model: &Opened,
    tokens: &Framed,
    options: &EmbedderSpec<'_>,
) -> Result<usize, ModelError> {
    let most = layout.window.unwrap_or(model.max_tokens).min(model.max_tokens);
    let window = options.max_tokens.map_or(most, |asked| asked.min(most));
    if window <= tokens.around() {
        let reason = format!("a text of {window} tokens leaves no room beside {} special ones", tokens.around());
        return Err(ModelError::unusable(&layout.folder, reason));
    }
    Ok(window)
}

/// The prompts: those that are asked for, those of the folder, those of the table.
///
/// # Errors
/// [`ModelError::Unknown`]; [`ModelError::Unusable`] where the model wants them read and left out of the pooling.
pub(super) fn prompts(
    options: &EmbedderSpec<'_>,
    layout: &Layout,
    known: Option<&KnownEmbedder>,
) -> Result<Prompts, ModelError> {
    let prompts = match options.prompts {
        Some("none") => Prompts::default(),
        Some(name) => embedder_by_name(name)?.prompts(),
        None if layout.prompts.is_empty() => known.map(KnownEmbedder::prompts).unwrap_or_default(),
        None => layout.prompts.clone(),
    };
    match &layout.without_prompt {
        Some(path) if !prompts.is_empty() => {
            let reason = "include_prompt is false: prompts that are left out of the pooling are not supported, and with \
                          prompts=none there are none";
            Err(ModelError::unusable(path, reason))
        }
        _ => Ok(prompts),
    }
}

/// Refuses prompts behind which nothing of a text would be read: all texts would have one vector.
///
/// # Errors
/// [`ModelError::Setting`], naming the prompt.
pub(super) fn check_room(
    name: &str,
    prompts: &Prompts,
    tokens: &Framed,
    is_lower: bool,
    window: usize,
) -> Result<(), ModelError> {
    /// Characters of a prompt that are shown.
    const SHOWN: usize = 40;
    for (what, prompt) in [("queries", &prompts.query), ("passages", &prompts.passage)] {
        let read = if is_lower { prompt.to_lowercase() } else { prompt.clone() };
        let taken = tokens.encode(&read, usize::MAX).len();
        if !prompt.is_empty() && taken >= window {
            let begins: String = prompt.chars().take(SHOWN).collect();
            return Err(ModelError::Setting(format!(
                "{name}: the prompt of {what} ({begins:?}) and the special tokens are {taken} tokens, and {window} of a text are \
                 read: nothing would be left of it; name other prompts, or prompts=none"
            )));
        }
    }
    Ok(())
}
