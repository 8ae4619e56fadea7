//! `luaplan tools import`: from OpenAPI documents to tools that are called.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, Method, StatusCode, Uri};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value as Json, json};

use crate::cli::{Ended, Folder};
use crate::mcp::serve::Serving;

const SHOP: &str = include_str!("../../cases/openapi/shop.yaml");

fn shop() -> Folder {
    Folder::with(&[("shop.yaml", SHOP)])
}

/// The operations of the shop by name, as `tools import` lists them.
fn listed(folder: &Folder, options: &[&str]) -> impl Fn(&str) -> Json {
    let ended = folder.run(&[&["--json", "tools", "import", "shop.yaml"], options].concat()).exits(0);
    let all = ended.json();
    move |id: &str| {
        let operations = all["operations"].as_array().unwrap();
        operations.iter().find(|one| one["operation"] == id).unwrap_or_else(|| panic!("{id}: {all}")).clone()
    }
}

fn manifest_of(folder: &Folder, tool: &str) -> toml::Table {
    folder.read(&format!("luaplan-tools/{tool}.toml")).parse().unwrap()
}

#[test]
fn what_no_manifest_can_say_is_refused_by_name_with_its_reason() {
    let folder = shop();
    let of = listed(&folder, &[]);
    for (id, reason) in [
        ("uploadPicture", "multipart/form-data"),
        ("getMatrix", "`cells` (path): it may be a list"),
        ("getPrivate", "`signature`: HTTP authentication of the kind `hmac`"),
        ("getPrivate", "`session`: a key is not sent in `cookie`"),
        ("getElsewhere", "`other.yaml#/X` leads to another document"),
        ("getMixed", "`application/json` or with `text/html`"),
        ("getPlaces", "https://a.example.com, https://b.example.com"),
        ("list_customers", "as that of `listCustomers`"),
        ("askCustomers", "no OPTIONS"),
        ("getLonely", "`{id}`, and no parameter fills it"),
        ("getStock", "its path `stock` does not begin with `/`"),
        ("* /shelves", "`other.yaml#/paths/~1shelves` leads to another document"),
    ] {
        let refused = of(id)["refused"].as_str().unwrap_or_default().to_owned();
        assert!(refused.contains(reason), "{id}: {refused}");
    }
    let notes = of("listCustomers")["notes"].to_string();
    for left_out in
        ["`ids` (query)", "explode = false", "`filter` (query)", "deepObject", "`session` (cookie)"]
    {
        assert!(notes.contains(left_out), "{left_out}: {notes}");
    }
    for fine in [
        "listCustomers",
        "createCustomer",
        "getCustomer",
        "changeCustomer",
        "removeCustomer",
        "getTree",
        "listOffers",
        "listPrices",
    ] {
        assert_eq!(of(fine)["refused"], Json::Null, "{fine}");
    }
    // A member of the document's own is no path.
    let all = folder.run(&["tools", "import", "shop.yaml"]).exits(0);
    assert!(all.out.contains("stock") && !all.out.contains("notOne"), "{all}");
    // One that cannot be imported takes the others with it: nothing is half done.
    let refused =
        folder.run(&["tools", "import", "shop.yaml", "--operations", "getCustomer,getMatrix"]).exits(2);
    assert!(refused.err.contains("openapi_unusable") && refused.err.contains("getMatrix"), "{refused}");
    let unknown = folder.run(&["tools", "import", "shop.yaml", "--operations", "getCustomers"]).exits(2);
    assert!(unknown.err.contains("did you mean `getCustomer`"), "{unknown}");
    assert_eq!(folder.names(), ["shop.yaml"]);
}

