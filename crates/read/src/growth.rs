//! Work and memory of reading nasty documents: in a document of twice the size, twice as much.
//!
//! Bytes that the parsers look at and bytes that are allocated are counted. No clock is read, so that a slow machine fails
//! no test.
#![allow(clippy::unwrap_used)]

use allocation_counter::AllocationInfo;
use pericope_testkit::hostile;

use crate::{ReadOptions, read_bytes, work};

/// Bytes that a parser may look at for each byte of the largest input.
const MOST_WORK: usize = 400;
/// Bytes that may be in memory at once for each byte of the largest input.
const MOST_MEMORY: u64 = 400;

/// What reading a document costs.
#[derive(Debug, Clone, Copy)]
struct Cost {
    bytes: usize,
    looked: usize,
    peak: u64,
    allocated: u64,
}

fn cost(format: &str, bytes: Vec<u8>) -> Cost {
    let len = bytes.len();
    let options = ReadOptions::default();
    work::take();
    let mut documents = Vec::new();
    let AllocationInfo { bytes_max, bytes_total, .. } = allocation_counter::measure(|| {
        read_bytes("d", format, bytes, &options, &mut |document| documents.push(document));
    });
    let looked = work::take();
    for document in documents.into_iter().flatten() {
        assert_eq!(document.check(), Ok(()), "{format}");
    }
    Cost { bytes: len, looked, peak: bytes_max, allocated: bytes_total }
}

/// The quantities that a document costs too much of, beside one of half its size.
fn excess(one: Cost, two: Cost) -> Vec<&'static str> {
    let size = two.bytes as f64 / one.bytes as f64;
    let grows = |one: f64, two: f64, slack: f64| two > one * size * 1.25 + slack;
    let slack = 64.0 * 1024.0;
    let worse = [
        ("work", grows(one.looked as f64, two.looked as f64, slack) || two.looked > MOST_WORK * two.bytes),
        ("memory", grows(one.peak as f64, two.peak as f64, slack) || two.peak > MOST_MEMORY * two.bytes as u64),
        ("allocations", grows(one.allocated as f64, two.allocated as f64, 4.0 * slack)),
    ];
    worse.into_iter().filter(|(_, worse)| *worse).map(|(what, _)| what).collect()
}

/// The scale of the smaller document: large beside all windows and bounds of the readers.
const SCALE: usize = 50_000;

#[test]
fn work_and_memory_are_linear_in_the_size_of_any_document() {
    let mut bad = Vec::new();
    for family in hostile::families().filter(|family| family.extension != "pdf") {
        // What is set up once is no part of the first measurement.
        cost(family.extension, (family.make)(1));
        let [one, two] = [SCALE, 2 * SCALE].map(|scale| cost(family.extension, (family.make)(scale)));
        bad.extend(excess(one, two).into_iter().map(|what| (family.name, what, one, two)));
    }
    assert!(bad.is_empty(), "{bad:#?}");
}

/// Pieces that make a nasty document where they are repeated.
const PIECES: &[(&str, &[&str])] = &[
    ("plain", &["word ", "a. ", "\n\n", "a\n\n"]),
    (
        "markdown",
        &[
            "word ",
            "x",
            "a. ",
            "*a* ",
            "[a](b) ",
            "[",
            "`a` b. ",
            "- a\n",
            "> a\n",
            "[a]: b\n",
            "-\n",
            "# a\n",
            "<b>a</b> ",
            "<div>\n\n",
        ],
    ),
    (
        "html",
        &[
            "<p>a. b</p>",
            "<div>",
            "<table>",
            "<p>&nbsp;",
            "<br>",
            "<h1>a",
            "&",
            "<nav>",
            "<div><nav></div>",
            "<header><h1>a</h1></header>",
            "<main>a</main>",
            "<h2 id=a>b</h2>",
        ],
    ),
    ("mdx", &["<A>a</A> ", "<A b={c}>\n\n", "import {\n\n"]),
    (
        "rst",
        &[
            "a\n=\n\n",
            "*a ``b `c |d ",
            "- a\n",
            "- ",
            "a\n b\n",
            ".. a\n",
            ".. note::\n\n",
            ".. |a| replace:: b\n",
            "=== ===\n",
            "=== ===\na\n",
            "+-+\n",
            "a_ ",
            "a_",
            "\\",
            "a::\n\n",
        ],
    ),
    (
        "asciidoc",
        &[
            "== a\n\n",
            "* a\n",
            "*a _b `c #d ",
            "*a* ",
            "link:a[b] <<c>> ",
            "link:a[",
            "[source]\n",
            "----\n....\n",
            "--\n====\n",
            "a::\n",
            ":a: b\n",
            "^a^",
            "[a",
        ],
    ),
];

#[test]
fn repeated_pieces_cost_what_they_weigh() {
    let mut bad = Vec::new();
    for (format, pieces) in PIECES {
        for piece in *pieces {
            let [one, two] =
                [SCALE, 2 * SCALE].map(|scale| cost(format, piece.repeat(scale / piece.len()).into_bytes()));
            bad.extend(excess(one, two).into_iter().map(|what| (format, piece, what, one, two)));
        }
    }
    assert!(bad.is_empty(), "{bad:#?}");
}

/// The counter itself: a family that no reader knows how to read in linear time would be found.
#[test]
fn quadratic_work_is_seen() {
    let search_from_everywhere = |n: usize| {
        work::take();
        let text = "a".repeat(n);
        (0..n).filter(|&at| work::find(&text[at..], "b").is_some()).count();
        work::take()
    };
    assert!(search_from_everywhere(2_000) > 3 * search_from_everywhere(1_000));
}
