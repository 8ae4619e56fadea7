//! What becomes of memory that a VM has given back.

/// Blocks up to so many bytes are taken from memory the process keeps; larger ones from the system.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT_BLOCK_BYTES_MAX: nix::libc::c_int = 32 << 20;

/// How much free memory may lie at the end of what the process keeps.
#[cfg(all(target_os = "linux", target_env = "gnu"))]
const KEPT_FREE_BYTES_MAX: nix::libc::c_int = 16 << 20;

/// Has this process keep memory that was freed, to use it again.
///
/// The C library of GNU learns from what is freed how large a block may be that does not go back to
/// the system at once. A text that grows piece by piece is always larger than what it has learnt, so
/// each of its copies would be new memory, brought in page by page, which takes ten times as long as
/// to copy. This tells it at the start the most it would ever learn. Other C libraries are left as
/// they are. What is kept is bounded: 16 MiB for each of the parts the C library makes of memory, of
/// which there are at most eight to a processor.
///
/// It changes nothing of what a VM may hold, of what its instructions count for, or of what any code
/// sees but the clock. To be called once, at the start of the program.
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
