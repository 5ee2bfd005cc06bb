//! Specs to chunkers: names, keys, precedence of limits.

use std::cell::Cell;
use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use crate::support::Fake;
use pericope_api::{ModelUse, SegmentError, SentenceEncoder, ShiftFinder};
use pericope_segment::llm::LanguageModel;
use pericope_segment::registry::{self, Needs, POLICY_KEYS, SegmenterEntry, build_from};
use pericope_segment::{Limits, Resources, Standalone, spec::Spec};

fn build(spec: &str, resources: &dyn Resources) -> Result<pericope_segment::Chunker, String> {
    registry::build(&Spec::parse(spec).unwrap(), resources).map_err(|e| e.to_string())
}

#[test]
fn every_entry_is_documented_and_its_example_works() {
    for entry in registry::list() {
        assert!(!entry.summary.is_empty() && !entry.summary.ends_with('.'), "{}", entry.name);
        assert!(entry.keys.iter().chain(POLICY_KEYS).all(|k| !k.doc.is_empty()));
        let example = Spec::parse(entry.example).unwrap();
        assert_eq!(example.name, entry.name);
        assert_eq!(registry::check_in(registry::list(), &example).unwrap().name, entry.name);
        build(entry.example, &Fake::default()).unwrap();
        // Stated defaults are the real ones: giving them changes nothing.
        for key in entry.keys.iter().filter(|k| !k.default.is_empty()) {
            // One that always needs a reference is given that of its example.
            let base =
                if entry.name == "same-size" { format!("{},", entry.example) } else { format!("{}:", entry.name) };
            build(&format!("{base}{}={}", key.name, key.default), &Fake::default()).unwrap();
            let plain = if entry.name == "same-size" { entry.example } else { entry.name };
            let real = settings(plain, Limits::NONE).unwrap().remove(key.name);
            let equal = |real: &str| match (real.parse::<f64>(), key.default.parse::<f64>()) {
                (Ok(real), Ok(shown)) => real == shown,
                _ => real == key.default,
            };
            assert!(real.as_deref().is_some_and(equal), "{}: {} is {real:?}", entry.name, key.name);
        }
        let built = build(entry.name, &Standalone::default());
        let lacks = !entry.needs.is_none() || entry.name == "same-size";
        assert_eq!(built.is_err(), lacks, "{}", entry.name);
    }
}

fn settings(spec: &str, defaults: Limits) -> Result<BTreeMap<String, String>, String> {
    registry::settings(registry::list(), &Spec::parse(spec).unwrap(), defaults).map_err(|e| e.to_string())
}

#[test]
fn settings_are_the_values_in_force() {
    let shown = |spec: &str, defaults: Limits| {
        let found = settings(spec, defaults).unwrap();
        found.iter().map(|(key, value)| format!("{key}={value}")).collect::<Vec<_>>().join(" ")
    };
    let policy = "min_tokens=0 overlap=0";
    assert_eq!(
        shown("fixed", Limits::INDEX),
        format!("max_tokens=256 {policy} segmenter=fixed target_tokens=0 words=100")
    );
    // What another setting replaces has no value.
    assert_eq!(
        shown("fixed:tokens=007", Limits::NONE),
        format!("max_tokens=0 {policy} segmenter=fixed target_tokens=0 tokens=7")
    );
    // Defaults that depend on other settings, and numbers however they are written.
    for (spec, parts) in [
        ("window", &["depth=0.18", "k=4", "pool=mean", "score=valley", "tau=0.5"][..]),
        ("window:k=2", &["depth=0.36"]),
        ("window:score=cosine", &["tau=0.75"]),
        ("window:tau=0.60", &["tau=0.6"]),
        ("kamradt", &["buffer=1", "percentile=95"]),
        ("kamradt:iqr=1.50", &["iqr=1.5"]),
        ("cluster", &["size=400"]),
        ("fusion:price=30", &["price=30", "share=0.2", "longest=400", "weight=90"]),
        ("fusion:embedder=static", &["weight=180"]),
        ("fusion:embedder=static:my-vectors", &["weight=180"]),
        ("fusion:embedder=static,weight=70", &["weight=70"]),
        ("graph", &["similarity=embedding", "resolution=1", "seed=0", "decay=on"]),
        ("same-size:reference=(window:k=5)", &["match=mean", "reference=window:k=5"]),
        ("sentence:overlap=2", &["overlap=2"]),
    ] {
        let found = shown(spec, Limits::default());
        let has = |part: &&str| found.split(' ').any(|one| one == *part);
        assert!(parts.iter().all(has) && !found.contains("max_tokens"), "{spec}: {found}");
    }
    for (spec, absent) in
        [("window:score=cosine", "depth"), ("kamradt:iqr=1", "percentile"), ("cluster:max_tokens=90", "size")]
    {
        assert!(!settings(spec, Limits::NONE).unwrap().contains_key(absent), "{spec}");
    }
}

