//! Many processes search while one indexes, deletes and rebuilds.
//!
//! `PERICOPE_READERS` says how many (4 unless set), `PERICOPE_READ_SECONDS` how long (3 unless set); `scripts/readers` has
//! 32 of them search for a minute.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use pericope_api::Document;
use pericope_index::{IndexError, IndexReader, IndexWriter, Mode, Query, Retriever};
use pericope_store::Freshness;
use pericope_testkit::documents::sentence_chunks;

use crate::dense_spec;

/// Names the index to the processes that search it.
const INDEX: &str = "PERICOPE_READ_INDEX";
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
    while Instant::now() < until {
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

#[test]
fn many_search_while_one_writes_and_rebuilds() {
    let dir = tempfile::tempdir().unwrap();
    let index = dir.path().join("x");
    write(IndexWriter::create_or_open(&index, &dense_spec()).unwrap(), 0);
    let start = || -> Child {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "together::reads_in_a_process_of_its_own", "--nocapture"]).env(INDEX, &index);
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };
    let readers: Vec<Child> = (0..number("PERICOPE_READERS", 4)).map(|_| start()).collect();
    let until = Instant::now() + Duration::from_secs(number("PERICOPE_READ_SECONDS", 3));
    let (mut generation, mut locked) = (0, 0);
    while Instant::now() < until {
        generation += 1;
        let writer = match generation % 5 {
            4 => IndexWriter::rebuild(&index, &dense_spec()),
            _ => IndexWriter::create_or_open(&index, &dense_spec()),
        };
        match writer {
            Ok(writer) => write(writer, generation),
            Err(IndexError::Locked { .. }) => locked += 1,
            Err(error) => panic!("{error}"),
        }
    }
    assert_eq!(locked, 0, "readers take no lock");
    assert!(generation > 5, "{generation} generations");
    let mut sums = [0.0_f64; 3];
    let mut longest = [0.0_f64; 2];
    for reader in readers {
        let output = reader.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success(), "{said}{}", String::from_utf8_lossy(&output.stderr));
        let line = said.lines().find_map(|line| line.strip_prefix("SEARCHED ")).expect("it searched");
        let figures: Vec<f64> = line.split(' ').map(|figure| figure.parse().unwrap()).collect();
        sums.iter_mut().zip(&figures).for_each(|(sum, figure)| *sum += figure);
        longest.iter_mut().zip(&figures[3..]).for_each(|(most, &figure)| *most = most.max(figure));
        assert!(figures[0] >= 3.0);
    }
    println!(
        "| {generation} | {:.0} | {:.0} | {:.0} | {:.1} | {:.1} |",
        sums[0], sums[1], sums[2], longest[0], longest[1]
    );
}
