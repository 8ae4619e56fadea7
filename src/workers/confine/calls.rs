//! Seccomp: the system calls the loop needs. Any other ends the process at once, with `SIGSYS`,
//! which the host reports as an attempt to reach past the sandbox.
//!
//! Killing rather than refusing: the loop makes none of them, so code that makes one is no longer the
//! loop, and a refusal would let it try the next. The one exception is opening a file, which is refused:
//! the allocator of the C library looks for a setting of the kernel when it frees memory, and works
//! without it.

use std::collections::BTreeMap;

use nix::libc;
use seccompiler::{
    BpfProgram, SeccompAction, SeccompCmpArgLen, SeccompCmpOp, SeccompCondition, SeccompFilter, SeccompRule,
    TargetArch,
};

type Rules = Vec<SeccompRule>;
type Built = Result<Rules, seccompiler::BackendError>;

/// Calls that are harmless with any arguments: memory already mapped, waiting, ending, time.
const ALWAYS: [i64; 16] = [
    libc::SYS_munmap,
    libc::SYS_mremap,
    libc::SYS_madvise,
    libc::SYS_brk,
    libc::SYS_futex,
    libc::SYS_sched_yield,
    libc::SYS_exit,
    libc::SYS_exit_group,
    libc::SYS_clock_gettime,
    libc::SYS_getrandom,
    libc::SYS_rt_sigreturn,
    libc::SYS_rt_sigprocmask,
    libc::SYS_sigaltstack,
    libc::SYS_restart_syscall,
    libc::SYS_getpid,
    libc::SYS_gettid,
];

/// Installs the filter for every thread of this process.
pub(super) fn forbid() -> Result<String, String> {
    let program = program().map_err(|error| error.to_string())?;
    let refusing = refusing().map_err(|error| error.to_string())?;
    // The kernel applies the strictest answer of all filters.
    for filter in [&refusing, &program] {
        seccompiler::apply_filter_all_threads(filter).map_err(|error| error.to_string())?;
    }
    Ok(format!("{} system calls, any other kills", ALWAYS.len() + 5))
}

fn target() -> Result<TargetArch, seccompiler::BackendError> {
    std::env::consts::ARCH.try_into()
}

/// The second filter, which refuses calls that `program` does not kill.
fn refusing() -> Result<BpfProgram, seccompiler::BackendError> {
    let rules = BTreeMap::from([(libc::SYS_openat, Vec::new())]);
    let refuse = SeccompAction::Errno(bits32(libc::EACCES));
    SeccompFilter::new(rules, SeccompAction::Allow, refuse, target()?)?.try_into()
}

fn program() -> Result<BpfProgram, seccompiler::BackendError> {
    let mut rules: BTreeMap<i64, Rules> = ALWAYS.into_iter().map(|call| (call, Vec::new())).collect();
    rules.insert(libc::SYS_openat, Vec::new());
    rules.insert(libc::SYS_read, descriptors(&[0])?);
    rules.insert(libc::SYS_write, descriptors(&[1, 2])?);
    rules.insert(libc::SYS_mmap, anonymous_memory()?);
    rules.insert(libc::SYS_mprotect, vec![SeccompRule::new(vec![no_code()?])?]);
    // A panic or an allocation that fails ends in `abort`, which sends itself a signal.
    rules.insert(libc::SYS_tgkill, own_abort()?);
    SeccompFilter::new(rules, SeccompAction::KillProcess, SeccompAction::Allow, target()?)?.try_into()
}

fn equal(argument: u8, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::Eq, value)
}

fn masked(argument: u8, mask: u64, value: u64) -> Result<SeccompCondition, seccompiler::BackendError> {
    SeccompCondition::new(argument, SeccompCmpArgLen::Dword, SeccompCmpOp::MaskedEq(mask), value)
}

/// Forbids executable memory: a worker has no compiler.
fn no_code() -> Result<SeccompCondition, seccompiler::BackendError> {
    masked(2, bits(libc::PROT_EXEC), 0)
}

fn anonymous_memory() -> Built {
    let anonymous = bits(libc::MAP_ANONYMOUS);
    Ok(vec![SeccompRule::new(vec![no_code()?, masked(3, anonymous, anonymous)?])?])
}

fn descriptors(allowed: &[u64]) -> Built {
    allowed.iter().map(|descriptor| SeccompRule::new(vec![equal(0, *descriptor)?])).collect()
}

fn own_abort() -> Built {
    let own = u64::from(std::process::id());
    Ok(vec![SeccompRule::new(vec![equal(0, own)?, equal(2, bits(libc::SIGABRT))?])?])
}

/// The bits of a constant of the C library, which are small and positive.
fn bits(constant: i32) -> u64 {
    u64::from(bits32(constant))
}

fn bits32(constant: i32) -> u32 {
    constant.unsigned_abs()
}
