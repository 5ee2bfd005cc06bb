//! The LSTMs against ONNX Runtime, differences, candle's own operations, and itself on other numbers of threads.

use std::collections::HashMap;
use std::path::Path;

use candle_core::{DType, Tensor};
use pericope_encode::encoders::Tensors;
use pericope_encode::{Device, ModelError};
use pericope_learn::sequence::{BiLstm, Init, Lstm, Parameter, Parameters};
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    input: usize,
    hidden: usize,
    lengths: Vec<usize>,
    parameters: HashMap<String, Vec<f32>>,
    pull: Vec<f32>,
    output: Vec<f32>,
    gradients: HashMap<String, Vec<f32>>,
}

/// The numbers of a golden file as a model's tensors.
struct Given<'a>(&'a HashMap<String, Vec<f32>>);

impl Tensors for Given<'_> {
    fn tensor(&self, name: &str, shape: &[usize], device: &Device) -> Result<Tensor, ModelError> {
        let numbers = &self.0[name.strip_prefix("lstm.").unwrap()];
        Tensor::from_vec(numbers.clone(), shape, device).map_err(|e| self.unusable(e.to_string()))
    }

    fn unusable(&self, reason: String) -> ModelError {
        ModelError::unusable(Path::new("lstm.json"), reason)
    }
}

fn flat(tensor: &Tensor) -> Vec<f32> {
    tensor.to_dtype(DType::F32).unwrap().flatten_all().unwrap().to_vec1().unwrap()
}

fn furthest(found: &[f32], expected: &[f32]) -> f32 {
    assert_eq!(found.len(), expected.len());
    found.iter().zip(expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max)
}

#[test]
fn states_are_onnx_runtimes_and_gradients_those_of_differences() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/golden/lstm.json");
    let golden: Golden = serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap();
    let Golden { input, hidden, lengths, .. } = &golden;
    let parameters = Parameters::new(&BiLstm::parameters("lstm", *input, *hidden), 1, &Device::Cpu).unwrap();
    parameters.set(&Given(&golden.parameters)).unwrap();
    let lstm = BiLstm::new(&parameters, "lstm", *input, *hidden, &Device::Cpu).unwrap();
    let shape = (lengths.len(), 6, *input);
    let x = Tensor::from_vec(golden.parameters["x"].clone(), shape, &Device::Cpu).unwrap();
    let x = candle_core::Var::from_tensor(&x).unwrap();
    let out = lstm.forward(&x, lengths).unwrap();
    assert_eq!(out.dims(), [lengths.len(), 6, 2 * hidden]);
    let off = furthest(&flat(&out), &golden.output);
    assert!(off < 2e-6, "off by {off}");

    let pull = Tensor::from_vec(golden.pull.clone(), out.shape(), &Device::Cpu).unwrap();
    let gradients = (out * pull).unwrap().sum_all().unwrap().backward().unwrap();
    let off = furthest(&flat(gradients.get(&x).unwrap()), &golden.gradients["x"]);
    assert!(off < 1e-5, "x: off by {off}");
    for (name, variable) in parameters.all() {
        let own = flat(gradients.get(variable).unwrap());
        let off = furthest(&own, &golden.gradients[name.strip_prefix("lstm.").unwrap()]);
        assert!(off < 1e-5, "{name}: off by {off}");
    }
}

/// A layer, the parameters that it reads, and a batch.
struct Case {
    parameters: Parameters,
    lstm: BiLstm,
    x: Tensor,
    pull: Tensor,
    lengths: Vec<usize>,
}

impl Case {
    fn new(hidden: usize, lengths: &[usize], kind: DType) -> Self {
        let (input, time) = (7, lengths.iter().copied().max().unwrap_or(0));
        let parameters = Parameters::new(&BiLstm::parameters("l", input, hidden), 3, &Device::Cpu).unwrap();
        let numbers = |name: &str, shape: &[usize]| {
            let made = Parameters::new(&[Parameter::new(name, shape, Init::Uniform(1.0))], 4, &Device::Cpu).unwrap();
            made.all()[name].as_detached_tensor().to_dtype(kind).unwrap()
        };
        let x = numbers("x", &[lengths.len(), time, input]);
        let pull = numbers("pull", &[lengths.len(), time, 2 * hidden]);
        let lstm = BiLstm::new(&Cast(&parameters, kind), "l", input, hidden, &Device::Cpu).unwrap();
        Self { parameters, lstm, x, pull, lengths: lengths.to_vec() }
    }

