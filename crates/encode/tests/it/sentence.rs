//! Embedding models against sentence-transformers, on the folders that `scripts/golden/golden_embedders.py` makes.

use std::path::{Path, PathBuf};

use pericope_api::{Embeddings, SentenceEncoder};
use pericope_encode::kernels::Precision;
use pericope_encode::{Base, SentenceModel, registry};
use serde::Deserialize;
use serde_json::{Value, json};

const NAMES: [&str; 14] = [
    "bert",
    "bert-narrow",
    "bert-plain",
    "distilbert",
    "roberta",
    "xlm-roberta",
    "mpnet",
    "mpnet-plain",
    "modernbert",
    "modernbert-plain",
    "nomic",
    "nomic-plain",
    "qwen3",
    "qwen3-plain",
];

/// Those whose products may be in bfloat16.
const PACKED: [&str; 9] =
    ["bert", "bert-narrow", "distilbert", "roberta", "xlm-roberta", "mpnet", "modernbert", "nomic", "qwen3"];

#[derive(Deserialize)]
struct Expected {
    window: usize,
    texts: Vec<String>,
    ids: Both<u32>,
    vectors: Both<f32>,
    poolings: std::collections::BTreeMap<String, Vec<Vec<f32>>>,
    hidden: Vec<Vec<f32>>,
}

#[derive(Deserialize)]
struct Both<T> {
    query: Vec<Vec<T>>,
    passage: Vec<Vec<T>>,
}

impl Expected {
    fn texts(&self) -> Vec<&str> {
        self.texts.iter().map(String::as_str).collect()
    }
}

/// A copy of a folder, since checksums are kept beside the files, and what sentence-transformers made of it.
fn model(name: &str) -> (tempfile::TempDir, Expected) {
    let from = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden").join(format!("embed-{name}"));
    let dir = tempfile::tempdir().unwrap();
    copy(&from, dir.path());
    let expected = serde_json::from_slice(&std::fs::read(from.join("expected.json")).unwrap()).unwrap();
    (dir, expected)
}

pub(crate) fn copy(from: &Path, to: &Path) {
    std::fs::create_dir_all(to).unwrap();
    for entry in std::fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        match entry.file_type().unwrap().is_dir() {
            true => copy(&entry.path(), &target),
            false => drop(std::fs::copy(entry.path(), target).unwrap()),
        }
    }
}

/// Fills a tensor of a `model.safetensors` with the bytes of one number.
pub(crate) fn fill(folder: &Path, tensor: &str, number: &[u8]) {
    let file = folder.join("model.safetensors");
    let mut bytes = std::fs::read(&file).unwrap();
    let length = usize::try_from(u64::from_le_bytes(bytes[..8].try_into().unwrap())).unwrap();
    let header: Value = serde_json::from_slice(&bytes[8..8 + length]).unwrap();
    let at = |end: usize| 8 + length + usize::try_from(header[tensor]["data_offsets"][end].as_u64().unwrap()).unwrap();
    bytes[at(0)..at(1)].iter_mut().zip(number.iter().cycle()).for_each(|(byte, of)| *byte = *of);
    std::fs::write(file, bytes).unwrap();
}

/// 16 bits that are infinite.
pub(crate) const INFINITE: [u8; 2] = [0x00, 0x7c];

/// 16 bits that are no number.
pub(crate) const NONE: [u8; 2] = [0xff, 0xff];

pub(crate) fn open(folder: &Path) -> SentenceModel {
    SentenceModel::open(&folder.display().to_string(), folder).unwrap()
}

pub(crate) fn cosine(a: &[f32], b: &[f32]) -> f64 {
    let dot = |a: &[f32], b: &[f32]| a.iter().zip(b).map(|(x, y)| f64::from(*x) * f64::from(*y)).sum::<f64>();
    dot(a, b) / (dot(a, a) * dot(b, b)).sqrt()
}

