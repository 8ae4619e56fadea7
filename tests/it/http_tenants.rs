//! Tenants are apart: every route of the API, each kind of key, each kind of another tenant's object.

use std::path::Path;
use std::time::Duration;

use serde_json::{Value as Json, json};

use crate::approvals::{ABSENT_MAIL_SERVER, MAILER, POLICY};
use crate::http_support::{Client, Gate, Service};
use crate::nodes::{Ledger, Node};
use crate::postgres_support::Database;

/// Stands in everything that belongs to the other tenant.
const CANARY: &str = "beta-canary-5d1c";

pub(crate) const MISSING: &str = "0192b1c4-0000-7000-8000-000000000000";

/// Keys that may not see what is beta's, by name, with what stands behind each.
pub(crate) const STRANGERS: [(&str, &str); 9] = [
    ("acme", ""),
    ("bare", "tenant=acme scopes=mode:autonomous"),
    ("starts", "tenant=acme scopes=runs:start"),
    ("reads", "tenant=acme scopes=runs:read"),
    ("steers", "tenant=acme scopes=runs:control:own"),
    ("decides", "tenant=acme scopes=approvals:decide"),
    ("audits", "tenant=acme scopes=audit:read"),
    ("betaish", "tenant=beta2"),
    ("lower", "tenant=Beta"),
];

/// Keys that may, beside beta's own.
const FRIENDS: [(&str, &str); 4] = [
    ("beta", ""),
    ("colleague", "tenant=beta"),
    ("overseer", "scopes=runs:read:all,runs:control:all,approvals:decide:all,audit:read:all"),
    ("root", "scopes=admin"),
];

pub(crate) fn key_of(name: &str) -> String {
    format!("{name}-0123456789-abcdefghij")
}

/// Writes the key file and the policy; their settings.
pub(crate) fn settings(folder: &Path) -> Vec<(&'static str, String)> {
    let line = |(name, attributes): &(&str, &str)| format!("{name} {} {attributes}\n", key_of(name));
    let keys: String = STRANGERS.iter().chain(&FRIENDS).map(line).collect();
    let path = |name: &str, text: &str| {
        std::fs::write(folder.join(name), text).unwrap();
        format!("{:?}", folder.join(name).display().to_string())
    };
    let agent = format!(
        "{{ plan = {}, tools = [] }}",
        path("helper.lua", &format!("function run() return '{CANARY}' end"))
    );
    let own = [
        ("server.api_keys_file", path("keys", &keys)),
        ("policy.file", path("policy.toml", POLICY)),
        ("agents.helper", agent),
    ];
    own.into_iter().chain(ABSENT_MAIL_SERVER.map(|(key, value)| (key, value.to_owned()))).collect()
}

/// What a run of [`world`] needs that waits for `gate`.
pub(crate) fn settings_beside(folder: &Path, gate: &Gate) -> Vec<(&'static str, String)> {
    let waits = "\"110s\"".to_owned();
    let mut all = settings(folder);
    all.extend([
        ("tools.fetch_url.allow_hosts", format!("[\"{}\"]", gate.host)),
        ("tools.fetch_url.timeout", waits.clone()),
        ("tools.fetch_url.url_timeout", waits.clone()),
        ("tools.fetch_url.read_timeout", waits),
    ]);
    all
}

pub(crate) async fn service_beside(folder: &Path, gate: &Gate) -> Service {
    let settings = settings_beside(folder, gate);
    let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    Service::with(&settings, None).await
}

pub(crate) fn with_key(client: &Client, name: &str) -> Client {
    Client { key: Some(key_of(name)), ..client.clone() }
}

