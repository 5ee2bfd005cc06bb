#![allow(clippy::unwrap_used)]

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use candle_core::{Device, Tensor};
use pericope_encode::Base;
use pericope_encode::encoders::{self, Tuned};
use pericope_encode::kernels::Precision;
use pericope_segment::random::SplitMix64;

use super::{JudgeData, JudgeOptions, by_kernels, train_judge};
use crate::Sentences;
use crate::cogltx::{CHECKPOINT, Checkpoint, Judge, sequence};
use crate::training::gradients::Gradients;
use crate::training::judge::data::{AnswerTokens, JudgeQuestion};
use crate::training::judge::loss::{Counts, Heads, Loss};
use crate::training::judge::sample::{Kind, Sample};
use crate::training::variables::{Start, Unchanged, Variables};
use crate::training::{Event, Judged, Options, TrainError, Unsupervised, Validation};

fn base() -> Base {
    Base::open(&Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/training").display().to_string()).unwrap()
}

/// Texts in which the answer depends on the query: 20 asks for the block with 24, 21 for that with 25.
fn toy(count: usize, seed: u64) -> Vec<JudgeQuestion> {
    let mut random = SplitMix64::new(seed);
    let one = |_| {
        let mut blocks: Vec<Vec<u32>> =
            (0..8).map(|_| (0..3).map(|_| 30 + random.below(20) as u32).collect()).collect();
        let first = random.below(8);
        let second = (first + 1 + random.below(7)) % 8;
        blocks[first][random.below(3)] = 24;
        blocks[second][random.below(3)] = 25;
        let asked = random.below(2);
        let relevant = [first, second][asked];
        JudgeQuestion {
            blocks: Arc::new(Sentences::new(blocks.iter().map(Vec::as_slice), 9)),
            replaced: Vec::new(),
            query: vec![20 + asked as u32],
            relevant: vec![relevant],
            answer: Some(AnswerTokens { first: (relevant, 0), last: (relevant, 2) }),
        }
    };
    (0..count).map(one).collect()
}

/// Sixteen questions a step for forty passes.
fn options() -> JudgeOptions {
    JudgeOptions {
        common: Options {
            tokens: 48,
            frozen: 0,
            batch: 16,
            micro_batch: 8,
            epochs: 40.0,
            learning_rate: 2e-3,
            head_learning_rate: 5e-3,
            validations: 1,
            patience: 99,
            seed: 11,
            ..Options::judge()
        },
        block: 8,
        query: 8,
        elsewhere: 0,
        order_weight: 1.0,
        span_weight: 0.25,
        unsupervised: None,
    }
}

/// On one thread: matrices so small cost more to share than to work out.
fn on_one_thread<R: Send>(act: impl FnOnce() -> R + Send) -> R {
    rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(act)
}

/// Trains until a validation is `enough`, or all steps are done; what the validations found. The checkpoint is the best
/// one either way: that a tiny model gets there is what is shown, and not how long it stays.
fn train_until(
    base: &Base,
    data: JudgeData<'_>,
    options: &JudgeOptions,
    (out, notes): (&Path, &str),
    enough: impl Fn(&Validation, &Judged) -> bool + Sync,
) -> Vec<Judged> {
    on_one_thread(|| {
        let (mut seen, mut done): (Vec<Judged>, bool) = (Vec::new(), false);
        let ended = train_judge(base, None, data, options, out, notes, &mut |event| {
            match event {
                Event::Validated(found) => {
                    let judged = found.judged.unwrap();
                    // What a validation answers is not heard: the next step ends it.
                    done = enough(&found, &judged);
                    seen.push(judged);
                }
                Event::Step { .. } if done => return ControlFlow::Break(()),
                _ => {}
            }
            ControlFlow::Continue(())
        });
        assert!(matches!(ended, Ok(_) | Err(TrainError::Interrupted { .. })), "{ended:?}");
        seen
    })
}

/// Enough where the area is above `auc`, and the checkpoint is of this validation.
fn reaches(auc: f64) -> impl Fn(&Validation, &Judged) -> bool + Sync {
    move |found, judged| found.best && judged.auc > auc
}

#[test]
fn gradients_are_the_slopes_of_the_loss() {
    let (base, device) = (base(), Device::Cpu);
    let questions = toy(6, 1);
    let special = (base.tokens.start(), base.tokens.end());
    let mut random = SplitMix64::new(5);
    let samples: Vec<Vec<Sample>> =
        questions.iter().map(|one| vec![Sample::of(one, Kind::Relevant, 40, special, &mut random)]).collect();
    assert!(samples.iter().flatten().all(|sample| sample.ends.iter().all(Option::is_some)));
    let counts = Counts::of(&samples);
    for (frozen, rank) in [(0, 0), (1, 0), (0, 2)] {
        let options = Options { frozen, rank, ..options().common };
        let variables = Variables::new(&base, &device, &options, Start::default()).unwrap();
        let mut config = variables.config();
        config.num_hidden_layers = frozen;
        let lower = encoders::build(&config, &variables, &device).unwrap();
        drop(variables.encoder().unwrap());
        let loss = Loss {
            heads: Heads::of(&variables, 32, &device).unwrap(),
            lower: (frozen > 0).then_some(lower.as_ref()),
            layers: (frozen, 2),
            hidden: 32,
            order_weight: 0.7,
            span_weight: 0.5,
            device: &device,
        };
        // Heads of zeros hide what lies below them.
        for variable in variables.all().values() {
            let noise: Vec<f32> = (0..variable.elem_count()).map(|_| random.below(1000) as f32 / 5e3 - 0.1).collect();
            let noise = Tensor::from_vec(noise, variable.dims(), &device).unwrap();
            variable.set(&(variable.as_detached_tensor() + noise).unwrap()).unwrap();
        }
        // Built anew: where the rank is above 0 its matrices are sums.
        let at = || loss.of(variables.encoder().unwrap().as_ref(), &samples, counts).unwrap();
        let mut gradients = Gradients::default();
        gradients.add(&at(), &variables).unwrap();
        let gradients = gradients.clipped(f64::MAX, 0).unwrap();
        for part in ["encoder.layer.1.", "judge.dense.", "judge.score.", "judge.match.", "reasoner.span."] {
            let own: Vec<_> = gradients.iter().filter(|(name, _)| name.starts_with(part)).collect();
            let squares: f32 =
                own.iter().map(|(_, g)| g.sqr().unwrap().sum_all().unwrap().to_scalar::<f32>().unwrap()).sum();
            assert!(!own.is_empty() && squares > 0.0, "{part}");
            let width = 1e-2 / f64::from(squares.sqrt());
            let moved = |by: f64| {
                for (name, gradient) in &own {
                    let variable = &variables.all()[*name];
                    variable.set(&(variable.as_detached_tensor() + (*gradient * by).unwrap()).unwrap()).unwrap();
                }
                f64::from(at().to_scalar::<f32>().unwrap())
            };
            let (up, down) = (moved(width), moved(-2.0 * width));
            moved(width);
            let slope = (up - down) / (2.0 * width);
            assert!((slope / f64::from(squares) - 1.0).abs() < 0.03, "{part} {slope} {squares}");
        }
    }
}

/// A question with the relevance of some blocks that are read by themselves.
fn read(words: &[u32], relevant: &[bool]) -> Vec<Sample> {
    let one = |(i, &yes): (usize, &bool)| {
        let block: Vec<u32> = words.iter().map(|word| word + 7 * i as u32).collect();
        let sequence = sequence(&words[..3], [block.as_slice()], (101, 102));
        Sample { sequence, chosen: vec![i], relevant: vec![yes], ends: [None, None] }
    };
    relevant.iter().enumerate().map(one).collect()
}

#[test]
fn kernels_give_the_gradients_of_candle() {
    let Ok(base) = Base::open("minilm") else {
        eprintln!("SKIPPED: minilm is not installed");
        return;
    };
    let device = Device::Cpu;
    let options = Options { frozen: 4, rank: 3, ..Options::judge() };
    let variables = Variables::new(&base, &device, &options, Start::default()).unwrap();
    drop(variables.encoder().unwrap());
    let loss = Loss {
        heads: Heads::of(&variables, 384, &device).unwrap(),
        lower: None,
        layers: (0, 6),
        hidden: 384,
        order_weight: 0.7,
        span_weight: 0.5,
        device: &device,
    };
    let mut random = SplitMix64::new(2);
    for variable in variables.all().values() {
        let noise: Vec<f32> = (0..variable.elem_count()).map(|_| random.below(1000) as f32 / 1e4 - 0.05).collect();
        let noise = Tensor::from_vec(noise, variable.dims(), &device).unwrap();
        variable.set(&(variable.as_detached_tensor() + noise).unwrap()).unwrap();
    }
    let words: Vec<u32> = (0..30).map(|i| 2_000 + i * 97).collect();
    let mut asked = vec![read(&words, &[true, false, false]), read(&words[5..], &[true, true, false])];
    asked[0][0].ends = [Some(6), Some(9)];
    let counts = Counts::of(&asked);
    assert_eq!((counts.ordered, counts.ends), (2, 2));
    let all = variables.all();
    let mut by_candle = Gradients::default();
    let found = loss.of(variables.encoder().unwrap().as_ref(), &asked, counts).unwrap();
    by_candle.add_by(&found, &all).unwrap();
    let mut tuned = Tuned::new(&base.config, &Unchanged(&variables), 4, Precision::Single).unwrap();
    let values = all.iter().map(|(name, variable)| (name.clone(), variable.as_detached_tensor())).collect();
    tuned.set(&values).unwrap();
    let mut own = Gradients::default();
    let again = by_kernels(&tuned, &loss, &asked, counts, &all, &mut own).unwrap();
    let number = |loss: &Tensor| loss.to_scalar::<f32>().unwrap();
    assert!((number(&found) - number(&again)).abs() < 1e-4 * number(&found));
    let (by_candle, own) = (by_candle.clipped(f64::MAX, 0).unwrap(), own.clipped(f64::MAX, 0).unwrap());
    assert_eq!(by_candle.keys().collect::<Vec<_>>(), own.keys().collect::<Vec<_>>());
    for (name, want) in &by_candle {
        let (want, found) = (want.flatten_all().unwrap(), own[name].flatten_all().unwrap());
        let size = |tensor: &Tensor| number(&tensor.sqr().unwrap().sum_all().unwrap()).sqrt();
        let off = size(&(&want - &found).unwrap());
        assert!(off <= 1e-6 + 1e-3 * size(&want), "{name}: {off} of {}", size(&want));
    }
}

/// A base model of random numbers whose shapes suit the kernels.
fn wide_base(folder: &Path) -> Base {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/training");
    std::fs::copy(golden.join("tokenizer.json"), folder.join("tokenizer.json")).unwrap();
    let config = r#"{"hidden_size":96,"num_hidden_layers":2,"num_attention_heads":3,"intermediate_size":192,"model_type":"bert",
        "layer_norm_eps":1e-12,"max_position_embeddings":64,"vocab_size":58,"type_vocab_size":2,"hidden_act":"gelu"}"#;
    std::fs::write(folder.join("config.json"), config).unwrap();
    let mut random = SplitMix64::new(3);
    let mut tensors = std::collections::HashMap::new();
    let mut add = |name: String, shape: &[usize], mean: f32| {
        let numbers: Vec<f32> =
            (0..shape.iter().product()).map(|_| mean + random.below(1000) as f32 / 5e3 - 0.1).collect();
        tensors.insert(name, Tensor::from_vec(numbers, shape, &Device::Cpu).unwrap());
    };
    for (name, rows) in [("word", 58), ("position", 64), ("token_type", 2)] {
        add(format!("embeddings.{name}_embeddings.weight"), &[rows, 96], 0.0);
    }
    let mut norms = vec!["embeddings".to_owned()];
    for i in 0..2 {
        let layer = format!("encoder.layer.{i}");
        for (name, inputs, outputs) in [
            ("attention.self.query", 96, 96),
            ("attention.self.key", 96, 96),
            ("attention.self.value", 96, 96),
            ("attention.output.dense", 96, 96),
            ("intermediate.dense", 96, 192),
            ("output.dense", 192, 96),
        ] {
            add(format!("{layer}.{name}.weight"), &[outputs, inputs], 0.0);
            add(format!("{layer}.{name}.bias"), &[outputs], 0.0);
        }
        norms.extend([format!("{layer}.attention.output"), format!("{layer}.output")]);
    }
    for norm in norms {
        add(format!("{norm}.LayerNorm.weight"), &[96], 1.0);
        add(format!("{norm}.LayerNorm.bias"), &[96], 0.0);
    }
    candle_core::safetensors::save(&tensors, folder.join("model.safetensors")).unwrap();
    let base = Base::open(&folder.display().to_string()).unwrap();
    assert!(Tuned::fits(&base.config));
    base
}