/// The least cosine to what is expected; all vectors have norm 1.
fn least(found: &Embeddings, expected: &[Vec<f32>]) -> f64 {
    assert_eq!(found.len(), expected.len());
    let one = |(row, want): (&[f32], &Vec<f32>)| {
        let norm = row.iter().map(|x| x * x).sum::<f32>();
        assert!(row.len() == want.len() && (norm - 1.0).abs() < 1e-5, "norm {norm}");
        cosine(row, want)
    };
    found.rows().zip(expected).map(one).fold(1.0, f64::min)
}

pub(crate) fn bound(name: &str) -> f64 {
    // Factors of few bits, rounded in every layer.
    match PACKED.contains(&name) && Precision::of_machine() != Ok(Precision::Single) {
        true => 0.999,
        false => 0.9999,
    }
}

#[test]
fn vectors_equal_those_of_sentence_transformers() {
    for name in NAMES {
        let (dir, expected) = model(name);
        let model = open(dir.path());
        assert_eq!(model.max_tokens(), expected.window, "{name}");
        let texts = expected.texts();
        assert_eq!(model.ids(&texts, true), expected.ids.query, "{name}");
        assert_eq!(model.ids(&texts, false), expected.ids.passage, "{name}");
        let queries = least(&model.encode_queries(&texts).unwrap(), &expected.vectors.query);
        let passages = least(&model.encode_passages(&texts).unwrap(), &expected.vectors.passage);
        println!("{name}: least cosine {queries:.7} of queries, {passages:.7} of passages");
        assert!(queries > bound(name) && passages > bound(name), "{name}: {queries}, {passages}");
        assert_eq!(model.encode(&texts).unwrap(), model.encode_passages(&texts).unwrap());
        let counted: Vec<usize> = texts.iter().map(|text| model.count_tokens(text).unwrap()).collect();
        for (count, ids) in counted.iter().zip(&expected.ids.passage) {
            assert_eq!((*count).min(expected.window), ids.len(), "{name}");
        }
    }
}

#[test]
fn vectors_of_tokens_are_the_last_hidden_states() {
    for name in NAMES {
        let (dir, expected) = model(name);
        let model = open(dir.path());
        let found = model.encode_tokens(&expected.texts()[..1]).unwrap();
        let bare = name.starts_with("qwen3");
        // Without the special tokens: one at the end, or one at either.
        let own = &expected.hidden[usize::from(!bare)..expected.hidden.len() - 1];
        assert_eq!(found[0].len(), own.len(), "{name}");
        let worst = found[0].rows().zip(own).map(|(row, want)| cosine(row, want)).fold(1.0, f64::min);
        assert!(worst > bound(name), "{name}: {worst}");
    }
}

#[test]
fn every_way_of_pooling_equals_that_of_sentence_transformers() {
    let (dir, expected) = model("bert-plain");
    let path = dir.path().join("1_Pooling/config.json");
    assert_eq!(expected.poolings.len(), 6);
    for (mode, vectors) in &expected.poolings {
        std::fs::write(&path, json!({"embedding_dimension": 32, "pooling_mode": mode}).to_string()).unwrap();
        let found = open(dir.path()).encode(&expected.texts()).unwrap();
        let worst = least(&found, vectors);
        assert!(worst > 0.9999, "{mode}: {worst}");
    }
}

#[test]
fn vectors_do_not_depend_on_threads_or_neighbours() {
    for name in ["bert", "bert-narrow", "modernbert", "modernbert-plain", "nomic", "qwen3", "qwen3-plain"] {
        let (dir, expected) = model(name);
        let model = open(dir.path());
        let texts: Vec<String> = (0..40).map(|i| format!("Bread {i} needs time. ").repeat(i % 5)).collect();
        let texts: Vec<&str> = texts.iter().map(String::as_str).chain(expected.texts()).collect();
        let on = |threads: usize| {
            let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
            pool.install(|| model.encode(&texts).unwrap())
        };
        let all = on(1);
        assert_eq!(all, on(4), "{name}");
        for i in [0, 3, 41] {
            let alone = model.encode(&texts[i..=i]).unwrap();
            let off = alone.row(0).iter().zip(all.row(i)).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
            assert!(off < 1e-5, "{name}: {off}");
        }
    }
}

