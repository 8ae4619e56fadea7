//! What people and models see of tools made by manifests: stubs, prompts, check, explain, commands.

use luaplan::catalog::TargetKind;
use serde_json::json;

use super::requests::Site;
use super::{Shop, manifest};
use crate::cli::Folder;

const CRM: &str = "{ id = { type = \"integer\", description = \"The number.\" } }\nrequired = [\"id\"]\n[settings]\nurl = \"https://crm.example.com/{id}\"";

#[tokio::test]
async fn stubs_prompt_check_and_explain_know_them() {
    let crm = manifest(
        "crm_find",
        "http",
        "read",
        CRM,
        "[result]\ntype = \"object\"\nproperties = { name = { type = \"string\" } }",
    );
    let stock = manifest(
        "stock",
        "sql",
        "read",
        "{ item = { type = \"string\" } }",
        "[settings]\nsql = \"SELECT n FROM levels WHERE item = :item\"",
    );
    let shrink = manifest("shrink", "command", "write", "{}", "[settings]\nargv = [\"true\"]");
    let manifests = [("crm_find", &*crm), ("stock", &*stock), ("shrink", &*shrink)];
    let shop = Shop::open(
        &manifests,
        &[("tools.stock.url", "\"sqlite:x.db\""), ("tools.shrink.unconfined", "true")],
        &[],
    )
    .await;
    let limits = shop.app.config().limits.clone();
    let empty = luaplan::base::Value::from_json(json!({})).unwrap();
    let prompt =
        shop.app.models().prompt("Find a customer", &empty, &limits, (&[], &[], false)).await.unwrap();
    let prompt = format!("{prompt:?}");
    assert!(prompt.contains("function crm_find(") && prompt.contains("The number."), "{prompt}");
    let wrong = "function run(context)\n  local a = crm_find{no = 1}\n  return {a = a.name}\nend";
    let report = shop.app.plans().check(wrong, "plan", &limits, None);
    assert!(report.plan.is_none() && !report.findings.is_empty());
    let plan = "function run(context)\n  local a = crm_find{id = 7}\n  local b = stock(\"nail\")\n  local c = shrink{}\n  return {a = a, b = b, c = c}\nend";
    let preview = shop.app.plans().explain(plan, "plan", &limits, None).preview.unwrap();
    assert!(preview.announces("crm_find", TargetKind::Host, "crm.example.com"), "{preview:?}");
    assert!(!preview.announces("crm_find", TargetKind::Host, "example.com"));
    assert!(preview.announces("stock", TargetKind::Table, "levels"), "{preview:?}");
    assert!(preview.announces("stock", TargetKind::Database, "stock"), "{preview:?}");
}

#[test]
fn a_new_manifest_passes_its_check_and_nothing_is_overwritten() {
    let folder = Folder::new();
    for kind in ["http", "sql", "command"] {
        let name = format!("my_{kind}");
        let wrote = folder.run(&["tools", "new", &name, "--kind", kind]).exits(0);
        assert!(wrote.out.contains(&format!("wrote luaplan-tools/{name}.toml")), "{wrote}");
        folder.run(&["tools", "check", &format!("luaplan-tools/{name}.toml")]).exits(0);
    }
    let all = folder.run(&["tools", "check", "--json"]).exits(0).json();
    assert_eq!(all["manifests"].as_array().unwrap().len(), 3);
    let list = folder.run(&["tools", "--json"]).exits(0).json();
    let kinds: Vec<&str> = list.as_array().unwrap().iter().filter_map(|tool| tool["kind"].as_str()).collect();
    let own: Vec<&str> = kinds.iter().copied().filter(|kind| *kind != "builtin").collect();
    assert_eq!(own, ["command", "http", "sql"]);
    assert!(folder.run(&["tools", "show", "my_sql"]).exits(0).out.contains("Kind: sql"));
    folder.run(&["tools", "new", "my_sql", "--kind", "sql"]).fails(2, "file_exists");
    folder.run(&["tools", "new", "query_db", "--kind", "sql"]).fails(2, "config_invalid");
    folder.run(&["tools", "new", "../up", "--kind", "sql"]).fails(2, "config_invalid");
    folder.run(&["tools", "test", "nothing"]).fails(2, "not_found");
    folder.write("luaplan-tools/my_sql.toml", "name = 7");
    let refused = folder.run(&["tools", "check"]).exits(2);
    assert!(refused.err.contains("luaplan-tools/my_sql.toml, line 1"), "{refused}");
    assert!(refused.out.contains("ok luaplan-tools/my_http.toml: my_http"), "{refused}");
    folder.run(&["tools"]).fails(2, "config_invalid");
}

