use super::super::math::reference_gelu;
use super::super::testing::numbers;
use super::super::{Precision, ROW_TILE};
use super::{Finish, Linear, feed_forward};

#[test]
fn agrees_with_sums_in_double_precision() {
    // An odd number of inputs cannot be paired.
    agrees((13, 37, 96), Precision::Single, 1e-5);
    agrees((13, 37, 96), Precision::Bf16, 1e-5);
    agrees((13, 38, 96), Precision::Single, 1e-5);
    // A number loses up to 1/512 of itself: far more than that is wrong, far less is not bfloat16.
    let off = agrees((13, 38, 96), Precision::Bf16, 0.06);
    assert!(off > 1e-4, "{off}");
    // Whole numbers of 16 bits lose less.
    let off = agrees((13, 38, 96), Precision::Int16, 0.004);
    assert!(off > 1e-5, "{off}");
    agrees((13, 37, 96), Precision::Int16, 1e-5);
    // So many inputs that the columns are three blocks, the last of them half a part.
    agrees((45, 1536, 240), Precision::Bf16, 0.4);
    agrees((45, 1536, 240), Precision::Int16, 0.06);
    // Columns that leave a panel with one vector or two.
    for outputs in [16, 32, 64, 112, 208] {
        agrees((13, 38, outputs), Precision::Single, 1e-5);
        agrees((45, 1536, outputs), Precision::Bf16, 0.4);
        agrees((45, 1536, outputs), Precision::Int16, 0.06);
    }
}

/// The greatest difference, which is below `most`.
fn agrees((rows, inputs, outputs): (usize, usize, usize), precision: Precision, most: f64) -> f64 {
    let mut greatest = 0.0_f64;
    let padded = rows.next_multiple_of(ROW_TILE);
    let (x, w, b) = (numbers(padded * inputs, 1), numbers(inputs * outputs, 2), numbers(outputs, 3));
    let add = numbers(padded * outputs, 4);
    let layer = Linear::new(&w, &b, inputs, precision);
    for (finish, kind) in [(Finish::Bias, 0), (Finish::Gelu, 1), (Finish::Add(&add), 2)] {
        let mut out = vec![f32::NAN; padded * outputs];
        layer.apply(rows, &x, finish, &mut out);
        for r in 0..rows {
            for c in 0..outputs {
                let dot: f64 = (0..inputs).map(|k| f64::from(x[r * inputs + k]) * f64::from(w[c * inputs + k])).sum();
                let plain = dot + f64::from(b[c]);
                let want = match kind {
                    0 => plain,
                    1 => reference_gelu(plain),
                    _ => plain + f64::from(add[r * outputs + c]),
                };
                let got = f64::from(out[r * outputs + c]);
                greatest = greatest.max((got - want).abs());
                assert!((got - want).abs() < most, "row {r}, column {c}: {got} against {want}, {precision:?}");
            }
        }
    }
    greatest
}

#[test]
fn a_feed_forward_part_is_its_two_products() {
    let (rows, hidden, between) = (300_usize, 240, 1536);
    let padded = rows.next_multiple_of(ROW_TILE);
    let layer = |inputs: usize, outputs: usize, seed, precision| {
        Linear::new(&numbers(inputs * outputs, seed), &numbers(outputs, seed + 1), inputs, precision)
    };
    for precision in [Precision::Single, Precision::Bf16, Precision::Int16] {
        let (up, down) = (layer(hidden, between, 1, precision), layer(between, hidden, 3, precision));
        let x = numbers(padded * hidden, 5);
        let (mut wide, mut want) = (vec![0.0; padded * between], vec![0.0; padded * hidden]);
        up.apply(rows, &x, Finish::Gelu, &mut wide);
        down.apply(rows, &wide, Finish::Add(&x), &mut want);
        let mut found = vec![f32::NAN; padded * hidden];
        feed_forward(&up, &down, rows, &x, &mut found);
        assert_eq!(found[..rows * hidden], want[..rows * hidden], "{precision:?}");
    }
}

#[test]
fn a_row_does_not_depend_on_its_place() {
    let (inputs, outputs) = (64, 144);
    let (w, b, row) = (numbers(inputs * outputs, 5), numbers(outputs, 6), numbers(inputs, 7));
    for precision in [Precision::Single, Precision::Bf16, Precision::Int16] {
        let layer = Linear::new(&w, &b, inputs, precision);
        let mut x = numbers(72 * inputs, 8);
        let mut found = Vec::new();
        for place in [0, 3, 7, 11, 15, 31, 33, 71] {
            x[place * inputs..][..inputs].copy_from_slice(&row);
            let mut out = vec![0.0; 72 * outputs];
            layer.apply(72, &x, Finish::Gelu, &mut out);
            found.push(out[place * outputs..][..outputs].to_vec());
        }
        assert!(found.windows(2).all(|pair| pair[0] == pair[1]));
    }
}
