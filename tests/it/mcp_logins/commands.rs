//! `luaplan mcp login | logout | list` as processes.

use std::process::Stdio;

use serde_json::{Value as Json, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::process::{Child, Command};

use super::site::Site;
use crate::cli::Folder;
use crate::http_support::refusing;

fn of(site: &Site, rest: &str) -> Folder {
    Folder::with(&[("luaplan.toml", &site.configuration(rest))])
}

fn spawn(folder: &Folder, arguments: &[&str]) -> Child {
    let mut command = Command::from(folder.command(arguments));
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).kill_on_drop(true);
    command.spawn().unwrap()
}

/// Exit code, standard output after what was read of it, standard error.
async fn ended(mut child: Child, mut out: BufReader<tokio::process::ChildStdout>) -> (i32, String, String) {
    let (mut rest, mut err) = (String::new(), String::new());
    let mut errors = child.stderr.take().unwrap();
    let both = futures::future::try_join(out.read_to_string(&mut rest), errors.read_to_string(&mut err));
    both.await.unwrap();
    (child.wait().await.unwrap().code().unwrap(), rest, err)
}

async fn run(folder: &Folder, arguments: &[&str]) -> (i32, String, String) {
    let mut child = spawn(folder, arguments);
    let out = BufReader::new(child.stdout.take().unwrap());
    drop(child.stdin.take());
    ended(child, out).await
}

