//! Fetches all-MiniLM-L6-v2 into `$PERICOPE_HOME`, as `pericope models pull minilm` does.

use pericope_neural::models::{self, Progress, PullOptions};

fn main() -> Result<(), models::ModelError> {
    let dir = models::pull("minilm", &PullOptions::default(), &mut |event| match event {
        Progress::Note(text) => eprintln!("{text}"),
        Progress::Ready(file) => eprintln!("{file}: whole"),
        _ => {}
    })?;
    println!("{}", dir.path.display());
    Ok(())
}
