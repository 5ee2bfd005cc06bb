//! `pericope-fuzz-guided`: the target that `PERICOPE_FUZZ_TARGET` names under libFuzzer.
//!
//! libFuzzer ends at the first panic. Here a panic is written down once for each place, in the folder that
//! `PERICOPE_FUZZ_FINDINGS` names, and the run goes on; what kills the process still ends it.
#![no_main]

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::sync::{Mutex, OnceLock, PoisonError};

use libfuzzer_sys::{Corpus, fuzz_target};
use pericope_fuzz::{Target, find, findings};

fn target() -> &'static Target {
    static TARGET: OnceLock<&'static Target> = OnceLock::new();
    TARGET.get_or_init(|| {
        let name = std::env::var("PERICOPE_FUZZ_TARGET").unwrap_or_default();
        find(&name).unwrap_or_else(|| {
            eprintln!("error: PERICOPE_FUZZ_TARGET names no target; `pericope-fuzz list` names all");
            std::process::exit(2)
        })
    })
}

static PLACES: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());

fuzz_target!(init: { target(); findings::install() }, |data: &[u8]| -> Corpus {
    let Err(finding) = findings::guarded(target(), data) else { return Corpus::Keep };
    if PLACES.lock().unwrap_or_else(PoisonError::into_inner).insert(finding.place.clone()) {
        eprintln!("FINDING {}: {}", finding.place, finding.message);
        let folder = std::env::var_os("PERICOPE_FUZZ_FINDINGS").map_or_else(|| PathBuf::from("."), PathBuf::from);
        if let Err(error) = findings::save(&folder, target().name, &finding.place, data) {
            eprintln!("error: {}: {error}", folder.display());
        }
    }
    Corpus::Reject
});