async fn line_with(out: &mut BufReader<tokio::process::ChildStdout>, mark: &str) -> String {
    let mut line = String::new();
    while !line.contains(mark) {
        line.clear();
        assert!(out.read_line(&mut line).await.unwrap() > 0, "no `{mark}` came");
    }
    line.trim().to_owned()
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_is_made_listed_used_and_forgotten() {
    let site = Site::start().await;
    let folder = of(&site, "[log]\nfilter = \"trace,rmcp=trace\"");
    let (code, out, _) = run(&folder, &["mcp", "list", "--json"]).await;
    assert_eq!(code, 0);
    let listed: Json = serde_json::from_str(&out).unwrap();
    assert_eq!((&listed[0]["login"], &listed[0]["help"]), (&json!("none"), &json!("luaplan mcp accept far")));

    let mut child = spawn(&folder, &["mcp", "login", "far"]);
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let address = line_with(&mut out, "http").await;
    let target = Site::browse(&address).await;
    assert_eq!(reqwest::get(&target).await.unwrap().status(), 200);
    let mut seen = vec![ended(child, out).await];
    assert_eq!((seen[0].0, seen[0].1.contains("logged in to far")), (0, true), "{seen:?}");

    folder.write(
        "plan.lua",
        "function run()\n  local one = far.echo{}\n  print(json.encode(one))\n  return one\nend\n",
    );
    let commands: [&[&str]; 9] = [
        &["mcp", "accept", "far"],
        &["mcp", "list"],
        &["run", "plan.lua", "--events"],
        &["run", "plan.lua", "--json", "--isolation", "process"],
        &["doctor", "--json"],
        &["config", "show", "--json"],
        &["audit", "--csv"],
        &["show", "last", "--json"],
        &["mcp", "logout", "far"],
    ];
    for command in commands {
        seen.push(run(&folder, command).await);
        let (code, out, err) = seen.last().unwrap();
        let is_fine = *code == 0 || command[0] == "doctor";
        assert!(is_fine, "{command:?}: {code} {out} {err}");
    }
    assert!(seen[2].1.contains("renews itself"), "{}", seen[2].1);
    assert!(seen[3].1.contains("you are Bearer [redacted]"), "{}", seen[3].1);
    assert!(!folder.join(".luaplan/mcp/far.login.json").exists());
    // Nothing that was said, logged at its loudest, or written holds a token.
    for (_, out, err) in &seen {
        for text in [out, err] {
            let at = text.find("canary");
            let around = at.map(|at| text[at.saturating_sub(200)..].chars().take(300).collect::<String>());
            assert!(at.is_none(), "{}", around.unwrap_or_default());
        }
    }
    for name in ["journal.db", "mcp/far.json"] {
        let bytes = std::fs::read(folder.join(&format!(".luaplan/{name}"))).unwrap();
        assert!(!String::from_utf8_lossy(&bytes).contains("canary"), "{name}");
    }
    let (code, out, _) = run(&folder, &["run", "plan.lua", "--json"]).await;
    assert!(code == 1 && out.contains("log in: `luaplan mcp login far`"), "{code} {out}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_browser_elsewhere_is_pasted_from() {
    let site = Site::start().await;
    let folder = of(&site, "");
    let mut child = spawn(&folder, &["mcp", "login", "far", "--paste", "--json"]);
    let mut out = BufReader::new(child.stdout.take().unwrap());
    let opened: Json = serde_json::from_str(&line_with(&mut out, "open").await).unwrap();
    let target = Site::browse(opened["open"].as_str().unwrap()).await;
    let mut input = child.stdin.take().unwrap();
    input.write_all(format!("\n  {target}\n").as_bytes()).await.unwrap();
    let (code, out, err) = ended(child, out).await;
    assert_eq!((code, err.as_str()), (0, ""), "{out}");
    assert_eq!(serde_json::from_str::<Json>(&out).unwrap(), json!({ "server": "far", "logged_in": true }));

    // An end without an address, and an address of another login.
    let mut child = spawn(&folder, &["mcp", "login", "far", "--paste"]);
    let out = BufReader::new(child.stdout.take().unwrap());
    drop(child.stdin.take());
    let (code, _, err) = ended(child, out).await;
    assert!(code == 1 && err.contains("mcp_login_failed"), "{code} {err}");
    let mut child = spawn(&folder, &["mcp", "login", "far", "--paste"]);
    let out = BufReader::new(child.stdout.take().unwrap());
    child.stdin.take().unwrap().write_all(format!("{target}\n").as_bytes()).await.unwrap();
    let (code, _, err) = ended(child, out).await;
    assert!(code == 1 && err.contains("state"), "{code} {err}");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_library_for_mcp_logs_where_the_filter_names_it() {
    let (_held, nobody) = refusing();
    let folder = Folder::with(&[("luaplan.toml", &format!("[mcp.far]\nurl = \"http://{nobody}/mcp\"\n"))]);
    for (filter, is_shown) in
        [("warn", false), ("debug", false), ("warn,rmcp=warn", true), ("off,rmcp::transport=error", true)]
    {
        let set = format!("log.filter={filter:?}");
        // The library writes from a task of its own, which a process that ends may overtake.
        let tries = if is_shown { 5 } else { 1 };
        let mut told = String::new();
        for _ in 0..tries {
            let (code, _, err) = run(&folder, &["mcp", "accept", "far", "--set", &set]).await;
            assert!(code != 0 && err.contains("mcp_unavailable"), "{code} {err}");
            told = err;
            if told.contains(" rmcp::transport") {
                break;
            }
        }
        assert_eq!(told.contains(" rmcp::transport"), is_shown, "{filter}: {told}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_waits_for_ever() {
    let site = Site::start().await;
    let folder = of(&site, "");
    for extra in [&[][..], &["--paste"][..]] {
        let mut arguments = vec!["mcp", "login", "far", "--wait", "300ms"];
        arguments.extend(extra);
        let mut child = spawn(&folder, &arguments);
        let _input = child.stdin.take();
        let out = BufReader::new(child.stdout.take().unwrap());
        let (code, _, err) = ended(child, out).await;
        assert!(code == 1 && err.contains("no browser came back within 300 ms"), "{code} {err}");
    }
    let (code, out, err) = run(&folder, &["mcp", "login", "far", "--wait", "0s"]).await;
    assert!(
        code == 2 && out.is_empty() && err.contains("'0s'") && err.contains("such as `5m`"),
        "{code} {err}"
    );
    let (code, _, err) = run(&folder, &["mcp", "login", "far", "--wait", "soon"]).await;
    assert!(code == 2 && err.contains("a duration") && !err.contains("bad_request"), "{code} {err}");
    let (code, _, err) = run(&folder, &["mcp", "login", "near"]).await;
    assert!(code == 2 && err.contains("not_found"), "{code} {err}");
    let (code, out, _) = run(&folder, &["mcp", "logout", "far"]).await;
    assert!(code == 0 && out.contains("there was no login"), "{code} {out}");
    let taken = of(&site, "headers = { Authorization = \"Bearer x\" }");
    let (code, _, err) = run(&taken, &["mcp", "login", "far"]).await;
    assert!(code == 2 && err.contains("takes no login"), "{code} {err}");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_not_accepted_is_said_wherever_it_is_missed() {
    let site = Site::start().await;
    let folder = of(&site, "");
    folder.write("plan.lua", "function run() return far.echo{} end\n");
    let help = "luaplan mcp accept far";
    let (code, out, _) = run(&folder, &["check", "plan.lua", "--json"]).await;
    let checked: Json = serde_json::from_str(&out).unwrap();
    assert_eq!((code, &checked["findings"][0]["code"]), (3, &json!("plan_unknown_tool")), "{out}");
    assert!(checked["findings"][0]["help"].as_str().unwrap().contains(help), "{out}");
    let (code, out, err) = run(&folder, &["config", "validate", "--json"]).await;
    let valid: Json = serde_json::from_str(&out).unwrap();
    assert_eq!(
        (code, &valid["ok"], &valid["mcp_waiting"][0]["help"]),
        (0, &json!(true), &json!(help)),
        "{out}"
    );
    assert!(err.contains(help), "{err}");
    let (_, out, _) = run(&folder, &["doctor", "--json"]).await;
    let doctor: Json = serde_json::from_str(&out).unwrap();
    let check = doctor["checks"].as_array().unwrap().iter().find(|check| check["name"] == "mcp far").unwrap();
    assert_eq!(check["state"], "warning");
    assert!(check["help"].as_str().unwrap().contains(help), "{check}");
}