#[test]
fn a_manifest_says_what_the_document_says() {
    let folder = shop();
    let names = "listCustomers,createCustomer,changeCustomer,POST /customers/{customer-id}/notes,getTree,startReport,removeCustomer";
    folder.run(&["tools", "import", "shop.yaml", "--operations", names, "--prefix", "shop"]).exits(0);
    folder.run(&["tools", "check"]).exits(0);

    let list = manifest_of(&folder, "shop.list_customers");
    assert_eq!(list["effect"].as_str(), Some("read"));
    assert_eq!(
        list["description"].as_str(),
        Some("List customers. Newest first. The `filter` of the web page is not part of this.")
    );
    let settings = serde_json::to_value(&list["settings"]).unwrap();
    assert_eq!(
        settings,
        json!({
            "method": "GET",
            "url": "https://eu.shop.example.com/api/v2/customers",
            "query": { "q": "{q}", "tag": "{tag}", "per-page": "{per_page}" },
            "headers": { "X-Trace": "{X_Trace}", "Accept": "application/json" },
            "auth": { "header": { "name": "X-Shop-Key", "secret": "shopkey" } },
        })
    );
    let params = serde_json::to_value(&list["params"]).unwrap();
    assert_eq!(params["properties"]["tag"]["items"]["enum"], json!(["new", "old", "off"]));
    let per_page = json!({ "type": "integer", "exclusiveMinimum": 0, "maximum": 100, "default": 20 });
    assert_eq!(params["properties"]["per_page"], per_page);
    let item = serde_json::to_value(&list["result"]["items"]).unwrap();
    assert_eq!(item["required"], json!(["id", "name"]));
    assert_eq!(item["properties"]["note"]["type"], json!(["string", "null"]));
    assert_eq!(item["properties"]["rank"]["anyOf"][1], json!({ "type": "null" }), "{item}");
    assert_eq!(item["properties"]["owner"]["anyOf"][1], json!({ "type": "null" }), "{item}");

    let create = manifest_of(&folder, "shop.create_customer");
    assert_eq!(create["effect"].as_str(), Some("write"));
    let body = serde_json::to_value(&create["settings"]["body"]["json"]).unwrap();
    assert!(body.get("id").is_none() && body["password"] == "{password}", "{body}");
    assert_eq!(create["params"]["required"].as_array().unwrap().len(), 2);

    let change = manifest_of(&folder, "shop.change_customer");
    assert_eq!(change["settings"]["body"]["json"].as_str(), Some("{body}"));
    assert_eq!(change["settings"]["headers"]["Content-Type"].as_str(), Some("application/merge-patch+json"));
    assert_eq!(change["result"]["anyOf"].as_array().unwrap().len(), 2);

    let note = manifest_of(&folder, "shop.post_customers_customer_id_notes");
    assert_eq!(note["settings"]["url"].as_str().unwrap().rsplit('/').nth(1), Some("{customer_id}"));
    let form = serde_json::to_value(&note["settings"]["body"]["form"]).unwrap();
    assert_eq!(
        form,
        json!({ "text": "{text}", "end": "{end_}", "labels": "{labels}", "customer-id": "{body_customer_id}" })
    );
    assert_eq!(note["settings"]["response"]["format"].as_str(), Some("text"));

    let tree = manifest_of(&folder, "shop.get_tree");
    assert!(tree["settings"].get("auth").is_none());
    let text = folder.read("luaplan-tools/shop.get_tree.toml");
    assert!(text.contains("# `#/components/schemas/Node` holds itself"), "{text}");
    let report = manifest_of(&folder, "shop.start_report");
    assert_eq!(report["settings"]["auth"]["bearer"].as_str(), Some("login"));
    assert!(folder.read("luaplan-tools/shop.remove_customer.toml").contains("deprecated"));

    let again =
        folder.run(&["tools", "import", "shop.yaml", "--operations", "getTree", "--prefix", "shop"]).exits(2);
    assert!(again.err.contains("file_exists"), "{again}");
    folder
        .run(&["tools", "import", "shop.yaml", "--operations", "getTree", "--prefix", "shop", "--overwrite"])
        .exits(0);
}

