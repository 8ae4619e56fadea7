//! The arguments of a call, checked beyond what a schema can say.

use reqwest::Method;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};

use luaplan_base::{ErrorCode, ToolFailure, Value};

/// Headers that belong to the connection or that the client sets itself.
const HEADERS_REFUSED: [&str; 14] = [
    "accept-encoding",
    "connection",
    "content-length",
    "content-type",
    "expect",
    "host",
    "http2-settings",
    "keep-alive",
    "proxy-authorization",
    "proxy-connection",
    "te",
    "trailer",
    "transfer-encoding",
    "upgrade",
];
const HEADERS_MAX: usize = 32;

/// The arguments of one call.
#[derive(Debug)]
pub(super) struct FetchArguments {
    /// In the order of the call, each once.
    pub(super) urls: Vec<String>,
    /// Whether the result is a table from URL to body.
    pub(super) as_map: bool,
    pub(super) detail: bool,
    pub(super) method: Method,
    pub(super) headers: HeaderMap,
}

impl FetchArguments {
    /// Reads the arguments by name.
    ///
    /// # Errors
    /// `bad_arguments`; nothing was fetched.
    pub(super) fn read(arguments: &Value, urls_max: u32) -> Result<Self, ToolFailure> {
        let flag = |name: &str| match arguments.get(name) {
            None | Some(Value::Null) => Ok(false),
            Some(Value::Bool(value)) => Ok(*value),
            Some(other) => Err(bad(format!("`{name}` is true or false, not {}", other.kind()))),
        };
        let (urls, is_list) = read_urls(arguments.get("urls"))?;
        if urls.len() > urls_max as usize {
            return Err(bad(format!("a call fetches at most {urls_max} URLs"))
                .with_detail("limit", i64::from(urls_max))
                .with_detail("observed", urls.len() as i64));
        }
        Ok(Self {
            urls,
            as_map: flag("batch")? || is_list,
            detail: flag("detail")?,
            method: read_method(arguments.get("method"))?,
            headers: read_headers(arguments.get("headers"))?,
        })
    }
}

fn bad(message: impl Into<String>) -> ToolFailure {
    ToolFailure::new(ErrorCode::BadArguments, message)
}

fn read_urls(value: Option<&Value>) -> Result<(Vec<String>, bool), ToolFailure> {
    match value {
        Some(Value::String(url)) => Ok((vec![url.clone()], false)),
        Some(Value::Array(items)) => {
            let mut urls = indexmap::IndexSet::with_capacity(items.len());
            for (position, item) in items.iter().enumerate() {
                let Some(url) = item.as_str() else {
                    return Err(bad(format!("URL {} is not text but {}", position + 1, item.kind())));
                };
                urls.insert(url.to_owned());
            }
            Ok((urls.into_iter().collect(), true))
        }
        // An empty table of a plan may arrive as either kind.
        Some(Value::Object(members)) if members.is_empty() => Ok((Vec::new(), true)),
        Some(other) => Err(bad(format!("`urls` is a URL or a list of URLs, not {}", other.kind()))),
        None => Err(bad("`urls` is missing")),
    }
}

fn read_method(value: Option<&Value>) -> Result<Method, ToolFailure> {
    match value {
        None | Some(Value::Null) => Ok(Method::GET),
        Some(Value::String(name)) if name == "GET" => Ok(Method::GET),
        Some(Value::String(name)) if name == "HEAD" => Ok(Method::HEAD),
        Some(_) => Err(bad("`method` is GET or HEAD; fetch_url changes nothing on a server")),
    }
}

fn read_headers(value: Option<&Value>) -> Result<HeaderMap, ToolFailure> {
    let mut headers = HeaderMap::new();
    let members = match value {
        None | Some(Value::Null) => return Ok(headers),
        Some(Value::Object(members)) => members,
        Some(Value::Array(items)) if items.is_empty() => return Ok(headers),
        Some(other) => return Err(bad(format!("`headers` is a table by name, not {}", other.kind()))),
    };
    if members.len() > HEADERS_MAX {
        return Err(bad(format!("a call sends at most {HEADERS_MAX} headers"))
            .with_detail("limit", HEADERS_MAX as i64)
            .with_detail("observed", members.len() as i64));
    }
    for (name, value) in members {
        let header: HeaderName =
            name.parse().map_err(|_| bad(format!("`{}` is not a header name", name.escape_debug())))?;
        if HEADERS_REFUSED.contains(&header.as_str()) {
            return Err(bad(format!("the header `{header}` is set by the client and cannot be given")));
        }
        // The value may be a secret, so it is not repeated.
        let value = value
            .as_str()
            .and_then(|text| HeaderValue::from_str(text).ok())
            .ok_or_else(|| bad(format!("the value of the header `{header}` is not a line of text")))?;
        headers.insert(header, value);
    }
    Ok(headers)
}
