use minijinja::syntax::SyntaxConfig;
use minijinja::{Environment, Error, ErrorKind, Value, context};
use minijinja_contrib::pycompat::unknown_method_callback;
use tokenizers::Tokenizer;

use crate::request::{Message, Role};

/// Tokens that end an answer, in any family.
pub(super) const ENDS: &[&str] =
    &["<|im_end|>", "<|endoftext|>", "<|eot_id|>", "<|eom_id|>", "<|end_of_text|>", "</s>"];

/// The template of files that have none, where the tokenizer knows its tokens.
const CHATML: &str = "{% for message in messages %}\
    {{ '<|im_start|>' + message.role + '\\n' + message.content + '<|im_end|>\\n' }}\
    {% endfor %}{{ '<|im_start|>assistant\\n' }}";
/// The words of a system message that tries a template out.
const PROBE: &str = "Is this text in the prompt?";

/// The way in which a model was taught to read a conversation: the Jinja template of its GGUF file.
///
/// Templates are rendered as transformers does it. Two things differ: thinking is switched off where a template has a
/// switch for it (`enable_thinking`), and the date that a template may ask for is always the same, so that a prompt is the
/// same on every day.
pub(super) struct ChatTemplate {
    environment: Environment<'static>,
    source: String,
    name: &'static str,
    bos: String,
    eos: String,
    takes_system: bool,
}

impl ChatTemplate {
    /// Reads a template; `source` is that of the file, `bos` and `eos` are its tokens of beginning and end.
    ///
    /// # Errors
    /// In words: no template is known, or this one cannot be rendered.
    pub(super) fn new(
        source: Option<&str>,
        tokenizer: &Tokenizer,
        bos: Option<u32>,
        eos: Option<u32>,
    ) -> Result<Self, String> {
        let (source, name) = match source {
            Some(source) => (source, "chat_template"),
            None if tokenizer.token_to_id("<|im_start|>").is_some() => (CHATML, "chatml"),
            None => return Err("the file has no tokenizer.chat_template".into()),
        };
        let token = |id: Option<u32>| id.and_then(|id| tokenizer.id_to_token(id)).unwrap_or_default();
        Self::with_tokens(source, name, token(bos), token(eos))
    }

    fn with_tokens(source: &str, name: &'static str, bos: String, eos: String) -> Result<Self, String> {
        let unusable = |e: Error| format!("the chat template cannot be used: {e:#}");
        let mut template = Self {
            environment: environment().map_err(unusable)?,
            source: source.to_owned(),
            name,
            bos,
            eos,
            takes_system: true,
        };
        let probe = [Message::new(Role::System, PROBE), Message::new(Role::User, "Hello")];
        // Some templates refuse system messages, and some leave them out.
        template.takes_system = template.apply(&probe).is_ok_and(|text| text.contains(PROBE));
        template.apply(&probe).map_err(unusable)?;
        Ok(template)
    }

    /// Returns the template's name, for the identity of a model.
    pub(super) fn name(&self) -> &'static str {
        self.name
    }

    /// Returns the conversation up to where the answer begins, with all special tokens.
    ///
    /// # Errors
    /// The error that the template raises.
    pub(super) fn apply(&self, messages: &[Message]) -> Result<String, Error> {
        let merged;
        let messages = if self.takes_system {
            messages
        } else {
            merged = without_system(messages);
            &merged
        };
        let values = context! {
            messages => messages.iter().map(value).collect::<Vec<Value>>(),
            add_generation_prompt => true,
            enable_thinking => false,
            bos_token => self.bos.as_str(),
            eos_token => self.eos.as_str(),
            tools => (),
            documents => (),
        };
        self.environment.render_str(&self.source, values)
    }
}

fn value(message: &Message) -> Value {
    context! { role => message.role.name(), content => message.content.as_str() }
}

/// Jinja as transformers sets it up.
fn environment() -> Result<Environment<'static>, Error> {
    let mut environment = Environment::new();
    environment.set_syntax(SyntaxConfig::builder().trim_blocks(true).lstrip_blocks(true).build()?);
    environment.set_unknown_method_callback(unknown_method_callback);
    environment.add_function("raise_exception", |message: String| -> Result<String, Error> {
        Err(Error::new(ErrorKind::InvalidOperation, message))
    });
    environment.add_function("strftime_now", |format: String| fixed_date(&format));
    Ok(environment)
}

/// Formats the day that Llama's templates name where there is no clock.
fn fixed_date(format: &str) -> String {
    let values =
        [("%d", "26"), ("%m", "07"), ("%b", "Jul"), ("%B", "July"), ("%Y", "2024"), ("%y", "24"), ("%A", "Friday")];
    values.iter().fold(format.to_owned(), |text, (name, value)| text.replace(name, value))
}

