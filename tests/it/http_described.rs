//! What the description says of requests and answers is what the service does with them.

use jsonschema::Validator;
use serde_json::{Value as Json, json};

use crate::http_support::{Answer, Service};

const PLAN: &str = "function run() return 1 end";
const MISSING: &str = "0192b1c4-0000-7000-8000-000000000000";

struct Described {
    document: Json,
    service: Service,
}

impl Described {
    async fn new() -> Self {
        let settings = [
            ("llm.provider", "\"ollama\""),
            ("llm.model", "\"none\""),
            ("llm.base_url", "\"http://127.0.0.1:1/\""),
        ];
        let service = Service::with(&settings, None).await;
        Self { document: service.client.get("/openapi.json").await.json(), service }
    }

    /// The schema at a pointer into the description, which other schemas of it may be named in.
    fn validator(&self, pointer: &str) -> Validator {
        let schema = json!({ "$ref": format!("#{pointer}"), "components": self.document["components"], "paths": self.document["paths"] });
        jsonschema::options().should_validate_formats(true).build(&schema).unwrap()
    }

    /// Whether an answer is one the operation is said to give, in the form it is said to have.
    fn judge(&self, method: &str, route: &str, answer: &Answer) {
        let said = &self.document["paths"][route][method]["responses"][answer.status.to_string()];
        assert!(
            said.is_object(),
            "{method} {route} is not said to answer {}: {}",
            answer.status,
            answer.text
        );
        if answer.text.is_empty() {
            return;
        }
        let kind = answer.header("content-type").split(';').next().unwrap().to_owned();
        assert!(said["content"].get(&kind).is_some(), "{method} {route} {}: {kind}", answer.status);
        if answer.status >= 400 {
            let problem = self.validator("/components/schemas/Problem");
            let seen = answer.json();
            let faults: Vec<String> = problem.iter_errors(&seen).map(|fault| fault.to_string()).collect();
            assert!(faults.is_empty(), "{method} {route}: {faults:?} in {seen}");
            assert_eq!(seen["status"], answer.status);
        }
    }

