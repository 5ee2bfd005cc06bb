//! WeSWin as a segmenter, on a tiny model that is trained here for a moment.

use std::collections::HashMap;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use candle_core::Tensor;
use pericope_api::{Document, Kind, Segmentation, Segmenter};
use pericope_encode::rerankers::{RerankerSpec, build_from};
use pericope_encode::{Base, Device};
use pericope_learn::training::{Data, LabelledDocument, Options, train_weswin};
use pericope_learn::weswin::{Checkpoint, Curve, Partition, Settings, WeSWin, WeSWinSegmenter};
use pericope_learn::{Sentences, registry};
use pericope_segment::spec::Spec;
use pericope_segment::{Standalone, laws};
use tempfile::TempDir;

fn base() -> Base {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/training");
    Base::open(&folder.display().to_string()).unwrap()
}

const LINES: [&str; 8] = [
    "The ship is with the pilot.",
    "A sailor and the anchor.",
    "The tide is in the harbour.",
    "Bread of flour and yeast.",
    "The dough is in the oven.",
    "A baker with salt.",
    "The snow on the ridge.",
    "Ice of the glacier and the summit.",
];

/// A trained checkpoint in a folder of its own.
pub fn trained() -> (TempDir, Checkpoint) {
    let base = base();
    let ids: Vec<Vec<u32>> = LINES.iter().map(|line| base.tokens.ids(line, 40)).collect();
    let document = LabelledDocument {
        id: "d".into(),
        sentences: Sentences::new(ids.iter().map(Vec::as_slice), 40),
        ends: [false, false, true, false, false, true, false, false].to_vec(),
    };
    let options = Options { tokens: 32, frozen: 1, max_steps: 8, head_learning_rate: 0.05, ..Options::default() };
    let out = tempfile::tempdir().unwrap();
    let go_on = &mut |_| ControlFlow::Continue(());
    let data = Data { train: &[document], ..Data::default() };
    train_weswin(&base, None, data, &options, out.path(), "", go_on).unwrap();
    let checkpoint = Checkpoint::read(&out.path().join("weswin.safetensors")).unwrap();
    (out, checkpoint)
}

fn spec(folder: &Path, rest: &str) -> Spec {
    Spec::parse(&format!("weswin:model={}{rest}", folder.display())).unwrap()
}

fn repeated(times: usize) -> Document {
    let lines: Vec<&str> = LINES.iter().copied().cycle().take(times).collect();
    Document::from_sentences("d", &lines)
}

#[test]
fn the_laws_hold_for_every_partition() {
    let (folder, _) = trained();
    for rest in [
        "",
        ",max_tokens=20",
        ",partition=ss-2,weights=mean:lin_k3_e0.1",
        ",partition=clr-2,tau=0.1",
        ",partition=si-3,weights=mean:poly_k5_p2_e0.1,min_tokens=12",
        ",partition=(adaptive:base=cr-1,refine=ss-1,margin=0.3),overlap=1",
    ] {
        let chunker = registry::build(&spec(folder.path(), rest), &Standalone::default()).unwrap();
        for times in [0, 1, 2, 30] {
            laws::check_chunker(&chunker, &repeated(times)).unwrap_or_else(|e| panic!("{rest} on {times}: {e}"));
        }
        let mut mixed = repeated(12);
        mixed.sentences[3].kind = Kind::Code;
        mixed.sentences[11].kind = Kind::Table;
        laws::check_chunker(&chunker, &mixed).unwrap_or_else(|e| panic!("{rest} on code: {e}"));
    }
}

/// Without the curve every weight would be the same, silently.
#[test]
fn weights_that_were_observed_need_a_curve() {
    let (folder, mut checkpoint) = trained();
    let lobed = spec(folder.path(), ",partition=ss-2,weights=mean:lob_k5_e0.1");
    let build = || registry::build(&lobed, &Standalone::default());
    let error = build().err().unwrap().to_string();
    assert!(error.contains("mean:lob_k5_e0.1") && error.contains("pericope tune"), "{error}");
    checkpoint.settings.curve = Curve::from_losses(&[0.9, 0.5], &[0.7, 0.4], 0.1);
    checkpoint.write(&folder.path().join("weswin.safetensors"), false).unwrap();
    assert!(build().is_ok());
    // As the checkpoint's own weighting too.
    (checkpoint.settings.weights, checkpoint.settings.curve) = ("mean:lob_k5_e0.1".into(), Curve::default());
    checkpoint.write(&folder.path().join("weswin.safetensors"), false).unwrap();
    assert!(registry::build(&spec(folder.path(), ""), &Standalone::default()).is_err());
}

