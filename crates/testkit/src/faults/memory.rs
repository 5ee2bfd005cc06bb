//! The memory of a traced process.

use std::ffi::OsString;
use std::io::IoSliceMut;
use std::os::unix::ffi::OsStringExt;

use nix::errno::Errno;
use nix::sys::ptrace;
use nix::sys::uio::{RemoteIoVec, process_vm_readv};
use nix::unistd::Pid;

/// Longest path.
const LONGEST: usize = 4096;
/// Reading does not go over the end of a page that may be the last one.
const PAGE: usize = 4096;
/// Entry of the auxiliary vector that says where the kernel's own library is, by which the time is read without a call.
const AT_SYSINFO_EHDR: i64 = 33;
/// Entry that is passed over.
const AT_IGNORE: i64 = 1;

/// The text at an address, to its zero.
pub(super) fn text(pid: Pid, address: u64) -> Option<OsString> {
    let mut found = Vec::new();
    let mut at = usize::try_from(address).ok()?;
    while found.len() < LONGEST {
        let mut bytes = vec![0; PAGE - at % PAGE];
        let remote = [RemoteIoVec { base: at, len: bytes.len() }];
        let read = process_vm_readv(pid, &mut [IoSliceMut::new(&mut bytes)], &remote).ok()?;
        bytes.truncate(read);
        match bytes.iter().position(|&byte| byte == 0) {
            Some(end) => {
                found.extend_from_slice(&bytes[..end]);
                return Some(OsString::from_vec(found));
            }
            None if read == 0 => return None,
            None => found.extend_from_slice(&bytes),
        }
        at += read;
    }
    None
}

fn word(pid: Pid, address: u64) -> Result<i64, Errno> {
    ptrace::read(pid, address as ptrace::AddressType)
}

/// Adds to the number at an address.
pub(super) fn add(pid: Pid, address: u64, by: i64) -> Result<(), Errno> {
    let number = word(pid, address)?;
    ptrace::write(pid, address as ptrace::AddressType, number.saturating_add(by))
}

/// Hides the kernel's own library from a program that was just started, so that it asks for the time by calls. `stack` is
/// its stack pointer: there lie the number of arguments, the arguments, the environment, and the auxiliary vector.
pub(super) fn hide_fast_clock(pid: Pid, stack: u64) -> Result<(), Errno> {
    let arguments = u64::try_from(word(pid, stack)?).unwrap_or(0);
    let mut at = stack + 8 * (arguments + 2);
    while word(pid, at)? != 0 {
        at += 8;
    }
    at += 8;
    loop {
        match word(pid, at)? {
            0 => return Ok(()),
            AT_SYSINFO_EHDR => return ptrace::write(pid, at as ptrace::AddressType, AT_IGNORE),
            _ => at += 16,
        }
    }
}
