//! A secret that a server repeats in every way appears in nothing that luaplan writes.

use std::path::Path;

use super::manifest;
use super::requests::Site;
use crate::cli::Folder;

pub(super) const CANARY: &str = "canary-7f3a+9/zz=";
/// What stands in base64 of it, whatever comes before.
const FORMS: [&str; 5] = ["canary-7f3a", "Y2FuYXJ5LTdm", "NhbmFyeS03Z", "jYW5hcnktN2", "canary%2D7f3a"];

pub(super) fn assert_clean(what: &str, bytes: &[u8]) {
    let written = String::from_utf8_lossy(bytes);
    // Escapes of JSON, however deep, hide nothing.
    let text = plain(&plain(&plain(&written)));
    for form in FORMS {
        let at = text.find(form);
        let around = at.map(|at| text[at.saturating_sub(200)..].chars().take(300).collect::<String>());
        assert!(at.is_none(), "{what} holds `{form}`: …{}…", around.unwrap_or_default());
    }
}

/// `text` without its `\\uXXXX` of ASCII characters.
fn plain(text: &str) -> String {
    let mut pieces = text.split("\\u00");
    let mut read = pieces.next().unwrap_or_default().to_owned();
    for piece in pieces {
        match piece.get(..2).and_then(|digits| u8::from_str_radix(digits, 16).ok()).filter(u8::is_ascii) {
            Some(byte) => {
                // Where the backslash was itself escaped.
                read.truncate(read.trim_end_matches('\\').len());
                read.push(char::from(byte));
                read.push_str(&piece[2..]);
            }
            None => read.push_str(piece),
        }
    }
    read
}

fn walk(folder: &Path, files: &mut Vec<std::path::PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { walk(&path, files) } else { files.push(path) }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn no_sink_holds_a_secret() {
    let site = Site::start().await;
    let tool = |name: &str, auth: &str, path: &str| {
        let rest = format!(
            "[settings]\nurl = \"http://{}/{path}\"\nauth = {auth}\n[settings.response]\nerror_message = \"/error/message\"",
            site.address
        );
        manifest(name, "http", "read", "{}", &rest)
    };
    let folder = Folder::with(&[
        (
            "luaplan-tools/by_header.toml",
            &tool("by_header", "{ header = { name = \"X-Key\", secret = \"key\" } }", "echo"),
        ),
        (
            "luaplan-tools/by_query.toml",
            &tool("by_query", "{ query = { name = \"k\", secret = \"key\" } }", "echo"),
        ),
        (
            "luaplan-tools/by_basic.toml",
            &tool("by_basic", "{ basic = { user = \"me\", password = \"key\" } }", "echo"),
        ),
        (
            "luaplan-tools/gone.toml",
            &tool("gone", "{ query = { name = \"k\", secret = \"key\" } }", "missing"),
        ),
        (
            "luaplan-tools/no_server.toml",
            &tool("no_server", "{ query = { name = \"k\", secret = \"key\" } }", "x")
                .replace(&site.address, "127.0.0.1:1"),
        ),
        (
            "luaplan-tools/told.toml",
            &manifest(
                "told",
                "command",
                "read",
                "{ how = { type = \"string\" } }",
                "[settings]\nargv = [\"sh\", \"-c\", 'echo \"$K\"; echo \"$K\" >&2; exit ${{1:-0}}', \"sh\", \"{how}\"]\noutput = \"full\"\nenvironment = { K = { secret = \"key\" } }",
            ),
        ),
        (
            "plan.lua",
            "function run(context)\n  local all = parallel{\n    function() return by_header{} end, function() return by_query{} end, function() return by_basic{} end,\n    function() return gone{} end, function() return no_server{} end, function() return told{} end,\n    function() return told{how = \"3\"} end,\n  }\n  local out = {}\n  for i = 1, 7 do\n    local one = all[i]\n    if one.error then\n      out[i] = one.error\n      if i == 4 then out[i] = out[i] .. one.body end\n      if i == 7 then out[i] = out[i] .. one.stderr .. one.stdout end\n    else\n      out[i] = json.encode(one)\n    end\n    print(out[i])\n  end\n  return {out = out, header = all[1], told = all[6]}\nend\n",
        ),
    ]);
    let mut configuration =
        "[secrets]\nkey = { env = \"KEY\" }\n[log]\nfilter = \"trace\"\n[tools.told]\nunconfined = true\n"
            .to_owned();
    for name in ["by_header", "by_query", "by_basic", "gone"] {
        configuration.push_str(&format!("[tools.{name}]\nallow_hosts = {}\n", site.hosts()));
    }
    configuration.push_str("[tools.no_server]\nallow_hosts = [\"127.0.0.1:1\"]\n");
    folder.write("luaplan.toml", configuration);
    let asked = site.asked.clone();
    let folder = tokio::task::spawn_blocking(move || {
        let key = [("KEY", CANARY)];
        let commands: [&[&str]; 12] = [
            &["run", "plan.lua", "--events"],
            &["run", "plan.lua", "--json"],
            &["run", "plan.lua", "--isolation", "process"],
            &["tools", "test", "by_query"],
            &["tools", "test", "told", "--json"],
            &["explain", "plan.lua", "--json"],
            &["config", "show", "--json"],
            &["doctor", "--json"],
            &["task", "Say hello", "--print-prompt"],
            &["tools", "--json"],
            &["audit", "--csv"],
            &["show", "last", "--json"],
        ];
        for (number, command) in commands.iter().enumerate() {
            let ended = folder.run_with(&key, command);
            assert_clean(&format!("stdout of {command:?}"), ended.out.as_bytes());
            assert_clean(&format!("stderr of {command:?}"), ended.err.as_bytes());
            if number < 3 {
                assert_eq!(ended.code, 0, "{ended}");
                assert!(ended.err.contains("TRACE"), "the log is on: {ended}");
            }
            assert!(!ended.err.contains("error[usage]"), "{ended}");
        }
        folder
    })
    .await
    .unwrap();
    let sent = asked.lock().unwrap().iter().map(ToString::to_string).collect::<String>();
    assert!(sent.contains("canary-7f3a"), "the servers did get it: {sent}");
    let mut files = Vec::new();
    walk(folder.path(), &mut files);
    assert!(files.iter().any(|file| file.ends_with("journal.db")));
    for file in files {
        assert_clean(&file.display().to_string(), &std::fs::read(&file).unwrap());
    }
}
