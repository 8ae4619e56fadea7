//! The default mocks: one plain answer for each built-in tool, shaped as the call asks.

use serde_json::{Value as Json, json};

/// The answer of the default mock of `tool`, if it has one.
pub(super) fn answer(tool: &str, arguments: &Json) -> Option<Json> {
    let (_, text) = luaplan_manifests::MOCKS.iter().find(|(name, _)| *name == tool)?;
    let value: Json = serde_json::from_str(text).ok()?;
    Some(match tool {
        "fetch_url" => fetched(arguments, |_| value.clone()),
        _ => value,
    })
}

/// A body, or as many as there are URLs; with `detail`, what comes with a body.
pub(super) fn fetched(arguments: &Json, mut body_of: impl FnMut(&str) -> Json) -> Json {
    let is_set = |name: &str| arguments.get(name).and_then(Json::as_bool).unwrap_or(false);
    let mut one = |url: &str| {
        let body = body_of(url);
        if !is_set("detail") {
            return body;
        }
        json!({"status": 200, "headers": {}, "content_type": "text/html", "body": body, "url": url})
    };
    match arguments.get("urls") {
        Some(Json::Array(urls)) => {
            urls.iter().filter_map(Json::as_str).map(|url| (url.to_owned(), one(url))).collect()
        }
        Some(Json::String(url)) if is_set("batch") => {
            Json::Object([(url.clone(), one(url))].into_iter().collect())
        }
        Some(Json::String(url)) => one(url),
        _ => body_of(""),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_built_in_tool_has_a_default_answer_of_its_kind() {
        for spec in luaplan_catalog::builtin_manifests().unwrap() {
            let value = answer(&spec.name, &json!({})).unwrap_or_else(|| panic!("{} has none", spec.name));
            let mocks = json!([{"tool": spec.name, "returns": value}]);
            let catalog = luaplan_catalog::Catalog::from_iter([spec]);
            super::super::mock::Mock::list_from_json(mocks, &catalog).unwrap();
        }
    }

    #[test]
    fn a_fetch_is_shaped_as_the_call_asks() {
        let urls = json!(["http://a.example", "http://b.example"]);
        let batch = answer("fetch_url", &json!({"urls": urls})).unwrap();
        assert!(batch["http://a.example"].is_string() && batch["http://b.example"].is_string());
        let detail = answer("fetch_url", &json!({"urls": urls, "detail": true})).unwrap();
        assert_eq!(detail["http://b.example"]["status"], 200);
        assert!(answer("fetch_url", &json!({"urls": "http://a.example"})).unwrap().is_string());
        let one = answer("fetch_url", &json!({"urls": "http://a.example", "batch": true})).unwrap();
        assert!(one["http://a.example"].is_string());
        assert_eq!(answer("unknown", &json!({})), None);
    }
}
