//! Matrix products of MiniLM's shapes by our packed kernel and by the `gemm` crate, on one thread.
#![allow(missing_docs)]

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use pericope_encode::kernels::{
    AttendScratch, Attention, Finish, Linear, Precision, Reach, attend, layer_norm, padded_rows,
};

/// Tokens of a batch.
const ROWS: usize = 256;

fn numbers(len: usize) -> Vec<f32> {
    (0..len).map(|i| ((i * 7_919) % 1_009) as f32 / 1_009.0 - 0.5).collect()
}

fn products(c: &mut Criterion) {
    let mut group = c.benchmark_group("product");
    for (inputs, outputs) in [(384, 1_152), (384, 384), (384, 1_536), (1_536, 384)] {
        let shape = format!("{ROWS}x{inputs}x{outputs}");
        let (x, w, b) = (numbers(ROWS * inputs), numbers(inputs * outputs), numbers(outputs));
        let mut out = vec![0.0f32; ROWS * outputs];
        let layer = Linear::new(&w, &b, inputs, Precision::Single);
        let narrow = [("bf16", Precision::Bf16), ("int16", Precision::Int16)];
        let narrow = narrow.map(|(name, precision)| (name, Linear::new(&w, &b, inputs, precision)));
        // An element is a floating-point operation: criterion then prints operations a second.
        group.throughput(Throughput::Elements(2 * (ROWS * inputs * outputs) as u64));
        group.bench_function(BenchmarkId::new("packed", &shape), |run| {
            run.iter(|| layer.apply(ROWS, &x, Finish::Bias, &mut out));
        });
        group.bench_function(BenchmarkId::new("packed with GELU", &shape), |run| {
            run.iter(|| layer.apply(ROWS, &x, Finish::Gelu, &mut out));
        });
        for (name, layer) in &narrow {
            group.bench_function(BenchmarkId::new(format!("packed, {name}"), &shape), |run| {
                run.iter(|| layer.apply(ROWS, &x, Finish::Bias, &mut out));
            });
            group.bench_function(BenchmarkId::new(format!("packed with GELU, {name}"), &shape), |run| {
                run.iter(|| layer.apply(ROWS, &x, Finish::Gelu, &mut out));
            });
        }
        group.bench_function(BenchmarkId::new("gemm crate, no bias", &shape), |run| {
            let (one, k, n) = (1, inputs as isize, outputs as isize);
            run.iter(|| {
                // SAFETY: the matrices have the given shapes and strides: out and x row by row, w transposed.
                unsafe {
                    gemm::gemm(
                        ROWS,
                        outputs,
                        inputs,
                        out.as_mut_ptr(),
                        one,
                        n,
                        false,
                        x.as_ptr(),
                        one,
                        k,
                        w.as_ptr(),
                        k,
                        one,
                        0.0,
                        1.0,
                        false,
                        false,
                        false,
                        gemm::Parallelism::None,
                    );
                }
            });
        });
    }
    group.finish();
}

fn rest(c: &mut Criterion) {
    let mut group = c.benchmark_group("tokens");
    group.throughput(Throughput::Elements(ROWS as u64));
    let shape = Attention { heads: 12, groups: 12, head: 32 };
    for len in [16, 32, 64, 256] {
        let sequences: Vec<_> = (0..ROWS / len).map(|i| i * len..(i + 1) * len).collect();
        let qkv = numbers(padded_rows(ROWS) * 1_152);
        let (mut out, mut scratch) = (vec![0.0; padded_rows(ROWS) * 384], AttendScratch::default());
        group.bench_function(BenchmarkId::new("attention", len), |run| {
            run.iter(|| attend((shape, Reach::All), &sequences, &qkv, None, &mut scratch, &mut out));
        });
    }
    let (mut x, gain, shift) = (numbers(ROWS * 384), vec![1.0; 384], vec![0.0; 384]);
    group.bench_function("layer norm", |run| run.iter(|| layer_norm(&mut x, &gain, &shift, 1e-12)));
    group.finish();
}

criterion_group!(benches, products, rest);
criterion_main!(benches);