#[test]
fn a_tool_without_parameters_is_tested_with_none() {
    let echo = manifest("echo", "command", "write", "{}", "[settings]\nargv = [\"echo\", \"done\"]");
    let folder = Folder::with(&[
        ("luaplan-tools/echo.toml", &echo),
        ("luaplan.toml", "[tools.echo]\nunconfined = true\n"),
    ]);
    for arguments in [&["tools", "test", "echo"][..], &["tools", "test", "echo", "--arguments", "{}"]] {
        let told = folder.run(arguments).exits(0);
        assert!(told.out.contains("done") && told.err.contains("on record as run "), "{told}");
    }
    let given = ["tools", "test", "echo", "--arguments", "{\"word\": 1, \"more\": 2}"];
    let refused = folder.run(&given).fails(2, "usage");
    assert!(refused.err.contains("`echo` takes no arguments; --arguments gives `word`, `more`"), "{refused}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_test_of_a_tool_is_a_call_on_record_that_shows_what_is_sent() {
    let site = Site::start().await;
    let rest = format!(
        "[settings]\nurl = \"http://{}/v1/{{id}}\"\nauth = {{ bearer = \"key\" }}\nidempotency_header = \"Order-Key\"\n[settings.response]\nfields = {{ uri = \"/uri\" }}",
        site.address
    );
    let text = manifest("look", "http", "read", "{ id = { type = \"string\" } }\nrequired = [\"id\"]", &rest);
    let configuration =
        format!("[secrets]\nkey = {{ env = \"KEY\" }}\n[tools.look]\nallow_hosts = {}\n", site.hosts());
    let folder = Folder::with(&[("luaplan-tools/look.toml", &text), ("luaplan.toml", &configuration)]);
    let run = tokio::task::spawn_blocking(move || {
        let arguments = ["tools", "test", "look", "--arguments", "{\"id\": \"a/b\"}"];
        let told = folder.run_with(&[("KEY", "s3cret-value")], &arguments).exits(0);
        let data =
            folder.run_with(&[("KEY", "s3cret-value")], &[&arguments[..], &["--json"]].concat()).exits(0);
        let audit = folder.run(&["audit", "--tool", "look"]).exits(0);
        let refused = folder.run_with(&[("KEY", "s3cret-value")], &["tools", "test", "look"]).exits(1);
        let unset = folder.run(&arguments).exits(1);
        (told, data, audit, refused, unset)
    });
    let (told, data, audit, refused, unset) = run.await.unwrap();
    assert!(told.out.contains("/v1/a%2Fb") && told.out.contains("Bearer <secret key>"), "{told}");
    assert!(told.out.contains("\"order-key\": \"<key of the call>\""), "{told}");
    assert!(told.err.contains("on record as run "), "{told}");
    let data = data.json();
    assert_eq!(
        (&data["result"], &data["request"]["http"]["method"]),
        (&json!({"uri": "/v1/a%2Fb"}), &json!("GET"))
    );
    let events: Vec<String> = audit.json_lines().iter().map(|line| line["event"].to_string()).collect();
    assert_eq!(events.iter().filter(|event| event.contains("tool_call_started")).count(), 2, "{events:?}");
    assert!(refused.out.contains("bad_arguments") && refused.out.contains("`id`"), "{refused}");
    assert!(unset.out.contains("tool_not_configured") && unset.out.contains("$KEY"), "{unset}");
}