/// `security: [{}, …]`: a key may be sent, and is where the user asked for it.
#[test]
fn a_way_in_that_may_be_left_out_is_taken_where_a_secret_is_named() {
    let folder = shop();
    let import = ["tools", "import", "shop.yaml", "--operations", "listOffers,listPrices", "--overwrite"];
    let auth = |tool: &str| manifest_of(&folder, tool)["settings"].get("auth").cloned();
    folder.run(&import).exits(0);
    assert_eq!((auth("list_offers"), auth("list_prices")), (None, None));
    folder.run(&[&import[..], &["--secret", "offers"]].concat()).exits(0);
    let key: toml::Value = toml::from_str("header = { name = \"X-Shop-Key\", secret = \"offers\" }")
        .map(toml::Value::Table)
        .unwrap();
    assert_eq!(auth("list_offers"), Some(key));
    // The only key there is cannot be said, and none is needed.
    assert_eq!(auth("list_prices"), None);
    // Who did not ask for one is told that it may be.
    let notes = |id: &str, options: &[&str]| listed(&folder, options)(id)["notes"].to_string();
    assert!(notes("listOffers", &[]).contains("takes one (`shopKey`): import it with `--secret NAME`"));
    for (id, options) in [
        ("listOffers", &["--secret", "offers"][..]),
        ("listPrices", &[]),
        ("getTree", &[]),
        ("listCustomers", &[]),
    ] {
        assert!(!notes(id, options).contains("--secret"), "{id} {options:?}");
    }
    let written =
        folder.run(&["tools", "import", "shop.yaml", "--operations", "listOffers", "--overwrite"]).exits(0);
    assert!(written.out.contains("--secret NAME"), "{written}");
    let basic = "openapi: 3.1.0\npaths: {/x: {get: {operationId: x, security: [{}, {b: []}], responses: {'200': {description: \
                 ok}}}}}\nservers: [{url: 'https://a.example'}]\ncomponents: {securitySchemes: {b: {type: http, scheme: basic}}}\n";
    folder.write("basic.yaml", basic);
    let listed = folder.run(&["--json", "tools", "import", "basic.yaml"]).exits(0).json();
    assert!(listed.to_string().contains("import it with `--user NAME --secret NAME`"), "{listed}");
}

#[test]
fn an_option_that_fits_no_operation_is_told_once_and_help_leads_on() {
    let folder = shop();
    folder.write(
        "bare.yaml",
        "openapi: 3.1.0\npaths: {/x: {get: {operationId: x, responses: {'200': {description: ok}}}}}\n",
    );
    for (document, option, given, what) in [
        ("shop.yaml", "--prefix", "My Shop", "lower-case letters"),
        ("shop.yaml", "--prefix", "", "lower-case letters"),
        ("shop.yaml", "--prefix", "a.b", "one dot"),
        ("shop.yaml", "--prefix", "query_db", "a built-in tool"),
        ("shop.yaml", "--prefix", "string", "of Lua"),
        ("bare.yaml", "--server", "/v1", "relative"),
        ("bare.yaml", "--server", "ftp://a.example", "not asked by HTTP"),
    ] {
        let refused = folder.run(&["tools", "import", document, option, given]).fails(2, "usage");
        assert!(refused.out.is_empty() && refused.err.contains(what), "{refused}");
        assert_eq!(refused.err.matches(&format!("`{option} {given}`")).count(), 1, "{refused}");
    }
    let help = |document: &str, operations: &str| {
        let refused = folder
            .run(&["tools", "import", document, "--operations", operations])
            .fails(2, "openapi_unusable");
        let (_, help) = refused.err.split_once("help: ").unwrap();
        help.to_owned()
    };
    assert!(help("bare.yaml", "x").contains("the option the reason names"));
    assert!(help("shop.yaml", "getMatrix").contains("tools new NAME --kind http"));
    assert!(help("shop.yaml", "getTree,getMatrix").contains("leave these out"));
    folder
        .run(&["tools", "import", "bare.yaml", "--operations", "x", "--server", "https://a.example"])
        .exits(0);
}

#[cfg(unix)]
#[test]
fn an_import_never_writes_through_a_link() {
    let folder = shop();
    folder.write("luaplan-tools/other.txt", "mine");
    let link = folder.path().join("luaplan-tools/get_tree.toml");
    std::os::unix::fs::symlink("other.txt", &link).unwrap();
    let import = ["tools", "import", "shop.yaml", "--operations", "getTree"];
    for options in [&import[..], &[&import[..], &["--overwrite"]].concat()] {
        let refused = folder.run(options).exits(2);
        assert!(refused.err.contains("file_exists") && refused.err.contains("get_tree.toml"), "{refused}");
        assert_eq!(folder.read("luaplan-tools/other.txt"), "mine");
    }
    // A link that leads to nothing yet is one as well.
    std::fs::remove_file(folder.path().join("luaplan-tools/other.txt")).unwrap();
    let refused = folder.run(&[&import[..], &["--overwrite"]].concat()).exits(2);
    assert!(refused.err.contains("symbolic link"), "{refused}");
    assert!(!folder.path().join("luaplan-tools/other.txt").exists());
}

