//! How large a value is in its plain JSON form, without making that form.

use std::io::Write;

use luaplan_base::Value;

/// The bytes of `value` as [`Value::to_json`] would print.
pub(crate) fn json_bytes(value: &Value) -> u64 {
    match value {
        Value::Null => 4,
        Value::Bool(value) => 5 - u64::from(*value),
        Value::Integer(value) => printed(value),
        Value::Float(value) => printed(value),
        Value::String(text) => printed(text),
        Value::Bytes(bytes) => "{\"$bytes\":\"\"}".len() as u64 + (bytes.len() as u64).div_ceil(3) * 4,
        Value::Array(items) => 2 + commas(items.len()) + items.iter().map(json_bytes).sum::<u64>(),
        Value::Object(members) => {
            let members_bytes = members.iter().map(|(name, value)| printed(name) + 1 + json_bytes(value));
            2 + commas(members.len()) + members_bytes.sum::<u64>()
        }
        Value::Failure(_) => printed(&value.to_json()),
    }
}

fn commas(count: usize) -> u64 {
    count.saturating_sub(1) as u64
}

fn printed(value: &impl serde::Serialize) -> u64 {
    let mut counter = Counter(0);
    match serde_json::to_writer(&mut counter, value) {
        Ok(()) => counter.0,
        Err(_) => u64::MAX,
    }
}

struct Counter(u64);

impl Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len() as u64;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}
