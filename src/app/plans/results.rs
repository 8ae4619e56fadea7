//! What the calls of a plan give, gathered from those that know it better than the tools' manifests.

use std::collections::BTreeMap;

use serde_json::{Value as Json, json};

use luaplan_plan::KnownResult;

/// By the place of the call. Several sites may have one place, as the calls of a helper have.
#[derive(Default)]
pub(super) struct Results(BTreeMap<(usize, usize), Option<Vec<Json>>>);

impl Results {
    /// Adds what each of the calls of a site gives; of a place with one call of which nothing is known, nothing is.
    pub(super) fn add(&mut self, place: (usize, usize), of_calls: Vec<Option<Json>>) {
        let known = self.0.entry(place).or_insert_with(|| Some(Vec::new()));
        match (of_calls.into_iter().collect::<Option<Vec<Json>>>(), &mut *known) {
            (Some(mut schemas), Some(known)) => known.append(&mut schemas),
            _ => *known = None,
        }
    }

    pub(super) fn into_known(self) -> Vec<KnownResult> {
        let result = |(call, schemas): ((usize, usize), Option<Vec<Json>>)| {
            let mut different: Vec<Json> = Vec::new();
            for schema in schemas? {
                if !different.contains(&schema) {
                    different.push(schema);
                }
            }
            let schema = match different.len() {
                0 => return None,
                1 => different.pop()?,
                _ => json!({ "anyOf": different }),
            };
            Some(KnownResult { call, schema })
        };
        self.0.into_iter().filter_map(result).collect()
    }
}