/// Trainings by kernels: as long as nothing is interrupted, as where it is, on any number of threads.
#[test]
fn trainings_by_kernels_go_on_where_they_stopped() {
    let folder = tempfile::tempdir().unwrap();
    let (base, train) = (wide_base(folder.path()), toy(48, 1));
    let out = tempfile::tempdir().unwrap();
    let data = JudgeData { train: &train, validation: &[] };
    let common = Options { rank: 4, micro_batch: 3, max_steps: 9, ..options().common };
    let options = JudgeOptions { common, ..options() };
    let run = |name: &str, threads: usize, stop_at: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let mut tell = |event: Event| match event {
            Event::Step { step, .. } if step == stop_at => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        };
        pool.install(|| train_judge(&base, None, data, &options, &out.path().join(name), "", &mut tell))
            .map(|report| report.losses)
    };
    let whole = run("whole", 2, usize::MAX).unwrap();
    assert!(whole.len() == 9 && whole[8] < whole[0], "{whole:?}");
    assert_eq!(run("alone", 1, usize::MAX).unwrap(), whole);
    assert!(run("cut", 2, 4).is_err());
    let again = run("cut", 2, usize::MAX).unwrap();
    assert!(whole.iter().zip(&again).all(|(a, b)| (a - b).abs() < 1e-5), "{whole:?} {again:?}");
}

