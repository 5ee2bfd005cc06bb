#![allow(clippy::unwrap_used)]

use candle_core::{Device, Tensor, Var};

use super::window::Window;

/// Numbers without a pattern.
fn waves(len: usize, seed: f32) -> Vec<f32> {
    (0..len).map(|i| ((i as f32 * 0.731 + seed) * 2.17).sin() * 1.5).collect()
}

/// What the window is to find, for one head and one query.
fn expected(query: &[f32], seen: &[(&[f32], &[f32])]) -> Vec<f32> {
    let scores = seen.iter().map(|(key, _)| query.iter().zip(*key).map(|(a, b)| a * b).sum::<f32>().exp());
    let scores: Vec<f32> = scores.collect();
    let total: f32 = scores.iter().sum();
    let mut context = vec![0.0; query.len()];
    for (score, (_, value)) in scores.iter().zip(seen) {
        for (sum, v) in context.iter_mut().zip(*value) {
            *sum += score / total * v;
        }
    }
    context
}

#[test]
fn the_window_is_what_is_near() {
    let (heads, head) = (2, 3);
    for length in (1..=14).chain([31]) {
        for reach in [1, 2, 3, 5, 8, 100] {
            for global in [None, Some(0), Some(length / 2)] {
                let size = heads * length * head;
                let numbers = [waves(size, 0.1), waves(size, 0.5), waves(size, 0.9)];
                let [query, key, value] = numbers
                    .each_ref()
                    .map(|numbers| Tensor::from_slice(numbers, (1, heads, length, head), &Device::Cpu).unwrap());
                // The last token is padding where there are others.
                let real = if length > 2 { length - 1 } else { length };
                let visible: Vec<f32> =
                    (0..length).map(|i| if i < real && Some(i) != global { 1.0 } else { 0.0 }).collect();
                let visible = Tensor::from_vec(visible, (1, length), &Device::Cpu).unwrap();
                let window = Window::new(&visible, reach).unwrap();
                let shared = global.map(|place| {
                    let part = |x: &Tensor| x.narrow(2, place, 1).unwrap().contiguous().unwrap();
                    (part(&key), part(&value), Tensor::ones((1, 1), candle_core::DType::F32, &Device::Cpu).unwrap())
                });
                let shared = shared.as_ref().map(|(key, value, present)| (key, value, present));
                let found = window.attend(&query, &key, &value, shared).unwrap();
                assert_eq!(found.dims(), [1, heads, length, head]);
                let found = found.flatten_all().unwrap().to_vec1::<f32>().unwrap();
                for (row, context) in found.chunks_exact(head).enumerate() {
                    let (first, place) = (row / length * length, row % length);
                    if place >= real {
                        continue;
                    }
                    let near = |i: &usize| *i < real && (i.abs_diff(place) <= reach || Some(*i) == global);
                    let at = |i: usize| (first + i) * head..(first + i + 1) * head;
                    let seen: Vec<_> =
                        (0..length).filter(near).map(|i| (&numbers[1][at(i)], &numbers[2][at(i)])).collect();
                    let expected = expected(&numbers[0][at(place)], &seen);
                    let off = context.iter().zip(&expected).map(|(a, b)| (a - b).abs()).fold(0.0, f32::max);
                    assert!(off < 1e-5, "length {length}, reach {reach}, global {global:?}, row {row}: {off}");
                }
            }
        }
    }
}

/// Everything that a pass keeps for its gradient, in numbers, and the largest single tensor.
fn kept(length: usize) -> (usize, usize) {
    let (reach, heads, head) = (8, 2, 4);
    let variable = |seed| {
        let numbers = waves(heads * length * head, seed);
        Var::from_vec(numbers, (1, heads, length, head), &Device::Cpu).unwrap()
    };
    let (query, key, value) = (variable(0.1), variable(0.2), variable(0.3));
    let visible = Tensor::ones((1, length), candle_core::DType::F32, &Device::Cpu).unwrap();
    let part = |x: &Tensor| x.narrow(2, 0, 1).unwrap().contiguous().unwrap();
    let shared = (part(&key), part(&value), Tensor::ones((1, 1), candle_core::DType::F32, &Device::Cpu).unwrap());
    let window = Window::new(&visible, reach).unwrap();
    let context = window.attend(&query, &key, &value, Some((&shared.0, &shared.1, &shared.2))).unwrap();
    let sizes: Vec<usize> = context.sorted_nodes().iter().map(|tensor| tensor.elem_count()).collect();
    assert!(sizes.len() > 20);
    (sizes.iter().sum(), sizes.into_iter().max().unwrap())
}

#[test]
fn memory_grows_with_length_and_not_with_its_square() {
    let (all, largest) = kept(64);
    for times in [2, 4, 16, 64] {
        let (more, larger) = kept(64 * times);
        assert!(more <= times * all, "{more} numbers for {times} times as many tokens as {all}");
        assert!(larger <= times * largest);
    }
}
