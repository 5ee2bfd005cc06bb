//! What a worker forbids itself.

/// What the process takes before it has read anything.
#[derive(Debug, Default, Clone, Copy)]
pub(super) struct Base {
    /// Bytes of its address space.
    #[cfg(target_os = "linux")]
    size: u64,
    /// Bytes of its private memory that may be written.
    #[cfg(target_os = "linux")]
    data: u64,
}

/// Gives up what reading does not need: files, and what a crash leaves behind. Limits that the system does not know are
/// passed over.
pub(super) fn lock() -> Base {
    // Looked at before files are out of reach.
    let base = Base::now();
    #[cfg(unix)]
    {
        use rustix::process::{Resource, Rlimit, setrlimit};
        let none = Rlimit { current: Some(0), maximum: Some(0) };
        let _ = setrlimit(Resource::Core, none);
        let _ = setrlimit(Resource::Fsize, none);
        // What is open stays so: the three ends of the conversation.
        let _ = setrlimit(Resource::Nofile, none);
    }
    base
}

/// Limits memory to `bytes` above what the process took at its start; 0 is no limit. Linux alone can say no.
pub(super) fn memory(base: Base, bytes: u64) {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
        /// The parser's stack, and that of the threads around it.
        const STACKS: u64 = 80 << 20;
        /// What allocators reserve and do not use.
        const RESERVE: u64 = 512 << 20;
        let limit = |resource: Resource, most: u64| {
            // Nobody may raise the upper limit that somebody set before.
            let maximum = getrlimit(resource).maximum;
            let wanted = if bytes == 0 { None } else { Some(most) };
            let current = wanted.into_iter().chain(maximum).min();
            let _ = setrlimit(resource, Rlimit { current, maximum });
        };
        limit(Resource::Data, base.data.saturating_add(bytes).saturating_add(STACKS));
        limit(Resource::As, base.size.saturating_add(bytes).saturating_add(STACKS + RESERVE));
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (base, bytes);
}

impl Base {
    #[cfg(target_os = "linux")]
    fn now() -> Self {
        let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
        let kilobytes = |name: &str| -> u64 {
            let line = status.lines().find_map(|line| line.strip_prefix(name));
            let number = line.and_then(|line| line.split_whitespace().next()).and_then(|number| number.parse().ok());
            // Without /proc: more than the process takes.
            number.unwrap_or(1 << 20)
        };
        Self { size: kilobytes("VmSize:") << 10, data: kilobytes("VmData:") << 10 }
    }

    #[cfg(not(target_os = "linux"))]
    fn now() -> Self {
        Self::default()
    }
}