#[test]
fn settings_open_nothing_and_refuse_what_a_build_refuses() {
    let outside = |spec: &str| registry::settings(registry::outside(), &Spec::parse(spec).unwrap(), Limits::INDEX);
    let chunks = outside("chunks:none-such.jsonl").unwrap();
    // Defaults do not cut what somebody has finished.
    assert_eq!((chunks.get("missing").map(String::as_str), chunks.get("max_tokens")), (Some("error"), None));
    let program = outside("command:none-such --size=9,max_tokens=80").unwrap();
    assert_eq!(
        (program["program"].as_str(), program["time"].as_str(), program["max_tokens"].as_str()),
        ("none-such --size=9", "60", "80")
    );
    assert!(outside("chunks").unwrap_err().to_string().contains("needs a file"));
    // What a model cuts is cut further as anything else is.
    let model = outside("llm:model=m,base_url=http://127.0.0.1:1/v1").unwrap();
    assert_eq!(
        (model["tokens"].as_str(), model["unit"].as_str(), model["max_tokens"].as_str()),
        ("550", "paragraph", "256")
    );
    assert!(outside("llm:model=m,unit=page").unwrap_err().to_string().contains("one of paragraph, sentence"));
    for (spec, says) in [
        ("windwo", "no segmenter"),
        ("fixed:words=0", "at least 1"),
        ("kamradt:iqr=1,stddev=1", "not both"),
        ("window:tau=2", "0 to 1"),
    ] {
        assert!(settings(spec, Limits::NONE).unwrap_err().contains(says), "{spec}");
    }
}

#[test]
fn a_changed_default_changes_the_settings() {
    let window = registry::list().iter().find(|entry| entry.name == "window").unwrap();
    let changed = SegmenterEntry {
        build: |args, _| {
            args.count("k", 5, 1)?;
            Err(args.unavailable("never built".into()))
        },
        ..*window
    };
    let spec = Spec::parse("window").unwrap();
    // Its build fails before it says that files come next: that is an error of the spec's.
    assert!(registry::settings(&[changed], &spec, Limits::NONE).is_err());
    let changed = SegmenterEntry {
        build: |args, _| {
            args.count("k", 5, 1)?;
            args.before_files()?;
            Err(args.unavailable("never reached".into()))
        },
        ..*window
    };
    let of = |entry: SegmenterEntry| registry::settings(&[entry], &spec, Limits::NONE).unwrap()["k"].clone();
    assert_eq!((of(*window).as_str(), of(changed).as_str()), ("4", "5"));
}

#[test]
fn wrong_specs_say_what_would_be_right() {
    let message = |spec: &str| build(spec, &Fake::default()).unwrap_err();
    for (spec, parts) in [
        ("windwo", &["no segmenter `windwo`", "did you mean `window`", "fixed, same-size"][..]),
        ("fixed:word=3", &["no setting `word`", "did you mean `words`", "max_tokens"]),
        ("fixed:tau=0.5", &["no setting `tau`"]),
        ("fixed:words=0", &["words=0", "at least 1"]),
        ("fixed:words=3,tokens=3", &["not both"]),
        ("fixed:tokens=3,overlap=3", &["overlap=3", "fewer tokens"]),
        ("window:pool=median", &["pool=median", "mean, min, max"]),
        ("window:tau=2", &["tau=2", "0 to 1"]),
        ("kamradt:iqr=1,stddev=2", &["not both"]),
        ("same-size", &["reference"]),
        ("sentence:max_tokens=5,min_tokens=6", &["min_tokens=6", "max_tokens=5"]),
    ] {
        let text = message(spec);
        assert!(parts.iter().all(|part| text.contains(part)), "{spec}: {text}");
        assert!(!text.contains('\n'), "{spec}: {text}");
    }
    let text = build("window", &Standalone::default()).unwrap_err();
    assert!(text.contains("encoder"), "{text}");
}