#[test]
fn scores_are_probabilities_and_code_gets_none() {
    let (folder, _) = trained();
    let chunker = registry::build(&spec(folder.path(), ",tau=0.4"), &Standalone::default()).unwrap();
    let mut document = repeated(8);
    document.sentences[3].kind = Kind::Code;
    let Segmentation::Scores { scores, threshold } = chunker.segmenter().segment(&document).unwrap() else {
        panic!("no scores")
    };
    assert!(scores.len() == 7 && (threshold - 0.4).abs() < 1e-12 && scores.iter().all(|p| (0.0..=1.0).contains(p)));
    // The gap before the code has none; the one behind it has that of the two sentences around it.
    assert!(scores[2] == 0.0 && scores[3] > 0.0, "{scores:?}");
}

/// Reading on only where there is doubt decides as reading everything does, with fewer tokens.
#[test]
fn adaptive_reading_decides_as_the_whole_would() {
    let (_folder, checkpoint) = trained();
    let base = base();
    let model = WeSWin::on(&base, &checkpoint, &Device::Cpu).unwrap();
    let lines: Vec<&str> = LINES.iter().copied().cycle().take(60).collect();
    let document = model.tokenize(&lines);
    let read = |partition: Partition| {
        let windows = model.windows(&document, partition).into_iter().map(|w| (0, w)).collect();
        model.read(&[&document], windows).unwrap()
    };
    // By hand: the mean of every prediction. A sequence of cr-1 is one of ss-1 too, and counts once.
    let mut sums = vec![(0.0, 0.0); lines.len()];
    for logits in &read(Partition::Stride(1)) {
        for (i, &odds) in logits.window.active.clone().zip(&logits.odds) {
            sums[i].0 += 1.0 / (1.0 + (-f64::from(odds)).exp());
            sums[i].1 += 1.0;
        }
    }
    let mut means: Vec<f64> = sums.iter().map(|(sum, count)| sum / count).collect();
    means.pop();
    // A threshold amid the probabilities, so that many are in doubt.
    let mut sorted = means.clone();
    sorted.sort_by(f64::total_cmp);
    let threshold = (sorted[29] + sorted[30]) / 2.0;
    let weights = "mean:uniform".parse().unwrap();
    let first = model.probabilities(&[&document], "cr-1".parse().unwrap(), weights, threshold).unwrap().remove(0);
    // Few sentences are in doubt at the narrower margin.
    let mut far: Vec<f64> = first.iter().map(|p| (p - threshold).abs()).collect();
    far.sort_by(f64::total_cmp);
    let mut adaptive = 0;
    for margin in [1.0, far[4]] {
        let before = model.tokens_read();
        let plan = format!("adaptive:base=cr-1,refine=ss-1,margin={margin}").parse().unwrap();
        let found = model.probabilities(&[&document], plan, weights, threshold).unwrap().remove(0);
        adaptive = model.tokens_read() - before;
        for (i, (&whole, &found)) in means.iter().zip(&found).enumerate() {
            let doubt = (first[i] - threshold).abs() < margin;
            assert!(
                !doubt || (whole > threshold) == (found > threshold),
                "sentence {i}: {whole} {found} at {threshold}"
            );
        }
    }
    let before = model.tokens_read();
    read(Partition::Right(1));
    read(Partition::Stride(1));
    let whole = model.tokens_read() - before;
    assert!(adaptive < whole, "{adaptive} of {whole} tokens");
    // All in doubt, and nothing can be settled before the end: what is read is ss-1, each sequence once.
    let (coarse, fine) =
        (model.windows(&document, Partition::Right(1)), model.windows(&document, Partition::Stride(1)));
    assert!(coarse.iter().all(|w| fine.iter().any(|f| f.read == w.read)));
    for threshold in [threshold, 0.5] {
        let before = model.tokens_read();
        let all = model.probabilities(&[&document], "ss-1".parse().unwrap(), weights, threshold).unwrap().remove(0);
        let most = model.tokens_read() - before;
        let before = model.tokens_read();
        let plan = "adaptive:base=cr-1,refine=ss-1,margin=1".parse().unwrap();
        let found = model.probabilities(&[&document], plan, weights, threshold).unwrap().remove(0);
        assert!(model.tokens_read() - before <= most);
        let decided = |p: &[f64]| p[..p.len() - 1].iter().map(|&p| p > threshold).collect::<Vec<_>>();
        assert_eq!(decided(&found), decided(&all));
    }
    // Where both partitions are the same, the second pass has nothing to read, and nothing changes.
    let before = model.tokens_read();
    let same = "adaptive:base=ss-2,refine=ss-2,margin=1".parse().unwrap();
    let found = model.probabilities(&[&document], same, weights, threshold).unwrap();
    let adaptive = model.tokens_read() - before;
    assert_eq!(found, model.probabilities(&[&document], "ss-2".parse().unwrap(), weights, threshold).unwrap());
    assert_eq!(model.tokens_read() - before, 2 * adaptive);
    // Without doubt nothing is read twice.
    let before = model.tokens_read();
    model.probabilities(&[&document], "adaptive:margin=0".parse().unwrap(), weights, threshold).unwrap();
    let least = model.tokens_read() - before;
    let before = model.tokens_read();
    read(Partition::Right(1));
    assert_eq!(least, model.tokens_read() - before);
}