    /// The states, and the gradients by name.
    fn run(&self) -> (Vec<f32>, Vec<(String, Vec<f32>)>) {
        let out = self.lstm.forward(&self.x, &self.lengths).unwrap();
        let store = (&out * &self.pull).unwrap().sum_all().unwrap().backward().unwrap();
        let all = self.parameters.all().iter();
        (flat(&out), all.map(|(name, variable)| (name.clone(), flat(store.get(variable).unwrap()))).collect())
    }
}

struct Cast<'a>(&'a Parameters, DType);

impl Tensors for Cast<'_> {
    fn tensor(&self, name: &str, shape: &[usize], device: &Device) -> Result<Tensor, ModelError> {
        Ok(self.0.tensor(name, shape, device)?.to_dtype(self.1).unwrap())
    }

    fn unusable(&self, reason: String) -> ModelError {
        self.0.unusable(reason)
    }
}

/// More documents than a block has, empty ones and longer ones among them, and widths that are padded or not.
const LENGTHS: [usize; 19] = [3, 9, 0, 1, 9, 2, 2, 8, 5, 5, 0, 7, 1, 4, 6, 3, 9, 9, 2];

#[test]
fn the_fast_recurrence_is_that_of_candles_operations() {
    for (hidden, lengths) in [(1, &[4usize, 2][..]), (48, &LENGTHS), (53, &LENGTHS), (20, &[1]), (20, &[1, 1])] {
        let (fast, fast_gradients) = Case::new(hidden, lengths, DType::F32).run();
        let (plain, plain_gradients) = Case::new(hidden, lengths, DType::F64).run();
        let off = furthest(&fast, &plain);
        assert!(off < 2e-6, "{hidden} units: off by {off}");
        for ((name, fast), (_, plain)) in fast_gradients.iter().zip(&plain_gradients) {
            let off = furthest(fast, plain);
            assert!(off < 5e-5, "{hidden} units, {name}: off by {off}");
        }
    }
}

/// Steps of several sizes against the gradient's promise, along a direction in which everything moves.
#[test]
fn the_gradient_foretells_small_steps() {
    let case = Case::new(24, &LENGTHS, DType::F32);
    let (_, gradients) = case.run();
    let loss = || {
        let (out, _) = case.run();
        out.iter().zip(flat(&case.pull)).map(|(a, b)| f64::from(*a) * f64::from(b)).sum::<f64>()
    };
    for (name, gradient) in &gradients {
        let variable = &case.parameters.all()[name];
        let kept = variable.as_detached_tensor().copy().unwrap();
        let length = gradient.iter().map(|g| f64::from(*g).powi(2)).sum::<f64>().sqrt();
        let gradient = Tensor::from_vec(gradient.clone(), kept.shape(), &Device::Cpu).unwrap();
        let at = |step: f64| {
            variable.set(&(&kept + (&gradient * (step / length)).unwrap()).unwrap()).unwrap();
            loss()
        };
        let slope = (at(0.01) - at(-0.01)) / 0.02;
        variable.set(&kept).unwrap();
        assert!((slope / length - 1.0).abs() < 2e-3, "{name}: {slope} instead of {length}");
    }
}

#[test]
fn any_number_of_threads_gives_the_same_bits_and_company_changes_nothing() {
    let case = Case::new(40, &LENGTHS, DType::F32);
    let (states, gradients) = case.run();
    for threads in [1, 2, 3, 7] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let (other, others) = pool.install(|| case.run());
        assert!(states == other && gradients == others, "{threads} threads");
    }
    // What stands beyond a document's end, and longer documents beside it, change nothing.
    let long = [&LENGTHS[..], &[12, 12]].concat();
    let noise = Case::new(40, &long, DType::F32);
    let whole = flat(&noise.lstm.forward(&noise.x, &long).unwrap());
    for (d, &length) in long.iter().enumerate() {
        let rows = &whole[d * 12 * 80..][..12 * 80];
        assert!(rows[length * 80..].iter().all(|&x| x == 0.0));
        let narrow = noise.x.narrow(0, d, 1).unwrap().narrow(1, 0, length).unwrap();
        let alone = flat(&noise.lstm.forward(&narrow, &[length]).unwrap());
        assert!(furthest(&alone, &rows[..length * 80]) < 1e-6);
    }
}

#[test]
fn batches_that_do_not_fit_are_refused() {
    let case = Case::new(8, &[3, 2], DType::F32);
    for lengths in [&[3usize][..], &[3, 4], &[3, 2, 1]] {
        assert!(case.lstm.forward(&case.x, lengths).unwrap_err().to_string().contains("lengths"), "{lengths:?}");
    }
    let none = case.lstm.forward(&case.x.narrow(1, 0, 0).unwrap(), &[0, 0]).unwrap();
    assert_eq!(none.dims(), [2, 0, 16]);
    assert!(BiLstm::new(&case.parameters, "l", 7, 9, &Device::Cpu).unwrap_err().to_string().contains("input.weight"));
    assert!(BiLstm::new(&case.parameters, "m", 7, 8, &Device::Cpu).unwrap_err().to_string().contains("m.input.weight"));
    assert!(BiLstm::new(&case.parameters, "l", 7, 0, &Device::Cpu).is_err());
}