#[test]
fn flags_outrank_the_spec_and_the_spec_outranks_defaults() {
    struct Both;
    impl Resources for Both {
        fn overrides(&self) -> Limits {
            Limits { overlap: Some(1), ..Limits::default() }
        }
        fn defaults(&self) -> Limits {
            Limits { max_tokens: Some(256), min_tokens: Some(8), target_tokens: None, overlap: Some(9) }
        }
    }
    let chunker = build("sentence:max_tokens=100,overlap=5", &Both).unwrap();
    let expected = Limits { max_tokens: Some(100), min_tokens: Some(8), target_tokens: None, overlap: Some(1) };
    assert_eq!(chunker.limits(), expected);
    assert_eq!(chunker.spec().to_string(), "sentence:max_tokens=100,min_tokens=8,overlap=1");
    let free = build("sentence:max_tokens=0,min_tokens=0", &Both).unwrap();
    assert_eq!((free.limits().max_tokens, free.limits().min_tokens), (None, None));
    assert_eq!(free.spec().to_string(), "sentence:max_tokens=0,overlap=1");
}

#[test]
fn same_size_becomes_fixed() {
    let chunker = build("same-size:reference=(window:k=5,pool=min),max_tokens=99", &Fake::default()).unwrap();
    assert_eq!(chunker.spec().to_string(), "fixed:max_tokens=99,words=7");
}

#[test]
fn overlap_of_fixed_tokens_is_in_tokens() {
    let words: Vec<String> = (0..20).map(|i| format!("w{i}")).collect();
    let document = pericope_api::Document::from_sentences("d", &[words.join(" ")]);
    let chunker = build("fixed:tokens=6,overlap=2", &Standalone::default()).unwrap();
    let chunks = chunker.chunks(&document).unwrap();
    let texts: Vec<&str> = chunks.iter().map(|c| document.text(c.span)).collect();
    assert_eq!(
        texts,
        [
            "w0 w1 w2 w3 w4 w5",
            "w4 w5 w6 w7 w8 w9",
            "w8 w9 w10 w11 w12 w13",
            "w12 w13 w14 w15 w16 w17",
            "w16 w17 w18 w19"
        ]
    );
}

/// The naive overlap of Dong, Singh and Yeh: windows of 200 tokens, moved by 50.
#[test]
fn naive_overlap_is_fixed_tokens_with_overlap() {
    let words: Vec<String> = (0..430).map(|i| format!("w{i}")).collect();
    let document = pericope_api::Document::from_sentences("d", &[words.join(" ")]);
    let chunker = build("fixed:tokens=200,overlap=150", &Standalone::default()).unwrap();
    let chunks = chunker.chunks(&document).unwrap();
    let starts: Vec<&str> = chunks.iter().filter_map(|c| document.text(c.span).split(' ').next()).collect();
    assert_eq!(starts, ["w0", "w50", "w100", "w150", "w200", "w250"]);
    let sizes: Vec<usize> = chunks.iter().map(|c| c.tokens).collect();
    assert_eq!(sizes, [200, 200, 200, 200, 200, 180]);
}

#[test]
fn overlap_of_sentences_never_breaks_the_maximum() {
    let document = pericope_api::Document::from_sentences("d", &["a b c", "d e f", "g h", "i j k"]);
    let texts = |spec: &str| -> Vec<String> {
        let chunks = build(spec, &Standalone::default()).unwrap().chunks(&document).unwrap();
        chunks.iter().map(|c| document.text(c.span).replace('\n', " ")).collect()
    };
    assert_eq!(texts("sentence:overlap=1"), ["a b c", "a b c d e f", "d e f g h", "g h i j k"]);
    assert_eq!(texts("sentence:overlap=1,max_tokens=5"), ["a b c", "d e f", "d e f g h", "g h i j k"]);
    assert_eq!(texts("fixed:words=6,overlap=2"), ["a b c d e f", "a b c d e f g h i j k"]);
}

/// Resources that note whether the encoder is asked for.
#[derive(Default)]
struct Probe {
    asked: Cell<bool>,
}

impl Resources for Probe {
    fn encoder(&self) -> Result<Arc<dyn SentenceEncoder>, String> {
        self.asked.set(true);
        Err("only asked whether it is needed".into())
    }

