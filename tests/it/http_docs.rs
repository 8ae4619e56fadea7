//! What is written about the service is what it does: the description and the guide.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use luaplan::app::config::RawServer;
use luaplan::base::ErrorCode;
use luaplan::llm::{RecordedClient, RecordedReply};
use serde_json::{Value as Json, json};

use crate::http_support::{Answer, Gate, Service};

const GUIDE: &str = include_str!("../../docs/http.md");
const ROUTER: &str = include_str!("../../src/http/server.rs");

/// Path to methods, as the description has them.
fn described(document: &Json) -> BTreeMap<String, BTreeSet<String>> {
    let methods =
        |item: &Json| item.as_object().unwrap().keys().map(|method| method.to_uppercase()).collect();
    let paths = document["paths"].as_object().unwrap().iter();
    paths.map(|(path, item)| (path.clone(), methods(item))).collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn the_description_has_exactly_the_routes_and_methods_there_are() {
    let service = Service::new().await;
    let document = service.client.get("/openapi.json").await.json();
    assert_eq!(document, serde_json::to_value(luaplan::http::openapi_document()).unwrap());
    let described = described(&document);
    let routed: BTreeSet<String> =
        ROUTER.split(".route(\"").skip(1).map(|rest| rest.split('"').next().unwrap().to_owned()).collect();
    assert_eq!(described.keys().cloned().collect::<BTreeSet<_>>(), routed);
    for (path, methods) in &described {
        let path = path.replace("{id}", "01890a5d-ac96-774b-bcce-b302099a8057");
        let answer = Answer::of(service.client.request("TRACE", &path).send().await.unwrap()).await;
        let allowed: BTreeSet<String> =
            answer.header("allow").split(',').filter(|method| *method != "HEAD").map(str::to_owned).collect();
        assert_eq!(&allowed, methods, "{path}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_operation_says_what_it_does_and_how_it_can_answer() {
    let document = serde_json::to_value(luaplan::http::openapi_document()).unwrap();
    for (path, item) in document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            let place = format!("{method} {path}");
            assert!(operation["summary"].as_str().is_some_and(|text| text.len() > 5), "{place}");
            let responses = operation["responses"].as_object().unwrap();
            assert!(responses.keys().any(|status| status.starts_with('2')), "{place}");
            let guarded = path.starts_with("/v1/");
            assert_eq!(responses.contains_key("401"), guarded, "{place}");
            assert_eq!(operation.get("security").is_some(), guarded, "{place}");
            for (status, response) in responses {
                assert!(!response["description"].as_str().unwrap().is_empty(), "{place} {status}");
                if status.as_str() >= "400" {
                    let schema = &response["content"]["application/problem+json"]["schema"]["$ref"];
                    assert_eq!(schema, "#/components/schemas/Problem", "{place} {status}");
                }
            }
            let documented: Vec<&str> = operation["parameters"]
                .as_array()
                .map(|all| {
                    all.iter().filter(|one| one["in"] == "path").map(|one| one["name"].as_str().unwrap())
                })
                .into_iter()
                .flatten()
                .collect();
            let names: Vec<&str> =
                path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
            assert_eq!(documented, names, "{place}");
        }
    }
    let queried = |path: &str, method: &str| -> Vec<Json> {
        let all = document["paths"][path][method]["parameters"].as_array().unwrap();
        all.iter().filter(|one| one["in"] == "query").map(|one| one["name"].clone()).collect()
    };
    assert_eq!(queried("/v1/runs", "get"), ["limit", "status", "before"]);
    assert_eq!(queried("/v1/runs", "post"), ["wait"]);
    assert_eq!(queried("/v1/tasks", "post"), ["wait"]);
    assert_eq!(queried("/v1/audit", "get").len(), 8);
    assert!(document["openapi"].as_str().unwrap().starts_with("3.1"), "{}", document["openapi"]);
    let schemas = document["components"]["schemas"].as_object().unwrap();
    for name in ["TaskBody", "RunBody", "Problem"] {
        assert!(schemas.contains_key(name), "{name}");
    }
    assert_eq!(document["components"]["securitySchemes"]["bearer"]["scheme"], "bearer");
}

/// A `curl` command of the guide, and the head and body its answer is said to have.
struct Example {
    command: String,
    answer: Option<(u16, Option<String>, String)>,
}

fn examples() -> Vec<Example> {
    let mut blocks =
        GUIDE.split("\n```").skip(1).step_by(2).map(|block| block.split_once('\n').unwrap()).peekable();
    let mut examples = Vec::new();
    while let Some((language, text)) = blocks.next() {
        if language != "sh" {
            continue;
        }
        let answer = blocks.next_if(|(language, _)| *language == "http").map(|(_, text)| {
            let (head, body) = text.split_once("\n\n").unwrap_or((text, ""));
            let status = head.split(' ').nth(1).unwrap().parse().unwrap();
            let kind = head.lines().find_map(|line| line.strip_prefix("content-type: ").map(str::to_owned));
            (status, kind, body.to_owned())
        });
        examples.push(Example { command: text.to_owned(), answer });
    }
    examples
}

/// Splits as a shell would: blanks, and single quotes.
fn words(command: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut quoted = false;
    for character in command.chars() {
        match character {
            '\'' => quoted = !quoted,
            ' ' if !quoted => words.push(String::new()),
            _ => words.last_mut().unwrap().push(character),
        }
    }
    words
}

async fn carry_out(service: &Service, command: &str) -> Answer {
    let mut words = words(command).into_iter();
    assert_eq!(words.next().unwrap(), "curl");
    let (mut method, mut path, mut headers, mut body) = ("GET".to_owned(), None, Vec::new(), None);
    while let Some(word) = words.next() {
        match word.as_str() {
            "-i" | "-N" => {}
            "-X" => method = words.next().unwrap(),
            "-H" => headers.push(words.next().unwrap()),
            "-d" => {
                body = words.next();
                method = "POST".to_owned();
            }
            url => path = Some(url.strip_prefix("http://127.0.0.1:7777").unwrap().to_owned()),
        }
    }
    let mut request = service.client.request(&method, &path.unwrap());
    for header in headers {
        let (name, value) = header.split_once(": ").unwrap();
        request = request.header(name, value);
    }
    Answer::of(request.body(body.unwrap_or_default()).send().await.unwrap()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn the_examples_of_the_guide_answer_as_it_says() {
    let plan = "function run(context) return context.a + 1 end";
    let reply = RecordedReply { matches: None, text: json!({ "plan": plan }).to_string() };
    let gate = Gate::new().await;
    let hosts = format!("[\"{}\"]", gate.host);
    let model = Arc::new(RecordedClient::new("recorded", vec![reply]));
    // One run is held until the guide cancels it, however long the examples before that take.
    let patient = ["read_timeout", "url_timeout", "timeout"].map(|key| format!("tools.fetch_url.{key}"));
    let mut settings: Vec<(&str, &str)> = patient.iter().map(|key| (key.as_str(), "\"120s\"")).collect();
    settings.push(("tools.fetch_url.allow_hosts", &hosts));
    settings.push(("limits.wall", "\"300s\""));
    let service = Service::with(&settings, Some(model)).await;
    let shown = service.client.run("function run(context) print(\"hello\") return {sum = 42} end").await;
    let running = service.client.begin(&gate.plan("/hold")).await;
    gate.asked(1).await;
    let examples = examples();
    assert!(examples.len() > 15, "{}", examples.len());
    for Example { command, answer } in examples {
        let command =
            command.replace("$RUNNING", &running).replace("$RUN", shown["run_id"].as_str().unwrap());
        let got = carry_out(&service, &command).await;
        let Some((status, kind, body)) = answer else {
            assert_eq!(got.status, 200, "{command}: {}", got.text);
            continue;
        };
        assert_eq!(got.status, status, "{command}: {}", got.text);
        if let Some(kind) = kind {
            assert_eq!(got.header("content-type"), kind, "{command}");
        }
        if let Ok(Json::Object(said)) = serde_json::from_str(&body) {
            let members =
                |object: &serde_json::Map<String, Json>| object.keys().cloned().collect::<BTreeSet<_>>();
            let mut found = members(got.json().as_object().unwrap());
            // Where the plan raised an error, its traceback is left out of the guide.
            found.remove("traceback");
            let said: BTreeSet<String> = members(&said);
            assert!(said.is_subset(&found), "{command}: {said:?} {found:?}");
            assert!(got.header("content-type").ends_with("json"), "{command}");
            if !command.ends_with("/openapi.json") {
                assert_eq!(found, said, "{command}");
            }
        }
    }
}

#[test]
fn the_guide_names_every_route_key_and_code() {
    let document = serde_json::to_value(luaplan::http::openapi_document()).unwrap();
    for (path, methods) in described(&document) {
        for method in methods {
            assert!(GUIDE.contains(&format!("| `{method} {path}` |")), "{method} {path}");
        }
    }
    let server = serde_json::to_value(RawServer::default()).unwrap();
    for (key, value) in server.as_object().unwrap() {
        let default = value.as_str().map_or_else(|| value.to_string(), str::to_owned);
        let default = if default.is_empty() { "none".to_owned() } else { format!("`{default}`") };
        assert!(GUIDE.contains(&format!("| `server.{key}` | {default} |")), "server.{key} {default}");
    }
    let table = GUIDE.split("| Status | Code |").nth(1).unwrap().split("\n\n").next().unwrap();
    let named: BTreeSet<&str> = table
        .lines()
        .skip(2)
        .flat_map(|line| line.split('|').nth(2).unwrap().split(','))
        .map(|code| code.trim().trim_matches('`'))
        .collect();
    for code in &named {
        assert!(ErrorCode::ALL.iter().any(|known| known.as_str() == *code), "{code}");
    }
    for code in ["origin_refused", "method_not_allowed", "request_timeout", "run_not_active", "unauthorized"]
    {
        assert!(named.contains(code), "{code}");
    }
}
