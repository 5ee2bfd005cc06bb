//! Models, encoders and settings that cannot be used.

use std::sync::Arc;

use pericope_api::{SegmentError, SentenceEncoder};
use pericope_learn::hiercrf::{Checkpoint, Settings, open};
use pericope_learn::registry;
use pericope_segment::spec::Spec;

use super::fixtures::{Other, Topics, WIDTH, With, folder, model};

#[test]
fn what_cannot_be_used_is_said() {
    let build = |spec: &str, encoder: Arc<dyn SentenceEncoder>| {
        registry::build(&Spec::parse(spec).unwrap(), &With(encoder)).err().unwrap().to_string()
    };
    let own = || -> Arc<dyn SentenceEncoder> { Arc::new(Topics::default()) };
    let model = format!("hiercrf:model={}", folder());
    for (spec, said) in [
        ("hiercrf".to_owned(), "minilm"),
        ("hiercrf:model=nowhere".to_owned(), "nowhere"),
        (format!("{model},level=0"), "level"),
        (format!("{model},level=deep"), "`size` or `scores`"),
        (format!("{model},level=size"), "needs max_tokens"),
        (format!("{model},tau=2"), "0 to 1"),
        (format!("{model},tau=0.5,level=2"), "leave it or `level` out"),
    ] {
        let error = build(&spec, own());
        assert!(error.contains(said) && !error.contains('\n'), "{spec}: {error}");
    }
    let error = build(&model, Arc::new(Other));
    assert!(error.contains("topics-1") && error.contains("other-1"), "{error}");

    let checkpoint = open(&folder()).unwrap();
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("hiercrf.safetensors");
    let damaged = |change: &dyn Fn(&mut Settings)| {
        let mut settings = checkpoint.settings.clone();
        change(&mut settings);
        Checkpoint::new(settings, checkpoint.tensors().clone()).write(&path, true).unwrap();
        build(&format!("hiercrf:model={}", path.display()), own())
    };
    assert!(damaged(&|settings| settings.window = 1).contains("window"));
    assert!(damaged(&|settings| settings.sizes.hidden = 0).contains("sizes"));
    assert!(damaged(&|settings| settings.sizes.hidden = 17).contains("lstm.0.input.weight"));
    assert!(damaged(&|settings| settings.threshold = f64::NAN).contains("hiercrf.safetensors"));
    assert!(damaged(&|settings| settings.topics.push("third".into())).contains("topics.scores"));
}

#[test]
fn vectors_that_are_missing_are_an_error() {
    let model = model();
    let error = model.read(5, &mut |_| Ok(vec![0.0; WIDTH])).unwrap_err();
    assert!(error.to_string().contains("no vectors of 12 numbers"), "{error}");
    let error = model.read(5, &mut |_| Err(SegmentError::Unsupported("told to".into()))).unwrap_err();
    assert_eq!(error.to_string(), "told to");
}
