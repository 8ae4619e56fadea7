//! The depth of function calls.
//!
//! piccolo does not expose a coroutine's frames, but its `Debug` output prints them before anything
//! else. So this counts the frames in that output, and stops it before it prints values.

use std::fmt::Write;

use piccolo::Thread;

struct Frames {
    count: u64,
    most: u64,
    /// Whether the error of a frame comes next.
    before_error: bool,
}

impl Write for Frames {
    fn write_str(&mut self, piece: &str) -> std::fmt::Result {
        match piece {
            // What follows are values, or errors with values in them.
            "stack" | "Error" | "Start" => return Err(std::fmt::Error),
            "Some" if self.before_error => return Err(std::fmt::Error),
            "None" => self.before_error = false,
            "pending_error" => self.before_error = true,
            "Lua" => self.count += 1,
            _ => {}
        }
        if self.count > self.most { Err(std::fmt::Error) } else { Ok(()) }
    }
}

/// The number of Lua frames of a coroutine, counted to one above `most`.
pub(super) fn frames(thread: Thread<'_>, most: u64) -> u64 {
    let mut frames = Frames { count: 0, most, before_error: false };
    let _ = write!(frames, "{:?}", thread.into_inner());
    frames.count
}
