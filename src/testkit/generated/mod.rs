//! Mocks made from manifests: for every call an answer that fits the tool's result schema.
//!
//! An answer depends only on the seed, the tool and the arguments, so a plan that makes the same call
//! twice gets the same answer, and a run can be repeated.

mod draw;
mod limits;
mod objects;
mod pattern;
mod rows;
mod schema;
mod sql;
mod tools;
mod words;

use serde_json::Value as Json;

use luaplan_catalog::ToolSpec;

use draw::Draw;
use schema::Writer;

/// How often a schema is tried, each time with fewer optional parts.
const ATTEMPTS: u32 = 12;

/// An answer of `tool` to a call with `arguments`; `None` where none is found that fits the tool's
/// result schema.
pub(super) fn answer(spec: &ToolSpec, arguments: &Json, seed: u64) -> Option<Json> {
    let fits = |value: &Json| spec.check_result(arguments, value).is_ok();
    let mut draw = Draw::new(seed, &spec.name, arguments, 0);
    if let Some(shaped) = tools::answer(spec, arguments, &mut draw).filter(fits) {
        return Some(shaped);
    }
    (0..ATTEMPTS).find_map(|attempt| {
        let draw = Draw::new(seed, &spec.name, arguments, attempt + 1);
        Writer::new(spec.result_of(arguments), draw, attempt).write().filter(fits)
    })
}

#[cfg(test)]
mod tests;
