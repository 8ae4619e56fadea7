//! Reuses the memory that a VM has freed.

/// Blocks up to so many bytes come from memory the process keeps; larger ones from the system.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT_BLOCK_BYTES_MAX: nix::libc::c_int = 32 << 20;

/// How much free memory the process may keep at the end of an arena.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT_FREE_BYTES_MAX: nix::libc::c_int = 16 << 20;

/// Makes this process keep freed memory for reuse.
///
/// The GNU C library adapts to freed blocks: it returns larger ones to the system at once. A text that
/// grows piece by piece is always larger than the current threshold, so each of its copies would be new
/// memory, faulted in page by page, which takes ten times as long as the copy. This sets the highest
/// threshold at the start. Other C libraries are not touched. The kept memory is bounded: 16 MiB for each
/// arena, of which there are at most eight a processor.
///
/// It changes neither a VM's limits nor its counts; only timing differs. Call it once, at the start of the
/// program.
pub fn keep_freed_memory() {
    #[cfg(all(target_os = "linux", target_env = "gnu"))]
    {
        #[expect(unsafe_code, reason = "a setting of the C library's allocator")]
        // SAFETY: both set a number under the allocator's own lock; blocks made before stay valid.
        unsafe {
            nix::libc::mallopt(nix::libc::M_MMAP_THRESHOLD, KEPT_BLOCK_BYTES_MAX);
            nix::libc::mallopt(nix::libc::M_TRIM_THRESHOLD, KEPT_FREE_BYTES_MAX);
        }
    }
}
