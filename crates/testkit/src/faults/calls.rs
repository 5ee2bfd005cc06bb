//! The system calls that a disk can let fail, and which file each is about.

use std::fmt;
use std::path::{Path, PathBuf};

use nix::errno::Errno;
use nix::libc::{self, c_long, user_regs_struct};
use nix::unistd::Pid;

use super::memory;

/// A system call on a file.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Call {
    /// Its name: `write`, `fsync`; `create` is an opening for writing, `open` one for reading.
    pub name: &'static str,
    /// The file, below the watched folder.
    pub path: PathBuf,
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.name, self.path.display())
    }
}

impl Call {
    /// Returns the errors that a disk can answer with, likeliest first.
    #[must_use]
    pub fn errors(&self) -> &'static [Errno] {
        match self.name {
            "write" | "allocate" => &[Errno::ENOSPC, Errno::EIO],
            "sync" => &[Errno::EIO, Errno::ENOSPC],
            "create" => &[Errno::EACCES, Errno::ENOSPC, Errno::EROFS],
            "mkdir" | "rename" | "link" => &[Errno::ENOSPC, Errno::EACCES],
            "remove" | "truncate" | "mode" => &[Errno::EACCES, Errno::EROFS],
            "lock" => &[Errno::ENOLCK],
            "map" => &[Errno::ENOMEM],
            "open" | "list" | "stat" => &[Errno::EACCES, Errno::EIO],
            _ => &[Errno::EIO],
        }
    }
}

/// Where a call says which file it is about.
enum File {
    /// A path at this argument, below the folder of the descriptor at that one (none: the working folder).
    Path(usize, Option<usize>),
    /// A descriptor at this argument.
    Descriptor(usize),
}

/// The name of a call and where its file stands; `None` for calls that no disk lets fail.
fn known(number: c_long, arguments: &[u64; 6]) -> Option<(&'static str, File)> {
    use File::{Descriptor, Path};
    let opened = |flags: u64| {
        let writing = (libc::O_WRONLY | libc::O_RDWR | libc::O_CREAT | libc::O_TRUNC) as u64;
        if flags & writing == 0 { "open" } else { "create" }
    };
    Some(match number {
        libc::SYS_open => (opened(arguments[1]), Path(0, None)),
        libc::SYS_creat => ("create", Path(0, None)),
        libc::SYS_openat => (opened(arguments[2]), Path(1, Some(0))),
        libc::SYS_stat | libc::SYS_lstat | libc::SYS_access => ("stat", Path(0, None)),
        libc::SYS_newfstatat | libc::SYS_statx | libc::SYS_faccessat | libc::SYS_faccessat2 => {
            ("stat", Path(1, Some(0)))
        }
        libc::SYS_mkdir => ("mkdir", Path(0, None)),
        libc::SYS_mkdirat => ("mkdir", Path(1, Some(0))),
        libc::SYS_rename => ("rename", Path(1, None)),
        libc::SYS_renameat | libc::SYS_renameat2 => ("rename", Path(3, Some(2))),
        libc::SYS_link => ("link", Path(1, None)),
        libc::SYS_linkat => ("link", Path(3, Some(2))),
        libc::SYS_unlink | libc::SYS_rmdir => ("remove", Path(0, None)),
        libc::SYS_unlinkat => ("remove", Path(1, Some(0))),
        libc::SYS_truncate => ("truncate", Path(0, None)),
        libc::SYS_read | libc::SYS_pread64 | libc::SYS_readv | libc::SYS_preadv => ("read", Descriptor(0)),
        libc::SYS_write | libc::SYS_pwrite64 | libc::SYS_writev | libc::SYS_pwritev => ("write", Descriptor(0)),
        libc::SYS_copy_file_range => ("write", Descriptor(2)),
        libc::SYS_sendfile => ("write", Descriptor(0)),
        libc::SYS_fsync | libc::SYS_fdatasync => ("sync", Descriptor(0)),
        libc::SYS_ftruncate => ("truncate", Descriptor(0)),
        libc::SYS_fallocate => ("allocate", Descriptor(0)),
        libc::SYS_fchmod => ("mode", Descriptor(0)),
        libc::SYS_flock => ("lock", Descriptor(0)),
        libc::SYS_fcntl => match i32::try_from(arguments[1]).ok()? {
            // Letting go of a lock does not fail; SQLite's calls for that are told from the others by memory alone.
            libc::F_SETLK | libc::F_SETLKW | libc::F_OFD_SETLK | libc::F_OFD_SETLKW => ("lock", Descriptor(0)),
            _ => return None,
        },
        libc::SYS_getdents64 => ("list", Descriptor(0)),
        libc::SYS_mmap => ("map", Descriptor(4)),
        _ => return None,
    })
}

