//! `command:PROGRAM ARGUMENTS`: a program of the user's cuts.

use std::path::Path;
use std::time::Duration;

use pericope_api::{Document, Format, SegmentError, Segmentation, Segmenter, Span};
use pericope_util::{Program, ProgramError, ProgramLimits, command_words, find_program, sha256_file};
use serde::{Deserialize, Serialize};

use super::given::{Given, Offsets};
use super::placer::Placer;
use crate::registry::{BuiltSegmenter, Needs, SegmenterEntry, SettingKey};
use crate::spec::Spec;

/// Files that are larger are no scripts; they are no part of the fingerprint.
const LARGEST_SCRIPT: u64 = 64 << 20;
/// Seconds for a document where the spec does not say it.
const SECONDS: usize = 60;
/// A day: no document takes longer.
const LONGEST: usize = 86_400;

/// The registry's entry.
pub const COMMAND: SegmenterEntry = SegmenterEntry {
    name: "command",
    summary: "a program of yours: documents on its standard input, chunks on its standard output, a JSON line each",
    keys: &[
        SettingKey {
            name: "program",
            default: "",
            doc: "the program and its arguments; may stand first without its key: command:python3 my.py",
        },
        SettingKey {
            name: "time",
            default: "60",
            doc: "seconds for a document, and as long again for each MB; 0: no limit",
        },
        SettingKey {
            name: "offsets",
            default: "bytes",
            doc: "what start and end count where an answer does not say: bytes, chars",
        },
    ],
    example: "command:python3 my_chunker.py,offsets=chars",
    needs: Needs::None,
    needs_of: None,
    has_scores: false,
    build: |args, _| {
        let Some(command) = args.get("program") else {
            return Err(args.unavailable("it needs a program: command:PROGRAM ARGUMENTS".into()));
        };
        let offsets = Offsets::at(args.choice("offsets", &Offsets::WORDS)?);
        let seconds = args.count("time", SECONDS, 0)?;
        if seconds > LONGEST {
            return Err(args.bad("time", seconds, &format!("seconds, at most {LONGEST}")));
        }
        args.before_files()?;
        let limits = ProgramLimits { time: Duration::from_secs(seconds as u64), ..ProgramLimits::default() };
        let program = command_words(command).and_then(|words| Program::new(words, limits));
        let program = program.map_err(|error| args.unavailable(error.to_string()))?;
        let fingerprint = fingerprint(program.words());
        Ok(BuiltSegmenter::new(FromProgram { program, offsets, fingerprint }).finished())
    },
};

/// The specs that start a program: this one, and those that it refers to.
fn starting(spec: &Spec) -> Vec<Spec> {
    let own = (spec.name == COMMAND.name).then(|| spec.clone());
    own.into_iter().chain(spec.references().iter().flat_map(starting)).collect()
}

/// Returns how long the programs of a spec may take for a document (and as long again for each MB of it), and to start: the longest of
/// them. `None`: it starts none. Zero: one of them has no limit.
#[must_use]
pub fn program_time(spec: &Spec) -> Option<Duration> {
    let seconds = |spec: &Spec| spec.get("time").and_then(|text| text.parse().ok()).unwrap_or(SECONDS as u64);
    let all: Vec<u64> = starting(spec).iter().map(seconds).collect();
    let longest = *all.iter().max()?;
    let first = ProgramLimits::default().first;
    Some(if all.contains(&0) { Duration::ZERO } else { Duration::from_secs(longest).saturating_add(first) })
}

/// Looks for the programs of a spec without starting them.
///
/// # Errors
/// [`ProgramError::NotStarted`] for one that is not there, in words.
pub fn check_programs(spec: &Spec) -> Result<(), ProgramError> {
    for spec in starting(spec) {
        if let Some(words) = spec.get("program").and_then(|command| command_words(command).ok()) {
            find_program(&words)?;
        }
    }
    Ok(())
}

/// What a program is sent of a document.
#[derive(Serialize)]
struct Question<'a> {
    document: &'a str,
    text: &'a str,
    format: Format,
}

/// What it answers.
#[derive(Deserialize)]
struct Answer {
    document: Option<String>,
    chunks: Option<Vec<Given>>,
    offsets: Option<Offsets>,
    error: Option<String>,
}

struct FromProgram {
    program: Program,
    offsets: Offsets,
    fingerprint: String,
}

