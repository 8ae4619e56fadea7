//! What clients of the service are told of runs: whose they are, how they stand, what to do next.

use serde_json::{Value as Json, json};

use crate::cli::Folder;
use crate::http_support::{Answer, Client, Service};
use crate::http_tenants::{key_of, settings};

async fn service(folder: &std::path::Path) -> Service {
    let settings = settings(folder);
    let settings: Vec<(&str, &str)> = settings.iter().map(|(name, value)| (*name, value.as_str())).collect();
    Service::with(&settings, None).await
}

fn of(service: &Service, name: &str) -> Client {
    Client { key: Some(key_of(name)), ..service.client.clone() }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_run_names_its_tenant_wherever_it_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    let service = service(folder.path()).await;
    let beta = of(&service, "beta");
    let run_id = beta.run("function run() return 1 end").await["run_id"].as_str().unwrap().to_owned();
    let paused = beta.run(crate::approvals::MAILER).await;
    assert_eq!(paused["status"], "paused", "{paused}");
    let listed = of(&service, "overseer").get("/v1/runs").await.json();
    assert_eq!(
        (&listed["runs"][0]["tenant"], &listed["runs"][1]["tenant"]),
        (&json!("beta"), &json!("beta"))
    );
    assert_eq!(beta.get(&format!("/v1/runs/{run_id}")).await.json()["tenant"], "beta");

    let data = format!("data_dir={:?}", service.app.config().data_dir.display().to_string());
    tokio::task::spawn_blocking(move || {
        let here = Folder::new();
        let with_data = |words: &[&str]| here.run(&[words, &["--set", &data]].concat()).exits(0);
        assert!(with_data(&["runs"]).out.contains("TENANT") && with_data(&["runs"]).out.contains("  beta "));
        assert_eq!(with_data(&["runs", "--json"]).json()[0]["tenant"], "beta");
        assert!(with_data(&["show", &run_id]).out.contains("of the tenant beta"));
        assert_eq!(with_data(&["show", &run_id, "--json"]).json()["run"]["tenant"], "beta");
        let waits = with_data(&["approve"]);
        assert!(waits.out.contains(" of beta"), "{waits}");
        here.write("plan.lua", "function run() return 1 end");
        here.run(&["run", "plan.lua"]).exits(0);
        assert!(
            !here.run(&["runs"]).exits(0).out.contains("TENANT"),
            "only where there are others than `local`"
        );
    })
    .await
    .unwrap();
}

#[tokio::test]
async fn the_audit_of_a_run_that_is_not_there_is_not_found() {
    let folder = tempfile::tempdir().unwrap();
    let service = service(folder.path()).await;
    let (beta, acme) = (of(&service, "beta"), of(&service, "acme"));
    let run_id = beta.run("function run() return 1 end").await["run_id"].as_str().unwrap().to_owned();
    let unknown = "0192b1c4-0000-7000-8000-000000000000";
    for (client, run) in [(&beta, unknown), (&acme, run_id.as_str()), (&of(&service, "root"), unknown)] {
        client.get(&format!("/v1/audit?run={run}")).await.problem(404, "not_found");
    }
    let none = beta.get(&format!("/v1/audit?run={run_id}&event=run_cancelled")).await;
    assert_eq!((none.status, &none.json()["records"]), (200, &json!([])), "{}", none.text);
}

