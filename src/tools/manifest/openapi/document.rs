//! The document as read, and references inside it.

use serde_json::Value as Json;
use url::Url;

use luaplan_base::{Error, ErrorCode, Result};

/// A longer chain of references is refused.
const REFERENCES_MAX: usize = 16;

/// Which schemas a document has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum SchemaDialect {
    /// OpenAPI 3.0: its own words beside a part of JSON Schema.
    V30,
    /// OpenAPI 3.1: JSON Schema 2020-12.
    V31,
}

/// An OpenAPI document.
#[derive(Debug, Clone)]
pub struct Document {
    root: Json,
    pub(super) dialect: SchemaDialect,
    /// Where it was fetched from: relative addresses of servers start there.
    pub(super) source: Option<Url>,
}

impl Document {
    /// Reads a document in JSON or YAML. `origin` names it in messages; `source` is its address, where
    /// it was fetched.
    ///
    /// # Errors
    /// `openapi_unusable` for what is no document of OpenAPI 3.0 or 3.1.
    pub fn read(text: &str, origin: &str, source: Option<Url>) -> Result<Self> {
        let unusable = |what: String| {
            Error::new(ErrorCode::OpenapiUnusable, format!("{origin}: {what}"))
                .with_help("mend the document, or name another; services often have it at `/openapi.json`")
        };
        let text = text.strip_prefix('\u{feff}').unwrap_or(text);
        let root: Json = if text.trim_start().starts_with('{') {
            serde_json::from_str(text).map_err(|error| unusable(format!("not JSON: {error}")))?
        } else {
            let options = serde_saphyr::options! { strict_booleans: true, with_snippet: false };
            serde_saphyr::from_str_with_options(text, options)
                .map_err(|error| unusable(format!("not YAML: {error}")))?
        };
        if root.get("swagger").is_some() {
            let what = "it is of Swagger 2.0; OpenAPI 3.0 and 3.1 can be read".to_owned();
            return Err(unusable(what).with_help("have a converter make OpenAPI 3 of it, and import that"));
        }
        let version = match root.get("openapi") {
            Some(Json::String(version)) => version.clone(),
            Some(other) => other.to_string(),
            None => return Err(unusable("it has no key `openapi`, so it is no OpenAPI document".to_owned())),
        };
        let dialect = if version.starts_with("3.0.") || version == "3.0" {
            SchemaDialect::V30
        } else if version.starts_with("3.1.") || version == "3.1" {
            SchemaDialect::V31
        } else {
            return Err(unusable(format!("it is of OpenAPI {version}; 3.0 and 3.1 can be read")));
        };
        if root.get("paths").and_then(Json::as_object).is_none_or(serde_json::Map::is_empty) {
            return Err(unusable("it has no `paths`, so there is nothing to call".to_owned()));
        }
        Ok(Self { root, dialect, source })
    }

    /// What the document calls itself, with its version.
    #[must_use]
    pub fn title(&self) -> String {
        let of = |pointer: &str| self.root.pointer(pointer).and_then(Json::as_str).unwrap_or_default().trim();
        format!("{} {}", of("/info/title"), of("/info/version")).trim().to_owned()
    }

    /// What stands at a JSON pointer.
    pub(super) fn at(&self, pointer: &str) -> Option<&Json> {
        self.root.pointer(pointer)
    }

    /// The members of the object at a JSON pointer.
    pub(super) fn members(&self, pointer: &str) -> impl Iterator<Item = (&String, &Json)> {
        self.at(pointer).and_then(Json::as_object).into_iter().flatten()
    }

    /// The target of a reference, through others; any other value is itself.
    ///
    /// # Errors
    /// In words, where it leads out of the document, to nothing, or round in a circle.
    pub(super) fn resolved<'a>(&'a self, value: &'a Json) -> std::result::Result<&'a Json, String> {
        let mut value = value;
        for _ in 0..REFERENCES_MAX {
            let Some(reference) = value.get("$ref") else { return Ok(value) };
            value = self.follow(reference)?;
        }
        Err(format!("the reference {} leads round in a circle", value.get("$ref").unwrap_or(&Json::Null)))
    }

    /// What one reference leads to.
    ///
    /// # Errors
    /// As [`Document::resolved`].
    pub(super) fn follow(&self, reference: &Json) -> std::result::Result<&Json, String> {
        let Some(reference) = reference.as_str() else {
            return Err(format!("the reference {reference} is no text"));
        };
        let Some(pointer) = reference.strip_prefix('#') else {
            return Err(format!("the reference `{reference}` leads to another document"));
        };
        let pointer = percent_encoding::percent_decode_str(pointer).decode_utf8_lossy();
        self.at(&pointer).ok_or_else(|| format!("the reference `{reference}` leads to nothing"))
    }
}
