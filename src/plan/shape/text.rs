//! A shape as the prompt shows it.

use std::fmt::Write as _;

use super::Shape;

/// A key longer than this is cut.
const KEY_CHARS_MAX: usize = 60;

pub(super) fn written(shape: &Shape) -> String {
    let mut text = String::new();
    write(shape, 0, &mut text);
    text
}

fn write(shape: &Shape, indent: usize, text: &mut String) {
    match shape {
        Shape::Plain(name) | Shape::Deep(name) => text.push_str(name),
        Shape::List { items, count } => {
            let _ = match items.as_ref() {
                None => write!(text, "list (empty)"),
                Some(items) => {
                    text.push_str("list of ");
                    write_in_brackets(items, indent, text);
                    write!(text, " ({count} items)")
                }
            };
        }
        Shape::Map { values, count } => {
            text.push_str("table<string, ");
            match values.as_ref() {
                Some(values) => write(values, indent, text),
                None => text.push_str("any"),
            }
            let _ = write!(text, "> ({count} keys)");
        }
        Shape::Object { members } if members.is_empty() => text.push_str("table (empty)"),
        Shape::Object { members } => {
            text.push_str("{\n");
            for (name, member) in members {
                let _ = write!(text, "{}{}", "  ".repeat(indent + 1), key(name));
                text.push_str(if member.optional { "?: " } else { ": " });
                write(&member.shape, indent + 1, text);
                text.push_str(",\n");
            }
            let _ = write!(text, "{}}}", "  ".repeat(indent));
        }
        Shape::Either(shapes) => {
            for (index, shape) in shapes.iter().enumerate() {
                if index > 0 {
                    text.push_str(" | ");
                }
                write(shape, indent, text);
            }
        }
    }
}

fn write_in_brackets(shape: &Shape, indent: usize, text: &mut String) {
    let several = matches!(shape, Shape::Either(_));
    if several {
        text.push('(');
    }
    write(shape, indent, text);
    if several {
        text.push(')');
    }
}

/// A key as Lua text. A key that is not a name is quoted, so that it cannot pass for a part of the
/// prompt.
fn key(name: &str) -> String {
    let plain = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let cut: String = name.chars().take(KEY_CHARS_MAX).collect();
    let more = if cut.len() < name.len() { "…" } else { "" };
    if plain { format!("{cut}{more}") } else { format!("[{:?}]", format!("{cut}{more}")) }
}