#[test]
fn options_shorten_vectors_and_texts_and_change_prompts() {
    let (dir, expected) = model("distilbert");
    let folder = dir.path().display();
    let texts = expected.texts();
    let whole = registry::embedder(&folder.to_string()).unwrap().unwrap();
    let made = |options: &str| registry::embedder(&format!("{folder},{options}")).map(Option::unwrap);
    let short = made("dimensions=32").unwrap();
    assert_eq!((short.dimension(), whole.dimension()), (32, 96));
    let (all, kept) = (whole.encode(&texts).unwrap(), short.encode(&texts).unwrap());
    for (all, kept) in all.rows().zip(kept.rows()) {
        assert!(cosine(&all[..32], kept) > 0.99999 && (kept.iter().map(|x| x * x).sum::<f32>() - 1.0).abs() < 1e-5);
    }
    let brief = made("max_tokens=16").unwrap();
    assert_eq!(brief.max_tokens(), 16);
    assert_ne!(brief.encode(&texts[..1]).unwrap(), whole.encode(&texts[..1]).unwrap());
    let bare = made("prompts=none").unwrap();
    assert_eq!(bare.encode_queries(&texts).unwrap(), bare.encode(&texts).unwrap());
    assert_ne!(whole.encode_queries(&texts).unwrap(), whole.encode(&texts).unwrap());
    let same = made("prompts=e5-base-v2").unwrap();
    assert_eq!(same.encode_queries(&texts).unwrap(), whole.encode_queries(&texts).unwrap());
    // A store can tell them all apart.
    let mut marks: Vec<String> = [&whole, &short, &brief, &bare].iter().map(|encoder| encoder.fingerprint()).collect();
    assert!(marks[0].contains(":mean:l2:32:96:query=\"query: \":passage=\"passage: \""), "{}", marks[0]);
    assert_eq!(same.fingerprint(), marks[0]);
    marks.sort();
    marks.dedup();
    assert_eq!(marks.len(), 4);
    assert_eq!(short.name(), format!("{folder},dimensions=32"));
    for (options, says) in [
        ("dimensions=97", "dimensions=97: vectors of"),
        ("max_tokens=2", "a text of 2 tokens leaves no room beside 2 special ones"),
        (
            "max_tokens=8",
            "the prompt of passages (\"passage: \") and the special tokens are 10 tokens, and 8 of a text are read",
        ),
        ("prompts=e6", "there is no model \"e6\"; known: minilm, static, bge-small-en-v1.5"),
        ("size=3", "there is no option \"size\""),
    ] {
        let text = made(options).err().unwrap().to_string();
        assert!(text.contains(says) && !text.contains('\n'), "{text}");
    }
}

/// What is said of a folder after `change`.
fn refused(name: &str, change: impl FnOnce(&Path)) -> String {
    let (dir, _) = model(name);
    change(dir.path());
    let text = SentenceModel::open("m", dir.path()).unwrap_err().to_string();
    assert!(!text.contains('\n'), "{text}");
    text
}

fn edit(path: PathBuf, change: impl FnOnce(&mut Value)) {
    let mut value: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
    change(&mut value);
    std::fs::write(path, value.to_string()).unwrap();
}

