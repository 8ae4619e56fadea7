//! `[settings]` of a manifest of the kind `http`, and `[tools.NAME]` for it.

use std::path::PathBuf;
use std::time::Duration;

use indexmap::IndexMap;
use reqwest::header::{HeaderName, HeaderValue};
use serde::Deserialize;

use luaplan_base::{Effect, Result, written};
use luaplan_catalog::{TargetKind, ToolSpec};

use super::url_template::UrlTemplate;
use crate::manifest::{DocumentTemplate, Template, check_names, fault, read_settings};

/// Headers that belong to the connection or that the client sets itself.
pub(crate) const HEADERS_REFUSED: [&str; 11] = [
    "accept-encoding",
    "connection",
    "content-length",
    "expect",
    "host",
    "keep-alive",
    "proxy-authorization",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];
const PAGES_MAX: u32 = 1000;

/// The request a manifest describes.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HttpSettings {
    #[serde(default)]
    pub(super) method: Method,
    pub(super) url: UrlTemplate,
    #[serde(default)]
    pub(super) query: IndexMap<String, Template>,
    #[serde(default)]
    pub(super) headers: IndexMap<String, Template>,
    pub(super) body: Option<Body>,
    pub(super) auth: Option<Auth>,
    /// The header that carries the call's idempotency key.
    pub(super) idempotency_header: Option<String>,
    /// Says that a POST changes nothing, such as a search.
    #[serde(default)]
    pub(super) only_reads: bool,
    #[serde(default)]
    pub(super) response: Response,
    pub(super) pages: Option<Pages>,
}

/// The method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "UPPERCASE")]
pub(super) enum Method {
    #[default]
    Get,
    Head,
    Post,
    Put,
    Patch,
    Delete,
}

impl Method {
    pub(super) fn of_client(self) -> reqwest::Method {
        match self {
            Self::Get => reqwest::Method::GET,
            Self::Head => reqwest::Method::HEAD,
            Self::Post => reqwest::Method::POST,
            Self::Put => reqwest::Method::PUT,
            Self::Patch => reqwest::Method::PATCH,
            Self::Delete => reqwest::Method::DELETE,
        }
    }
}

/// The body, in one of three forms.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Body {
    Json(DocumentTemplate),
    Form(IndexMap<String, Template>),
    Text(Template),
}

/// Where the secret goes; each names it.
#[derive(Debug, Clone, Deserialize)]
#[serde(rename_all = "lowercase", deny_unknown_fields)]
pub(super) enum Auth {
    Bearer(String),
    Basic { user: String, password: String },
    Header { name: String, secret: String },
    Query { name: String, secret: String },
}

impl Auth {
    pub(super) fn secret(&self) -> &str {
        match self {
            Self::Bearer(secret) => secret,
            Self::Basic { password, .. } => password,
            Self::Header { secret, .. } | Self::Query { secret, .. } => secret,
        }
    }
}

/// How the answer becomes the result.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub(super) struct Response {
    pub(super) format: Format,
    /// JSON pointer to the result in the answer.
    pub(super) pointer: String,
    /// Members of the result, or of each of its items: name and JSON pointer.
    pub(super) fields: IndexMap<String, String>,
    /// Statuses that mean that there is nothing: the result is null.
    pub(super) null_on: Vec<u16>,
    /// JSON pointer to the message in an answer that is a failure.
    pub(super) error_message: Option<String>,
}

/// What the answer is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Format {
    #[default]
    Json,
    /// Text, or bytes where it is not text.
    Text,
}

/// How further pages are asked for.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Pages {
    pub(super) by: PagesBy,
    /// JSON pointer to the next link or cursor.
    pub(super) pointer: Option<String>,
    /// The query parameter for cursor, page or offset.
    pub(super) parameter: Option<String>,
    /// The number of the first page or offset.
    pub(super) first: Option<u64>,
    /// Items of a full page; a page with fewer is the last.
    pub(super) size: Option<u64>,
    /// The most pages asked for.
    pub(super) max: u32,
    /// What happens where there are more.
    #[serde(default)]
    pub(super) on_more: OnMore,
}

