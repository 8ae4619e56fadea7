//! How an operation is authorised.

use serde_json::{Value as Json, json};

use super::document::Document;
use super::options::ImportOptions;
use super::parameters;

/// What goes into the manifest.
#[derive(Debug)]
pub(super) struct ImportedAuth {
    /// `auth` of the settings.
    pub(super) setting: Json,
    /// The secret's name.
    pub(super) secret: String,
    /// A hint for the user.
    pub(super) note: Option<String>,
}

/// The first security scheme that a manifest can express. Where the document requires none, a secret is
/// sent only if the user asks for it; `notes` says that it is possible.
///
/// # Errors
/// In words, naming every scheme and why it cannot be used.
pub(super) fn take(
    document: &Document,
    operation: &Json,
    options: &ImportOptions,
    notes: &mut Vec<String>,
) -> Result<Option<ImportedAuth>, String> {
    let ways = operation.get("security").or_else(|| document.at("/security")).and_then(Json::as_array);
    let mut refused: Vec<String> = Vec::new();
    let is_open = |way: &Json| way.as_object().is_some_and(serde_json::Map::is_empty);
    let open = ways.is_none_or(|ways| ways.is_empty() || ways.iter().any(is_open));
    for way in ways.into_iter().flatten().filter_map(Json::as_object) {
        let mut schemes = way.keys();
        match (schemes.next(), schemes.next()) {
            (None, _) => {}
            (Some(name), None) if open && options.secret.is_none() => {
                if let Some(note) = may_be_given(document, name, options) {
                    notes.push(note);
                    return Ok(None);
                }
            }
            (Some(name), None) => match one(document, name, options) {
                Ok(auth) => {
                    notes.extend(auth.note.clone());
                    return Ok(Some(auth));
                }
                Err(reason) => refused.push(format!("`{name}`: {reason}")),
            },
            (Some(first), Some(second)) => {
                refused.push(format!("`{first}` with `{second}`: a manifest sends one secret"));
            }
        }
    }
    if open { Ok(None) } else { Err(format!("no way in that a manifest knows: {}", refused.join("; "))) }
}

/// The option that sends an optional secret; `None` where no manifest can send it.
fn may_be_given(document: &Document, scheme: &str, options: &ImportOptions) -> Option<String> {
    let user = options.user.clone().or_else(|| Some("NAME".to_owned()));
    let auth = one(document, scheme, &ImportOptions { user, ..options.clone() }).ok()?;
    let user = if auth.setting.get("basic").is_some() { "--user NAME " } else { "" };
    Some(format!(
        "it is called without a secret, and takes one (`{scheme}`): import it with `{user}--secret NAME`"
    ))
}

fn one(document: &Document, name: &str, options: &ImportOptions) -> Result<ImportedAuth, String> {
    let scheme = document.members("/components/securitySchemes").find(|(known, _)| *known == name);
    let (_, scheme) = scheme.ok_or("the document does not describe it")?;
    let scheme = document.resolved(scheme)?;
    let text = |key: &str| scheme.get(key).and_then(Json::as_str).unwrap_or_default();
    let secret = options.secret.clone().unwrap_or_else(|| parameters::secret_name(name));
    let token = || Some(format!("the secret `{secret}` is an access token; nobody fetches or renews it"));
    let (setting, note) = match (text("type"), text("scheme").to_ascii_lowercase().as_str(), text("in")) {
        ("http", "bearer", _) => (json!({ "bearer": secret }), None),
        ("http", "basic", _) => {
            let user = options.user.as_deref().ok_or("it needs a user: give `--user`")?;
            (json!({ "basic": { "user": user, "password": secret } }), None)
        }
        ("http", other, _) => return Err(format!("HTTP authentication of the kind `{other}` is not known")),
        ("apiKey", _, place @ ("header" | "query")) => {
            (json!({ place: { "name": text("name"), "secret": secret } }), None)
        }
        ("apiKey", _, place) => return Err(format!("a key is not sent in `{place}`")),
        ("oauth2" | "openIdConnect", _, _) => (json!({ "bearer": secret }), token()),
        (other, _, _) => return Err(format!("the kind `{other}` is not known")),
    };
    Ok(ImportedAuth { setting, secret, note })
}