/// Windows of several documents share batches; what a document gets is what it gets alone.
#[test]
fn documents_are_read_together_as_they_are_alone() {
    let (folder, _) = trained();
    for rest in ["", ",partition=ss-2", ",partition=(adaptive:base=cr-1,refine=ss-1,margin=0.3)"] {
        let chunker = registry::build(&spec(folder.path(), rest), &Standalone::default()).unwrap();
        let segmenter = chunker.segmenter();
        assert!(segmenter.batch_size() > 1 && segmenter.fingerprint().starts_with("weswin:"));
        let mut documents: Vec<Document> = [7, 0, 30, 1, 12, 2, 19].map(repeated).to_vec();
        documents[2].sentences[3].kind = Kind::Code;
        let all: Vec<&Document> = documents.iter().collect();
        for (document, together) in documents.iter().zip(segmenter.segment_batch(&all)) {
            let (Segmentation::Scores { scores: a, .. }, Segmentation::Scores { scores: b, .. }) =
                (together.unwrap(), segmenter.segment(document).unwrap())
            else {
                panic!("no scores")
            };
            assert!(a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| (a - b).abs() < 1e-6), "{a:?} {b:?}");
        }
        for (document, together) in documents.iter().zip(chunker.chunks_all(&all, &|| ())) {
            assert_eq!(together.unwrap(), chunker.chunks(document).unwrap());
        }
    }
}

/// With the fused kernels, which pad nothing, to the last bit.
#[test]
fn fused_kernels_read_documents_together_exactly_as_alone() {
    let base =
        Base::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/nsp").display().to_string()).unwrap();
    let hidden = base.config.hidden_size;
    let numbers = |count: usize| (0..count).map(|i| (i * i % 17) as f32 / 8.0 - 1.0).collect::<Vec<f32>>();
    let head = Tensor::from_vec(numbers(2 * hidden), (2, hidden), &Device::Cpu).unwrap();
    let tensors = HashMap::from([
        ("snt".to_owned(), Tensor::from_vec(numbers(hidden), hidden, &Device::Cpu).unwrap()),
        ("boundary.weight".to_owned(), head),
        ("boundary.bias".to_owned(), Tensor::new(&[0.1f32, -0.1], &Device::Cpu).unwrap()),
    ]);
    let settings = Settings {
        base: String::new(),
        base_sha256: base.weights.sha256().into(),
        tokens: 32,
        partition: "ss-2".into(),
        weights: "mean:uniform".into(),
        threshold: 0.5,
        curve: Default::default(),
        notes: String::new(),
    };
    let model = WeSWin::on(&base, &Checkpoint::new(settings, tensors), &Device::Cpu).unwrap();
    let segmenter = WeSWinSegmenter::new(Arc::new(model)).unwrap();
    let documents: Vec<Document> = [9, 40, 3, 17, 1, 25].map(repeated).to_vec();
    let all: Vec<&Document> = documents.iter().collect();
    for (document, together) in documents.iter().zip(segmenter.segment_batch(&all)) {
        assert_eq!(together.unwrap(), segmenter.segment(document).unwrap());
    }
}