/// What a checkpoint changes of layers that are frozen now counts while the others are trained.
#[test]
fn frozen_layers_keep_the_changes_that_training_begins_with() {
    let folder = tempfile::tempdir().unwrap();
    let (wide, narrow) = (wide_base(folder.path()), base());
    let (train, go) = (toy(32, 1), &mut |_: Event| ControlFlow::Continue(()));
    let data = JudgeData { train: &train, validation: &[] };
    for base in [&wide, &narrow] {
        let out = tempfile::tempdir().unwrap();
        let of = |frozen: usize, rate: f64, max_steps: usize| {
            let common = Options { rank: 4, frozen, max_steps, ..options().common };
            JudgeOptions { common: Options { learning_rate: rate, head_learning_rate: rate, ..common }, ..options() }
        };
        train_judge(base, None, data, &of(0, 2e-2, 12), &out.path().join("first"), "", go).unwrap();
        let start = Checkpoint::read(&out.path().join("first").join(CHECKPOINT)).unwrap();
        let mut loss = |name: &str, start: Option<&Checkpoint>, frozen: usize| {
            train_judge(base, start, data, &of(frozen, 0.0, 1), &out.path().join(name), "", go).unwrap().losses[0]
        };
        let (all, upper, none) =
            (loss("all", Some(&start), 0), loss("upper", Some(&start), 1), loss("none", Some(&start), 2));
        assert!((all - upper).abs() < 1e-2 * all && (all - none).abs() < 1e-2 * all, "{all} {upper} {none}");
        assert!((loss("fresh", None, 0) - all).abs() > 0.05 * all);
    }
}

