//! Runs a command under `ptrace`.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use nix::errno::Errno;
use nix::libc::{self, c_long};
use nix::sys::ptrace::{self, Options};
use nix::sys::signal::{Signal, kill};
use nix::sys::wait::{WaitPidFlag, WaitStatus, waitpid};
use nix::unistd::Pid;

use super::calls::watched;
use super::{Ended, Fault, Plan, Program, Traced, memory};

/// The kind of a stop at a system call: before it, and after.
const ENTRY: u8 = 1;
const EXIT: u8 = 2;

/// Runs a command to its end, with the fault of the plan.
///
/// # Errors
/// Where the command cannot be started, or may not be traced.
pub fn trace(program: &Program, plan: &Plan) -> io::Result<Traced> {
    // A tracer is one thread, and here it waits for its own children alone: tests run beside each other.
    std::thread::scope(|scope| scope.spawn(|| on_this_thread(program, plan)).join().expect("the tracer does not panic"))
}

fn on_this_thread(program: &Program, plan: &Plan) -> io::Result<Traced> {
    let out = tempfile::tempdir()?;
    let (stdout, stderr) = (out.path().join("stdout"), out.path().join("stderr"));
    // The shell waits for a line, so that the tracer has hold of it before the program begins.
    let mut command = Command::new("/bin/sh");
    command.args(["-c", "read -r go; exec \"$0\" \"$@\" < /dev/null"]).arg(&program.file).args(&program.arguments);
    command.current_dir(&program.folder).envs(program.environment.iter().map(|(name, value)| (name, value)));
    command.stdin(Stdio::piped()).stdout(File::create(&stdout)?).stderr(File::create(&stderr)?);
    let mut child = command.spawn()?;
    let pid = Pid::from_raw(i32::try_from(child.id()).expect("process numbers are positive"));
    let options = Options::PTRACE_O_TRACESYSGOOD
        | Options::PTRACE_O_TRACECLONE
        | Options::PTRACE_O_TRACEFORK
        | Options::PTRACE_O_TRACEVFORK
        | Options::PTRACE_O_TRACEEXEC
        | Options::PTRACE_O_EXITKILL;
    ptrace::seize(pid, options)?;
    ptrace::interrupt(pid)?;
    child.stdin.take().expect("it was piped").write_all(b"go\n")?;
    // A folder that is not there yet has the name that it was given.
    let watched = fs::canonicalize(&plan.watched).unwrap_or_else(|_| plan.watched.clone());
    let mut tracer = Tracer { plan, watched, calls: Vec::new(), hit: None, answers: HashMap::new(), started: false };
    let ended = tracer.follow(pid)?;
    Ok(Traced {
        calls: tracer.calls,
        hit: tracer.hit,
        ended,
        stdout: String::from_utf8_lossy(&fs::read(stdout)?).into_owned(),
        stderr: String::from_utf8_lossy(&fs::read(stderr)?).into_owned(),
    })
}

struct Tracer<'a> {
    plan: &'a Plan,
    watched: PathBuf,
    calls: Vec<super::Call>,
    hit: Option<super::Call>,
    /// What a thread is told when the call that it is in comes back.
    answers: HashMap<Pid, Answer>,
    /// The shell has become the program.
    started: bool,
}

/// What is done to a call when it comes back.
enum Answer {
    Error(Errno),
    /// The seconds at this address are moved.
    Clock(u64),
}

impl Tracer<'_> {
    /// Lets the process and all its threads run until it has ended.
    fn follow(&mut self, main: Pid) -> io::Result<Ended> {
        let flags = WaitPidFlag::__WALL | WaitPidFlag::__WNOTHREAD;
        let mut ended = Ended::Signal(0);
        loop {
            let (pid, signal) = match waitpid(None, Some(flags)) {
                Err(Errno::ECHILD) => return Ok(ended),
                Err(error) => return Err(error.into()),
                Ok(WaitStatus::Exited(pid, status)) => {
                    if pid == main {
                        ended = Ended::Status(status);
                    }
                    continue;
                }
                Ok(WaitStatus::Signaled(pid, signal, _)) => {
                    if pid == main {
                        ended = Ended::Signal(signal as i32);
                    }
                    continue;
                }
                Ok(WaitStatus::PtraceSyscall(pid)) => {
                    if let Err(error) = self.stopped_at_call(pid, main)
                        && error != Errno::ESRCH
                    {
                        return Err(error.into());
                    }
                    (pid, None)
                }
                Ok(WaitStatus::PtraceEvent(pid, _, event)) => {
                    if event == libc::PTRACE_EVENT_EXEC {
                        self.started = true;
                        if self.plan.clock != 0 {
                            memory::hide_fast_clock(pid, ptrace::getregs(pid)?.rsp)?;
                        }
                    }
                    (pid, None)
                }
                Ok(WaitStatus::Stopped(pid, signal)) => (pid, Some(signal)),
                Ok(_) => continue,
            };
            match ptrace::syscall(pid, signal) {
                // It was killed meanwhile, and the next wait says so.
                Ok(()) | Err(Errno::ESRCH) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    fn stopped_at_call(&mut self, pid: Pid, main: Pid) -> Result<(), Errno> {
        match ptrace::syscall_info(pid)?.op {
            ENTRY if self.started => self.before(pid, main),
            EXIT => self.after(pid),
            _ => Ok(()),
        }
    }

    /// A call is about to be made.
    fn before(&mut self, pid: Pid, main: Pid) -> Result<(), Errno> {
        let mut registers = ptrace::getregs(pid)?;
        if self.plan.clock != 0
            && let Some(address) = asks_for_time(&registers)
        {
            self.answers.insert(pid, Answer::Clock(address));
        }
        let Some(call) = watched(pid, &registers, &self.watched) else { return Ok(()) };
        let number = self.calls.len();
        self.calls.push(call.clone());
        let Some((_, fault)) = self.plan.fault.filter(|(nth, _)| *nth == number) else { return Ok(()) };
        self.hit = Some(call);
        match fault {
            Fault::Killed => kill(main, Signal::SIGKILL),
            Fault::Fails(error) => {
                // A call of no number does nothing; its answer is put in afterwards.
                registers.orig_rax = u64::MAX;
                self.answers.insert(pid, Answer::Error(error));
                ptrace::setregs(pid, registers)
            }
        }
    }

    /// A call has come back.
    fn after(&mut self, pid: Pid) -> Result<(), Errno> {
        let Some(answer) = self.answers.remove(&pid) else { return Ok(()) };
        match answer {
            Answer::Error(error) => {
                let mut registers = ptrace::getregs(pid)?;
                registers.rax = (-i64::from(error as i32)) as u64;
                ptrace::setregs(pid, registers)
            }
            Answer::Clock(address) => memory::add(pid, address, self.plan.clock),
        }
    }
}

/// The address of the seconds, where a call asks for the time of day.
fn asks_for_time(registers: &libc::user_regs_struct) -> Option<u64> {
    match c_long::try_from(registers.orig_rax).ok()? {
        libc::SYS_clock_gettime => {
            let clock = i32::try_from(registers.rdi).ok()?;
            [libc::CLOCK_REALTIME, libc::CLOCK_REALTIME_COARSE].contains(&clock).then_some(registers.rsi)
        }
        libc::SYS_gettimeofday => Some(registers.rdi).filter(|&address| address != 0),
        _ => None,
    }
}
