//! A tool's parameters, compiled once.

use std::fmt;
use std::sync::{Arc, OnceLock};

use jsonschema::{PatternOptions, Validator};
use serde_json::Value as Json;

/// How often a regular expression that looks around may go back in one text.
const BACKTRACKS_MAX: usize = 10_000;

/// The compiled form of a parameter schema, made at first use and kept.
#[derive(Clone, Default)]
pub struct CompiledParams(OnceLock<Result<Arc<Validator>, String>>);

impl CompiledParams {
    /// The validator for `params`; the first schema asked for stays.
    pub(super) fn get(&self, params: &Json) -> Result<Arc<Validator>, String> {
        self.0.get_or_init(|| compile(params).map(Arc::new)).clone()
    }
}

impl fmt::Debug for CompiledParams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("CompiledParams")
    }
}

/// Compiles a schema. Nothing is fetched: a `$ref` must stay inside the document. Its regular expressions take time linear in
/// the text, but those that look around, which may go back so many steps.
pub(super) fn compile(schema: &Json) -> Result<Validator, String> {
    let linear = jsonschema::options().offline().with_pattern_options(PatternOptions::regex());
    let looks_around = PatternOptions::fancy_regex().backtrack_limit(BACKTRACKS_MAX);
    let built = linear
        .build(schema)
        .or_else(|_| jsonschema::options().offline().with_pattern_options(looks_around).build(schema));
    built.map_err(|error| match error.instance_path().as_str() {
        "" => error.to_string(),
        path => format!("at {path}: {error}"),
    })
}