/// A second backward pass over one graph works what was kept out again.
#[test]
fn gradients_can_be_asked_for_twice() {
    let case = Case::new(16, &[5, 3], DType::F32);
    let out = case.lstm.forward(&case.x, &case.lengths).unwrap();
    let loss = (out * &case.pull).unwrap().sum_all().unwrap();
    let (first, second) = (loss.backward().unwrap(), loss.backward().unwrap());
    for variable in case.parameters.all().values() {
        assert_eq!(flat(first.get(variable).unwrap()), flat(second.get(variable).unwrap()));
    }
}

/// The forward direction of a bidirectional layer's parameters, as a layer of one direction has them.
struct Half<'a>(&'a Parameters, DType);

impl Tensors for Half<'_> {
    fn tensor(&self, name: &str, shape: &[usize], _: &Device) -> Result<Tensor, ModelError> {
        let whole = self.0.all()[name].as_detached_tensor().to_dtype(self.1).unwrap();
        Ok(whole.narrow(0, 0, shape[0]).unwrap().contiguous().unwrap())
    }

    fn unusable(&self, reason: String) -> ModelError {
        self.0.unusable(reason)
    }
}

#[test]
fn one_direction_is_the_forward_half_of_two() {
    for (hidden, lengths) in [(1, &[4usize, 2][..]), (48, &LENGTHS), (53, &LENGTHS)] {
        let case = Case::new(hidden, lengths, DType::F32);
        let lstm = Lstm::new(&Half(&case.parameters, DType::F32), "l", 7, hidden, &Device::Cpu).unwrap();
        let one = lstm.forward(&case.x, lengths).unwrap();
        let both = case.lstm.forward(&case.x, lengths).unwrap();
        assert_eq!(flat(&one), flat(&both.narrow(2, 0, hidden).unwrap().contiguous().unwrap()), "{hidden} units");
        let last = flat(&lstm.last(&case.x, lengths).unwrap());
        let states = flat(&one);
        let time = one.dims()[1];
        for (at, (&length, state)) in lengths.iter().zip(last.chunks_exact(hidden)).enumerate() {
            let place = (at * time + length.saturating_sub(1)) * hidden;
            assert_eq!(state, &states[place..place + hidden]);
            assert!(length > 0 || state.iter().all(|&x| x == 0.0));
        }
    }
}

/// The gradients of a layer of one direction: its own in single precision, those of candle's operations in double.
#[test]
fn one_direction_has_the_gradients_of_candles_operations() {
    let lengths = &LENGTHS[..];
    let parameters = Parameters::new(&Lstm::parameters("l", 7, 24), 5, &Device::Cpu).unwrap();
    let numbers = |name: &str, shape: &[usize]| {
        let made = Parameters::new(&[Parameter::new(name, shape, Init::Uniform(1.0))], 6, &Device::Cpu).unwrap();
        made.all()[name].as_detached_tensor()
    };
    let (x, pull) = (numbers("x", &[lengths.len(), 9, 7]), numbers("pull", &[lengths.len(), 24]));
    let gradients = |kind: DType| -> Vec<(String, Vec<f32>)> {
        let lstm = Lstm::new(&Cast(&parameters, kind), "l", 7, 24, &Device::Cpu).unwrap();
        let last = lstm.last(&x.to_dtype(kind).unwrap(), lengths).unwrap();
        let store = (last * pull.to_dtype(kind).unwrap()).unwrap().sum_all().unwrap().backward().unwrap();
        let all = parameters.all().iter();
        all.map(|(name, variable)| (name.clone(), flat(store.get(variable).unwrap()))).collect()
    };
    for ((name, fast), (_, plain)) in gradients(DType::F32).iter().zip(&gradients(DType::F64)) {
        let off = furthest(fast, plain);
        assert!(off < 5e-5, "{name}: off by {off}");
    }
    let none = Lstm::new(&parameters, "l", 7, 24, &Device::Cpu).unwrap();
    assert_eq!(none.last(&x.narrow(1, 0, 0).unwrap(), &[0; 19]).unwrap().dims(), [19, 24]);
    assert!(none.forward(&x, &[3]).unwrap_err().to_string().contains("lengths"));
    assert!(Lstm::new(&parameters, "l", 7, 0, &Device::Cpu).is_err());
}
