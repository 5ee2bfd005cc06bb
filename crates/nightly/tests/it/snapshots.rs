//! The files of a nightly run as they were when they were last looked at. `INSTA_UPDATE=always cargo test -p
//! pericope-nightly` takes them anew; in continuous integration a change is a failure.

use std::fs;

use pericope_nightly::{History, write};

use crate::support::{Fault, World, add, add_unseen, experiment, write_run};

#[test]
fn the_files_of_a_nightly_run() {
    let dir = tempfile::tempdir().unwrap();
    let experiment = experiment("");
    let mut world = World::new(40);
    let mut history = History::open(dir.path(), "simulated").unwrap();
    let mut night = |fault: Fault| {
        let mut night = world.night(fault);
        night.cells.retain(|cell| cell.key.mode == "dense");
        night
    };
    add_unseen(&mut history, night(Fault::NONE), false);
    add_unseen(&mut history, night(Fault::NONE), true);
    let third = night(Fault::NONE);
    write_run(dir.path(), &third);
    add_unseen(&mut history, third, false);
    let fourth = night(Fault { chunker: "semantic", mode: "dense", share: 0.35, ..Fault::NONE });
    write_run(dir.path(), &fourth);
    let mut conclusion = add(&mut history, fourth, &experiment, dir.path());
    // Enough to be read.
    conclusion.flips.truncate(1);
    conclusion.flips.iter_mut().for_each(|group| group.questions.truncate(2));
    let written = write(&history, &conclusion, &experiment, dir.path(), &pericope_report::HtmlPages).unwrap();
    let read = |path| fs::read_to_string(path).unwrap();
    // The history's own name is drawn when it is made.
    let feed: String = read(&written.feed)
        .lines()
        .enumerate()
        .map(|(i, line)| if i == 3 { "  <id>urn:uuid:…</id>\n".to_owned() } else { format!("{line}\n") })
        .collect();
    let page = read(&written.page);
    crate::html::check(&page);
    insta::assert_snapshot!("nightly_page", crate::html::normal(&page));
    insta::assert_snapshot!("nightly_markdown", read(&written.markdown));
    insta::assert_snapshot!("nightly_feed", feed);
    // One test case a check, and a failure for each that is broken.
    let (junit, broken) = (read(&written.junit), conclusion.checks.iter().filter(|check| check.is_broken()).count());
    let document = roxmltree::Document::parse(&junit).unwrap();
    let count = |name: &str| document.descendants().filter(|node| node.has_tag_name(name)).count();
    assert!(broken > 0 && !conclusion.checks.is_empty());
    assert_eq!((count("testcase"), count("failure")), (conclusion.checks.len(), broken), "{junit}");
    assert!(roxmltree::Document::parse(&read(&written.badge)).unwrap().root_element().tag_name().name() == "svg");
    let metrics = read(&written.metrics);
    assert!(metrics.contains("\npericope_night{experiment=\"simulated\"} 4.0\n"), "{metrics}");
    assert!(metrics.contains("\npericope_night_good{experiment=\"simulated\"} 0.0\n"), "{metrics}");
}
