//! Choices that depend only on the seed and the call.

use serde_json::Value as Json;

/// An endless sequence of choices.
pub(super) struct Draw(blake3::OutputReader);

impl Draw {
    /// The choices for one call. Another `attempt` gives others.
    pub(super) fn new(seed: u64, tool: &str, arguments: &Json, attempt: u32) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&seed.to_le_bytes());
        hasher.update(&attempt.to_le_bytes());
        hasher.update(&(tool.len() as u64).to_le_bytes());
        hasher.update(tool.as_bytes());
        hash_into(&mut hasher, arguments);
        Self(hasher.finalize_xof())
    }

    fn next(&mut self) -> u64 {
        let mut bytes = [0; 8];
        self.0.fill(&mut bytes);
        u64::from_le_bytes(bytes)
    }

    /// A number below `count`; 0 where that is 0.
    pub(super) fn below(&mut self, count: usize) -> usize {
        let next = self.next();
        usize::try_from(next % (count.max(1) as u64)).unwrap_or(0)
    }

    /// A number from `low` to `high`, both included.
    pub(super) fn between(&mut self, low: i64, high: i64) -> i64 {
        let span = i128::from(high) - i128::from(low) + 1;
        let drawn = i128::from(low) + i128::from(self.next()) % span.max(1);
        i64::try_from(drawn).unwrap_or(low)
    }

    /// Once in `times`.
    pub(super) fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    /// One of `items`.
    pub(super) fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        let place = self.below(items.len());
        items.get(place)
    }

    /// The numbers below `count` in a drawn order.
    pub(super) fn order(&mut self, count: usize) -> Vec<usize> {
        let mut order: Vec<usize> = (0..count).collect();
        for place in (1..count).rev() {
            order.swap(place, self.below(place + 1));
        }
        order
    }
}

/// Arguments hash the same whatever the order of their names.
fn hash_into(hasher: &mut blake3::Hasher, value: &Json) {
    match value {
        Json::Object(members) => {
            let mut names: Vec<&String> = members.keys().collect();
            names.sort();
            hasher.update(b"{");
            for name in names {
                hasher.update(&(name.len() as u64).to_le_bytes());
                hasher.update(name.as_bytes());
                hash_into(hasher, &members[name]);
            }
            hasher.update(b"}");
        }
        Json::Array(items) => {
            hasher.update(b"[");
            items.iter().for_each(|item| hash_into(hasher, item));
            hasher.update(b"]");
        }
        other => {
            let text = other.to_string();
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
    }
}
