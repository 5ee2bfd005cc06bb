//! The service without HTTP: newer commits, rebuilt indexes, several indexes, vectors of queries.

use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Instant;

use pericope::read::{ReadOptions, read_text};
use pericope::store::RunSummary;
use pericope::{Engine, EngineError, stores};
use pericope_serve::service::{
    AddressRules, DocumentRequest, Mode, NamedPlace, SearchRequest, Service, ServiceOptions,
};
use pericope_testkit::encoders::{Backwards, BagOfWords};

use crate::common::{INDEX, make_index, make_index_with, service_over, until};

fn finds(service: &Service, query: &str) -> bool {
    let request = SearchRequest { mode: Some(Mode::Bm25), ..SearchRequest::new(query) };
    !service.search(&request).unwrap().hits.is_empty()
}

#[test]
fn newer_commits_and_rebuilt_indexes_are_seen() {
    let folder = make_index();
    let service = service_over(folder.path(), AddressRules::default(), None);
    assert!(finds(&service, "starter") && !finds(&service, "volcano"));
    make_index_with(folder.path(), &[("new.md", "markdown", "# Volcano\n\nIt smokes.\n")], false);
    until(|| finds(&service, "volcano"));
    assert!(finds(&service, "starter"));
    make_index_with(folder.path(), &[("only.md", "markdown", "# Glacier\n\nIt melts.\n")], true);
    until(|| finds(&service, "glacier"));
    assert!(!finds(&service, "starter") && !finds(&service, "volcano"));
    // Vectors of the new one, too.
    let dense = SearchRequest { mode: Some(Mode::Dense), ..SearchRequest::new("glacier melts") };
    assert_eq!(service.search(&dense).unwrap().hits[0].document, "only.md");
}

#[test]
fn queries_are_embedded_as_queries() {
    let folder = make_index();
    let encoder = Arc::new(Backwards(BagOfWords::new()));
    let service = service_over(folder.path(), AddressRules::default(), Some(encoder));
    // The second time it is remembered.
    for _ in 0..2 {
        let cold = SearchRequest { mode: Some(Mode::Dense), ..SearchRequest::new("retrats dloc") };
        assert_eq!(service.search(&cold).unwrap().hits[0].document, "guide/bread.md");
    }
}

#[test]
fn a_refresh_looks_at_once() {
    let folder = make_index();
    let service = service_over(folder.path(), AddressRules::default(), None);
    let before = service.refresh("docs").unwrap();
    assert!(!before.reopened && before.commit > Some(0));
    make_index_with(folder.path(), &[("new.md", "markdown", "# Volcano\n\nIt smokes.\n")], false);
    let after = service.refresh("docs").unwrap();
    assert!(after.reopened && after.commit > before.commit, "{before:?} {after:?}");
    assert!(finds(&service, "volcano"));
    let ordered = Arc::new(Mutex::new(0));
    let count = Arc::clone(&ordered);
    service.on_refresh(None, move || *count.lock().unwrap() += 1).unwrap();
    assert!(service.refresh("docs").unwrap().following);
    assert_eq!(*ordered.lock().unwrap(), 1);
    assert_eq!(service.refresh("nobody").unwrap_err().status, 404);
}

#[test]
fn another_index_in_the_same_place_is_seen() {
    let (folder, other) = (make_index_of_words("Glacier"), make_index_of_words("Volcano"));
    let service = service_over(folder.path(), AddressRules::default(), None);
    assert!(finds(&service, "glacier") && !finds(&service, "volcano"));
    std::fs::remove_dir_all(folder.path().join(INDEX)).unwrap();
    std::fs::rename(other.path().join(INDEX), folder.path().join(INDEX)).unwrap();
    until(|| finds(&service, "volcano"));
    assert!(!finds(&service, "glacier"));
    // One with vectors, in the place of one without.
    std::fs::remove_dir_all(folder.path().join(INDEX)).unwrap();
    make_index_with(folder.path(), &[("only.md", "markdown", "# Geyser\n\nIt spouts.\n")], false);
    until(|| finds(&service, "geyser"));
    let entry = service.indexes().unwrap().indexes.remove(0);
    assert_eq!((entry.embedder.as_str(), entry.modes.len()), ("bag-of-words", 3));
}