/// The call that a process is about to make, if it concerns what is below `watched`.
pub(super) fn watched(pid: Pid, registers: &user_regs_struct, watched: &Path) -> Option<Call> {
    if watched.as_os_str().is_empty() {
        return None;
    }
    let r = registers;
    let arguments = [r.rdi, r.rsi, r.rdx, r.r10, r.r8, r.r9];
    let (name, file) = known(c_long::try_from(r.orig_rax).ok()?, &arguments)?;
    let of_descriptor = |number: u64| {
        // Descriptors are 32 bits, and -100 is the working folder.
        let number = number as u32 as i32;
        let link = if number == libc::AT_FDCWD { "cwd".to_owned() } else { format!("fd/{number}") };
        std::fs::read_link(format!("/proc/{pid}/{link}")).ok()
    };
    let path = match file {
        File::Descriptor(at) => of_descriptor(arguments[at])?,
        File::Path(at, below) => {
            let path = PathBuf::from(memory::text(pid, arguments[at])?);
            // An empty path is the descriptor itself.
            let folder = of_descriptor(below.map_or(libc::AT_FDCWD as u64, |at| arguments[at]));
            if path.is_absolute() { path } else { folder?.join(path) }
        }
    };
    let path = path.components().collect::<PathBuf>();
    let below = path.strip_prefix(watched).ok()?;
    Some(Call { name, path: below.to_owned() })
}

/// Returns the call with what is drawn by chance in names replaced, so that the calls of two runs can be told to be the same.
#[must_use]
pub fn masked(call: &Call) -> Call {
    let text = call.path.to_string_lossy();
    let part = |part: &str| -> String {
        let pieces: Vec<&str> = part.split('.').collect();
        let drawn = |i: usize, piece: &str| {
            let hexadecimal = piece.len() >= 16 && piece.chars().all(|c| c.is_ascii_hexdigit() || c == '-');
            hexadecimal || pieces.get(i + 1) == Some(&"unfinished") || (piece.starts_with("tmp") && piece.len() == 9)
        };
        let shown: Vec<String> = (pieces.iter().enumerate())
            .map(|(i, piece)| if drawn(i, piece) { "*".to_owned() } else { (*piece).to_owned() })
            .collect();
        shown.join(".")
    };
    let parts: Vec<String> = text.split('/').map(part).collect();
    Call { name: call.name, path: parts.join("/").into() }
}

#[cfg(test)]
mod tests {
    use super::{Call, masked};

    #[test]
    fn names_drawn_by_chance_are_masked() {
        for (path, shown) in [
            ("i/text/0123456789abcdef0123456789abcdef.fast", "i/text/*.fast"),
            ("i/text/.tmpAbCdEf", "i/text/.*"),
            ("out/run.json.x7Yz01.unfinished", "out/run.json.*.unfinished"),
            ("i/manifest.sqlite", "i/manifest.sqlite"),
        ] {
            assert_eq!(masked(&Call { name: "write", path: path.into() }).path.to_str(), Some(shown));
        }
    }
}