    fn mean_words(&self, reference: &str) -> Result<f64, String> {
        let spec = Spec::parse(reference).map_err(|e| e.to_string())?;
        registry::build(&spec, self).map(|_| 7.0).map_err(|e| e.to_string())
    }
}

#[test]
fn needs_are_what_building_asks_for() {
    let mut specs: Vec<String> = registry::list().iter().map(|entry| entry.name.to_owned()).collect();
    specs.extend(registry::list().iter().map(|entry| entry.example.to_owned()));
    let settings = [
        "fixed:tokens=20",
        "fixed:words=20,max_tokens=9",
        "recursive:tokens=20",
        "cogltx-blocks:tokens=20",
        "sentence:overlap=2",
        "window:k=1,pool=max",
        "kamradt:gradient=95",
        "variance:longest=9",
        "fusion:weight=0",
        "cluster:size=9",
        "graph:similarity=jaccard",
        "graph:similarity=sequence-matcher",
        "graph:similarity=embedding",
        "graph:similarity=bertscore",
        "graph:similarity=jaccard + sequence-matcher",
        "graph:similarity=jaccard + embedding",
        "graph:k=2",
        "random:segments=true",
        "same-size:reference=sentence",
        "same-size:reference=variance",
        "same-size:reference=(graph:similarity=jaccard,k=2)",
        "same-size:reference=(graph:similarity=jaccard+bertscore,k=2)",
        "same-size:reference=(same-size:reference=(window:k=5,pool=min))",
        "same-size:reference=(same-size:reference=(fixed:words=9,max_tokens=5))",
    ];
    specs.extend(settings.map(str::to_owned));
    for text in specs {
        let spec = Spec::parse(&text).unwrap();
        let probe = Probe::default();
        // A missing encoder is an error; only what was asked matters.
        let _ = registry::build(&spec, &probe);
        let expected = if probe.asked.get() { Needs::Encoder } else { Needs::None };
        assert_eq!(registry::needs(registry::list(), &spec), expected, "{text}");
    }
    assert_eq!(registry::needs(registry::list(), &Spec::parse("no-such-segmenter").unwrap()), Needs::None);
}

/// Finds no shift.
struct Nowhere;

impl ShiftFinder for Nowhere {
    fn fingerprint(&self) -> String {
        "openai:model=m".into()
    }

    fn first_shift(&self, _: &[&str]) -> Result<Option<usize>, SegmentError> {
        Ok(None)
    }

    fn used(&self) -> ModelUse {
        ModelUse::default()
    }
}

struct WithModel;

impl Resources for WithModel {
    fn shift_finder(&self, wanted: &LanguageModel) -> Result<Arc<dyn ShiftFinder>, String> {
        assert_eq!(wanted.base_url.as_deref(), Some("http://127.0.0.1:1/v1"));
        assert_eq!((wanted.provider.as_deref(), wanted.config.as_deref()), (None, Some(Path::new("m.toml"))));
        Ok(Arc::new(Nowhere))
    }
}

#[test]
fn a_chunker_that_asks_a_model_names_the_model_and_not_its_address() {
    let text = "llm:config=m.toml,model=m,base_url=http://127.0.0.1:1/v1,api_key_env=K,tokens=300,max_tokens=90";
    let spec = Spec::parse(text).unwrap();
    let chunker = build_from(registry::outside(), &spec, &WithModel).unwrap();
    assert_eq!(chunker.spec().to_string(), "llm:max_tokens=90,model=m,tokens=300");
    assert_eq!(chunker.fingerprint(), "openai:model=m");
    assert_eq!(chunker.segmenter().model_use(), Some(ModelUse::default()));
    // No program without a model makes one.
    let error = build_from(registry::outside(), &spec, &Standalone::default()).map(drop).unwrap_err().to_string();
    assert!(error.contains("none is at hand"), "{error}");
    assert_eq!(registry::needs(registry::outside(), &spec), Needs::LanguageModel);
}

#[test]
fn a_trained_segmenter_says_that_it_has_a_model() {
    let trained = SegmenterEntry { name: "trained", needs: Needs::Model, ..registry::list()[0] };
    let entries = [trained, *registry::list().iter().find(|entry| entry.name == "same-size").unwrap()];
    for spec in ["trained", "same-size:reference=trained"] {
        assert_eq!(registry::needs(&entries, &Spec::parse(spec).unwrap()), Needs::Model);
    }
}