/// Blocks of one length whose logits are all 0: a relevant one among two others has the probability 1/3.
#[test]
fn the_order_of_blocks_by_hand() {
    let (base, device) = (base(), Device::Cpu);
    let variables =
        Variables::new(&base, &device, &Options { frozen: 2, ..options().common }, Start::default()).unwrap();
    let weighing = |order_weight: f64| Loss {
        heads: Heads::of(&variables, 32, &device).unwrap(),
        lower: None,
        layers: (2, 2),
        hidden: 32,
        order_weight,
        span_weight: 0.0,
        device: &device,
    };
    let words: Vec<u32> = (0..5).collect();
    // The second has no relevant block: it takes no part.
    let asked = vec![read(&words, &[true, false, false]), read(&words, &[false, false])];
    let counts = Counts::of(&asked);
    assert_eq!(counts.ordered, 1);
    let rows = Tensor::zeros((counts.tokens, 32), candle_core::DType::F32, &device).unwrap();
    let of = |weight: f64| weighing(weight).of_rows(&rows, &asked, counts).unwrap().to_scalar::<f32>().unwrap();
    assert!((of(1.0) - of(0.0) - 3f32.ln()).abs() < 1e-5, "{} {}", of(1.0), of(0.0));
    assert!((of(0.5) - of(0.0) - 3f32.ln() / 2.0).abs() < 1e-5);
}

