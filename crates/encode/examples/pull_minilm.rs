//! Fetches all-MiniLM-L6-v2 into `$PERICOPE_HOME`, as `pericope models pull minilm` does.

use pericope_encode::models::{self, Progress};

fn main() -> Result<(), models::ModelError> {
    let dir = models::pull("minilm", &mut |event| match event {
        Progress::Note(text) => eprintln!("{text}"),
        Progress::Ready(file) => eprintln!("{file}: whole"),
        _ => {}
    })?;
    println!("{}", dir.path.display());
    Ok(())
}
