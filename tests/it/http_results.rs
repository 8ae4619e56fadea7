//! A long result stands whole in the answer up to `server.result_max`, and is read part by part above it.

use serde_json::{Value as Json, json};

use crate::http_support::{Client, Service};

const ROWS: &str = r#"
function run(context)
  local rows = {}
  for id = 1, 5000 do rows[id] = {id = id, name = "customer " .. id .. " / €"} end
  print(("a line\n"):rep(5000))
  return rows
end"#;

fn rows() -> Json {
    (1..=5_000).map(|id| json!({ "id": id, "name": format!("customer {id} / €") })).collect()
}

/// Everything from an address on.
async fn read_on(client: &Client, head: Json, address: &Json) -> Vec<Json> {
    let mut parts = vec![head];
    let mut address = address.as_str().unwrap().to_owned();
    loop {
        let answer = client.get(&address).await;
        assert_eq!(answer.status, 200, "{address}: {}", answer.text);
        assert!(answer.text.len() <= 16 * 1024, "{} bytes", answer.text.len());
        let page = answer.json();
        parts.push(page["part"].clone());
        let Some(next) = page["next"].as_u64() else { return parts };
        address = format!("{}&offset={next}", address.split_once("&offset").unwrap().0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_result_is_whole_up_to_the_bound_and_read_in_parts_above_it() {
    let generous = Service::new().await;
    let ran = generous.client.run(ROWS).await;
    assert_eq!(ran["result"], rows());
    assert!(ran.get("shortened").is_none());

    let service = Service::with(&[("server.result_max", "\"16KiB\"")], None).await;
    let client = &service.client;
    let ran = client.post("/v1/runs?wait=25s", &json!({ "plan": ROWS })).await;
    assert!(ran.text.len() <= 16 * 1024, "{} bytes", ran.text.len());
    let ran = ran.json();
    let address = format!("/v1/runs/{}", ran["run_id"].as_str().unwrap());
    let shown = client.get(&address).await;
    assert!(shown.text.len() <= 16 * 1024, "{} bytes", shown.text.len());
    for answer in [ran, shown.json()] {
        assert_eq!(answer["shortened"], json!(["/result", "/printed"]));
        let result = &answer["result"];
        assert_eq!((&result["type"], &result["items"]), (&json!("array"), &json!(5_000)));
        let parts = read_on(client, result["head"].clone(), &result["read_on"]).await;
        let read: Json = parts.iter().flat_map(|part| part.as_array().unwrap().clone()).collect();
        assert!(read == rows());
        let printed = &answer["printed"];
        let parts = read_on(client, printed["head"].clone(), &printed["read_on"]).await;
        let text: String = parts.iter().map(|part| part.as_str().unwrap()).collect();
        assert_eq!(text, format!("{}\n", "a line\n".repeat(5_000)));
    }
    let first = client.get(&format!("{address}/result")).await.json();
    assert_eq!(
        (&first["path"], &first["offset"], &first["items"]),
        (&json!("/result"), &json!(0), &json!(5_000))
    );
    let one = client.get(&format!("{address}/result?path=/result/4999/name")).await.json();
    assert_eq!(one["part"], "customer 5000 / €");
    assert_eq!(client.get(&format!("{address}/result?path=/plan")).await.json()["part"], ROWS);
    for (query, status, code) in [
        ("path=/result/5000", 404, "not_found"),
        ("path=/calls/9", 404, "not_found"),
        ("path=/records/9000", 404, "not_found"),
        ("path=result", 400, "bad_request"),
        ("offset=5001", 400, "bad_request"),
        ("offset=-1", 400, "bad_request"),
        ("at=1", 400, "bad_request"),
    ] {
        client.get(&format!("{address}/result?{query}")).await.problem(status, code);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_long_task_is_short_in_lists_and_whole_in_its_run() {
    let service = Service::new().await;
    let plan = "function run() return 1 end";
    let run = service.client.run(plan).await;
    assert_eq!(service.client.get("/v1/runs").await.json()["runs"][0]["run_id"], run["run_id"]);
    let settings = [
        ("llm.provider", "\"ollama\""),
        ("llm.model", "\"none\""),
        ("llm.base_url", "\"http://127.0.0.1:1/\""),
    ];
    let service = Service::with(&settings, None).await;
    let task = "count the customers, please; ".repeat(2_000);
    let begun = service.client.post("/v1/tasks?wait=25s", &json!({ "task": task })).await.json();
    let listed = service.client.get("/v1/runs").await.json();
    assert_eq!(listed["runs"][0]["task"]["bytes"], task.len(), "{listed}");
    let run_id = begun["run_id"].as_str().unwrap();
    assert_eq!(service.client.get(&format!("/v1/runs/{run_id}")).await.json()["task"], *task);
}
