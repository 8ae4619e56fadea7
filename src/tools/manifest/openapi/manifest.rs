//! A manifest's text.

use serde_json::{Map, Value as Json, json};

use super::answer::OperationAnswer;
use super::body::ImportedBody;
use super::document::Document;
use super::options::ImportOptions;
use super::parameters::{Places, ToolParameters, path_template};
use super::schema::cut;
use super::security::ImportedAuth;
use super::{answer, body, parameters, security, server};

/// A manifest that was made.
#[derive(Debug, Clone)]
pub struct Manifest {
    /// The file's text.
    pub text: String,
    /// Omissions, and hints for the user.
    pub notes: Vec<String>,
    /// The name of the secret it needs.
    pub secret: Option<String>,
}

/// A longer description of a tool is cut.
const DESCRIPTION_CHARACTERS_MAX: usize = 1_000;
/// Larger parameters do not fit a prompt.
const PARAMS_BYTES_MAX: usize = 64 * 1024;

/// What the document says about one operation.
#[derive(Debug)]
pub(super) struct ManifestDraft {
    heading: Vec<String>,
    description: String,
    method: String,
    url: String,
    places: Places,
    parameters: ToolParameters,
    body: Option<ImportedBody>,
    answer: OperationAnswer,
    auth: Option<ImportedAuth>,
    notes: Vec<String>,
}

impl ManifestDraft {
    /// Reads an operation.
    ///
    /// # Errors
    /// In words, why there can be no manifest of it.
    pub(super) fn of(
        document: &Document,
        method: &str,
        path: &str,
        item: &Json,
        operation: &Json,
        options: &ImportOptions,
    ) -> Result<Self, String> {
        let mut notes = Vec::new();
        let mut tool_parameters = ToolParameters::default();
        let server = server::take(document, item, operation, options.server.as_deref())?;
        let places = parameters::take(document, item, operation, &mut tool_parameters, &mut notes)?;
        let body = body::take(document, method, operation, &mut tool_parameters, &mut notes)?;
        let answer = answer::take(document, operation, &mut notes)?;
        let auth = security::take(document, operation, options, &mut notes)?;
        if operation.get("deprecated") == Some(&Json::Bool(true)) {
            notes.push("the document calls it deprecated".to_owned());
        }
        let url = format!("{server}{}", path_template(path, &places)?);
        let title = document.title();
        let heading = vec![
            format!("Made from `{method} {path}` in the OpenAPI document {title}."),
            "Add paging, an idempotency header or another effect here if the service has them.".to_owned(),
        ];
        let description = description(operation, method, path);
        Ok(Self {
            heading,
            description,
            method: method.to_owned(),
            url,
            places,
            parameters: tool_parameters,
            body,
            answer,
            auth,
            notes,
        })
    }

    /// The manifest of the tool `name`.
    ///
    /// # Errors
    /// In words, where it is too large or has no TOML form.
    pub(super) fn written(self, name: &str) -> Result<Manifest, String> {
        let effect = if matches!(self.method.as_str(), "GET" | "HEAD") { "read" } else { "write" };
        let params = self.parameters.schema();
        let size = params.to_string().len();
        if size > PARAMS_BYTES_MAX {
            return Err(format!("its parameters have {size} bytes of schema, more than {PARAMS_BYTES_MAX}"));
        }
        let place = |names: &indexmap::IndexMap<String, String>| -> Map<String, Json> {
            names.iter().map(|(theirs, ours)| (theirs.clone(), format!("{{{ours}}}").into())).collect()
        };
        let mut headers = place(&self.places.headers);
        headers.extend(self.answer.accept.map(|accept| ("Accept".to_owned(), accept.into())));
        let content_type = self.body.as_ref().and_then(|body| body.content_type.clone());
        headers.extend(content_type.map(|name| ("Content-Type".to_owned(), name.into())));
        let query = place(&self.places.query);

        let mut settings = Map::new();
        settings.insert("method".to_owned(), self.method.into());
        settings.insert("url".to_owned(), self.url.into());
        for (key, members) in [("query", query), ("headers", headers)] {
            if !members.is_empty() {
                settings.insert(key.to_owned(), Json::Object(members));
            }
        }
        settings.extend(self.body.map(|body| ("body".to_owned(), body.setting)));
        let secret = self.auth.as_ref().map(|auth| auth.secret.clone());
        settings.extend(self.auth.map(|auth| ("auth".to_owned(), auth.setting)));
        if self.answer.is_text {
            settings.insert("response".to_owned(), json!({ "format": "text" }));
        }
        let mut manifest = json!({
            "name": name,
            "description": self.description,
            "kind": "http",
            "effect": effect,
            "params": params,
            "settings": settings,
        });
        if let (Some(members), Some(result)) = (manifest.as_object_mut(), self.answer.result) {
            members.insert("result".to_owned(), result);
        }
        let toml = toml::to_string(&manifest).map_err(|error| format!("it has no TOML form: {error}"))?;
        let comments = self.heading.iter().chain(&self.notes);
        let comments: String = comments.map(|line| format!("# {}\n", cut(line, 400))).collect();
        Ok(Manifest { text: format!("{comments}\n{toml}"), notes: self.notes, secret })
    }
}

/// The words of the document: what it says in short, and then at length.
fn description(operation: &Json, method: &str, path: &str) -> String {
    let text = |key: &str| operation.get(key).and_then(Json::as_str).unwrap_or_default().trim();
    let (summary, long) = (text("summary"), text("description"));
    let both = match (summary, long) {
        ("", "") => format!("{method} {path}."),
        ("", one) | (one, "") => one.to_owned(),
        (summary, long) if long.starts_with(summary) => long.to_owned(),
        (summary, long) if summary.ends_with(['.', '!', '?']) => format!("{summary} {long}"),
        (summary, long) => format!("{summary}. {long}"),
    };
    cut(&both, DESCRIPTION_CHARACTERS_MAX)
}