/// Other weights in the same file are another fingerprint, under the same spec.
#[test]
fn fingerprints_tell_weights_apart() {
    let (folder, checkpoint) = trained();
    let fingerprint = || registry::build(&spec(folder.path(), ""), &Standalone::default()).unwrap().fingerprint();
    let before = fingerprint();
    assert_eq!(before, fingerprint());
    let path = folder.path().join("weswin.safetensors");
    let mut tensors = checkpoint.tensors().clone();
    tensors.insert("boundary.bias".into(), Tensor::new(&[0.5f32, 0.25], &Device::Cpu).unwrap());
    Checkpoint::new(checkpoint.settings.clone(), tensors).write(&path, false).unwrap();
    assert_ne!(before, fingerprint());
}

#[test]
fn damaged_checkpoints_are_named_in_one_line() {
    let (folder, checkpoint) = trained();
    let path = folder.path().join("weswin.safetensors");
    let whole = std::fs::read(&path).unwrap();
    let error = || {
        let spec = spec(&folder.path().join("weswin.safetensors"), "");
        let text = registry::build(&spec, &Standalone::default()).err().unwrap().to_string();
        assert!(!text.contains('\n'), "{text}");
        text
    };
    for cut in [0, 4, 200, whole.len() - 1] {
        std::fs::write(&path, &whole[..cut]).unwrap();
        assert!(error().contains("weswin.safetensors"), "cut at {cut}");
    }
    candle_core::safetensors::save(checkpoint.tensors(), &path).unwrap();
    assert!(error().contains("no WeSWin checkpoint"));

    let write = |tensors: HashMap<String, Tensor>, settings: &Settings| {
        Checkpoint::new(settings.clone(), tensors).write(&path, false).unwrap();
    };
    let settings = &checkpoint.settings;
    for (name, message) in
        [("boundary.weight", "there is no tensor boundary.weight"), ("snt", "there is no tensor snt")]
    {
        let mut tensors = checkpoint.tensors().clone();
        tensors.remove(name);
        write(tensors, settings);
        assert!(error().contains(message), "{}", error());
    }
    let mut tensors = checkpoint.tensors().clone();
    tensors.insert("boundary.bias".into(), Tensor::new(&[0.5f32, f32::NAN], &Device::Cpu).unwrap());
    write(tensors, settings);
    assert!(error().contains("tensor boundary.bias holds numbers that are none"), "{}", error());
    for (name, shape) in [("boundary.weight", "[32, 2], expected [2, 32]"), ("encoder.layer.1.output.dense.weight", "")]
    {
        let mut tensors = checkpoint.tensors().clone();
        let turned = tensors[name].t().unwrap().contiguous().unwrap();
        tensors.insert(name.into(), turned);
        write(tensors, settings);
        assert!(error().contains(&format!("tensor {name} has shape")) && error().contains(shape), "{}", error());
    }
    for (settings, message) in [
        (
            Settings { base_sha256: "0".repeat(64), ..settings.clone() },
            "trained on a base model with checksum 000000000000",
        ),
        (Settings { tokens: 1000, ..settings.clone() }, "sequences have 1000 tokens"),
        (Settings { partition: "xx".into(), ..settings.clone() }, "no partition"),
        (Settings { threshold: 7.0, ..settings.clone() }, "threshold 7"),
        (Settings { base: "nowhere".into(), ..settings.clone() }, "nowhere"),
    ] {
        write(checkpoint.tensors().clone(), &settings);
        assert!(error().contains(message), "{}", error());
    }
}

#[test]
fn wrong_settings_are_told() {
    let (folder, _) = trained();
    for (rest, message) in [
        (",partition=ss-0", "no partition"),
        (",weights=mean:cubic", "no weighting"),
        (",partition=(adaptive:margin=3)", "margin"),
        (",tau=2", "0 to 1"),
    ] {
        let text = registry::build(&spec(folder.path(), rest), &Standalone::default()).err().unwrap().to_string();
        assert!(text.contains(message), "{text}");
    }
    let text = registry::build(&Spec::parse("weswin:model=nowhere").unwrap(), &Standalone::default());
    assert!(text.err().unwrap().to_string().contains("nowhere"));
}

#[test]
fn a_model_without_questions_cannot_rerank() {
    let (folder, _) = trained();
    let spec = format!("weswin:model={}", folder.path().display());
    let spec = RerankerSpec::parse(&spec).unwrap();
    let said = build_from(registry::rerankers(), &spec).err().unwrap().to_string();
    assert!(said.contains("trained without questions") && said.contains("--questions FILE"), "{said}");
    assert!(said.starts_with("reranker `weswin:model=") && !said.contains('\n'), "{said}");
}
