//! Runs a scenario under one fault after the other.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use pericope_testkit::documents::copy_folder;
use pericope_testkit::faults::{Call, Ended, Fault, Plan, Program, Traced, can_trace, masked, trace};
use serde_json::Value;

/// The status of a run that failed for a reason that lies outside of it.
const FAILED: i32 = 3;
/// Findings that are shown.
const SHOWN: usize = 40;

/// Something that a command does to a folder, and what may be left of it.
pub trait Scenario: Sync {
    /// The name in the table.
    fn name(&self) -> &'static str;

    /// The command, in a copy of the folder.
    fn program(&self, folder: &Path) -> Program;

    /// The folder in it whose calls fail.
    fn watched(&self) -> &'static str;

    /// What is in the folder, without times and the like.
    ///
    /// # Errors
    /// What is wrong with it, where it cannot be used.
    fn state(&self, folder: &Path) -> Result<Value, String>;

    /// Whether a fault may leave this. By default the state before or the state after.
    fn allowed(&self, state: &Value, before: &Value, after: &Value) -> bool {
        state == before || state == after
    }

    /// Whether what the next run leaves is right. By default the state after the undisturbed run.
    fn settled(&self, state: &Value, after: &Value) -> bool {
        state == after
    }
}

/// One fault to try.
struct Case {
    nth: usize,
    fault: Fault,
}

/// How often to try, and with which draw.
struct Effort {
    cases: usize,
    seed: u64,
}

impl Effort {
    fn asked() -> Self {
        let number = |name: &str| std::env::var(name).ok();
        let cases = match number("PERICOPE_FAULTS").as_deref() {
            None => 20,
            Some("all") => usize::MAX,
            Some(text) => text.parse().expect("PERICOPE_FAULTS is a number or `all`"),
        };
        Self { cases, seed: number("PERICOPE_FAULTS_SEED").map_or(7, |text| text.parse().expect("a number")) }
    }
}

/// Tries faults of a scenario, which begins with a copy of `base`.
///
/// # Panics
/// Where something else than the two states is left, or a message says nothing; with all findings.
pub fn hold(scenario: &dyn Scenario, base: &Path) {
    if !can_trace() {
        eprintln!("SKIPPED: faults of {}: processes may not be traced here", scenario.name());
        return;
    }
    let before = scenario.state(base).expect("the scenario begins well");
    let undisturbed = Copy::of(base);
    let reference = trace(&scenario.program(undisturbed.path()), &undisturbed.plan(scenario)).unwrap();
    assert_eq!(reference.ended, Ended::Status(0), "{}: {}", scenario.name(), reference.stderr);
    let after = scenario.state(undisturbed.path()).expect("the undisturbed run ends well");
    let effort = Effort::asked();
    let cases = cases(&reference.calls, &effort);
    let (next, findings) = (AtomicUsize::new(0), Mutex::new(BTreeMap::<String, usize>::new()));
    let (failed, went_on, killed) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let work = || {
        while let Some(case) = cases.get(next.fetch_add(1, Ordering::Relaxed)) {
            let copy = Copy::of(base);
            let traced = trace(&scenario.program(copy.path()), &copy.plan(scenario).at(case.nth, case.fault)).unwrap();
            match traced.ended {
                Ended::Status(0) => went_on.fetch_add(1, Ordering::Relaxed),
                Ended::Status(_) => failed.fetch_add(1, Ordering::Relaxed),
                Ended::Signal(_) => killed.fetch_add(1, Ordering::Relaxed),
            };
            if let Err(problem) = judge(scenario, case, &traced, copy.path(), (&before, &after)) {
                let call = traced.hit.as_ref().map(|call| masked(call).to_string()).unwrap_or_default();
                let finding = format!("{call}: {:?}: {problem}", case.fault);
                *findings.lock().unwrap().entry(finding).or_default() += 1;
            }
        }
    };
    std::thread::scope(|scope| {
        let workers = std::thread::available_parallelism().map_or(1, usize::from);
        (0..workers).for_each(|_| drop(scope.spawn(work)));
    });
    let kinds = reference.calls.iter().map(masked).collect::<std::collections::BTreeSet<Call>>().len();
    println!(
        "| {} | {} | {kinds} | {} | {} | {} | {} |",
        scenario.name(),
        reference.calls.len(),
        cases.len(),
        failed.into_inner(),
        went_on.into_inner(),
        killed.into_inner()
    );
    let findings = findings.into_inner().unwrap();
    let shown: Vec<String> = findings.iter().take(SHOWN).map(|(what, times)| format!("{times} x {what}")).collect();
    assert!(findings.is_empty(), "{}: {} findings:\n{}", scenario.name(), findings.len(), shown.join("\n"));
}

