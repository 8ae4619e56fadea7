//! `transform_data` set up as a user would.

#![expect(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::path::Path;
use std::time::Duration;

use luaplan::base::{CallOutcome, ToolFailure, Value};
use luaplan::bus::Tool;
use luaplan::catalog::ToolSpec;
use luaplan::tools::transform_data::{TransformData, TransformDataSettings};
use serde_json::Value as Json;

use crate::support::{self, invocation};

/// The built-in manifest.
pub(crate) fn spec() -> ToolSpec {
    support::spec("transform_data", Duration::from_secs(10))
}

pub(crate) fn tool() -> TransformData {
    TransformData::new(spec(), TransformDataSettings::default(), Path::new(".")).unwrap()
}

pub(crate) fn tool_with_folder(folder: &Path) -> TransformData {
    let settings = TransformDataSettings { templates_dir: Some("templates".into()), ..Default::default() };
    TransformData::new(spec(), settings, folder).unwrap()
}

pub(crate) async fn call(tool: &TransformData, input: Value, template: &str, format: &str) -> CallOutcome {
    let mut arguments = vec![("input", input)];
    arguments.extend((!template.is_empty()).then(|| ("template", Value::from(template))));
    arguments.extend((!format.is_empty()).then(|| ("format", Value::from(format))));
    tool.call(invocation(arguments.into_iter().collect())).await
}

/// The text made of `input`.
pub(crate) async fn text(tool: &TransformData, input: Json, template: &str, format: &str) -> String {
    let outcome = call(tool, Value::from_json(input).unwrap(), template, format).await;
    outcome.unwrap_or_else(|failure| panic!("{template}: {failure:?}")).as_str().unwrap().to_owned()
}

/// How it fails.
pub(crate) async fn failure(tool: &TransformData, input: Json, template: &str, format: &str) -> ToolFailure {
    match call(tool, Value::from_json(input).unwrap(), template, format).await {
        Ok(value) => panic!(
            "{template} gave {:?}",
            value.as_str().map(|text| text.chars().take(200).collect::<String>())
        ),
        Err(failure) => failure,
    }
}