/// The checksums of the files among the words of a command: a script that was changed makes other chunks.
fn fingerprint(words: &[String]) -> String {
    let is_script = |word: &&String| {
        let about = Path::new(word.as_str()).metadata();
        about.is_ok_and(|about| about.is_file() && about.len() <= LARGEST_SCRIPT)
    };
    let sums = words.iter().filter(is_script).filter_map(|word| sha256_file(Path::new(word)).ok());
    sums.map(|sum| format!("sha256={sum}")).collect::<Vec<_>>().join(":")
}

/// Reads an answer to a question about a document.
fn read(line: &str, document: &str) -> Result<Answer, String> {
    let start: String = line.chars().take(80).collect();
    let start = pericope_util::visible_line(&start).into_owned();
    let answer: Answer = serde_json::from_str(line).map_err(|error| {
        format!(
            "its answer is none ({error}): {start}; it writes one line {{\"document\": ..., \"chunks\": [...]}} for each document, and all \
             else on its standard error"
        )
    })?;
    match &answer.document {
        Some(other) if other != document => Err(format!(
            "it answered for document `{}` when it was asked for `{}`",
            pericope_util::visible_line(other),
            pericope_util::visible_line(document)
        )),
        _ if answer.chunks.is_none() && answer.error.is_none() => {
            Err(format!("its answer has neither chunks nor error: {start}"))
        }
        _ => Ok(answer),
    }
}

impl FromProgram {
    fn spans(&self, document: &Document) -> Result<Vec<Span>, String> {
        let question = Question { document: &document.id, text: &document.source, format: document.format };
        let question = serde_json::to_string(&question).map_err(|error| error.to_string())?;
        let answer = self.program.ask(&question, |line| read(line, &document.id)).map_err(|error| error.to_string())?;
        if let Some(error) = answer.error {
            return Err(format!("the program says: {}", pericope_util::visible_line(&error)));
        }
        let offsets = answer.offsets.unwrap_or(self.offsets);
        let mut placer = Placer::new(&document.source);
        let mut spans = Vec::new();
        for (number, given) in answer.chunks.iter().flatten().enumerate() {
            let span =
                placer.place(given, offsets).map_err(|problem| format!("chunk {number} of the program: {problem}"))?;
            spans.extend(span);
        }
        spans.sort_by_key(|span| (span.start, span.end));
        Ok(spans)
    }
}

impl Segmenter for FromProgram {
    fn segment(&self, document: &Document) -> Result<Segmentation, SegmentError> {
        self.spans(document).map(Segmentation::Chunks).map_err(SegmentError::Unsupported)
    }

    fn fingerprint(&self) -> String {
        self.fingerprint.clone()
    }
}

#[cfg(all(test, unix))]
mod tests {
    #![allow(clippy::unwrap_used)]
    use pericope_api::Document;

    use crate::Chunker;
    use crate::registry::{build_from, outside};
    use crate::resources::{Limits, Standalone};
    use crate::spec::Spec;

    const INDEX: Standalone = Standalone { defaults: Limits::INDEX };

    /// A chunker that runs this script, which lies in a folder.
    fn running(script: &str) -> (tempfile::TempDir, Chunker) {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("cut, (1).sh");
        std::fs::write(&path, script).unwrap();
        let spec = Spec::parse(&format!("command:/bin/sh '{}'", path.display())).unwrap();
        let chunker = build_from(outside(), &spec, &INDEX).unwrap();
        (folder, chunker)
    }

    fn texts(chunker: &Chunker, document: &Document) -> Result<Vec<String>, String> {
        let chunks = chunker.chunks(document).map_err(|error| error.to_string())?;
        Ok(chunks.iter().map(|chunk| document.text(chunk.span).to_owned()).collect())
    }

    fn answering(answer: &str) -> Result<Vec<String>, String> {
        let (_folder, chunker) = running(&format!("while read -r line; do echo '{answer}'; done"));
        texts(&chunker, &Document::from_sentences("d", &["\u{dc}ber uns.", "Zwei."]))
    }

