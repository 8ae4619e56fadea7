//! A shape on one line: names and kinds, no sizes and no keys that are data.

use super::{Shape, merge};

/// More members than this are not named.
const MEMBERS_MAX: usize = 24;
/// A longer key is data.
const NAME_CHARS_MAX: usize = 40;

pub(super) fn written(shape: &Shape) -> String {
    match shape {
        Shape::Plain(name) | Shape::Deep(name) => (*name).to_owned(),
        Shape::List { items, .. } => match items.as_ref() {
            None => "empty list".to_owned(),
            Some(several @ Shape::Either(_)) => format!("list of ({})", written(several)),
            Some(items) => format!("list of {}", written(items)),
        },
        Shape::Map { values, .. } => map_of(values.as_ref().as_ref()),
        Shape::Object { members } if members.is_empty() => "{}".to_owned(),
        Shape::Object { members } if !members.keys().all(|key| is_name(key)) => {
            map_of(members.values().map(|member| member.shape.clone()).reduce(merge).as_ref())
        }
        Shape::Object { members } => {
            let named = members.iter().take(MEMBERS_MAX).map(|(name, member)| {
                format!("{name}{}: {}", if member.optional { "?" } else { "" }, written(&member.shape))
            });
            let more = (members.len() > MEMBERS_MAX).then(|| "…".to_owned());
            format!("{{{}}}", named.chain(more).collect::<Vec<_>>().join(", "))
        }
        Shape::Either(shapes) => shapes.iter().map(written).collect::<Vec<_>>().join(" | "),
    }
}

fn map_of(values: Option<&Shape>) -> String {
    format!("table<string, {}>", values.map_or_else(|| "any".to_owned(), written))
}

/// Whether a key is a field's name: addresses, numbers and sentences among the keys are data.
fn is_name(key: &str) -> bool {
    key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && key.len() <= NAME_CHARS_MAX
        && key.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}