    /// Sends a request, with a body that the route takes.
    async fn send(&self, method: &str, path: &str, header: Option<(&str, &str)>) -> Answer {
        let mut request = self.service.client.request(&method.to_uppercase(), path);
        if let Some((name, value)) = header {
            request = request.header(name, value);
        }
        if method == "post" {
            let body = match path.split('?').next().unwrap() {
                "/v1/runs" | "/v1/plans/explain" => json!({ "plan": PLAN }),
                "/v1/tasks" => json!({ "task": "count" }),
                path if path.starts_with("/v1/approvals/") => json!({ "decision": "once" }),
                path if path.starts_with("/v1/questions/") => json!({ "answer": "yes" }),
                _ => json!({}),
            };
            request = request.body(body.to_string());
        }
        Answer::of(request.send().await.unwrap()).await
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_body_is_refused_exactly_where_its_schema_refuses_it() {
    let described = Described::new().await;
    let plan = |member: &str, value: Json| json!({ "plan": PLAN, member: value });
    let task = |member: &str, value: Json| json!({ "task": "count", member: value });
    let mut of_plans =
        vec![json!({ "plan": PLAN }), json!({}), json!([]), json!({ "plan": 1 }), json!({ "plan": null })];
    for context in [json!(null), json!({}), json!([1]), json!(1.5), json!("x"), json!(false)] {
        of_plans.push(plan("context", context));
    }
    for name in [
        json!(null),
        json!(""),
        json!("n"),
        json!("n".repeat(128)),
        json!("é".repeat(128)),
        json!("n".repeat(129)),
        json!(1),
    ] {
        of_plans.push(plan("name", name));
    }
    for limits in [json!({}), json!(null), json!([]), json!({ "wall": "1s", "tool_calls": 3 })] {
        of_plans.push(plan("limits", limits));
    }
    of_plans.push(plan("other", json!(1)));
    let mut of_runs = of_plans.clone();
    for name in [
        json!(null),
        json!(""),
        json!("a.b_c-1"),
        json!("a b"),
        json!("é"),
        json!("a".repeat(64)),
        json!("a".repeat(65)),
    ] {
        of_runs.push(plan("context_name", name));
    }
    for mode in [json!(null), json!("structured"), json!("autonomous"), json!("auto"), json!(1)] {
        of_runs.push(plan("mode", mode));
    }
    let mut of_tasks =
        vec![json!({ "task": "" }), json!({ "task": " \n" }), json!({ "task": "count" }), json!({})];
    for candidates in [json!(null), json!(0), json!(1), json!(8), json!(9), json!(-1), json!(1.5), json!("2")]
    {
        of_tasks.push(task("candidates", candidates));
    }
    for (member, value) in [
        ("context", json!(null)),
        ("context_name", json!("a/b")),
        ("mode", json!("")),
        ("mcp_prompts", json!([])),
        ("mcp_prompts", json!(null)),
        ("mcp_prompts", json!([{ "arguments": {} }])),
    ] {
        of_tasks.push(task(member, value));
    }
    let run = described.service.client.run(PLAN).await["run_id"].as_str().unwrap().to_owned();
    let replays = vec![
        json!({}),
        json!({ "plan": null }),
        json!({ "plan": PLAN }),
        json!({ "plan": 1 }),
        json!({ "run": 1 }),
    ];
    let resets = vec![
        json!({}),
        json!({ "repeat_effects": true }),
        json!({ "repeat_effects": null }),
        json!({ "repeat_effects": 1 }),
    ];
    let resumes = vec![
        json!({}),
        json!({ "resolve": {} }),
        json!({ "resolve": null }),
        json!({ "resolve": { "1": 1 } }),
    ];
    let decisions = vec![
        json!({}),
        json!({ "decision": "once" }),
        json!({ "decision": "once", "for": null, "arguments": null, "set": null, "merge": null, "reason": null, "resume": null }),
        json!({ "decision": "twice" }),
        json!({ "decision": "for", "for": "1h" }),
        json!({ "decision": "for", "for": "" }),
        json!({ "decision": "edit", "arguments": {} }),
        json!({ "decision": "edit", "set": { "to": null } }),
        json!({ "decision": "edit", "set": [] }),
        json!({ "decision": "edit", "merge": 1 }),
        json!({ "decision": "deny", "reason": "no" }),
        json!({ "decision": "deny", "reason": 1 }),
    ];
    let answers = vec![
        json!({}),
        json!({ "answer": 1 }),
        json!({ "answer": "yes" }),
        json!({ "answer": "yes", "resume": false }),
        json!({ "answer": "yes", "resume": "no" }),
        json!({ "answer": "yes", "by": "ann" }),
    ];
    let mut judged = [0, 0];
    for (route, id, bodies) in [
        ("/v1/runs", "", of_runs),
        ("/v1/plans/explain", "", of_plans),
        ("/v1/tasks", "", of_tasks),
        ("/v1/runs/{id}/replay", run.as_str(), replays),
        ("/v1/runs/{id}/reset", run.as_str(), resets),
        ("/v1/runs/{id}/resume", run.as_str(), resumes),
        ("/v1/approvals/{id}", "nobody:1:0", decisions),
        ("/v1/questions/{id}", "nobody:1", answers),
    ] {
        let schema =
            format!("/paths/{}/post/requestBody/content/application~1json/schema", route.replace('/', "~1"));
        let schema = described.validator(&schema.replace('{', "%7B").replace('}', "%7D"));
        for body in bodies {
            let answer = described.service.client.post(&route.replace("{id}", id), &body).await;
            described.judge("post", route, &answer);
            let is_refused = answer.status == 400;
            assert_ne!(
                is_refused,
                schema.is_valid(&body),
                "{route} {body}: {} {}",
                answer.status,
                answer.text
            );
            judged[usize::from(is_refused)] += 1;
        }
    }
    assert!(judged[0] > 30 && judged[1] > 30, "{judged:?}");
}

/// Values that a parameter's schema refuses, and some that it takes.
fn values(name: &str, schema: &Json) -> (Vec<String>, Vec<String>) {
    let (mut bad, mut good) = (Vec::new(), Vec::new());
    let kind = schema["type"].to_string();
    for (edge, beyond) in [("minimum", -1), ("maximum", 1)] {
        if let Some(edge) = schema[edge].as_i64() {
            good.push(edge.to_string());
            bad.push((edge + beyond).to_string());
        }
    }
    if kind.contains("integer") || kind.contains("boolean") {
        bad.push("nonsense".to_owned());
    }
    if schema["format"] == "uuid"
        || schema["format"] == "date-time"
        || schema.get("pattern").is_some() && name != "Idempotency-Key"
    {
        bad.push("nonsense".to_owned());
    }
    if let Some(longest) = schema["maxLength"].as_u64() {
        bad.push("k".repeat(longest as usize + 1));
    }
    if name == "wait" {
        bad.push("s".to_owned());
        good.push("1ms".to_owned());
    }
    (bad, good)
}

#[tokio::test(flavor = "multi_thread")]
async fn each_bound_and_form_of_a_parameter_is_one_the_service_holds() {
    let described = Described::new().await;
    let (mut refused, mut taken) = (0, 0);
    for (route, item) in described.document["paths"].as_object().unwrap() {
        for (method, operation) in item.as_object().unwrap() {
            for parameter in operation["parameters"].as_array().into_iter().flatten() {
                let name = parameter["name"].as_str().unwrap();
                let (bad, good) = values(name, &parameter["schema"]);
                let whole = route.replace("{id}", MISSING).replace("{call}", "1");
                let all =
                    bad.iter().map(|value| (value, true)).chain(good.iter().map(|value| (value, false)));
                for (value, is_bad) in all {
                    let answer = match parameter["in"].as_str().unwrap() {
                        "path" => {
                            described
                                .send(method, &route.replace("{id}", value).replace("{call}", "1"), None)
                                .await
                        }
                        "query" => described.send(method, &format!("{whole}?{name}={value}"), None).await,
                        _ => described.send(method, &whole, Some((name, value))).await,
                    };
                    described.judge(method, route, &answer);
                    // A run that is not there may be found out first.
                    let is_absent =
                        is_bad && answer.status == 404 && whole != *route && parameter["in"] != "path";
                    assert!(
                        is_absent || (answer.status == 400) == is_bad,
                        "{method} {route} {name}={value}: {}",
                        answer.text
                    );
                    refused += usize::from(is_bad && !is_absent);
                    taken += usize::from(!is_bad);
                }
            }
        }
    }
    assert!(refused > 35 && taken >= 6, "{refused} {taken}");
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_of_a_run_are_as_described() {
    let described = Described::new().await;
    let client = &described.service.client;
    let run = client.run(PLAN).await["run_id"].as_str().unwrap().to_owned();
    for (route, item) in described.document["paths"].as_object().unwrap() {
        for method in item.as_object().unwrap().keys() {
            for id in [run.as_str(), MISSING] {
                let path = route.replace("{id}", id).replace("{call}", "1");
                described.judge(method, route, &described.send(method, &path, None).await);
            }
        }
    }
}