/// Parts of a batch are worked out side by side, and added up in their order.
#[test]
fn the_number_of_threads_changes_nothing() {
    let trained = |threads: usize, micro_batch: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let (base, out, train) = (base(), tempfile::tempdir().unwrap(), toy(48, 1));
            let mut options = options();
            options.common = Options { frozen: 1, micro_batch, max_steps: 6, ..options.common };
            let data = JudgeData { train: &train, validation: &[] };
            train_judge(&base, None, data, &options, out.path(), "", &mut |_| ControlFlow::Continue(())).unwrap();
            let found = Checkpoint::read(&out.path().join(CHECKPOINT)).unwrap();
            let numbers = |name: &str| found.tensors()[name].flatten_all().unwrap().to_vec1::<f32>().unwrap();
            ["judge.dense.weight", "reasoner.span.weight", "encoder.layer.1.output.dense.weight"].map(numbers).concat()
        })
    };
    let alone = trained(1, 2);
    assert_eq!(trained(4, 2), alone);
    // Other parts are added up otherwise: by rounding alone, which the optimizer can make larger where a gradient is hardly any.
    let whole = trained(2, 16);
    let off = alone.iter().zip(&whole).map(|(a, b)| (a - b).abs()).sum::<f32>() / alone.len() as f32;
    assert!(off < 1e-3, "{off}");
}

#[test]
fn a_tiny_model_learns_which_block_the_query_asks_for() {
    let (base, out) = (base(), tempfile::tempdir().unwrap());
    let (train, validation) = (toy(300, 1), toy(40, 2));
    let data = JudgeData { train: &train, validation: &validation };
    // Who takes both blocks with an answer for relevant, whatever is asked, reaches 0.93.
    let seen = train_until(&base, data, &options(), (out.path(), "toy"), reaches(0.99));
    let (first, best) = (seen[0], seen.iter().map(|found| found.auc).fold(0.0, f64::max));
    assert!(best > 0.95 && best > first.auc + 0.2, "{first:?}, then {best}: {seen:?}");

    // What was written does what was measured: it tells the two blocks apart by the query.
    let checkpoint = Checkpoint::read(&out.path().join(CHECKPOINT)).unwrap();
    assert_eq!((checkpoint.settings.notes.as_str(), checkpoint.settings.block), ("toy", 8));
    let judge = Judge::on(&base, &checkpoint, &Device::Cpu).unwrap();
    let special = judge.special();
    let made = |query: u32| sequence(&[query], [&[24, 40, 41][..], &[33, 25, 44]], special);
    let scores = judge.scores(&[made(20), made(21)], |_| 0..2).unwrap();
    assert!(scores[0][0] > scores[0][1] + 0.1 && scores[1][1] > scores[1][0] + 0.1, "{scores:?}");
    assert_eq!(judge.tokens_read(), 2 * (3 + 8));
    let half = out.path().join("half.safetensors");
    checkpoint.write(&half, true).unwrap();
    let half = Judge::on(&base, &Checkpoint::read(&half).unwrap(), &Device::Cpu).unwrap();
    let again = half.scores(&[made(20)], |_| 0..2).unwrap();
    assert!(again[0].iter().zip(&scores[0]).all(|(a, b)| (a - b).abs() < 0.05), "{again:?} {scores:?}");
}