/// An index of one page, without vectors: of two of them only their pages differ.
fn make_index_of_words(title: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let engine = Engine::new().with_tokenizer("words");
    let chunker = engine.chunker("structure").unwrap();
    let spec = engine.index_spec(&chunker, None).unwrap();
    let mut writer = stores::create(folder.path().join(INDEX).to_str().unwrap(), &spec, false, 1 << 20).unwrap();
    let page = read_text("a.md", "markdown", format!("# {title}\n\nText.\n"), &ReadOptions::default()).unwrap();
    writer.add(&page, &chunker.chunks(&page).unwrap()).unwrap();
    writer.finish(&RunSummary::default()).unwrap();
    folder
}

#[test]
fn lines_between_two_chunks_are_empty_and_not_missing() {
    let folder = make_index();
    make_index_with(folder.path(), &[("gaps.md", "markdown", "# One\n\nFirst.\n\n\n\n# Two\n\nSecond.\n")], true);
    let service = service_over(folder.path(), AddressRules::default(), None);
    let read = |lines: &str| {
        let lines = Some(lines.to_owned());
        service.document(&DocumentRequest { id: "gaps.md".into(), lines, ..DocumentRequest::default() })
    };
    for line in 1..=9 {
        let answer = read(&line.to_string()).unwrap();
        assert_eq!(answer.lines, Some([line, line]), "{answer:?}");
        let is_blank = [2, 4, 5, 6, 8].contains(&line);
        assert_eq!(answer.text.trim().is_empty(), is_blank, "{answer:?}");
    }
    assert_eq!(read("12").unwrap_err().status, 404);
}

#[test]
fn an_index_that_breaks_is_served_as_it_was() {
    let folder = make_index();
    let notices = Arc::new(Mutex::new(Vec::<String>::new()));
    let heard = Arc::clone(&notices);
    let place = NamedPlace::parse(folder.path().join(INDEX).to_str().unwrap()).unwrap();
    let options = ServiceOptions {
        encoders: Arc::new(|_| Ok(Some(BagOfWords::new()))),
        notice: Arc::new(move |text| heard.lock().unwrap().push(text.to_owned())),
        ..ServiceOptions::default()
    };
    let service = Service::open(vec![place], options).unwrap();
    let meta = folder.path().join(INDEX).join("pericope.json");
    let text = std::fs::read(&meta).unwrap();
    std::fs::write(&meta, "{").unwrap();
    until(|| {
        assert!(finds(&service, "starter"));
        !notices.lock().unwrap().is_empty()
    });
    std::fs::write(&meta, text).unwrap();
    assert!(service.refresh("docs").is_ok() && finds(&service, "starter"));
    let told = notices.lock().unwrap();
    assert!(told.iter().filter(|text| text.contains("searches go on")).count() == 1, "{told:?}");
}

/// Somebody may have put whole files in the place of damaged ones, which stay open.
#[test]
fn an_index_that_fails_is_opened_again() {
    let folder = make_index();
    let vectors = std::fs::read_dir(folder.path().join(INDEX).join("vectors")).unwrap();
    let mut files = vectors.map(|file| file.unwrap().path());
    let file = files.find(|file| file.extension().is_some_and(|ending| ending == "vectors")).unwrap();
    let whole = std::fs::read(&file).unwrap();
    // Its beginning and its end say which file it is.
    let mut damaged = whole.clone();
    damaged.iter_mut().skip(64).take(whole.len() - 128).for_each(|byte| *byte ^= 0xa5);
    let put = |bytes: &[u8]| {
        let beside = folder.path().join("beside");
        std::fs::write(&beside, bytes).unwrap();
        std::fs::rename(&beside, &file).unwrap();
    };
    put(&damaged);
    let begun = Instant::now();
    let service = service_over(folder.path(), AddressRules::default(), None);
    let dense = SearchRequest { mode: Some(Mode::Dense), ..SearchRequest::new("starter") };
    let problem = service.search(&dense).unwrap_err();
    assert_eq!((problem.status, problem.code), (500, "index-failed"), "{problem}");
    assert!(finds(&service, "starter"), "words are searched all the same");
    put(&whole);
    assert!(service.search(&dense).is_err() || begun.elapsed().as_secs() >= 5, "what is open is damaged");
    until(|| service.search(&dense).is_ok());
    assert_eq!(service.search(&dense).unwrap().hits[0].document, "guide/bread.md");
}

