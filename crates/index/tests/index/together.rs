//! Many processes search while one indexes, deletes and rebuilds, and while writers are killed.
//!
//! `PERICOPE_READERS` says how many (4 unless set), `PERICOPE_READ_SECONDS` how long (3 unless set), `PERICOPE_READ_KILLS` how
//! many writers are killed (8 unless set); `scripts/readers` has 32 of them search for a minute, and then beside 200 kills.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use pericope_api::Document;
use pericope_index::{IndexError, IndexReader, IndexWriter, Mode, Query, Retriever};
use pericope_store::Freshness;
use pericope_testkit::documents::sentence_chunks;

use crate::dense_spec;

/// Names the index to the processes that search it.
const INDEX: &str = "PERICOPE_READ_INDEX";
/// Names the index to the process that writes it until it is killed,
const WRITTEN: &str = "PERICOPE_WRITTEN_INDEX";
/// and the generation it begins with.
const FROM: &str = "PERICOPE_WRITTEN_FROM";
/// The file beside the index whose appearance ends the readers.
const STOP: &str = "stop";
/// A process that is being started holds what this one has open for a moment, its locks too: of the tests that start
/// processes one runs at a time.
static ALONE: Mutex<()> = Mutex::new(());
const DOCUMENTS: usize = 12;
const SENTENCES: usize = 3;

fn number(name: &str, unless_set: u64) -> u64 {
    std::env::var(name).map_or(unless_set, |text| text.parse().expect("a number"))
}

/// A document of a generation that has so many chunks in all.
fn page(number: usize, generation: u64, chunks: usize) -> Document {
    let sentences: Vec<String> =
        (0..SENTENCES).map(|i| format!("fox {number} {i} generation g{generation} with c{chunks} in all.")).collect();
    Document::from_sentences(&format!("page-{number:02}.md"), &sentences)
}

/// Brings all documents, or but every third, to a generation in one commit.
fn write(mut writer: IndexWriter, generation: u64) {
    let there = |number: usize| generation % 3 != 1 || !number.is_multiple_of(3);
    let chunks = (0..DOCUMENTS).filter(|&number| there(number)).count() * SENTENCES;
    for number in 0..DOCUMENTS {
        let document = page(number, generation, chunks);
        match there(number) {
            true => writer.add(&document, &sentence_chunks(&document)).unwrap(),
            false => drop(writer.remove(&document.id).unwrap()),
        }
    }
    writer.finish().unwrap();
}

/// Asks for all chunks, and checks that they are of one generation and all of it.
fn look(reader: &IndexReader, mode: Mode) -> u64 {
    let hits = reader.search(&Query::new("fox", mode, 10 * DOCUMENTS * SENTENCES)).unwrap();
    let words = |start: char| -> BTreeSet<u64> {
        let texts = hits.iter().flat_map(|hit| hit.chunk.text.split(' '));
        texts.filter_map(|word| word.strip_prefix(start)?.parse().ok()).collect()
    };
    let (generations, chunks) = (words('g'), words('c'));
    assert_eq!((generations.len(), chunks.len()), (1, 1), "{mode}: generations {generations:?}, chunks {chunks:?}");
    assert_eq!(chunks.first(), Some(&(hits.len() as u64)), "{mode}: generation {generations:?}");
    generations.into_iter().next().unwrap()
}

/// One of the processes: does nothing where it is not told which index to search.
#[test]
fn reads_in_a_process_of_its_own() {
    let Some(dir) = std::env::var_os(INDEX) else { return };
    let dir = Path::new(&dir);
    let open = || IndexReader::open_expecting(dir, &dense_spec()).unwrap();
    let until = Instant::now() + Duration::from_secs(number("PERICOPE_READ_SECONDS", 3));
    let (mut reader, mut seen, mut searches, mut replaced) = (open(), BTreeSet::new(), 0_u64, 0_u64);
    let (mut longest, mut longest_wait) = (Duration::ZERO, Duration::ZERO);
    let stop = dir.with_file_name(STOP);
    while Instant::now() < until && !stop.exists() {
        let before = Instant::now();
        match reader.refresh().unwrap() {
            Freshness::Replaced => {
                reader = open();
                replaced += 1;
            }
            Freshness::Newer | Freshness::Same => {}
        }
        longest_wait = longest_wait.max(before.elapsed());
        for mode in [Mode::Bm25, Mode::Dense, Mode::Hybrid] {
            let before = Instant::now();
            let generation = look(&reader, mode);
            longest = longest.max(before.elapsed());
            assert!(seen.last().is_none_or(|&last| last <= generation), "{generation} after {seen:?}");
            seen.insert(generation);
            searches += 1;
        }
    }
    let ms = |time: Duration| time.as_secs_f64() * 1e3;
    println!("SEARCHED {searches} {} {replaced} {:.1} {:.1}", seen.len(), ms(longest_wait), ms(longest));
}