/// What belongs to beta.
pub(crate) struct World {
    pub(crate) runs: Vec<(&'static str, String)>,
    pub(crate) approval: String,
    pub(crate) grant: String,
}

/// Starts runs of beta that end in every way, and store everything a run can store.
pub(crate) async fn world(client: &Client, gate: Option<&Gate>) -> World {
    let beta = with_key(client, "beta");
    let post = async |plan: &str, context: Json| {
        let body = json!({ "plan": plan, "name": CANARY, "context": context });
        let answer = beta.post("/v1/runs?wait=20s", &body).await;
        assert!(answer.status < 300, "{}", answer.text);
        answer.json()["run_id"].as_str().unwrap().to_owned()
    };
    let approval_of = async |run_id: &str| {
        let listed = beta.get(&format!("/v1/approvals?run={run_id}")).await.json();
        listed["approvals"][0]["approval_id"].as_str().unwrap_or_else(|| panic!("{listed}")).to_owned()
    };
    let mail = json!({ "to": format!("{CANARY}@company.com") });
    let granting = post(MAILER, mail.clone()).await;
    let decided = beta
        .post(
            &format!("/v1/approvals/{}", approval_of(&granting).await),
            &json!({ "decision": "for", "for": "1h" }),
        )
        .await;
    assert_eq!(decided.status, 200, "{}", decided.text);
    let grant = decided.json()["approval"]["decision"]["grant_id"].as_str().unwrap().to_owned();
    beta.until_ended(&granting).await;
    let manual = json!({ "to": format!("{CANARY}@company.com"), "subject": "FINAL" });
    let paused = post(MAILER, manual).await;
    let approval = approval_of(&paused).await;
    let sleeping = json!({ "plan": "function run() sleep(600) return 1 end", "name": CANARY });
    let sleeping = beta.post("/v1/runs", &sleeping).await.json()["run_id"].as_str().unwrap().to_owned();
    beta.until_ended(&sleeping).await;
    let failed = post(&format!("function run() error('{CANARY}') end"), json!({})).await;
    let finished = post(&format!("function run() print('{CANARY}') return 1 end"), json!({})).await;
    let calls = "function run() local said = call_agent('helper') if said.error then error(said.error) end return said end";
    let caller = post(calls, json!({})).await;
    let begun = beta.get(&format!("/v1/audit?run={caller}&event=agent_started")).await.json();
    let child = begun["records"][0]["child_run_id"].as_str().unwrap_or_else(|| panic!("{begun}")).to_owned();
    let asks = post(&format!("function run() return ask_person('{CANARY}') end"), json!({})).await;
    let mut runs = vec![
        ("succeeded", granting),
        ("paused", paused),
        ("sleeping", sleeping),
        ("failed", failed),
        ("succeeded", finished),
        ("succeeded", caller),
        ("succeeded", child),
        ("paused", asks),
    ];
    if let Some(gate) = gate {
        let running = json!({ "plan": gate.plan(&format!("/{CANARY}")), "name": CANARY });
        let running = beta.post("/v1/runs", &running).await.json()["run_id"].as_str().unwrap().to_owned();
        gate.asked(1).await;
        runs.push(("running", running));
    }
    World { runs, approval, grant }
}

/// How everything of beta stands, with what was done to it.
async fn snapshot(client: &Client) -> String {
    let root = with_key(client, "root");
    let audit = root.get("/v1/audit?limit=1000").await.json();
    let of_beta = audit["records"].as_array().unwrap().iter().filter(|record| record["tenant"] != "acme");
    let grants = root.get("/v1/grants?all=true").await.text;
    format!("{:?}\n{grants}", of_beta.collect::<Vec<_>>())
}

/// A request about an object, or about none.
#[derive(Clone)]
struct Probe {
    method: String,
    path: String,
    body: Json,
}

/// The request on a route; `None` for a route without an object of a tenant.
fn probes(method: &str, route: &str, world: &World) -> Option<Vec<(Probe, Probe)>> {
    let pair = |path: &str, id: &str, missing: &str, body: Json| {
        let probe = |id: &str| Probe {
            method: method.to_owned(),
            path: path.replace("{id}", id),
            body: body.clone(),
        };
        (probe(id), probe(missing))
    };
    let of_runs = |path: &str, bodies: &[Json]| -> Vec<(Probe, Probe)> {
        let each = |(_, id): &(_, String)| -> Vec<(Probe, Probe)> {
            bodies.iter().map(|body| pair(path, id, MISSING, body.clone())).collect()
        };
        world.runs.iter().flat_map(each).collect()
    };
    let probes = match (method, route) {
        ("get", "/v1/runs/{id}" | "/v1/runs/{id}/plan" | "/v1/runs/{id}/graph" | "/v1/runs/{id}/events") => {
            of_runs(route, &[Json::Null])
        }
        ("get", "/v1/runs/{id}/result") => [
            of_runs(route, &[Json::Null]),
            of_runs("/v1/runs/{id}/result?path=", &[Json::Null]),
            of_runs("/v1/runs/{id}/result?path=/plan", &[Json::Null]),
            of_runs("/v1/runs/{id}/result?path=/calls/1", &[Json::Null]),
            of_runs("/v1/runs/{id}/result?path=/records/1", &[Json::Null]),
        ]
        .concat(),
        ("post", "/v1/runs/{id}/cancel" | "/v1/runs/{id}/pause") => of_runs(route, &[json!({})]),
        ("post", "/v1/runs/{id}/mode") => of_runs(route, &[json!({ "mode": "structured" })]),
        ("post", "/v1/runs/{id}/reset") => of_runs(route, &[json!({ "repeat_effects": true })]),
        ("post", "/v1/runs/{id}/resume") => {
            of_runs(route, &[json!({}), json!({ "resolve": { "1": { "retry": true } } })])
        }
        ("get", "/v1/runs/{id}/calls/{call}") => of_runs("/v1/runs/{id}/calls/1", &[Json::Null]),
        ("post", "/v1/runs/{id}/replay") => {
            of_runs(route, &[json!({}), json!({ "plan": "function run() return 1 end" })])
        }
        ("get", "/v1/approvals") => of_runs("/v1/approvals?run={id}", &[Json::Null]),
        ("post", "/v1/approvals/{id}") => {
            let missing = world.approval.replace(world.approval.split(':').next().unwrap(), MISSING);
            [json!({ "decision": "once" }), json!({ "decision": "deny", "reason": "no" })]
                .into_iter()
                .map(|body| pair(route, &world.approval, &missing, body))
                .collect()
        }
        ("get", "/v1/questions") => of_runs("/v1/questions?run={id}", &[Json::Null]),
        ("post", "/v1/questions/{id}") => of_runs("/v1/questions/{id}:1", &[json!({ "answer": "yes" })]),
        ("post", "/v1/grants/{id}/revoke") => vec![pair(route, &world.grant, MISSING, json!({}))],
        ("get", "/v1/audit") => of_runs("/v1/audit?run={id}", &[Json::Null]),
        ("get", "/v1/runs") => of_runs("/v1/runs?before={id}", &[Json::Null]),
        ("get", "/v1/grants") => vec![pair("/v1/grants?all=true", "", "", Json::Null)],
        ("post", "/v1/tasks" | "/v1/runs" | "/v1/plans/explain") => return None,
        // Tools and databases are those of all tenants; `mcp_servers/seen` has what runs of one saw of results.
        ("get", "/v1/tools" | "/v1/tools/{name}" | "/v1/tools/{name}/schema") => return None,
        ("get", "/healthz" | "/readyz" | "/openapi.json") => return None,
        (method, route) => panic!("say here what another tenant may learn from {method} {route}"),
    };
    Some(probes)
}

async fn ask(client: &Client, probe: &Probe) -> (u16, String) {
    let answer = match probe.method.as_str() {
        "get" => client.get(&probe.path).await,
        _ => client.post(&probe.path, &probe.body).await,
    };
    (answer.status, answer.text)
}

/// Without the ids that were asked about.
pub(crate) fn neutral(text: &str, world: &World) -> String {
    let mut text = text.replace(&world.approval, "ID").replace(&world.grant, "ID");
    for (_, id) in &world.runs {
        text = text.replace(id, "ID");
    }
    text.replace(MISSING, "ID")
}

/// Asks everything as every stranger; says how many questions that were.
async fn nothing_is_seen_or_changed(client: &Client, asked: &Client, world: &World) -> usize {
    let document = client.get("/openapi.json").await.json();
    let before = snapshot(client).await;
    let mut count = 0;
    for (route, methods) in document["paths"].as_object().unwrap() {
        for method in methods.as_object().unwrap().keys() {
            for (probe, missing) in probes(method, route, world).into_iter().flatten() {
                let (status, _) = ask(asked, &probe).await;
                assert_eq!(status, 401, "{} {} without a key", probe.method, probe.path);
                let bad = Client { key: Some("x".repeat(24)), ..asked.clone() };
                assert_eq!(ask(&bad, &probe).await.0, 401, "{} {} with a bad key", probe.method, probe.path);
                for (name, _) in STRANGERS {
                    let stranger = with_key(asked, name);
                    let (status, text) = ask(&stranger, &probe).await;
                    let is_list = status == 200 && !route.contains("{id}");
                    let place = format!("{} {} as {name}: {status} {text}", probe.method, probe.path);
                    assert!(is_list || [403, 404].contains(&status), "{place}");
                    assert!(!text.contains(CANARY), "{place}");
                    let (status_of_none, text_of_none) = ask(&stranger, &missing).await;
                    // A missing id of a grant has another form than a run's, so ids are left out.
                    let approval = world.approval.replace(world.approval.split(':').next().unwrap(), MISSING);
                    let (seen, none) =
                        (neutral(&text, world), neutral(&text_of_none.replace(&approval, "ID"), world));
                    assert_eq!((status, seen), (status_of_none, none), "{place}");
                    count += 1;
                }
            }
        }
    }
    assert_eq!(snapshot(client).await, before, "something of beta was changed");
    count
}

#[tokio::test(flavor = "multi_thread")]
async fn no_route_shows_or_changes_what_another_tenant_has() {
    let (folder, gate) = (tempfile::tempdir().unwrap(), Gate::new().await);
    let service = service_beside(folder.path(), &gate).await;
    let client = &service.client;
    let world = world(client, Some(&gate)).await;
    for (status, id) in &world.runs {
        let run = with_key(client, "beta").get(&format!("/v1/runs/{id}")).await.json();
        assert_eq!(run["status"], *status, "{run}");
    }
    assert!(nothing_is_seen_or_changed(client, client, &world).await > 1_400);
    let (_, running) = world.runs.last().unwrap();
    assert_eq!(
        with_key(client, "beta").get(&format!("/v1/runs/{running}")).await.json()["status"],
        "running"
    );
    gate.open();
    assert_eq!(with_key(client, "beta").until_ended(running).await["status"], "succeeded");
    // The same is visible to beta, its colleague and a key that may see all.
    for (name, _) in FRIENDS {
        let friend = with_key(client, name);
        for (_, id) in &world.runs {
            assert_eq!(friend.get(&format!("/v1/runs/{id}")).await.status, 200, "{name}");
        }
        assert!(friend.get("/v1/audit?limit=1000").await.text.contains(CANARY), "{name}");
        assert!(friend.get("/v1/approvals").await.text.contains(CANARY), "{name}");
        assert!(friend.get("/v1/grants").await.text.contains(&world.grant), "{name}");
    }
}

#[tokio::test]
async fn what_a_key_does_is_recorded_under_its_name_and_needs_its_scope() {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(folder.path());
    let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let service = Service::with(&settings, None).await;
    let client = &service.client;
    let (beta, overseer) = (with_key(client, "beta"), with_key(client, "overseer"));
    let plan = json!({ "plan": "function run() return 1 end", "mode": "autonomous" });
    let refused = beta.post("/v1/runs", &plan).await;
    let problem = refused.problem(403, "forbidden");
    assert_eq!(problem["scope"], "mode:autonomous", "{problem}");
    with_key(client, "reads")
        .post("/v1/runs", &json!({ "plan": "function run() end" }))
        .await
        .problem(403, "forbidden");

    let asleep = beta.begin("function run() sleep(600) return 1 end").await;
    beta.until_ended(&asleep).await;
    assert_eq!(overseer.post(&format!("/v1/runs/{asleep}/cancel"), &json!({})).await.status, 202);
    let last = |records: Vec<luaplan::journal::Record>| {
        serde_json::to_value(&records.last().unwrap().event).unwrap()
    };
    while beta.get(&format!("/v1/runs/{asleep}")).await.json()["status"] != "cancelled" {
        tokio::time::sleep(Duration::from_millis(10)).await;
    }
    let cancelled = last(service.records(&asleep).await);
    assert_eq!((&cancelled["event"], &cancelled["by"]), (&json!("run_cancelled"), &json!("overseer")));

    // Started over by another, it stays beta's and names who did it.
    let reset = overseer.post(&format!("/v1/runs/{asleep}/reset"), &json!({})).await;
    assert_eq!(reset.status, 202, "{}", reset.text);
    let run_id = reset.json()["run_id"].as_str().unwrap().to_owned();
    beta.until_ended(&run_id).await;
    let started = serde_json::to_value(&service.records(&run_id).await[0].event).unwrap();
    assert_eq!((&started["tenant"], &started["by"]), (&json!("beta"), &json!("overseer")));
}

#[tokio::test]
async fn named_contexts_are_each_tenants_own() {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(folder.path());
    let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let service = Service::with(&settings, None).await;
    let count =
        json!({ "plan": "function run(c) return { n = (c.n or 0) + 1 } end", "context_name": "report" });
    for (name, n) in [("beta", 1), ("acme", 1), ("beta", 2), ("colleague", 3), ("acme", 2)] {
        let answer = with_key(&service.client, name).post("/v1/runs?wait=20s", &count).await;
        assert_eq!(answer.json()["result"]["n"], n, "{name}: {}", answer.text);
    }
}

#[tokio::test]
async fn who_started_a_run_does_not_approve_it_where_the_policy_says_so() {
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(folder.path());
    std::fs::write(
        folder.path().join("policy.toml"),
        POLICY.replacen("version = 1", "version = 1\napprovers_other_than_starter = true", 1),
    )
    .unwrap();
    let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    let service = Service::with(&settings, None).await;
    let (beta, colleague) = (with_key(&service.client, "beta"), with_key(&service.client, "colleague"));
    assert_eq!(beta.run(MAILER).await["status"], "paused");
    let waits = beta.get("/v1/approvals").await.json()["approvals"][0]["approval_id"].clone();
    let path = format!("/v1/approvals/{}", waits.as_str().unwrap());
    let body = json!({ "decision": "once", "resume": false });
    beta.post(&path, &body).await.problem(403, "approver_is_starter");
    assert_eq!(colleague.post(&path, &body).await.status, 200);
}

#[tokio::test(flavor = "multi_thread")]
async fn two_nodes_keep_tenants_apart() {
    let Some(database) = Database::new("tenants").await else { return };
    let ledger = Ledger::start().await;
    let folder = tempfile::tempdir().unwrap();
    let settings = settings(folder.path());
    let mail: String = ABSENT_MAIL_SERVER
        .iter()
        .map(|(key, value)| format!("{} = {value}\n", &key["tools.send_email.".len()..]))
        .collect();
    let settings = format!(
        "api_keys_file = {}\n[policy]\nfile = {}\n[agents]\nhelper = {}\n[tools.send_email]\n{mail}",
        settings[0].1, settings[1].1, settings[2].1
    );
    let one = Node::start(&database, &ledger, &settings).await;
    let two = Node::start(&database, &ledger, &settings).await;
    let world = world(&one.client, None).await;
    nothing_is_seen_or_changed(&one.client, &two.client, &world).await;
}
