use std::path::PathBuf;

use clap::Args;
use pericope_store::LanguageChoice;

use crate::args::SourceArgs;
use crate::commands::dataset::QuestionArgs;
use crate::places;
use crate::resources::shown;

pub const COMPARE_EXAMPLES: &str = "Examples:
  pericope compare docs/
  pericope compare docs/ --chunker recursive:tokens=200 --chunker mine=structure:max_tokens=500
  pericope compare docs/ --chunker 'command:python3 my_chunker.py' --out compared --questions 500
  pericope compare docs/ --embedder none            (words alone: fast, needs no model)
  pericope compare docs/ --late-chunking            (every chunk is embedded within its document)
  pericope compare --questions-file kept.json --out compared-again

Reads the documents as `pericope index` does, drafts questions about them, cuts them in the usual ways and in yours, and says
which way finds the answers best within the same number of tokens, and how sure that is. Into --out go questions.json,
compare.toml (for `pericope eval run`) and run/index.html, and for other programs junit.xml, badge.svg and metrics.prom.
Exit status 1 where files could not be read, or questions not used. docs/compare.md has more.";

/// `pericope compare`
#[derive(Debug, Args)]
pub struct CompareArgs {
    /// Files or folders of documents
    #[arg(value_name = "PATH", required_unless_present = "questions_file")]
    pub paths: Vec<PathBuf>,
    /// A chunker of yours, beside the usual ones: a spec, or NAME=SPEC; may be given several times
    #[arg(long, short, value_name = "[NAME=]SPEC")]
    pub chunker: Vec<String>,
    /// Compare the chunkers named with --chunker alone
    #[arg(long, requires = "chunker")]
    pub only: bool,
    /// Where everything goes
    #[arg(long, value_name = "DIR", default_value = "pericope-compare", value_parser = places::path())]
    pub out: PathBuf,
    /// Take these questions, and the documents that are in the file with them, rather than draft some (SQuAD's layout)
    #[arg(long, value_name = "FILE.json", conflicts_with_all = ["paths", "llm", "kinds", "questions", "glob", "no_ignore", "hidden", "follow_links", "max_file_mb"], value_parser = places::path())]
    pub questions_file: Option<PathBuf>,
    /// Embedding model: minilm, static, a name that `models list` shows, a folder with a model, openai:MODEL, fastembed:MODEL or none
    /// [default: minilm where it is installed, else none]
    #[arg(long, value_name = "SPEC")]
    pub embedder: Option<String>,
    /// Embed every chunk within its document, as `pericope index --late-chunking` does
    #[arg(long)]
    pub late_chunking: bool,
    /// What counts tokens: minilm, words, a model of `pericope models list`, a tokenizer.json or the folder of one, or cl100k and o200k
    /// (where built in)
    /// [default: that of the model that embeds the chunks; else minilm where a chunker reads with it, else words]
    #[arg(long, value_name = "NAME|DIR|FILE")]
    pub tokenizer: Option<String>,
    /// The language in which words are read for BM25, by its code (de, ja, ...) [default: auto, that of each document]
    #[arg(long, value_name = "CODE|auto")]
    pub language: Option<LanguageChoice>,
    #[command(flatten)]
    pub drafting: QuestionArgs,
    #[command(flatten)]
    pub source: SourceArgs,
    /// One JSON document on standard output
    #[arg(long)]
    pub json: bool,
}

impl CompareArgs {
    /// True where [`CompareArgs::again`] asks for the same comparison: no model writes the questions.
    pub fn is_plain(&self) -> bool {
        self.drafting.llm.is_none() && !self.paths.is_empty()
    }

    /// The lines of `[retrieval]` that say what these flags say.
    pub fn retrieval(&self) -> String {
        let line = |key: &str, value: String| format!("{key} = {}\n", toml::Value::String(value));
        let tokenizer = self.tokenizer.iter().map(|name| line("tokenizer", name.clone()));
        let language = self.language.iter().map(|language| line("language", language.to_string()));
        let late = self.late_chunking.then(|| "late_chunking = true\n".to_owned());
        tokenizer.chain(language).chain(late).collect()
    }

    /// The words that ask for the same comparison again, but for its questions and its folder.
    pub fn again(&self) -> Vec<String> {
        let mut words: Vec<String> = self.paths.iter().map(|path| quoted(&shown(path))).collect();
        words.extend(self.chunker.iter().flat_map(|chunker| ["--chunker".to_owned(), quoted(chunker)]));
        words.extend(self.only.then(|| "--only".to_owned()));
        words.extend(self.late_chunking.then(|| "--late-chunking".to_owned()));
        let language = self.language.map(|language| language.to_string());
        let named =
            [("--embedder", &self.embedder), ("--tokenizer", &self.tokenizer), ("--language", &language)].into_iter();
        words.extend(named.filter_map(|(flag, value)| Some([flag.to_owned(), quoted(value.as_ref()?)])).flatten());
        if !self.drafting.kinds.is_empty() {
            let kinds: Vec<&str> = self.drafting.kinds.iter().map(|kind| kind.name()).collect();
            words.extend(["--kinds".to_owned(), kinds.join(",")]);
        }
        let SourceArgs { max_file_mb, files, .. } = &self.source;
        words.extend(files.glob.iter().flat_map(|glob| ["--glob".to_owned(), quoted(glob)]));
        let flags =
            [(files.no_ignore, "--no-ignore"), (files.hidden, "--hidden"), (files.follow_links, "--follow-links")];
        words.extend(flags.into_iter().filter(|(set, _)| *set).map(|(_, flag)| flag.to_owned()));
        if *max_file_mb > 0 {
            words.push(format!("--max-file-mb {max_file_mb}"));
        }
        words
    }
}

/// A word as a shell takes it: in single quotes where it holds anything that a shell reads otherwise.
pub fn quoted(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:,=@%+".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::quoted;

    #[test]
    fn words_survive_a_shell() {
        for (word, shown) in [
            ("docs/a.md", "docs/a.md"),
            ("fixed:max_tokens=256,words=100", "fixed:max_tokens=256,words=100"),
            ("", "''"),
            ("command:python3 my.py", "'command:python3 my.py'"),
            ("command:'my own.py' $x", "'command:'\\''my own.py'\\'' $x'"),
            ("a(b)", "'a(b)'"),
        ] {
            assert_eq!(quoted(word), shown);
        }
    }
}