#[tokio::test]
async fn a_repeated_request_is_told_how_its_run_stands_now() {
    let service = Service::new().await;
    let body = json!({ "plan": "function run() return 7 end" });
    let ask = async || {
        let request = service.client.request("POST", "/v1/runs").header("idempotency-key", "once");
        let request = request.header("content-type", "application/json").body(body.to_string());
        Answer::of(request.send().await.unwrap()).await
    };
    let first = ask().await;
    let run_id = first.json()["run_id"].as_str().unwrap().to_owned();
    service.client.until_ended(&run_id).await;
    let again = ask().await;
    assert_eq!((again.status, &again.json()["run_id"]), (202, &json!(run_id)), "{}", again.text);
    assert_eq!(again.json()["status"], "succeeded", "{}", again.text);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_tool_that_is_not_set_up_is_advised_of_over_http_and_mcp() {
    use rmcp::ServiceExt as _;
    use rmcp::model::CallToolRequestParams;
    let serving = crate::mcp::serve::Serving::start(&[]).await;
    let plan = "function run() local sent = send_email(\"a@b.example\", \"s\", \"x\") return sent.error end";
    let explained = serving.client.post("/v1/plans/explain", &json!({ "plan": plan })).await;
    let uri = format!("{}/mcp", serving.client.base);
    let peer = ().serve(rmcp::transport::StreamableHttpClientTransport::from_uri(uri)).await.unwrap();
    let mut told = vec![explained.text.clone()];
    for (tool, name) in [("check", "plan"), ("explain", "plan")] {
        let arguments = json!({ name: plan }).as_object().cloned().unwrap();
        let answer =
            peer.call_tool(CallToolRequestParams::new(tool).with_arguments(arguments)).await.unwrap();
        told.push(serde_json::to_string(&answer).unwrap());
    }
    peer.cancel().await.unwrap();
    for told in told {
        assert!(told.contains("plan_tool_not_set_up") && told.contains("smtp"), "{told}");
    }
    serving.stop().await;
}

#[tokio::test]
async fn refusals_over_http_name_no_command_of_a_terminal() {
    let service = Service::new().await;
    let client = &service.client;
    let run_id = client.run("function run() return 1 end").await["run_id"].as_str().unwrap().to_owned();
    let none = "0192b1c4-0000-7000-8000-000000000000";
    let mut answers = Vec::new();
    for path in ["/v1/runs/nonsense", "/v1/audit?run=nonsense", "/v1/approvals?run=nonsense"] {
        answers.push(client.get(path).await);
    }
    for (path, body) in [
        (format!("/v1/grants/{none}/revoke"), json!({})),
        (format!("/v1/approvals/{none}:1"), json!({ "decision": "once" })),
        (format!("/v1/approvals/{run_id}:1"), json!({ "decision": "once" })),
        (format!("/v1/runs/{run_id}/pause"), json!({})),
        (format!("/v1/runs/{run_id}/resume"), json!({})),
        ("/v1/tasks".to_owned(), json!({ "task": "Say hello." })),
    ] {
        answers.push(client.post(&path, &body).await);
    }
    for answer in answers {
        let help = answer.json()["help"].as_str().map(str::to_owned);
        let help = help.or_else(|| answer.json()["error"]["help"].as_str().map(str::to_owned));
        let help = help.unwrap_or_else(|| panic!("{}", answer.text));
        assert!(!help.contains("luaplan ") && !help.contains("`--"), "{help}");
    }
}

#[tokio::test]
async fn helps_over_http_name_routes_and_no_command_of_a_terminal() {
    let service = Service::new().await;
    let client = &service.client;
    let plan = |source: &str| json!({ "plan": source });
    let failed =
        client.post("/v1/runs?wait=20s", &plan("function run() error(\"no such day\") end")).await.json();
    let run_id = failed["run_id"].as_str().unwrap();
    let asleep = client.post("/v1/runs?wait=20s", &plan("function run() sleep(600) end")).await.json();
    let helps: Vec<Json> = vec![
        failed["error"]["help"].clone(),
        client.get(&format!("/v1/runs/{run_id}")).await.json()["error"]["help"].clone(),
        asleep["error"]["help"].clone(),
        client.post("/v1/runs", &plan("function run() return nothing() end")).await.json()["help"].clone(),
        client.get("/v1/runs/0192b1c4-0000-7000-8000-000000000000").await.json()["help"].clone(),
    ];
    for help in &helps {
        let help = help.as_str().unwrap_or_else(|| panic!("{helps:?}"));
        assert!(!help.contains("`luaplan ") && help.contains("/v1/"), "{help}");
    }
}