#[test]
fn folders_that_cannot_be_used_are_told_in_one_line_with_the_file() {
    for file in ["config.json", "tokenizer.json", "model.safetensors", "1_Pooling/config.json"] {
        let text = refused("bert", |dir| std::fs::remove_file(dir.join(file)).unwrap());
        assert!(text.contains(file), "{text}");
    }
    for name in NAMES {
        for file in ["config.json", "tokenizer.json", "model.safetensors", "modules.json"] {
            let text = refused(name, |dir| {
                let whole = std::fs::read(dir.join(file)).unwrap();
                std::fs::write(dir.join(file), &whole[..whole.len() / 2]).unwrap();
            });
            assert!(text.contains(file), "{name}: {text}");
        }
    }
    let dense = |dir: &Path| {
        edit(dir.join("modules.json"), |value| {
            value[2] = json!({"idx": 2, "name": "2", "path": "2_Dense", "type": "sentence_transformers.models.Dense"});
        });
    };
    let text = refused("bert", dense);
    assert!(text.contains("modules.json: the step Dense (2_Dense) is not supported"), "{text}");
    let outside = |dir: &Path| edit(dir.join("modules.json"), |value| value[1]["path"] = "../1_Pooling".into());
    assert!(refused("bert", outside).contains("modules.json: it is no list of steps"));
    let two =
        |dir: &Path| edit(dir.join("1_Pooling/config.json"), |value| value["pooling_mode_max_tokens"] = true.into());
    assert!(refused("bert", two).contains("1_Pooling/config.json: cls and max are taken side by side"));
    let other =
        |dir: &Path| edit(dir.join("1_Pooling/config.json"), |value| value["word_embedding_dimension"] = 768.into());
    assert!(refused("bert", other).contains("it pools rows of 768 numbers, and config.json has 96"));
    let apart = |dir: &Path| edit(dir.join("1_Pooling/config.json"), |value| value["include_prompt"] = false.into());
    let text = refused("bert", apart);
    assert!(text.contains("include_prompt is false") && text.contains("prompts=none"), "{text}");
    let (dir, _) = model("bert");
    apart(dir.path());
    registry::embedder(&format!("{},prompts=none", dir.path().display())).unwrap();
    let lengths = |dir: &Path| {
        edit(dir.join("config_sentence_transformers.json"), |value| value["similarity_fn_name"] = "dot".into());
    };
    assert!(
        refused("bert-plain", lengths).contains("similarity_fn_name is \"dot\" of vectors that are not normalised")
    );
    let (dir, _) = model("bert");
    lengths(dir.path());
    open(dir.path());
    let pickled = |dir: &Path| {
        std::fs::rename(dir.join("model.safetensors"), dir.join("pytorch_model.bin")).unwrap();
    };
    assert!(refused("bert", pickled).contains("model.safetensors: it is not there, and pytorch_model.bin is not read"));
    let parted = |dir: &Path| {
        std::fs::rename(dir.join("model.safetensors"), dir.join("model-00001-of-00001.safetensors")).unwrap();
        std::fs::write(dir.join("model.safetensors.index.json"), "{}").unwrap();
    };
    let text = refused("bert", parted);
    assert!(text.contains("model.safetensors: it is not there, and weights in several files"), "{text}");
    let text = refused("bert", |dir| std::fs::remove_file(dir.join("model.safetensors")).unwrap());
    assert!(text.ends_with("the folder of a model holds config.json, tokenizer.json and model.safetensors"), "{text}");
    let family = |dir: &Path| edit(dir.join("config.json"), |value| value["model_type"] = "gte".into());
    let text = refused("bert", family);
    assert!(
        text.contains("model_type is \"gte\"; known: bert,") && text.contains("mpnet, modernbert, nomic_bert, qwen3"),
        "{text}"
    );
}

