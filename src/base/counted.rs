//! Numbers of things in words.

/// `count` of `noun`, in the plural where it is not one: "1 error", "2 errors".
#[must_use]
pub fn counted(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
