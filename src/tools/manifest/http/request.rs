//! Makes the request from settings and arguments.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD as BASE64;
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, HeaderMap, HeaderName, HeaderValue};
use secrecy::{ExposeSecret as _, SecretString};
use serde_json::{Value as Json, json};
use url::Url;

use luaplan_base::{ErrorCode, ToolFailure};

use super::settings::{Auth, Body, HttpSettings, secret_header};
use crate::manifest::{Arguments, bad_arguments};

/// One request, apart from its secret.
#[derive(Debug, Clone)]
pub(crate) struct Request {
    pub(crate) method: reqwest::Method,
    pub(crate) url: Url,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Option<String>,
}

impl Request {
    /// Fills the manifest's request with arguments.
    ///
    /// # Errors
    /// `bad_arguments`; nothing was sent.
    pub(super) fn fill(settings: &HttpSettings, arguments: &Arguments) -> Result<Self, ToolFailure> {
        let mut url = settings.url.fill(arguments)?;
        for (name, template) in &settings.query {
            for value in template.fill_each(arguments)? {
                url.query_pairs_mut().append_pair(name, &value);
            }
        }
        let mut headers = HeaderMap::new();
        for (name, template) in &settings.headers {
            let Some(text) = template.fill(arguments, str::to_owned)? else { continue };
            let name: HeaderName =
                name.parse().map_err(|_| bad_arguments(format!("`{name}` is not a header's name")))?;
            let value = HeaderValue::from_str(&text).map_err(|_| {
                bad_arguments(format!("the value of the header `{name}` is not a line of text"))
            })?;
            headers.insert(name, value);
        }
        let (body, content_type) = match &settings.body {
            None => (None, None),
            Some(Body::Json(document)) => {
                // A body that is one absent argument is omitted.
                let filled = document.fill(arguments)?.map(|filled| filled.to_string());
                (filled, Some("application/json"))
            }
            Some(Body::Form(fields)) => {
                let mut form = url::form_urlencoded::Serializer::new(String::new());
                for (name, template) in fields {
                    for value in template.fill_each(arguments)? {
                        form.append_pair(name, &value);
                    }
                }
                (Some(form.finish()), Some("application/x-www-form-urlencoded"))
            }
            Some(Body::Text(template)) => {
                (template.fill(arguments, str::to_owned)?, Some("text/plain; charset=utf-8"))
            }
        };
        if settings.body.is_some() && body.is_none() {
            headers.remove(CONTENT_TYPE);
        }
        if let Some(content_type) = content_type.filter(|_| body.is_some()) {
            headers.entry(CONTENT_TYPE).or_insert(HeaderValue::from_static(content_type));
        }
        Ok(Self { method: settings.method.of_client(), url, headers, body })
    }

    /// Sets a parameter of the query, in place of one of the same name.
    pub(super) fn set_parameter(&mut self, name: &str, value: &str) {
        set_parameter(&mut self.url, name, value);
    }

    /// Puts the secret where the manifest says.
    ///
    /// # Errors
    /// `tool_not_configured` for a secret that cannot stand in a header.
    pub(super) fn authorize(&mut self, auth: &Auth, secret: &SecretString) -> Result<(), ToolFailure> {
        let header = |text: &str| {
            secret_header(text).ok_or_else(|| {
                ToolFailure::new(
                    ErrorCode::ToolNotConfigured,
                    format!("the secret `{}` holds characters no header can carry", auth.secret()),
                )
            })
        };
        let secret = secret.expose_secret();
        match auth {
            Auth::Bearer(_) => drop(self.headers.insert(AUTHORIZATION, header(&format!("Bearer {secret}"))?)),
            Auth::Basic { user, .. } => {
                let pair = BASE64.encode(format!("{user}:{secret}"));
                self.headers.insert(AUTHORIZATION, header(&format!("Basic {pair}"))?);
            }
            Auth::Header { name, .. } => {
                let name: HeaderName =
                    name.parse().map_err(|_| bad_arguments(format!("`{name}` is not a header's name")))?;
                self.headers.insert(name, header(secret)?);
            }
            Auth::Query { name, .. } => self.set_parameter(name, secret),
        }
        Ok(())
    }

    /// The request without secrets.
    pub(super) fn shape(&self, auth: Option<&Auth>) -> Json {
        let mut headers = serde_json::Map::new();
        for (name, value) in &self.headers {
            headers.insert(name.to_string(), String::from_utf8_lossy(value.as_bytes()).into());
        }
        let mut url = self.url.clone();
        if let Some(auth) = auth {
            let stands_for = format!("<secret {}>", auth.secret());
            match auth {
                Auth::Bearer(_) => {
                    headers.insert("authorization".to_owned(), format!("Bearer {stands_for}").into());
                }
                Auth::Basic { user, .. } => {
                    headers.insert("authorization".to_owned(), format!("Basic {user}:{stands_for}").into());
                }
                Auth::Header { name, .. } => {
                    headers.insert(name.to_lowercase(), stands_for.into());
                }
                Auth::Query { name, .. } => set_parameter(&mut url, name, &stands_for),
            }
        }
        json!({ "method": self.method.as_str(), "url": url.as_str(), "headers": headers, "body": self.body })
    }
}

fn set_parameter(url: &mut Url, name: &str, value: &str) {
    let kept: Vec<(String, String)> = url
        .query_pairs()
        .filter(|(key, _)| key != name)
        .map(|(key, value)| (key.into_owned(), value.into_owned()))
        .collect();
    url.query_pairs_mut().clear().extend_pairs(kept).append_pair(name, value);
}