/// Changes of low rank in place of whole layers: the file holds them and the heads alone, and training goes on from it.
#[test]
fn a_tiny_model_learns_by_changes_of_low_rank() {
    let (base, out) = (base(), tempfile::tempdir().unwrap());
    let (train, validation) = (toy(300, 1), toy(40, 2));
    let data = JudgeData { train: &train, validation: &validation };
    let common = Options { rank: 4, learning_rate: 1e-2, ..options().common };
    let options = JudgeOptions { common, ..options() };
    let go = &mut |_| ControlFlow::Continue(());
    let seen = train_until(&base, data, &options, (out.path(), ""), reaches(0.92));
    let checkpoint = Checkpoint::read(&out.path().join(CHECKPOINT)).unwrap();
    assert!(checkpoint.settings.auc.unwrap() > 0.9, "{seen:?}");
    let layers: Vec<_> = checkpoint.tensors().iter().filter(|(name, _)| name.starts_with("encoder.")).collect();
    // A and B of six matrices in each of two layers.
    assert_eq!(layers.len(), 24);
    for (name, tensor) in layers {
        let side = if name.ends_with(".lora_a") { 0 } else { 1 };
        assert!(name.contains(".lora_") && tensor.dims()[side] == 4, "{name} {:?}", tensor.dims());
    }
    // It begins as good as it was.
    let judge = |checkpoint: &Checkpoint| {
        let judge = Judge::on(&base, checkpoint, &Device::Cpu).unwrap();
        judge.scores(&[sequence(&[20], [&[24, 40, 41][..]], judge.special())], |_| 0..1).unwrap()[0][0]
    };
    let still = Options { max_steps: 1, learning_rate: 0.0, head_learning_rate: 0.0, ..options.common.clone() };
    let still = JudgeOptions { common: still, ..options.clone() };
    let (alone, again) = (JudgeData { train: &train, validation: &[] }, out.path().join("again"));
    train_judge(&base, Some(&checkpoint), alone, &still, &again, "", go).unwrap();
    let goes_on = Checkpoint::read(&again.join(CHECKPOINT)).unwrap();
    assert!((judge(&goes_on) - judge(&checkpoint)).abs() < 1e-6);
    let other = JudgeOptions { common: Options { rank: 2, ..still.common.clone() }, ..still };
    let error = train_judge(&base, Some(&checkpoint), alone, &other, &out.path().join("other"), "", go).unwrap_err();
    assert!(error.to_string().contains("changes of rank 4"), "{error}");
}

/// Options of a training without relevance labels.
fn without_labels(epochs: f64) -> JudgeOptions {
    let common = Options { epochs, ..options().common };
    JudgeOptions { common, unsupervised: Some(Unsupervised::default()), ..options() }
}

/// The words of a toy's query stand in no block, so BM25 labels none: all that is learnt is found by leaving blocks out.
#[test]
fn without_labels_interventions_find_what_is_relevant() {
    let (base, out) = (base(), tempfile::tempdir().unwrap());
    let (train, validation) = (toy(200, 1), toy(40, 2));
    let data = JudgeData { train: &train, validation: &validation };
    let areas = train_until(&base, data, &without_labels(20.0), (out.path(), ""), reaches(0.85));
    let best = areas.iter().map(|found| found.auc).fold(0.0, f64::max);
    assert!(best > 0.8 && best > areas[0].auc + 0.2, "{areas:?}");
    assert!((areas[0].bm25_auc - 0.5).abs() < 1e-9);
}

