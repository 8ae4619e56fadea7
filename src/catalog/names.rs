//! Foreign names as names of tools.

use super::is_lua_keyword;

/// A foreign name as plans can write it: `readFile` and `read-file` become `read_file`. Empty where the name
/// has no letter or digit.
#[must_use]
pub fn plan_name(original: &str) -> String {
    let mut name = String::new();
    let mut was_lower = false;
    for c in original.chars() {
        if c.is_ascii_uppercase() && was_lower {
            name.push('_');
        }
        was_lower = c.is_ascii_lowercase() || c.is_ascii_digit();
        if c.is_ascii_alphanumeric() {
            name.push(c.to_ascii_lowercase());
        } else if !name.ends_with('_') && !name.is_empty() {
            name.push('_');
        }
    }
    let mut name = name.trim_end_matches('_').to_owned();
    if name.starts_with(|first: char| first.is_ascii_digit()) {
        name.insert_str(0, "tool_");
    }
    if is_lua_keyword(&name) || name == "run" {
        name.push('_');
    }
    name
}
