//! The shipped model on a project that took no part in its training.

use std::path::PathBuf;

use pericope_learn::registry;
use pericope_segeval::evaluate::{System, evaluate};
use pericope_segeval::read::{Options, read};
use pericope_segment::spec::Spec;
use pericope_segment::{Limits, Standalone};

#[test]
fn the_shipped_model_finds_boundaries_in_a_project_that_it_never_saw() {
    let Some(data) = std::env::var_os("PERICOPE_DATA").map(PathBuf::from) else {
        eprintln!("skipped: PERICOPE_DATA is not set");
        return;
    };
    if let Err(e) = pericope_encode::models::locate("minilm") {
        eprintln!("skipped: {e}");
        return;
    }
    let split = |_: &str| Vec::new();
    let options = Options { documents: 25, ..Options::new(&split) };
    let set = read(&data.join("docs/tauri.seg.jsonl"), &options).unwrap();
    let standalone = Standalone { defaults: Limits::NONE };
    let build = |spec: &str| registry::build(&Spec::parse(spec).unwrap(), &standalone).unwrap();
    let (weswin, texttiling, random) = (build("weswin:partition=cr-1"), build("texttiling"), build("random:mean=6"));
    let (topic, hiercrf) = (build("topic"), build("hiercrf"));
    let all = [
        ("weswin", &weswin),
        ("texttiling", &texttiling),
        ("random", &random),
        ("topic", &topic),
        ("hiercrf", &hiercrf),
    ];
    let contestants: Vec<System<'_>> =
        all.into_iter().map(|(name, chunker)| System { name: name.into(), chunker, known_count: false }).collect();
    let found = evaluate(&[set], &contestants, &|_: &System<'_>, _: &str| {}).unwrap();
    let f1 = |name: &str| found.rows.iter().find(|row| row.segmenter == name).unwrap().f1;
    let (weswin, texttiling, random) = (f1("weswin"), f1("texttiling"), f1("random"));
    eprintln!("F1: weswin {weswin:.3}, texttiling {texttiling:.3}, random {random:.3}");
    assert!(weswin > 0.3 && weswin > 1.2 * texttiling && weswin > 1.2 * random);
    let tokens: Vec<Option<u64>> = found.rows.iter().map(|row| row.tokens_read).collect();
    // Windows of sentences share their special tokens; sentences by themselves each have two.
    assert!(tokens[0].unwrap() > 0 && tokens[1].is_none() && tokens[3].unwrap() > tokens[0].unwrap(), "{tokens:?}");
    assert_eq!(tokens[3], tokens[4]);
}
