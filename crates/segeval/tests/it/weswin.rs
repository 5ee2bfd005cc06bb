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
    let systems: Vec<System<'_>> = [("weswin", &weswin), ("texttiling", &texttiling), ("random", &random)]
        .into_iter()
        .map(|(name, chunker)| System { name: name.into(), chunker, known_count: false })
        .collect();
    let found = evaluate(&[set], &systems, &|_: &System<'_>, _: &str| {}).unwrap();
    let f1 = |name: &str| found.rows.iter().find(|row| row.segmenter == name).unwrap().f1;
    let (weswin, texttiling, random) = (f1("weswin"), f1("texttiling"), f1("random"));
    eprintln!("F1: weswin {weswin:.3}, texttiling {texttiling:.3}, random {random:.3}");
    assert!(weswin > 0.3 && weswin > 1.2 * texttiling && weswin > 1.2 * random);
    assert!(found.rows[0].tokens_read.unwrap() > 0 && found.rows[1].tokens_read.is_none());
}
