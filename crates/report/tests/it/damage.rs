//! Reports of runs whose files are damaged, or say what no run says: an error in one line, or pages; never a panic.

use std::fs;
use std::path::Path;

use pericope_report::run::{Report, table, write};
use serde_json::{Value, json};

use crate::support::Numbers;

const FILES: [&str; 3] = ["run.json", "summary.json", "items.jsonl"];

/// What a value is replaced by: mostly by one of its own kind, which a run would not write.
fn strange(value: &Value, random: &mut Numbers) -> Value {
    let of_another_kind = [json!(null), json!(""), json!([]), json!({}), json!(true), json!(-1)];
    let of_its_kind = match value {
        _ if random.below(10) == 0 => of_another_kind.to_vec(),
        Value::Number(n) if n.is_u64() => vec![json!(u64::MAX), json!(0), json!(1), json!(u64::MAX / 2)],
        Value::Number(_) => vec![json!(1e308), json!(-1e308), json!(5e-324), json!(-0.0), json!(u64::MAX), json!(null)],
        Value::String(_) => vec![json!(""), json!("\u{0}\u{202e}</script>"), json!("é".repeat(70_000))],
        Value::Array(list) => vec![json!([]), json!([list.as_slice(), list.as_slice()].concat())],
        _ => of_another_kind.to_vec(),
    };
    of_its_kind[random.below(of_its_kind.len())].clone()
}

/// Replaces one value somewhere in a document.
fn replace_one(value: &mut Value, random: &mut Numbers) {
    let more = random.below(8) > 0;
    match value {
        Value::Array(list) if more && !list.is_empty() => {
            let at = random.below(list.len());
            replace_one(&mut list[at], random);
        }
        Value::Object(table) if more && !table.is_empty() => {
            let at = random.below(table.len());
            if let Some(inner) = table.values_mut().nth(at) {
                replace_one(inner, random);
            }
        }
        other => *other = strange(other, random),
    }
}

/// Spoils a file: its values, its bytes, its lines or its end.
fn spoil(path: &Path, random: &mut Numbers) {
    let mut bytes = fs::read(path).unwrap();
    match random.below(6) {
        0 => {
            let at = random.below(bytes.len());
            bytes.truncate(at);
        }
        1 => {
            let at = random.below(bytes.len());
            let end = (at + 1 + random.below(64)).min(bytes.len());
            bytes[at..end].iter_mut().for_each(|byte| *byte ^= 0xff);
        }
        _ if path.extension().is_some_and(|e| e == "jsonl") => {
            let mut lines: Vec<Vec<u8>> = bytes.split(|b| *b == b'\n').map(<[u8]>::to_vec).collect();
            for _ in 0..1 + random.below(3) {
                let at = random.below(lines.len());
                if let Ok(mut value) = serde_json::from_slice::<Value>(&lines[at]) {
                    replace_one(&mut value, random);
                    lines[at] = value.to_string().into_bytes();
                }
            }
            bytes = lines.join(&b'\n');
        }
        _ => {
            let mut value: Value = serde_json::from_slice(&bytes).unwrap();
            (0..1 + random.below(3)).for_each(|_| replace_one(&mut value, random));
            bytes = value.to_string().into_bytes();
        }
    }
    fs::write(path, bytes).unwrap();
}

#[test]
fn a_damaged_run_is_one_line_or_a_page_and_never_a_panic() {
    let folder = tempfile::tempdir().unwrap();
    let (dir, out) = (folder.path().join("run"), folder.path().join("out"));
    let (summary, run, items) = crate::support::run(4);
    crate::report::save(&dir, &summary, &run, &items);
    let sound: Vec<Vec<u8>> = FILES.iter().map(|name| fs::read(dir.join(name)).unwrap()).collect();
    let mut random = Numbers::new(11);
    let (mut refused, mut written) = (0, 0);
    for round in 0..300 {
        let name = FILES[random.below(FILES.len())];
        spoil(&dir.join(name), &mut random);
        match Report::load(&dir) {
            Ok(report) => {
                let _ = table(&report.summary, 100);
                write(&out, &report).unwrap();
                written += 1;
            }
            Err(error) => {
                let said = error.to_string();
                assert!(said.contains(name) && !said.contains('\n'), "round {round}: {said}");
                refused += 1;
            }
        }
        FILES.iter().zip(&sound).for_each(|(name, bytes)| fs::write(dir.join(name), bytes).unwrap());
    }
    assert!(refused > 30 && written > 30, "{refused} refused, {written} written");
}