/// The labels of an epoch are those that were found before it, also where a training was interrupted since.
#[test]
fn an_interrupted_training_without_labels_goes_on_with_those_that_it_found() {
    let (base, out, train) = (base(), tempfile::tempdir().unwrap(), toy(64, 1));
    let data = JudgeData { train: &train, validation: &[] };
    let options = without_labels(4.0);
    let run = |folder: &str, stop_at: usize| {
        on_one_thread(|| {
            let mut flips = Vec::new();
            let report = train_judge(&base, None, data, &options, &out.path().join(folder), "", &mut |event| {
                match event {
                    Event::Relabelled { epoch, up, relevant, .. } => flips.push((epoch, up, relevant)),
                    Event::Step { step, .. } if step == stop_at => return ControlFlow::Break(()),
                    _ => {}
                }
                ControlFlow::Continue(())
            });
            (report.map(|report| report.losses), flips)
        })
    };
    let (losses, flips) = run("whole", usize::MAX);
    // The first interventions find the answer's block of every question.
    assert!(flips.len() == 3 && flips[0].0 == 1 && flips[0].1 >= 64 && flips[0].2 >= 64, "{flips:?}");
    // Interrupted inside an epoch whose labels were found before, and where one ends.
    let batches = 64usize.div_ceil(16);
    for stop_at in [batches + 3, 2 * batches] {
        assert!(run("cut", stop_at).0.is_err());
    }
    let (again, ..) = run("cut", usize::MAX);
    let off = losses.unwrap().iter().zip(&again.unwrap()).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(off < 1e-3, "{off}");
}

#[test]
fn an_interrupted_training_goes_on_as_if_it_had_not_been() {
    let (base, out) = (base(), tempfile::tempdir().unwrap());
    let questions = toy(40, 3);
    let common = Options { max_steps: 9, frozen: 1, ..options().common };
    let options = JudgeOptions { common, ..options() };
    let train = |folder: &str, questions: &[JudgeQuestion], options: &JudgeOptions, stop_at: usize| {
        let data = JudgeData { train: questions, validation: &[] };
        train_judge(&base, None, data, options, &out.path().join(folder), "", &mut |event| match event {
            Event::Step { step, .. } if step == stop_at => ControlFlow::Break(()),
            _ => ControlFlow::Continue(()),
        })
    };
    let whole = train("whole", &questions, &options, 99).unwrap();
    for stop_at in [2, 7] {
        assert!(train("cut", &questions, &options, stop_at).unwrap_err().to_string().contains("goes on from there"));
    }
    for other in [
        train("cut", &questions[1..], &options, 99),
        train("cut", &questions, &JudgeOptions { span_weight: 0.5, ..options.clone() }, 99),
    ] {
        assert!(other.unwrap_err().to_string().contains("another training"));
    }
    let report = train("cut", &questions, &options, 99).unwrap();
    let off = report.losses.iter().zip(&whole.losses).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
    assert!(report.losses.len() == 9 && off < 1e-5, "{off}");
}

#[test]
fn what_cannot_be_trained_is_said() {
    let (base, out) = (base(), tempfile::tempdir().unwrap());
    let questions = toy(4, 3);
    let error = |train: &[JudgeQuestion], start: Option<&Checkpoint>, options: JudgeOptions| {
        let data = JudgeData { train, validation: &[] };
        let go = &mut |_| ControlFlow::Continue(());
        let said = train_judge(&base, start, data, &options, out.path(), "", go).unwrap_err().to_string();
        assert!(!said.contains('\n'), "{said}");
        said
    };
    assert!(error(&[], None, options()).contains("no question"));
    let wide = JudgeOptions { common: Options { tokens: 65, ..options().common }, ..options() };
    assert!(error(&questions, None, wide).contains("reads 1 to 64"));
    assert!(error(&questions, None, JudgeOptions { block: 30, ..options() }).contains("too few for a query"));
    let full = JudgeOptions { common: Options { rank: 33, ..options().common }, ..options() };
    assert!(error(&questions, None, full).contains("a width of 32"));
    let elsewhere = out.path().join("start");
    let once = JudgeOptions { common: Options { max_steps: 1, ..options().common }, ..options() };
    let data = JudgeData { train: &questions, validation: &[] };
    train_judge(&base, None, data, &once, &elsewhere, "", &mut |_| ControlFlow::Continue(())).unwrap();
    let start = Checkpoint::read(&elsewhere.join(CHECKPOINT)).unwrap();
    assert!(error(&questions, Some(&start), JudgeOptions { block: 9, ..options() }).contains("blocks of 8 tokens"));
}
