//! Shared by tools made of a manifest: reading settings, filling in arguments, secrets by name, and
//! checking results.
//!
//! To the bus they are tools like any other: [`ManifestTool`] is a [`Tool`], and its kind (an HTTP
//! request, a statement, a command) is a `Maker` behind it.

pub mod command;
pub mod http;
#[cfg(feature = "openapi")]
pub mod openapi;
mod secrets;
pub mod sql;
mod template;

use std::sync::Arc;

use async_trait::async_trait;
use secrecy::SecretString;
use serde::de::DeserializeOwned;
use serde_json::Value as Json;

pub(crate) use self::secrets::Scrubber;
pub use self::secrets::{NamedSecret, NamedSecrets};
pub(crate) use self::template::{Arguments, DocumentTemplate, Template, bad_arguments};
use luaplan_base::{CallOutcome, Error, ErrorCode, Result, ToolFailure, Value};
use luaplan_bus::{Invocation, Schemas, Tool};
use luaplan_catalog::toml_error::{faulty_key, unknown_field};
use luaplan_catalog::{TargetKind, ToolKind, ToolSpec};

/// How tools of one kind make their calls.
#[async_trait]
pub(crate) trait Maker: Send + Sync {
    /// Makes the call.
    async fn make(&self, arguments: Arguments, invocation: Invocation) -> CallOutcome;

    /// What a call with these arguments would send, without secrets.
    ///
    /// # Errors
    /// `bad_arguments`, as the call would.
    fn shape(&self, arguments: &Arguments) -> std::result::Result<Json, ToolFailure>;

    /// What the tool's databases hold.
    async fn schemas(&self) -> Arc<Schemas> {
        Arc::default()
    }
}

/// A tool made by a manifest.
pub struct ManifestTool {
    spec: ToolSpec,
    scrubber: Scrubber,
    maker: Box<dyn Maker>,
}

impl ManifestTool {
    pub(crate) fn new(spec: ToolSpec, secrets: &[SecretString], maker: Box<dyn Maker>) -> Self {
        Self { spec, scrubber: Scrubber::new(secrets), maker }
    }
}

#[async_trait]
impl Tool for ManifestTool {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    async fn schemas(&self) -> Arc<Schemas> {
        self.maker.schemas().await
    }

    async fn call(&self, invocation: Invocation) -> CallOutcome {
        let arguments = with_defaults(&self.spec, &invocation.arguments);
        let outcome = self.maker.make(arguments, invocation).await;
        self.scrubber.outcome(outcome.and_then(|value| fitting(&self.spec, value)))
    }

    fn could_call(&self, arguments: &Value) -> std::result::Result<(), ToolFailure> {
        self.maker.shape(&with_defaults(&self.spec, arguments)).map(drop)
    }

    fn request_shape(&self, arguments: &Value) -> Option<std::result::Result<Json, ToolFailure>> {
        Some(self.maker.shape(&with_defaults(&self.spec, arguments)))
    }
}

/// The given arguments, and the schema's defaults for the others.
fn with_defaults(spec: &ToolSpec, given: &Value) -> Arguments {
    let mut arguments = Arguments::new();
    for (name, schema) in spec.parameters() {
        let value = match given.get(name) {
            Some(Value::Null) | None => {
                schema.get("default").and_then(|default| Value::from_json(default.clone()).ok())
            }
            Some(value) => Some(value.clone()),
        };
        if let Some(value) = value.filter(|value| *value != Value::Null) {
            arguments.insert(name.to_owned(), value);
        }
    }
    arguments
}

/// The result, where it fits the manifest.
fn fitting(spec: &ToolSpec, value: Value) -> CallOutcome {
    if spec.result.as_object().is_some_and(serde_json::Map::is_empty) {
        return Ok(value);
    }
    // To a plan text and bytes are both strings.
    let document = if matches!(value, Value::Bytes(_)) { Json::from("") } else { value.to_json() };
    match spec.check_result(&Json::Null, &document) {
        Ok(()) => Ok(value),
        Err(why) => Err(response_invalid(format!(
            "the result of `{}` is not what its manifest says: {why}",
            spec.name
        ))),
    }
}

/// The failure of a call whose answer does not fit the manifest.
pub(crate) fn response_invalid(message: impl Into<String>) -> ToolFailure {
    ToolFailure::new(ErrorCode::ResponseInvalid, message)
}

