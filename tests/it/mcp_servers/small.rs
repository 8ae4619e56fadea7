//! A server that does what it should.

use luaplan::app::config::{LoadOptions, load};
use luaplan::app::tool_catalog;
use luaplan::base::{Effect, ErrorCode};
use luaplan::catalog::stubs;
use luaplan::journal::{EventBody, JournalRead as _, RecordFilter};
use serde_json::json;

use super::{accept, accepted, failure, result, run, small};
use crate::app_parts::environment;
use crate::http_support::open;
use crate::manifest_tools::Shop;

const ECHO: &str = "function run()\n  local answer = small.echo{text = \"hi\"}\n  if answer.error then \
                    error(answer.error) end\n  return answer.said\nend";

#[tokio::test(flavor = "multi_thread")]
async fn nothing_is_known_of_a_server_before_it_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let command = small(folder.path());
    let app = open(folder.path(), &[("mcp.small.command", &command)], None).await;
    let error = run(&app, ECHO).await.error().unwrap();
    assert_eq!(error.code(), ErrorCode::CheckRefused);
    assert!(!folder.path().join("starts").exists(), "a server must not be started by being configured");
}

#[tokio::test(flavor = "multi_thread")]
async fn accepted_tools_are_called_and_recorded_as_all_others() {
    let folder = tempfile::tempdir().unwrap();
    let app = accepted(folder.path(), &[]).await;
    let outcome = run(&app, ECHO).await;
    assert_eq!(outcome.result.unwrap().to_json(), json!("hi"));
    assert_eq!(outcome.usage.tool_calls, 1);
    let filter = RecordFilter { run_id: Some(outcome.run_id), ..RecordFilter::default() };
    let records = app.journal().records(filter).await.unwrap();
    let intent = records.iter().find_map(|record| match &record.event.body {
        EventBody::ToolCallStarted { tool, effect, arguments, .. } => Some((tool, *effect, arguments)),
        _ => None,
    });
    let (tool, effect, arguments) = intent.unwrap();
    assert_eq!((tool.as_str(), effect, arguments), ("small.echo", Effect::Read, &json!({ "text": "hi" })));
    assert!(records.iter().any(|record| matches!(&record.event.body,
        EventBody::ToolCallFinished { tool, ok: true, .. } if tool == "small.echo")));
}

#[tokio::test(flavor = "multi_thread")]
async fn names_effects_and_stubs_come_from_what_was_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let app = accepted(folder.path(), &[("mcp.small.effects", "{ tell = \"read\" }")]).await;
    let effect = |name: &str| app.tools().catalog().get(name).unwrap().effect;
    assert_eq!(effect("small.echo"), Effect::Read);
    assert_eq!(effect("small.save_note"), Effect::Write);
    assert_eq!(effect("small.quiet"), Effect::Spend, "without a hint, the most careful class");
    assert_eq!(effect("small.tell"), Effect::Read, "configuration has the last word");
    assert_eq!(effect("small.read"), Effect::Read);
    let stubs = stubs(app.tools().catalog());
    assert!(stubs.contains("small = {}") && stubs.contains("function small.echo(params) end"), "{stubs}");
    let limits = app.config().limits.clone();
    let wrong = app.plans().check("function run() return small.echo{txt = 1} end", "plan", &limits, None);
    assert_eq!(wrong.findings[0].code, ErrorCode::PlanBadArgument.as_str());
    let unknown = app.plans().check("function run() return small.ecco{} end", "plan", &limits, None);
    assert_eq!(unknown.findings[0].code, ErrorCode::PlanUnknownTool.as_str());
    let explained = app.plans().explain(ECHO, "plan", &limits, None).to_json();
    assert!(explained["preview"].to_string().contains("small.echo"), "{explained}");
}

#[tokio::test(flavor = "multi_thread")]
async fn rates_and_timeouts_are_adjusted_by_the_name_plans_use() {
    let folder = tempfile::tempdir().unwrap();
    let app = accepted(folder.path(), &[("tools.\"small.echo\".rate", "\"1/h\"")]).await;
    assert_eq!(app.tools().catalog().get("small.echo").unwrap().rate.to_string(), "1/h");
    // A word that is no tool of an accepted server is told; a server that is off is left in peace.
    let environment = environment(folder.path());
    let refusal = |server: &str, tool: &str| {
        let text = format!("[mcp.{server}]\ncommand = [\"x\"]\n[tools.\"{tool}\"]\nrate = \"1/h\"\n");
        std::fs::write(folder.path().join("luaplan.toml"), text).unwrap();
        let config = load(&environment, &LoadOptions::default()).unwrap().check(&environment).unwrap();
        tool_catalog(&config).err().map(|error| error.code())
    };
    assert_eq!(refusal("small", "small.echo"), None);
    assert_eq!(refusal("small", "small.ecco"), Some(ErrorCode::ConfigUnknownKey));
    assert_eq!(refusal("small]\nenabled = false\n[mcp.other", "small.echo"), None);
    assert_eq!(refusal("other", "other.echo"), None, "nothing is known of it yet");
    assert_eq!(refusal("other", "third.echo"), Some(ErrorCode::ConfigUnknownKey));
}