/// What leads to the next page.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum PagesBy {
    /// `Link: <…>; rel="next"`.
    LinkHeader,
    /// An address in the answer.
    NextLink,
    Cursor,
    Page,
    Offset,
}

/// What happens where there are more pages than `max`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum OnMore {
    #[default]
    Fail,
    Stop,
}

impl HttpSettings {
    /// Reads and checks the settings of a manifest.
    ///
    /// # Errors
    /// `config_invalid` or `config_unknown_key` with the detail `key`.
    pub fn of(spec: &ToolSpec) -> Result<Self> {
        let settings: Self = read_settings(spec)?;
        settings.check(spec)?;
        Ok(settings)
    }

    fn check(&self, spec: &ToolSpec) -> Result<()> {
        for (template, needed) in self.url.templates() {
            check_names(spec, "settings.url", template, needed)?;
        }
        for (name, template) in &self.query {
            check_names(spec, &format!("settings.query.{name}"), template, false)?;
        }
        for (name, template) in &self.headers {
            let key = format!("settings.headers.{name}");
            check_header(&key, name)?;
            check_names(spec, &key, template, false)?;
        }
        self.check_body(spec)?;
        self.check_effect(spec)?;
        if let Some(name) = &self.idempotency_header {
            check_header("settings.idempotency_header", name)?;
        }
        match &self.auth {
            Some(Auth::Header { name, .. }) => check_header("settings.auth.header.name", name)?,
            Some(Auth::Basic { user, .. }) if user.contains(':') => {
                return Err(fault("settings.auth.basic.user", "a user's name has no colon"));
            }
            _ => {}
        }
        self.check_response()?;
        self.pages.as_ref().map_or(Ok(()), |pages| pages.check(self))
    }

    fn check_body(&self, spec: &ToolSpec) -> Result<()> {
        let Some(body) = &self.body else { return Ok(()) };
        if matches!(self.method, Method::Get | Method::Head) {
            return Err(fault("settings.body", "GET and HEAD have no body"));
        }
        match body {
            Body::Json(document) => {
                for template in document.templates() {
                    check_names(spec, "settings.body.json", template, false)?;
                }
                Ok(())
            }
            Body::Form(fields) => fields.iter().try_for_each(|(name, template)| {
                check_names(spec, &format!("settings.body.form.{name}"), template, false)
            }),
            Body::Text(template) => check_names(spec, "settings.body.text", template, true),
        }
    }

    /// Refuses a method with a stronger effect than the manifest declares.
    fn check_effect(&self, spec: &ToolSpec) -> Result<()> {
        let reads = match self.method {
            Method::Get | Method::Head => true,
            Method::Post => self.only_reads,
            Method::Put | Method::Patch | Method::Delete => false,
        };
        if self.only_reads && self.method != Method::Post {
            return Err(fault("settings.only_reads", "it is said of POST alone"));
        }
        if reads || spec.effect != Effect::Read {
            return Ok(());
        }
        Err(fault(
            "effect",
            "`read`, but the method changes things: write `write`, `send` or `spend`, or `only_reads = true` under `[settings]` for a POST that changes nothing",
        ))
    }

    fn check_response(&self) -> Result<()> {
        let response = &self.response;
        check_pointer("settings.response.pointer", &response.pointer)?;
        for (name, pointer) in &response.fields {
            check_pointer(&format!("settings.response.fields.{name}"), pointer)?;
        }
        if let Some(pointer) = &response.error_message {
            check_pointer("settings.response.error_message", pointer)?;
        }
        let maps = !response.pointer.is_empty() || !response.fields.is_empty();
        if response.format == Format::Text && maps {
            return Err(fault("settings.response.format", "`pointer` and `fields` need `json`"));
        }
        Ok(())
    }

    /// The names of the secrets it needs.
    #[must_use]
    pub fn secret_names(&self) -> Vec<String> {
        self.auth.iter().map(|auth| auth.secret().to_owned()).collect()
    }