#[test]
fn configurations_of_models_with_rotations_are_checked() {
    for (name, field, value, says) in [
        (
            "modernbert-plain",
            "hidden_activation",
            json!("relu"),
            "hidden_activation is \"relu\"; only \"gelu\" is supported",
        ),
        ("modernbert-plain", "norm_bias", json!(true), "norm_bias is true: it is not supported"),
        ("modernbert-plain", "num_attention_heads", json!(3), "hidden_size 32 does not give num_attention_heads 3"),
        ("modernbert-plain", "layer_types", json!(["full_attention"]), "layer_types has 1 entries for 4 layers"),
        (
            "modernbert-plain",
            "layer_types",
            json!(["a", "b", "c", "d"]),
            "layer_types names \"a\"; known: full_attention",
        ),
        ("modernbert-plain", "vocab_size", json!(0), "vocab_size is 0"),
        (
            "modernbert-plain",
            "intermediate_size",
            json!(41),
            "tensor layers.0.mlp.Wi.weight has shape [80, 32], expected [82, 32]",
        ),
        ("nomic-plain", "hidden_act", json!("gelu"), "hidden_act is \"gelu\"; only \"silu\" is supported"),
        ("nomic-plain", "activation_function", json!("geglu"), "activation_function is \"geglu\"; only \"swiglu\" is"),
        ("nomic-plain", "prenorm", json!(true), "prenorm is true: it is not supported"),
        ("nomic-plain", "rotary_emb_fraction", json!(0.5), "rotary_emb_fraction is 0.5: only 1 is supported"),
        ("nomic-plain", "rotary_scaling_factor", json!(2.0), "rotary_scaling_factor is 2.0: only null is supported"),
        (
            "nomic-plain",
            "rope_parameters",
            json!({"rope_type": "yarn", "rope_theta": 1e3}),
            "rotation of places is \"yarn\"",
        ),
        (
            "nomic-plain",
            "rope_scaling",
            json!({"rope_type": "linear", "factor": 4}),
            "rotation of places is \"linear\"",
        ),
        ("nomic-plain", "rotary_emb_scale_base", json!(512), "rotary_emb_scale_base is 512: only null is supported"),
        ("nomic-plain", "layer_norm_eps", json!(-1), "layer_norm_eps is -1, no number above 0"),
        ("nomic-plain", "layer_norm_eps", json!(null), "there is no layer_norm_eps, and no layer_norm_epsilon"),
        ("nomic-plain", "rope_parameters", json!({"rope_theta": "1000"}), "rope_theta is \"1000\", no number above 0"),
        ("nomic-plain", "vocab_size", json!(null), "config.json: there is no vocab_size"),
        ("nomic-plain", "hidden_size", json!("wide"), "hidden_size is \"wide\", no size"),
        ("nomic-plain", "num_hidden_layers", json!(0), "num_hidden_layers is 0"),
        ("modernbert-plain", "num_hidden_layers", json!(0), "num_hidden_layers is 0"),
        ("qwen3-plain", "num_hidden_layers", json!(0), "num_hidden_layers is 0"),
        ("bert", "num_hidden_layers", json!(0), "num_hidden_layers is 0"),
        ("nomic-plain", "type_vocab_size", json!(0), "type_vocab_size is 0"),
        (
            "qwen3-plain",
            "num_key_value_heads",
            json!(3),
            "num_attention_heads 4 is no multiple of num_key_value_heads 3",
        ),
        ("qwen3-plain", "use_sliding_window", json!(true), "use_sliding_window is true"),
        (
            "qwen3-plain",
            "rope_parameters",
            json!({"rope_type": "yarn", "rope_theta": 1e4}),
            "rotation of places is \"yarn\"",
        ),
        ("qwen3-plain", "rope_parameters", json!(null), "there is no rope_theta"),
        ("qwen3-plain", "hidden_act", json!("gelu"), "hidden_act is \"gelu\"; only \"silu\" is supported"),
    ] {
        let text = refused(name, |dir| edit(dir.join("config.json"), |config| config[field] = value));
        assert!(text.contains(says), "{text}");
    }
}