    #[test]
    fn spans_and_texts_become_chunks_in_order() {
        assert_eq!(
            answering(r#"{"document":"d","chunks":[{"start":11,"end":16},{"start":0,"end":5}]}"#).unwrap(),
            ["\u{dc}ber", "Zwei."]
        );
        assert_eq!(answering(r#"{"chunks":[{"start":0,"end":9}],"offsets":"chars"}"#).unwrap(), ["\u{dc}ber uns."]);
        assert_eq!(answering(r#"{"chunks":[{"text":"uns. Zwei."}]}"#).unwrap(), ["uns.\nZwei."]);
        assert!(answering(r#"{"chunks":[]}"#).unwrap().is_empty());
    }

    #[test]
    fn answers_that_are_none() {
        for (answer, says) in [
            ("Loading the model...", "all else on its standard error"),
            ("", "its answer is none"),
            ("[]", "its answer is none"),
            (r#"{"document":"d"}"#, "neither chunks nor error"),
            (r#"{"document":"e","chunks":[]}"#, "`e` when it was asked for `d`"),
            (r#"{"error":"out of memory"}"#, "the program says: out of memory"),
            (r#"{"chunks":[{"start":0,"end":17}]}"#, "chunk 0 of the program: 0..17 reaches beyond"),
            (r#"{"chunks":[{"start":0,"end":5},{"start":4,"end":2}]}"#, "chunk 1 of the program: its start 4"),
            (r#"{"chunks":[{"start":1,"end":5}]}"#, "cuts a character"),
            (r#"{"chunks":[{"start":0.5,"end":5}]}"#, "its answer is none"),
            (r#"{"chunks":[{"text":"Drei."}]}"#, "does not stand in the document"),
            (r#"{"chunks":[{}]}"#, "neither start and end nor text"),
        ] {
            let said = answering(answer).unwrap_err();
            assert!(said.contains(says) && !said.contains('\n'), "{answer}: {said}");
        }
    }

    /// The program is asked again after an answer that was one; a document that it fails on costs no other.
    #[test]
    fn one_program_cuts_all_documents() {
        let script = r#"n=0; while read -r line; do n=$((n+1)); case $line in *stop*) exit 3;; *) echo "{\"chunks\":[{\"start\":0,\"end\":$n}]}";; esac; done"#;
        let (_folder, chunker) = running(script);
        let of = |text: &str| texts(&chunker, &Document::from_sentences("d", &[text]));
        assert_eq!(of("abcdef").unwrap(), ["a"]);
        assert_eq!(of("abcdef").unwrap(), ["ab"]);
        assert!(of("stop").unwrap_err().contains("status 3"));
        assert_eq!(of("abcdef").unwrap(), ["a"]);
    }

    #[test]
    fn wrong_settings_are_said_before_anything_starts() {
        let built = |text: &str| {
            build_from(outside(), &Spec::parse(text).unwrap(), &INDEX).map(|_| ()).map_err(|e| e.to_string())
        };
        for (spec, says) in [
            ("command", "it needs a program"),
            ("command:'x", "a quote ' is not closed"),
            ("command:x,time=soon", "whole number"),
            ("command:x,time=90000", "at most 86400"),
            ("command:x,offsets=letters", "one of bytes, chars"),
            ("command:x,tau=0.5", "no setting `tau`"),
            ("command:x,overlap=2", "kept as they are"),
        ] {
            let said = built(spec).unwrap_err();
            assert!(said.contains(says), "{spec}: {said}");
        }
        // A program that is not there shows when it is needed, as one that dies does.
        assert_eq!(built("command:/no/such/program"), Ok(()));
    }

    #[test]
    fn the_programs_of_a_spec_are_known_without_starting_them() {
        let of = |text: &str| {
            let spec = Spec::parse(text).unwrap();
            (super::program_time(&spec).map(|time| time.as_secs()), super::check_programs(&spec).is_ok())
        };
        assert_eq!(of("fixed:words=9"), (None, true));
        assert_eq!(of("command:sh cut.sh"), (Some(180), true));
        assert_eq!(of("same-size:reference=(command:/bin/sh cut.sh,time=600)"), (Some(720), true));
        assert_eq!(of("command:no-such-program-anywhere,time=0"), (Some(0), false));
        assert_eq!(of("same-size:reference=(command:/no/such/program)"), (Some(180), false));
    }

    #[test]
    fn a_changed_script_is_another_chunker() {
        let folder = tempfile::tempdir().unwrap();
        let script = folder.path().join("cut.py");
        let fingerprint = |text: &str| {
            std::fs::write(&script, text).unwrap();
            let spec = Spec::parse(&format!("command:python3 {}", script.display())).unwrap();
            build_from(outside(), &spec, &INDEX).unwrap().fingerprint()
        };
        assert_eq!(fingerprint("a"), format!("sha256={}", pericope_util::sha256_hex(b"a")));
        assert_ne!(fingerprint("a"), fingerprint("b"));
    }
}