#[tokio::test(flavor = "multi_thread")]
async fn texts_pictures_and_resources_have_a_form() {
    let folder = tempfile::tempdir().unwrap();
    let app = accepted(folder.path(), &[]).await;
    let plan = "function run()\n  local text, two, picture, note = small.text{}, small.two_texts{}, small.picture{}, \
                small.read{uri = \"note:1\"}\n  for _, one in ipairs{text, two, picture, note} do\n    if type(one) == \
                \"table\" and one.error then error(one.error) end\n  end\n  return { text = text, two = two, note = note, \
                kinds = { picture[1].type, picture[2].type }, mime = picture[2].mime_type, bytes = #picture[2].data }\nend";
    let seen = result(&app, plan).await;
    let expected = json!({ "text": "hello", "two": "a\nb", "note": "a note", "kinds": ["text", "image"],
        "mime": "image/png", "bytes": 5 });
    assert_eq!(seen, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_description_refuses_until_it_is_accepted() {
    let folder = tempfile::tempdir().unwrap();
    let app = accepted(folder.path(), &[]).await;
    assert_eq!(failure(&app, "small.echo{text = \"a\"}").await["worked"]["said"], "a");
    // The server changes under us, and says so.
    assert_eq!(failure(&app, "small.change{}").await["worked"], "changed");
    let refused = failure(&app, "small.echo{text = \"a\"}").await;
    assert_eq!(refused["code"], "mcp_changed");
    assert!(refused["error"].as_str().unwrap().contains("luaplan mcp accept small"), "{refused}");
    assert_eq!(failure(&app, "small.text{}").await["worked"], "hello", "the others are as they were");

    // A fresh process sees it without being told.
    let command = small(folder.path());
    let settings = [("mcp.small.command", command.as_str())];
    let app = open(folder.path(), &settings, None).await;
    assert_eq!(failure(&app, "small.echo{text = \"a\"}").await["code"], "mcp_changed");
    let offer = serde_json::to_value(accept(&app, "small").await).unwrap();
    assert_eq!(offer["tools"][0]["change"], "changed", "{offer}");
    assert_eq!(offer["tools"][1]["change"], "same", "{offer}");
    let app = open(folder.path(), &settings, None).await;
    assert_eq!(failure(&app, "small.echo{text = \"a\"}").await["worked"]["said"], "a");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_server_with_the_name_of_a_tool_by_manifest_is_refused() {
    let manifest = "name = \"NAME\"\ndescription = \"Looks.\"\nkind = \"http\"\neffect = \"read\"\n[params]\ntype = \
                    \"object\"\nproperties = {}\n[settings]\nurl = \"https://api.example.com/\"\n";
    for (name, taken) in [("small", true), ("small.look", true), ("smaller", false)] {
        let manifest = manifest.replace("NAME", name);
        let opened = Shop::try_open(&[(name, &manifest)], &[("mcp.small.command", "[\"x\"]")], &[]).await;
        match opened {
            Ok(_) => assert!(!taken, "{name}"),
            Err(error) => assert!(taken && error.message().contains("mcp.small"), "{name}: {error}"),
        }
    }
}

#[test]
fn configuration_that_makes_no_sense_is_refused_by_key() {
    let folder = tempfile::tempdir().unwrap();
    let environment = environment(folder.path());
    for (settings, key) in [
        ("[mcp.small]", "mcp.small"),
        ("[mcp.small]\ncommand = [\"x\"]\nurl = \"http://127.0.0.1/\"", "mcp.small"),
        ("[mcp.json]\ncommand = [\"x\"]", "mcp.json"),
        ("[mcp.query_db]\ncommand = [\"x\"]", "mcp.query_db"),
        ("[mcp.Small]\ncommand = [\"x\"]", "mcp.Small"),
        ("[mcp.small]\nurl = \"ftp://example.com\"", "mcp.small.url"),
        ("[mcp.small]\ncommand = [\"x\"]\neffects = { a = \"reads\" }", "mcp.small.effects.a"),
        ("[mcp.small]\ncommand = [\"x\"]\nstart_timeout = \"soon\"", "mcp.small.start_timeout"),
    ] {
        std::fs::write(folder.path().join("luaplan.toml"), settings).unwrap();
        let error = load(&environment, &LoadOptions::default()).unwrap().check(&environment).unwrap_err();
        assert!(error.message().contains(key), "{settings}: {error}");
    }
}