/// The layouts of transformers 4, which the models on the hub have.
#[test]
fn older_configurations_read_the_same() {
    let (dir, expected) = model("modernbert");
    let before = open(dir.path()).encode(&expected.texts()).unwrap();
    edit(dir.path().join("config.json"), |config| {
        let fields = config.as_object_mut().unwrap();
        fields.remove("layer_types");
        fields.remove("rope_parameters");
        fields.insert("global_attn_every_n_layers".into(), 3.into());
        fields.insert("global_rope_theta".into(), 160_000.0.into());
        fields.insert("local_rope_theta".into(), 10_000.0.into());
    });
    assert_eq!(open(dir.path()).encode(&expected.texts()).unwrap(), before);
    let (dir, expected) = model("nomic");
    let before = open(dir.path()).encode(&expected.texts()).unwrap();
    edit(dir.path().join("config.json"), |config| {
        let fields = config.as_object_mut().unwrap();
        for (new, old) in [
            ("hidden_size", "n_embd"),
            ("num_hidden_layers", "n_layer"),
            ("num_attention_heads", "n_head"),
            ("intermediate_size", "n_inner"),
            ("layer_norm_eps", "layer_norm_epsilon"),
            ("max_position_embeddings", "n_positions"),
        ] {
            let value = fields.remove(new).unwrap();
            fields.insert(old.into(), value);
        }
        fields.remove("hidden_act");
        fields.remove("rope_parameters");
        fields.insert("activation_function".into(), "swiglu".into());
        fields.insert("rotary_emb_base".into(), 1_000.into());
        fields.insert("rotary_emb_fraction".into(), 1.0.into());
        fields.insert("rotary_scaling_factor".into(), Value::Null);
    });
    assert_eq!(open(dir.path()).encode(&expected.texts()).unwrap(), before);
    // Where both are there, the window is the larger one; the base has a default.
    edit(dir.path().join("config.json"), |config| {
        let fields = config.as_object_mut().unwrap();
        fields.insert("max_position_embeddings".into(), 16.into());
        fields.remove("rotary_emb_base");
    });
    assert_eq!(open(dir.path()).encode(&expected.texts()).unwrap(), before);
    let (dir, expected) = model("qwen3");
    let before = open(dir.path()).encode(&expected.texts()).unwrap();
    edit(dir.path().join("config.json"), |config| {
        let fields = config.as_object_mut().unwrap();
        fields.remove("rope_parameters");
        fields.insert("rope_theta".into(), 10_000.into());
        fields.insert("rope_scaling".into(), Value::Null);
    });
    assert_eq!(open(dir.path()).encode(&expected.texts()).unwrap(), before);
}

#[test]
fn a_folder_without_modules_is_a_transformer_alone() {
    let (dir, expected) = model("bert-plain");
    for file in ["modules.json", "config_sentence_transformers.json", "1_Pooling/config.json"] {
        std::fs::remove_file(dir.path().join(file)).unwrap();
    }
    let found = open(dir.path()).encode(&expected.texts()).unwrap();
    assert!(least(&found, &expected.vectors.passage) > 0.9999);
}

/// One vector for all texts would look like an answer.
#[test]
fn weights_that_are_infinite_or_zeros_give_no_vectors() {
    let texts = ["Bread needs time.", "The river rose."];
    let last = ["encoder.layer.0.output.LayerNorm", "encoder.layer.1.output.LayerNorm"];
    // The first token, and the mean.
    for (name, layer) in ["bert", "bert-narrow"].into_iter().zip(last) {
        let (dir, _) = model(name);
        fill(dir.path(), &format!("{layer}.weight"), &INFINITE);
        let found = open(dir.path()).encode(&texts).unwrap();
        assert!(found.rows().all(|row| row.iter().any(|x| !x.is_finite())), "{name}: {found:?}");
        let (dir, _) = model(name);
        for part in ["weight", "bias"] {
            fill(dir.path(), &format!("{layer}.{part}"), &[0, 0]);
        }
        let text = open(dir.path()).encode(&texts).unwrap_err().to_string();
        assert!(text.contains("gives vectors of zeros: its weights are damaged"), "{name}: {text}");
    }
}

