//! A tool's parameters, compiled once.

use std::fmt;
use std::sync::{Arc, OnceLock};

use jsonschema::Validator;
use serde_json::Value as Json;

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

/// Compiles a schema. Nothing is fetched: a `$ref` must stay inside the document.
pub(super) fn compile(schema: &Json) -> Result<Validator, String> {
    jsonschema::options().offline().build(schema).map_err(|error| match error.instance_path().as_str() {
        "" => error.to_string(),
        path => format!("at {path}: {error}"),
    })
}