#[test]
fn indexes_have_names_of_their_own() {
    let (one, two) = (make_index(), make_index());
    make_index_with(two.path(), &[("only.md", "markdown", "# Glacier\n\nIt melts.\n")], true);
    let place = |name: &str, folder: &std::path::Path| NamedPlace {
        name: name.into(),
        place: folder.join(INDEX).to_str().unwrap().into(),
    };
    let open = |places| {
        let encoders: Arc<pericope_serve::service::MakeEncoder> = Arc::new(|_| Ok(Some(BagOfWords::new())));
        Service::open(places, ServiceOptions { encoders, ..ServiceOptions::default() })
    };
    let service = open(vec![place("a", one.path()), place("b", two.path())]).unwrap();
    let search = |index: Option<&str>| {
        let request =
            SearchRequest { index: index.map(str::to_owned), mode: Some(Mode::Bm25), ..SearchRequest::new("glacier") };
        service.search(&request).map(|answer| (answer.index, answer.hits.len()))
    };
    assert_eq!(search(None).unwrap(), ("a".into(), 0));
    assert_eq!(search(Some("b")).unwrap(), ("b".into(), 1));
    assert!(search(Some("c")).unwrap_err().detail.contains("the indexes are a, b"));
    assert_eq!(open(vec![place("a", one.path()), place("a", two.path())]).err().unwrap().status, 400);
    assert_eq!(open(vec![]).err().unwrap().status, 400);
    let nothing = NamedPlace { name: "n".into(), place: one.path().join("nothing").to_str().unwrap().into() };
    assert_eq!(open(vec![nothing]).err().unwrap().status, 400);
}

#[test]
fn a_query_is_embedded_once() {
    let folder = make_index();
    let encoder = BagOfWords::new();
    let service = service_over(folder.path(), AddressRules::default(), Some(encoder.clone()));
    let before = encoder.texts.load(Ordering::Relaxed);
    for _ in 0..3 {
        service.search(&SearchRequest::new("full moon")).unwrap();
    }
    service.search(&SearchRequest::new("half moon")).unwrap();
    assert_eq!(encoder.texts.load(Ordering::Relaxed) - before, 2);
}

#[test]
fn without_its_embedder_an_index_is_searched_by_words() {
    let folder = make_index();
    let place = NamedPlace::parse(folder.path().join(INDEX).to_str().unwrap()).unwrap();
    let without = |error: EngineError| {
        let options = ServiceOptions { encoders: Arc::new(move |_| Err(error.clone())), ..ServiceOptions::default() };
        Service::open(vec![place.clone()], options).unwrap()
    };
    let hybrid = SearchRequest { mode: Some(Mode::Hybrid), ..SearchRequest::new("starter") };
    // An endpoint may answer the next time.
    let problem = without(EngineError::Runtime("refused".into())).search(&hybrid).unwrap_err();
    assert_eq!((problem.status, problem.code), (503, "embedder-unavailable"));
    let service = without(EngineError::Usage("the model is not there".into()));
    assert_eq!(service.search(&SearchRequest::new("starter")).unwrap().mode, Mode::Bm25);
    let problem = service.search(&hybrid).unwrap_err();
    assert_eq!((problem.status, problem.code), (400, "no-such-mode"));
    assert!(problem.detail.contains("the model is not there"), "{problem}");
    let told = service.warm();
    assert!(told.len() == 1 && told[0].contains("by words alone"), "{told:?}");
    assert_eq!(service.indexes().unwrap().indexes[0].modes, [Mode::Bm25]);
}

#[test]
fn an_encoder_of_another_make_is_refused() {
    let folder = make_index();
    let place = NamedPlace::parse(folder.path().join(INDEX).to_str().unwrap()).unwrap();
    let other = || BagOfWords { fingerprint: "v2", texts: Default::default(), poison: None };
    let options =
        ServiceOptions { encoders: Arc::new(move |_| Ok(Some(Arc::new(other())))), ..ServiceOptions::default() };
    let service = Service::open(vec![place], options).unwrap();
    let dense = SearchRequest { mode: Some(Mode::Dense), ..SearchRequest::new("starter") };
    assert!(service.search(&dense).unwrap_err().detail.contains("v2"));
}