/// Puts system messages before the user message that follows.
fn without_system(messages: &[Message]) -> Vec<Message> {
    let mut merged: Vec<Message> = Vec::with_capacity(messages.len());
    let mut waiting: Vec<&str> = Vec::new();
    for message in messages {
        if message.role == Role::System {
            waiting.push(&message.content);
            continue;
        }
        waiting.push(&message.content);
        merged.push(Message::new(message.role, waiting.join("\n\n")));
        waiting.clear();
    }
    if !waiting.is_empty() {
        merged.push(Message::new(Role::User, waiting.join("\n\n")));
    }
    merged
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::{CHATML, ChatTemplate};
    use crate::request::{Message, Role};

    fn render(source: &str, messages: &[Message]) -> String {
        let template = ChatTemplate::with_tokens(source, "test", "<s>".into(), "</s>".into()).unwrap();
        template.apply(messages).unwrap()
    }

    fn conversation() -> [Message; 4] {
        [
            Message::new(Role::System, " Be short. "),
            Message::new(Role::User, "One?"),
            Message::new(Role::Assistant, "<think>\nhm\n</think>\n\n1"),
            Message::new(Role::User, "Two?"),
        ]
    }

    #[test]
    fn chatml() {
        let expected = "<|im_start|>system\n Be short. <|im_end|>\n<|im_start|>user\nOne?<|im_end|>\n\
                        <|im_start|>assistant\n<think>\nhm\n</think>\n\n1<|im_end|>\n\
                        <|im_start|>user\nTwo?<|im_end|>\n<|im_start|>assistant\n";
        assert_eq!(render(CHATML, &conversation()), expected);
    }

    /// In the style of Llama 3: headers, trimmed texts, a date that is written without a clock.
    const LLAMA3: &str = r#"{{- bos_token }}
{%- if not date_string is defined %}
    {%- if strftime_now is defined %}
        {%- set date_string = strftime_now("%d %b %Y") %}
    {%- else %}
        {%- set date_string = "26 Jul 2024" %}
    {%- endif %}
{%- endif %}
{%- if messages[0]['role'] == 'system' %}
    {%- set system_message = messages[0]['content'] | trim %}
    {%- set messages = messages[1:] %}
{%- else %}
    {%- set system_message = "" %}
{%- endif %}
{{- "<|start_header_id|>system<|end_header_id|>\n\n" }}
{%- if tools is not none %}
    {{- "Environment: tools\n" }}
{%- endif %}
{{- "Today Date: " + date_string + "\n\n" }}
{{- system_message }}
{{- "<|eot_id|>" }}
{%- for message in messages %}
    {%- if not (message.role == 'ipython' or 'tool_calls' in message) %}
        {{- '<|start_header_id|>' + message['role'] + '<|end_header_id|>\n\n' + message['content'] | trim + '<|eot_id|>' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|start_header_id|>assistant<|end_header_id|>\n\n' }}
{%- endif %}
"#;

    #[test]
    fn in_the_style_of_llama_3() {
        let expected = "<s><|start_header_id|>system<|end_header_id|>\n\nToday Date: 26 Jul 2024\n\nBe short.<|eot_id|>\
                        <|start_header_id|>user<|end_header_id|>\n\nOne?<|eot_id|>\
                        <|start_header_id|>assistant<|end_header_id|>\n\n<think>\nhm\n</think>\n\n1<|eot_id|>\
                        <|start_header_id|>user<|end_header_id|>\n\nTwo?<|eot_id|>\
                        <|start_header_id|>assistant<|end_header_id|>\n\n";
        assert_eq!(render(LLAMA3, &conversation()), expected);
    }

    /// In the style of Qwen 2.5: ChatML with a system message of its own.
    const QWEN25: &str = r#"{%- if tools %}
    {{- '<|im_start|>system\n# Tools' }}
    {%- for tool in tools %}
        {{- "\n" }}
        {{- tool | tojson }}
    {%- endfor %}
    {{- '<|im_end|>\n' }}
{%- else %}
    {%- if messages[0]['role'] == 'system' %}
        {{- '<|im_start|>system\n' + messages[0]['content'] + '<|im_end|>\n' }}
    {%- else %}
        {{- '<|im_start|>system\nYou help.<|im_end|>\n' }}
    {%- endif %}
{%- endif %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) or (message.role == "assistant" and not message.tool_calls) %}
        {{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>' + '\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
{%- endif %}
"#;

    #[test]
    fn in_the_style_of_qwen_2_5() {
        let expected = "<|im_start|>system\n Be short. <|im_end|>\n<|im_start|>user\nOne?<|im_end|>\n\
                        <|im_start|>assistant\n<think>\nhm\n</think>\n\n1<|im_end|>\n\
                        <|im_start|>user\nTwo?<|im_end|>\n<|im_start|>assistant\n";
        assert_eq!(render(QWEN25, &conversation()), expected);
        let expected =
            "<|im_start|>system\nYou help.<|im_end|>\n<|im_start|>user\nOne?<|im_end|>\n<|im_start|>assistant\n";
        assert_eq!(render(QWEN25, &[Message::new(Role::User, "One?")]), expected);
    }

    /// In the style of Qwen 3: earlier thoughts are taken out by methods of Python's strings, thinking can be switched
    /// off.
    const QWEN3: &str = r#"{%- if messages[0].role == 'system' %}
    {{- '<|im_start|>system\n' + messages[0].content + '<|im_end|>\n' }}
{%- endif %}
{%- set ns = namespace(multi_step_tool=true, last_query_index=messages|length - 1) %}
{%- for message in messages[::-1] %}
    {%- set index = (messages|length - 1) - loop.index0 %}
    {%- if ns.multi_step_tool and message.role == "user" and message.content is string and not(message.content.startswith('<tool_response>') and message.content.endswith('</tool_response>')) %}
        {%- set ns.multi_step_tool = false %}
        {%- set ns.last_query_index = index %}
    {%- endif %}
{%- endfor %}
{%- for message in messages %}
    {%- if (message.role == "user") or (message.role == "system" and not loop.first) %}
        {{- '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>' + '\n' }}
    {%- elif message.role == "assistant" %}
        {%- set content = message.content %}
        {%- set reasoning_content = '' %}
        {%- if '</think>' in content %}
            {%- set reasoning_content = content.split('</think>')[0].rstrip('\n').split('<think>')[-1].lstrip('\n') %}
            {%- set content = content.split('</think>')[-1].lstrip('\n') %}
        {%- endif %}
        {%- if loop.index0 > ns.last_query_index and reasoning_content %}
            {{- '<|im_start|>' + message.role + '\n<think>\n' + reasoning_content.strip('\n') + '\n</think>\n\n' + content }}
        {%- else %}
            {{- '<|im_start|>' + message.role + '\n' + content }}
        {%- endif %}
        {{- '<|im_end|>\n' }}
    {%- endif %}
{%- endfor %}
{%- if add_generation_prompt %}
    {{- '<|im_start|>assistant\n' }}
    {%- if enable_thinking is defined and enable_thinking is false %}
        {{- '<think>\n\n</think>\n\n' }}
    {%- endif %}
{%- endif %}
"#;

    #[test]
    fn in_the_style_of_qwen_3() {
        let expected = "<|im_start|>system\n Be short. <|im_end|>\n<|im_start|>user\nOne?<|im_end|>\n\
                        <|im_start|>assistant\n1<|im_end|>\n<|im_start|>user\nTwo?<|im_end|>\n\
                        <|im_start|>assistant\n<think>\n\n</think>\n\n";
        assert_eq!(render(QWEN3, &conversation()), expected);
    }

    /// In the style of Mistral: roles must alternate, and a system message is refused.
    const MISTRAL: &str = r#"{{ bos_token }}{% for message in messages %}{% if (message['role'] == 'user') != (loop.index0 % 2 == 0) %}{{ raise_exception('Conversation roles must alternate user/assistant/user/assistant/...') }}{% endif %}{% if message['role'] == 'user' %}{{ '[INST] ' + message['content'] + ' [/INST]' }}{% elif message['role'] == 'assistant' %}{{ message['content'] + eos_token}}{% else %}{{ raise_exception('Only user and assistant roles are supported!') }}{% endif %}{% endfor %}"#;

    #[test]
    fn in_the_style_of_mistral() {
        let expected = "<s>[INST]  Be short. \n\nOne? [/INST]<think>\nhm\n</think>\n\n1</s>[INST] Two? [/INST]";
        assert_eq!(render(MISTRAL, &conversation()), expected);
        let template = ChatTemplate::with_tokens(MISTRAL, "test", "<s>".into(), "</s>".into()).unwrap();
        let users = [Message::new(Role::User, "a"), Message::new(Role::User, "b")];
        assert!(template.apply(&users).unwrap_err().to_string().contains("must alternate"));
    }

    #[test]
    fn templates_that_leave_system_messages_out_get_them_with_the_question() {
        let source = "{% for m in messages if m.role == 'user' %}<u>{{ m.content }}</u>{% endfor %}";
        assert_eq!(render(source, &conversation()), "<u> Be short. \n\nOne?</u><u>Two?</u>");
    }

    #[test]
    fn broken_templates_are_errors() {
        for source in ["{% for %}", "{{ raise_exception('never') }}", "{{ messages.none.none }}"] {
            assert!(ChatTemplate::with_tokens(source, "test", String::new(), String::new()).is_err(), "{source}");
        }
    }
}
