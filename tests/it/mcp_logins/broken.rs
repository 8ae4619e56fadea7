//! One broken server beside a good one: its fault affects no other server.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::{Value as Json, json};

use super::site::Site;
use crate::cli::{Ended, Folder};

const PLAN: &str = "function run()\n  local answer = NAME.echo{}\n  if answer.error then return \
                    { code = answer.code, error = answer.error } end\n  return answer\nend\n";

/// Four servers at the site's address; what was accepted of the good one is accepted of all.
fn servers(site: &Site) -> Folder {
    let base = &site.base;
    let configuration = format!(
        "[mcp.good]\nurl = \"{base}/mcp\"\n[mcp.unset]\nurl = \"{base}/mcp\"\nheaders = {{ X-Key = \"env:ABSENT\" }}\n\
         [mcp.secretless]\nurl = \"{base}/mcp\"\noauth = {{ client_id = \"a\", client_secret_env = \"NONE\" }}\n\
         [mcp.piped]\nurl = \"{base}/mcp\"\n[mcp.garbled]\nurl = \"{base}/mcp\"\n[mcp.odd]\nurl = \"{base}/mcp\"\n"
    );
    let folder = Folder::with(&[("luaplan.toml", &configuration)]);
    run(&folder, &["mcp", "accept", "good"]).exits(0);
    let mode = std::fs::metadata(folder.join(".luaplan")).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o700, "the first command makes the data folder as all do");
    let accepted = folder.read(".luaplan/mcp/good.json");
    for name in ["unset", "secretless", "piped", "garbled"] {
        folder.write(&format!(".luaplan/mcp/{name}.json"), &accepted);
    }
    let mode = nix::sys::stat::Mode::S_IRWXU;
    nix::unistd::mkfifo(&folder.join(".luaplan/mcp/piped.login.json"), mode).unwrap();
    folder.write(".luaplan/mcp/garbled.login.json", "{");
    nix::unistd::mkfifo(&folder.join(".luaplan/mcp/odd.json"), mode).unwrap();
    folder
}

fn run(folder: &Folder, arguments: &[&str]) -> Ended {
    tokio::task::block_in_place(|| folder.run(arguments))
}

fn of<'a>(rows: &'a Json, name: &str) -> &'a Json {
    rows.as_array().unwrap().iter().find(|row| row["name"] == name).unwrap()
}

const FAULTS: [(&str, &str, &str); 5] = [
    ("unset", "`mcp.unset.headers.X-Key` is taken from $ABSENT, which is not set", "set it"),
    ("secretless", "`mcp.secretless.oauth.client_secret_env` is taken from $NONE", "set it"),
    (
        "piped",
        "piped.login.json: the login cannot be read: it is no regular file",
        "`luaplan mcp login piped`",
    ),
    ("garbled", "garbled.login.json: the login cannot be read: line 1", "`luaplan mcp login garbled`"),
    ("odd", "odd.json: what was accepted cannot be read: it is no regular file", "`luaplan mcp accept odd`"),
];

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn a_fault_is_told_of_its_server_alone() {
    let site = Site::start().await;
    site.seen().is_open = true;
    let folder = servers(&site);
    let listed = run(&folder, &["mcp", "list", "--json"]).exits(0).json();
    let doctor = run(&folder, &["doctor", "--json"]).json();
    let valid = run(&folder, &["config", "validate", "--json"]).exits(0);
    let text = run(&folder, &["mcp", "list"]).exits(0).out;
    assert!(of(&listed, "good").get("missing").is_none(), "{listed}");
    for (name, missing, help) in FAULTS {
        for row in [of(&listed, name), of(&valid.json()["mcp_waiting"], name)] {
            assert!(row["missing"].as_str().unwrap().contains(missing), "{row}");
            assert!(row["help"].as_str().unwrap().contains(help), "{row}");
        }
        let row = of(&doctor["checks"], &format!("mcp {name}")).clone();
        assert_eq!(row["state"], "warning", "{row}");
        assert!(row["message"].as_str().unwrap().contains(missing), "{row}");
        assert!(row["help"].as_str().unwrap().contains(help), "{row}");
        assert!(text.contains(missing) && valid.err.contains(missing), "{text} {}", valid.err);
    }
    assert_eq!(of(&doctor["checks"], "mcp good")["state"], "ok", "{doctor}");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn plans_go_on_but_for_calls_of_the_broken_server() {
    let site = Site::start().await;
    site.seen().is_open = true;
    let folder = servers(&site);
    let plan = |name: &str| {
        folder.write("plan.lua", PLAN.replace("NAME", name));
        run(&folder, &["run", "plan.lua", "--json"])
    };
    folder.write("plain.lua", "function run() return 1 end\n");
    run(&folder, &["run", "plain.lua"]).exits(0);
    assert_eq!(plan("good").exits(0).json()["result"], json!("you are "));
    for (name, code, help) in [
        ("unset", "tool_not_configured", "$ABSENT, which is not set; set it"),
        ("secretless", "tool_not_configured", "$NONE, which is not set; set it"),
        ("piped", "mcp_unavailable", "`luaplan mcp login piped`"),
        ("garbled", "mcp_unavailable", "`luaplan mcp login garbled`"),
    ] {
        let result = plan(name).exits(0).json()["result"].clone();
        assert_eq!(result["code"], code, "{result}");
        assert!(result["error"].as_str().unwrap().contains(help), "{result}");
    }
    // Of a server whose accepted tools cannot be read plans know none.
    let refused = plan("odd").exits(3);
    assert!(refused.out.contains("luaplan mcp accept odd"), "{refused}");
    for (command, code) in [("accept", "config_invalid"), ("login", "config_invalid")] {
        let ended = run(&folder, &["mcp", command, "secretless"]).fails(2, code);
        assert!(ended.err.contains("$NONE, which is not set"), "{ended}");
    }
    run(&folder, &["mcp", "accept", "unset"]).fails(2, "config_invalid");
}