    /// The host it reaches.
    #[must_use]
    pub fn targets(&self) -> Vec<(TargetKind, String)> {
        vec![(TargetKind::Url, self.url.base().to_string())]
    }
}

impl Pages {
    fn check(&self, settings: &HttpSettings) -> Result<()> {
        if settings.response.format != Format::Json || settings.method == Method::Head {
            return Err(fault("settings.pages", "only answers in JSON have pages"));
        }
        if !matches!(settings.method, Method::Get) && !settings.only_reads {
            return Err(fault("settings.pages", "a request that changes things is made once"));
        }
        if self.max == 0 || self.max > PAGES_MAX {
            return Err(fault("settings.pages.max", &format!("a number from 1 to {PAGES_MAX}")));
        }
        let (pointer, parameter, first) = match self.by {
            PagesBy::LinkHeader => (false, false, false),
            PagesBy::NextLink => (true, false, false),
            PagesBy::Cursor => (true, true, false),
            PagesBy::Page | PagesBy::Offset => (false, true, true),
        };
        for (name, wanted, given) in
            [("pointer", pointer, self.pointer.is_some()), ("parameter", parameter, self.parameter.is_some())]
        {
            if wanted != given {
                let verb = if wanted { "needs" } else { "has no use for" };
                return Err(fault(&format!("settings.pages.{name}"), &format!("this `by` {verb} it")));
            }
        }
        if self.first.is_some() && !first {
            return Err(fault("settings.pages.first", "only `page` and `offset` count"));
        }
        if self.by == PagesBy::Offset && self.size.is_none_or(|size| size == 0) {
            return Err(fault(
                "settings.pages.size",
                "`offset` counts on by it: give the items of a full page",
            ));
        }
        self.pointer.as_ref().map_or(Ok(()), |pointer| check_pointer("settings.pages.pointer", pointer))
    }
}

fn check_header(key: &str, name: &str) -> Result<()> {
    let header: HeaderName =
        name.parse().map_err(|_| fault(key, &format!("`{name}` is not a header's name")))?;
    if HEADERS_REFUSED.contains(&header.as_str()) {
        return Err(fault(key, &format!("the header `{header}` is set by the client")));
    }
    Ok(())
}

fn check_pointer(key: &str, pointer: &str) -> Result<()> {
    if pointer.is_empty() || pointer.starts_with('/') {
        return Ok(());
    }
    Err(fault(key, &format!("`{pointer}` is not a JSON pointer; it begins with `/`, as `/data/items`")))
}

/// A header's value, marked so that it is never printed.
pub(super) fn secret_header(value: &str) -> Option<HeaderValue> {
    let mut header = HeaderValue::from_str(value).ok()?;
    header.set_sensitive(true);
    Some(header)
}

/// What `[tools.NAME]` of the configuration says about a tool of this kind.
#[derive(Debug, Clone, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct HttpGrants {
    /// The hosts the tool may reach, as for `fetch_url`. Empty: its manifest's host, where that is
    /// public.
    pub allow_hosts: Vec<String>,
    /// Largest answer, all pages together.
    #[serde(deserialize_with = "written::bytes")]
    pub bytes_max: u64,
    /// Redirects followed, on the same host only.
    pub redirects_max: u32,
    /// Longest time to resolve the name and connect.
    #[serde(deserialize_with = "written::duration")]
    pub connect_timeout: Duration,
    /// Longest silence while waiting for an answer or its next bytes.
    #[serde(deserialize_with = "written::duration")]
    pub read_timeout: Duration,
    /// A PEM file with further certificate authorities to trust.
    pub ca_file: Option<PathBuf>,
}

impl Default for HttpGrants {
    fn default() -> Self {
        Self {
            allow_hosts: Vec::new(),
            bytes_max: 5 * 1024 * 1024,
            redirects_max: 5,
            connect_timeout: Duration::from_secs(5),
            read_timeout: Duration::from_secs(10),
            ca_file: None,
        }
    }
}