type Asked = Arc<Mutex<Vec<Json>>>;

/// The shop itself, as far as the plan below needs it.
async fn answer(
    State(asked): State<Asked>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    body: String,
) -> Response {
    let header = |name: &str| headers.get(name).map(|value| value.to_str().unwrap().to_owned());
    asked.lock().unwrap().push(json!({
        "method": method.as_str(), "uri": uri.to_string(), "key": header("x-shop-key"),
        "type": header("content-type"), "body": body,
    }));
    let customer = json!({ "id": 7, "name": "Nora", "note": null, "rank": "a", "owner": null });
    match (method.as_str(), uri.path()) {
        ("GET", "/customers") => axum::Json(json!([customer])).into_response(),
        ("POST", "/customers") => (StatusCode::CREATED, axum::Json(customer)).into_response(),
        ("POST", "/customers/7/notes") => "noted".into_response(),
        ("PATCH", "/customers/7") => StatusCode::NO_CONTENT.into_response(),
        ("GET", "/tree") => axum::Json(json!({ "value": "no number" })).into_response(),
        _ => StatusCode::NOT_FOUND.into_response(),
    }
}

const PLAN: &str = r#"
function run(context)
  local found = shop.list_customers{q = "a&b", tag = {"new", "old"}, per_page = 5}
  if found.error then error(found.error) end
  local added = shop.create_customer{name = "Nora", password = "x"}
  if added.error then error(added.error) end
  local noted = shop.post_customers_customer_id_notes{customer_id = found[1].id, text = "hi", labels = {"a", "b"}}
  if type(noted) == "table" then error(noted.error) end
  local changed = shop.change_customer{customer_id = 7}
  if changed and changed.error then error(changed.error) end
  local tree = shop.get_tree{}
  return {name = found[1].name, added = added.id, noted = noted, changed = changed, tree = tree.code}
end"#;

#[tokio::test(flavor = "multi_thread")]
async fn a_plan_calls_what_was_imported() {
    let asked = Asked::default();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap().to_string();
    let router = Router::new().fallback(answer).with_state(asked.clone());
    let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    let folder = shop();
    let names = "listCustomers,createCustomer,changeCustomer,POST /customers/{customer-id}/notes,getTree";
    let server = format!("http://{address}");
    let import =
        ["tools", "import", "shop.yaml", "--operations", names, "--prefix", "shop", "--server", &server];
    folder.run(&import).exits(0);
    let mut config = "[secrets]\nshopkey = { env = \"SHOP_KEY\" }\n".to_owned();
    for tool in [
        "list_customers",
        "create_customer",
        "change_customer",
        "post_customers_customer_id_notes",
        "get_tree",
    ] {
        config.push_str(&format!("[tools.\"shop.{tool}\"]\nallow_hosts = [\"{address}\"]\n"));
    }
    folder.write("luaplan.toml", &config);
    folder.write("plan.lua", PLAN);
    let run: Ended = tokio::task::spawn_blocking(move || {
        folder.run_with(&[("SHOP_KEY", "key-1234567")], &["--json", "run", "plan.lua"])
    })
    .await
    .unwrap();
    let result = run.exits(0).json()["result"].clone();
    let expected = json!({ "name": "Nora", "added": 7, "noted": "noted", "tree": "response_invalid" });
    assert_eq!(result, expected);
    let asked = asked.lock().unwrap().clone();
    assert_eq!(asked[0]["uri"], "/customers?q=a%26b&tag=new&tag=old&per-page=5");
    assert_eq!(asked[0]["key"], "key-1234567");
    assert_eq!(asked[1]["body"], "{\"name\":\"Nora\",\"password\":\"x\"}");
    assert_eq!(asked[2]["body"], "text=hi&labels=a&labels=b");
    // A body that may be left out, and is: neither a body nor its type.
    assert_eq!((&asked[3]["body"], &asked[3]["type"]), (&json!(""), &Json::Null));
    assert_eq!(asked[4]["key"], Json::Null);
    task.abort();
}