#[test]
fn prompts_that_leave_nothing_of_a_text_are_refused() {
    let about = |dir: &Path| dir.join("config_sentence_transformers.json");
    for (key, what) in [("query", "queries"), ("document", "passages")] {
        let mut prompts = serde_json::Map::new();
        prompts.insert(key.to_owned(), "bread ".repeat(500).into());
        let prompts = Value::Object(prompts);
        let text = refused("bert", |dir| edit(about(dir), |value| value["prompts"] = prompts.clone()));
        assert!(text.contains(&format!("m: the prompt of {what} (\"bread bread")) && text.len() < 300, "{text}");
        assert!(text.contains("40 of a text are read") && text.contains("prompts=none"), "{text}");
        let (dir, _) = model("bert");
        edit(about(dir.path()), |value| value["prompts"] = prompts);
        registry::embedder(&format!("{},prompts=none", dir.path().display())).unwrap();
    }
}

#[test]
fn texts_are_read_in_lower_case_where_a_folder_says_so() {
    let (dir, _) = model("roberta");
    let texts = ["Bread NEEDS Time.", "bread needs time."];
    let cased = open(dir.path());
    assert_ne!(cased.ids(&texts[..1], false), cased.ids(&texts[1..], false));
    edit(dir.path().join("sentence_bert_config.json"), |config| config["do_lower_case"] = true.into());
    let lower = open(dir.path());
    for is_query in [false, true] {
        let ids = lower.ids(&texts, is_query);
        assert_eq!(ids[0], ids[1]);
        assert_eq!(lower.ids(&texts[1..], is_query), cased.ids(&texts[1..], is_query));
    }
    for found in [lower.encode(&texts).unwrap(), lower.encode_queries(&texts).unwrap()] {
        assert!(cosine(found.row(0), found.row(1)) > 0.99999);
    }
    let tokens = lower.encode_tokens(&texts).unwrap();
    assert_eq!(tokens[0].len(), tokens[1].len());
    assert_eq!(lower.count_tokens(texts[0]), lower.count_tokens(texts[1]));
    // Of other models nothing changes.
    assert!(lower.fingerprint().contains(":lower:query="), "{}", lower.fingerprint());
    assert_eq!(lower.fingerprint().replace(":lower", ""), cased.fingerprint());
    let (dir, _) = model("bert");
    let before = open(dir.path());
    edit(dir.path().join("sentence_bert_config.json"), |config| config["do_lower_case"] = true.into());
    assert_eq!(open(dir.path()).fingerprint(), before.fingerprint(), "its tokenizer lowers texts anyway");
}

/// As older versions of sentence-transformers saved models.
#[test]
fn a_transformer_in_a_folder_of_its_own_is_found_by_all() {
    let (dir, expected) = model("bert");
    let (before, own) = (open(dir.path()), dir.path().join("0_Transformer"));
    std::fs::create_dir(&own).unwrap();
    for file in
        ["config.json", "model.safetensors", "sentence_bert_config.json", "tokenizer.json", "tokenizer_config.json"]
    {
        std::fs::rename(dir.path().join(file), own.join(file)).unwrap();
    }
    edit(dir.path().join("modules.json"), |value| value[0]["path"] = "0_Transformer".into());
    let name = dir.path().display().to_string();
    let found = registry::embedder(&name).unwrap().unwrap();
    assert_eq!(found.fingerprint(), before.fingerprint());
    assert_eq!(found.encode(&expected.texts()).unwrap(), before.encode(&expected.texts()).unwrap());
    assert_eq!(registry::tokenizer_of(&name), Some(name.clone()));
    let counter = registry::counter(&name).unwrap();
    assert_eq!(registry::counter(counter.name()).unwrap().name(), counter.name());
    assert_eq!(Base::open(&name).unwrap().dir.path, own);
}