/// The faults that are tried: of each kind of call the first, with each of its errors and a kill, before the later ones.
fn cases(calls: &[Call], effort: &Effort) -> Vec<Case> {
    let mut kinds: BTreeMap<Call, Vec<usize>> = BTreeMap::new();
    for (nth, call) in calls.iter().enumerate() {
        kinds.entry(masked(call)).or_default().push(nth);
    }
    let (mut first, mut later) = (Vec::new(), Vec::new());
    for (call, places) in &kinds {
        for (i, &nth) in places.iter().enumerate() {
            let into = if i == 0 { &mut first } else { &mut later };
            into.extend(call.errors().iter().map(|&error| Case { nth, fault: Fault::Fails(error) }));
            into.push(Case { nth, fault: Fault::Killed });
        }
    }
    let mut state = effort.seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    for list in [&mut first, &mut later] {
        for i in (1..list.len()).rev() {
            state ^= state << 13;
            state ^= state >> 7;
            state ^= state << 17;
            list.swap(i, (state % (i as u64 + 1)) as usize);
        }
    }
    first.extend(later);
    first.truncate(effort.cases);
    first
}

/// Looks at what a fault left, and at what the next run makes of it.
fn judge(
    scenario: &dyn Scenario,
    case: &Case,
    traced: &Traced,
    folder: &Path,
    (before, after): (&Value, &Value),
) -> Result<(), String> {
    if traced.stderr.contains("panicked at ") {
        return Err(format!("it panics: {}", traced.stderr.trim()));
    }
    // The number of calls differs a little from run to run: then nothing happened.
    let expected = if traced.hit.is_none() { None } else { Some(case.fault) };
    match (traced.ended, expected) {
        (Ended::Status(0), _) | (Ended::Signal(9), Some(Fault::Killed)) => {}
        (Ended::Status(FAILED), Some(Fault::Fails(_))) => says_why(traced, scenario.watched())?,
        (ended, _) => return Err(format!("it ends with {ended:?}: {}", traced.stderr.trim())),
    }
    let left = scenario.state(folder).map_err(|problem| format!("left behind: {problem}"))?;
    let allowed = match traced.ended {
        Ended::Status(0) => left == *after,
        _ => scenario.allowed(&left, before, after),
    };
    if !allowed {
        return Err(format!("{:?} leaves neither state: {}", traced.ended, short(&left)));
    }
    let again = trace(&scenario.program(folder), &Plan::default()).map_err(|e| e.to_string())?;
    if again.ended != Ended::Status(0) {
        return Err(format!("the next run ends with {:?}: {}", again.ended, again.stderr.trim()));
    }
    let state = scenario.state(folder).map_err(|problem| format!("after the next run: {problem}"))?;
    if scenario.settled(&state, after) { Ok(()) } else { Err(format!("the next run leaves {}", short(&state))) }
}

/// A message names a file of the folder, or the folder, and what the system said.
fn says_why(traced: &Traced, watched: &str) -> Result<(), String> {
    let said = traced.stderr.trim();
    let named = said.contains(watched);
    let causes = [
        "os error",
        "No space left",
        "disk is full",
        "disk I/O error",
        "Permission denied",
        "no permission",
        "Read-only",
        "Input/output error",
        "unable to open",
        "locking protocol",
        "readonly database",
        "Cannot allocate",
        "out of memory",
        "locked",
    ];
    if !named || !causes.iter().any(|cause| said.contains(cause)) {
        return Err(format!("the message names no file or no cause: {said}"));
    }
    Ok(())
}

fn short(value: &Value) -> String {
    let text = value.to_string();
    text.chars().take(200).collect()
}

/// A copy of the folder that a scenario begins with.
struct Copy(tempfile::TempDir);

impl Copy {
    fn of(base: &Path) -> Self {
        let copy = tempfile::tempdir().unwrap();
        copy_folder(base, copy.path());
        Self(copy)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Watches the scenario's folder, which is made where it is missing so that it has a path.
    fn plan(&self, scenario: &dyn Scenario) -> Plan {
        let root = fs::canonicalize(self.path()).unwrap();
        Plan::watch(&root.join(scenario.watched()))
    }
}
