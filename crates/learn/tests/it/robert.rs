//! RoBERT: what it can learn, and that the same seed gives the same classifier.

use pericope_api::{ClassifierData, ClassifierTrainer, Embeddings, LabelledSequence};
use pericope_learn::robert::Robert;

const SMALL: Robert = Robert { hidden: 16, head: 8, learning_rate: 0.01, epochs: 40, patience: 8, batch: 8 };

/// Documents of one to seven vectors. Both classes have the same vectors: the class is which of two marks comes last.
fn documents(count: usize, seed: u64) -> Vec<(Embeddings, usize)> {
    let mut state = seed;
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    let one = |vector: usize| -> [f32; 4] { std::array::from_fn(|at| if at == vector { 1.0 } else { 0.0 }) };
    let mut made = Vec::new();
    for _ in 0..count {
        let class = next() % 2;
        let mut order: Vec<usize> = (0..next() % 6).map(|_| 2 + next() % 2).collect();
        let place = next() % (order.len() + 1);
        order.insert(place, 1 - class);
        order.push(class);
        made.push((Embeddings::new(4, order.iter().flat_map(|&at| one(at)).collect()), class));
    }
    made
}

fn labelled(all: &[(Embeddings, usize)]) -> Vec<LabelledSequence<'_>> {
    all.iter().map(|(vectors, class)| LabelledSequence { vectors, class: *class }).collect()
}

fn right(robert: &Robert, seed: u64) -> (f64, Vec<f32>) {
    let (train, validation, test) = (documents(200, 1), documents(40, 2), documents(100, 3));
    let (train, validation) = (labelled(&train), labelled(&validation));
    let data = ClassifierData { classes: 2, dimension: 4, train: &train, validation: &validation, seed };
    let found = robert.train(&data).unwrap();
    assert!(found.best_epoch >= 1 && found.best_epoch <= found.epochs && found.epochs <= robert.epochs);
    let given = found.classifier.classify(&test.iter().map(|(vectors, _)| vectors).collect::<Vec<_>>()).unwrap();
    let right = given.iter().zip(&test).filter(|(given, (_, class))| given.class == *class).count();
    (right as f64 / 100.0, given.iter().map(|one| one.probability).collect())
}

#[test]
fn the_order_of_segments_is_read() {
    let (accuracy, probabilities) = right(&SMALL, 7);
    assert!(accuracy > 0.95, "{accuracy}");
    assert!(probabilities.iter().all(|p| (0.5..=1.0).contains(p)));
}

#[test]
fn a_seed_gives_one_classifier_on_any_number_of_threads() {
    let short = Robert { epochs: 3, ..SMALL };
    let first = right(&short, 7);
    for threads in [1, 3] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        assert_eq!(pool.install(|| right(&short, 7)), first, "{threads} threads");
    }
    assert_ne!(right(&short, 8).1, first.1);
}

#[test]
fn training_goes_on_to_the_end_without_documents_to_stop_by() {
    let train = documents(20, 1);
    let train = labelled(&train);
    let data = ClassifierData { classes: 2, dimension: 4, train: &train, validation: &[], seed: 1 };
    let found = Robert { epochs: 5, patience: 1, ..SMALL }.train(&data).unwrap();
    assert_eq!((found.epochs, found.best_epoch), (5, 5));
    // A document without segments has a class all the same, and company changes none.
    let empty = Embeddings::new(4, Vec::new());
    let together = found.classifier.classify(&[&empty, train[0].vectors, train[1].vectors]).unwrap();
    let alone = found.classifier.classify(&[train[1].vectors]).unwrap();
    assert!((together[2].probability - alone[0].probability).abs() < 1e-5 && together[2].class == alone[0].class);
    let other = Embeddings::new(3, vec![1.0; 3]);
    assert!(found.classifier.classify(&[&other]).err().unwrap().to_string().contains("3 numbers"));
}

#[test]
fn what_cannot_be_trained_is_refused() {
    let all = documents(4, 1);
    let train = labelled(&all);
    let data = ClassifierData { classes: 2, dimension: 4, train: &train, validation: &[], seed: 1 };
    let refused = |robert: &Robert, data: &ClassifierData<'_>| robert.train(data).err().unwrap().to_string();
    assert!(refused(&SMALL, &ClassifierData { train: &[], ..data }).contains("no document"));
    assert!(refused(&SMALL, &ClassifierData { classes: 1, ..data }).contains("nothing to tell apart"));
    let high = [LabelledSequence { class: 2, ..train[0] }];
    assert!(refused(&SMALL, &ClassifierData { train: &high, ..data }).contains("class 2 of 2"));
    assert!(refused(&Robert { batch: 0, ..SMALL }, &data).contains("batch = 0"));
    assert!(refused(&Robert { learning_rate: 0.0, ..SMALL }, &data).contains("learning_rate"));
}