/// Starts a test of this file in a process of its own, with these variables.
fn start(test: &str, variables: &[(&str, &str)]) -> Child {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command.args(["--exact", &format!("together::{test}"), "--nocapture"]).envs(variables.iter().copied());
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
}

fn start_readers(index: &Path, seconds: &str) -> Vec<Child> {
    let variables = [(INDEX, index.to_str().unwrap()), ("PERICOPE_READ_SECONDS", seconds)];
    (0..number("PERICOPE_READERS", 4)).map(|_| start("reads_in_a_process_of_its_own", &variables)).collect()
}

/// Opens the index for a generation, every fifth time to rebuild it.
fn writer(index: &Path, generation: u64) -> Result<IndexWriter, IndexError> {
    match generation % 5 {
        4 => IndexWriter::rebuild(index, &dense_spec()),
        _ => IndexWriter::create_or_open(index, &dense_spec()),
    }
}

/// What the readers saw: searches, generations and rebuilds of all, and the longest look and search in milliseconds.
fn ended(readers: Vec<Child>) -> [f64; 5] {
    let mut all = [0.0_f64; 5];
    for reader in readers {
        let output = reader.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
        let line = said.lines().find_map(|line| line.strip_prefix("SEARCHED ")).expect("it searched");
        let figures: Vec<f64> = line.split(' ').map(|figure| figure.parse().unwrap()).collect();
        assert!(figures[0] >= 3.0);
        all[..3].iter_mut().zip(&figures).for_each(|(sum, figure)| *sum += figure);
        all[3..].iter_mut().zip(&figures[3..]).for_each(|(most, &figure)| *most = most.max(figure));
    }
    all
}

#[test]
fn many_search_while_one_writes_and_rebuilds() {
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = tempfile::tempdir().unwrap();
    let index = dir.path().join("x");
    write(IndexWriter::create_or_open(&index, &dense_spec()).unwrap(), 0);
    let seconds = number("PERICOPE_READ_SECONDS", 3);
    let readers = start_readers(&index, &seconds.to_string());
    let until = Instant::now() + Duration::from_secs(seconds);
    let (mut generation, mut locked) = (0, 0);
    while Instant::now() < until {
        generation += 1;
        match writer(&index, generation) {
            Ok(writer) => write(writer, generation),
            Err(IndexError::Locked { .. }) => locked += 1,
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(locked, 0, "readers take no lock");
    assert!(generation > 5, "{generation} generations");
    let [searches, seen, rebuilds, look, search] = ended(readers);
    println!("| {generation} | {searches:.0} | {seen:.0} | {rebuilds:.0} | {look:.1} | {search:.1} |");
}

/// The process that is killed: does nothing where it is not told which index to write.
#[test]
fn writes_in_a_process_of_its_own() {
    let Some(index) = std::env::var_os(WRITTEN) else { return };
    for generation in number(FROM, 1).. {
        write(writer(Path::new(&index), generation).unwrap(), generation);
    }
}

#[test]
fn many_search_while_writers_are_killed() {
    /// Generations that no writer outlives.
    const APART: u64 = 1000;
    let _alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
    let dir = tempfile::tempdir().unwrap();
    let index = dir.path().join("x");
    write(IndexWriter::create_or_open(&index, &dense_spec()).unwrap(), 0);
    let readers = start_readers(&index, "1800");
    let kills = number("PERICOPE_READ_KILLS", 8);
    let mut moment = 7_u64;
    for kill in 1..=kills {
        let from = (kill * APART + moment % 5).to_string();
        let variables = [(WRITTEN, index.to_str().unwrap()), (FROM, from.as_str())];
        let mut child = start("writes_in_a_process_of_its_own", &variables);
        moment = moment.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407) >> 8;
        std::thread::sleep(Duration::from_millis(moment % 600));
        let ended_itself = child.try_wait().unwrap();
        child.kill().unwrap();
        let output = child.wait_with_output().unwrap();
        assert_eq!(ended_itself, None, "kill {kill}: {}", String::from_utf8_lossy(&output.stderr));
    }
    // Nothing that was killed locks the index or stands in the way.
    let last = (kills + 1) * APART;
    write(writer(&index, last).unwrap(), last);
    let reader = IndexReader::open_expecting(&index, &dense_spec()).unwrap();
    assert_eq!(look(&reader, Mode::Hybrid), last);
    reader.contents().unwrap().agree().unwrap();
    std::fs::write(dir.path().join(STOP), "").unwrap();
    let [searches, seen, rebuilds, look, search] = ended(readers);
    println!("| {kills} | {searches:.0} | {seen:.0} | {rebuilds:.0} | {look:.1} | {search:.1} |");
}