/// Reads a manifest's settings by its kind, and opens nothing.
///
/// # Errors
/// `config_invalid` or `config_unknown_key` with the detail `key`, the key's path in the manifest.
pub fn check_settings(spec: &ToolSpec) -> Result<()> {
    match spec.kind {
        ToolKind::Http => http::HttpSettings::of(spec).map(drop),
        ToolKind::Sql => sql::SqlSettings::of(spec).map(drop),
        ToolKind::Command => command::CommandSettings::of(spec).map(drop),
        ToolKind::Builtin | ToolKind::Mcp => {
            Err(fault("kind", "a manifest of yours is of the kind `http`, `sql` or `command`"))
        }
    }
}

/// Likely mistakes in a manifest whose settings are valid.
#[must_use]
pub fn warnings(spec: &ToolSpec) -> Vec<String> {
    let without_place = match spec.kind {
        ToolKind::Command => command::CommandSettings::of(spec).map(|settings| settings.without_place(spec)),
        // The others refuse such a parameter, or send all that are given.
        _ => return Vec::new(),
    };
    let warning = |name: String| {
        format!("the parameter `{name}` has no place: write `{{{name}}}` in `argv`, or name it in `stdin`")
    };
    without_place.unwrap_or_default().into_iter().map(warning).collect()
}

/// The names of the secrets a tool needs.
#[must_use]
pub fn secret_names(spec: &ToolSpec) -> Vec<String> {
    match spec.kind {
        ToolKind::Http => http::HttpSettings::of(spec).map(|settings| settings.secret_names()),
        ToolKind::Command => command::CommandSettings::of(spec).map(|settings| settings.secret_names()),
        ToolKind::Sql | ToolKind::Builtin | ToolKind::Mcp => return Vec::new(),
    }
    .unwrap_or_default()
}

/// The targets that every call of a tool reaches, whatever its arguments.
#[must_use]
pub fn fixed_targets(spec: &ToolSpec) -> Vec<(TargetKind, String)> {
    match spec.kind {
        ToolKind::Http => http::HttpSettings::of(spec).map(|settings| settings.targets()),
        ToolKind::Sql => sql::SqlSettings::of(spec).map(|settings| settings.targets()),
        ToolKind::Command | ToolKind::Builtin | ToolKind::Mcp => return Vec::new(),
    }
    .unwrap_or_default()
}

/// The settings of `spec`, as `T` reads them.
pub(crate) fn read_settings<T: DeserializeOwned>(spec: &ToolSpec) -> Result<T> {
    spec.settings.clone().try_into().map_err(|error: toml::de::Error| {
        let message = error.message().trim().replace('\n', " ");
        let mut key = faulty_key(&error).map_or("settings".to_owned(), |key| format!("settings.{key}"));
        if let Some((unknown, _)) = unknown_field(&message) {
            if !key.ends_with(&format!(".{unknown}")) {
                key = format!("{key}.{unknown}");
            }
            return Error::new(ErrorCode::ConfigUnknownKey, format!("`{key}`: {message}"))
                .with_help("remove it, or use one of the keys named in the message")
                .with_detail("key", key);
        }
        fault(&key, &message)
    })
}

/// A fault in a manifest: the key's path and what is wrong with it.
pub(crate) fn fault(key: &str, what: &str) -> Error {
    Error::new(ErrorCode::ConfigInvalid, format!("`{key}`: {what}")).with_detail("key", key)
}

/// Refuses places for arguments that are no parameters. `needed`: each must always have a value.
pub(crate) fn check_names(spec: &ToolSpec, key: &str, template: &Template, needed: bool) -> Result<()> {
    for name in template.names() {
        let Some(schema) = spec.parameter(name) else {
            let known: Vec<&str> = spec.parameters().map(|(name, _)| name).collect();
            let known = if known.is_empty() { "there are none".to_owned() } else { known.join(", ") };
            return Err(fault(
                key,
                &format!("`{{{name}}}` is no parameter of the tool; its parameters: {known}"),
            ));
        };
        if needed && !spec.is_required(name) && schema.get("default").is_none() {
            return Err(fault(
                key,
                &format!(
                    "`{{{name}}}` may be left out of a call: list it in `params.required`, or give it a `default`"
                ),
            ));
        }
    }
    Ok(())
}