const KEY: &str = "k-0123456789-abcdefghij";

#[tokio::test(flavor = "multi_thread")]
async fn luaplan_can_call_itself_by_its_own_description() {
    let keys = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(keys.path(), format!("peer {KEY}\n")).unwrap();
    let serving = Serving::start(&[&format!("server.api_keys_file={}", keys.path().display())]).await;
    let base = serving.client.base.clone();
    let checked = tokio::task::spawn_blocking(move || {
        let folder = Folder::new();
        let document = format!("{base}/openapi.json");
        let all = folder.run(&["--json", "tools", "import", &document]).exits(0).json();
        let refused: Vec<&Json> =
            all["operations"].as_array().unwrap().iter().filter(|one| one["refused"] != Json::Null).collect();
        assert!(refused.is_empty(), "{refused:?}");
        let import = ["tools", "import", &document, "--operations", "start_run,show_run,list_runs,show_plan", "--prefix", "peer", "--secret", "peer_key"];
        folder.run(&import).exits(0);
        let host = base.trim_start_matches("http://");
        let mut config = "[secrets]\npeer_key = { env = \"PEER_KEY\" }\n".to_owned();
        for tool in ["start_run", "show_run", "list_runs", "show_plan"] {
            config.push_str(&format!("[tools.\"peer.{tool}\"]\nallow_hosts = [\"{host}\"]\n"));
        }
        folder.write("luaplan.toml", &config);
        folder.write("plan.lua", r#"
function run(context)
  local started = peer.start_run{plan = "function run(context) return context.n * 2 end", context = {n = 21}, wait = "20s"}
  if started.error then error(started.error) end
  local shown = peer.show_run{id = started.run_id}
  if shown.error then error(shown.error) end
  local source = peer.show_plan{id = started.run_id}
  if type(source) == "table" then error(source.error) end
  local list = peer.list_runs{limit = 5}
  if list.error then error(list.error) end
  return {result = shown.result, source = #source, runs = #list.runs, same = list.runs[1].run_id == started.run_id}
end"#);
        folder.run_with(&[("PEER_KEY", KEY)], &["--json", "run", "plan.lua"])
    })
    .await
    .unwrap();
    let result = checked.exits(0).json()["result"].clone();
    assert_eq!(result, json!({ "result": 42, "source": 46, "runs": 1, "same": true }));
    serving.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_document_that_is_none_is_refused_with_the_reason() {
    let folder = Folder::with(&[
        ("swagger.json", "{\"swagger\": \"2.0\", \"paths\": {}}"),
        ("new.json", "{\"openapi\": \"3.2.0\", \"paths\": {\"/\": {}}}"),
        ("none.yaml", "a: [1, 2"),
        (
            "bomb.yaml",
            "openapi: 3.0.0\nx: [&a [&b [&c [z,z,z,z,z,z,z,z,z], *c,*c,*c,*c,*c,*c,*c,*c,*c], *b,*b,*b,*b,*b,*b,*b,*b,*b], *a,*a,*a,*a,*a,*a,*a,*a]\npaths: {}\n",
        ),
    ]);
    for (document, reason) in [
        ("swagger.json", "Swagger 2.0"),
        ("new.json", "OpenAPI 3.2.0"),
        ("none.yaml", "not YAML"),
        ("bomb.yaml", "bomb.yaml"),
        ("http://example.com/openapi.json", "use `https`"),
    ] {
        let refused = folder.run(&["tools", "import", document]);
        assert!(refused.code == 2 && refused.err.contains("openapi_unusable"), "{refused}");
        assert!(refused.err.contains(reason), "{refused}");
        assert!(!refused.err.contains("`luaplan tools import DOCUMENT`"), "help leads back: {refused}");
    }
    let missing = folder.run(&["tools", "import", "missing.yaml"]);
    assert!(missing.err.contains("file_unreadable"), "{missing}");
}
