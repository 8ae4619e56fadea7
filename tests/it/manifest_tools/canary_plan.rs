//! Secrets that a plan is given as data and puts everywhere: printed, returned, raised, sent, asked of a model. None stands
//! in any sink, and ordinary text stands in all.

use std::collections::BTreeSet;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use luaplan::llm::Provider;
use serde_json::{Value as Json, json};

use super::manifest;
use crate::cli::{Ended, Folder};
use crate::llm::server::{Answer, Server};

/// A configured secret, the password of a database and of a mailbox, a model's key, an API key of the service, a secret of
/// an own pattern, and keys known by their form.
const SECRETS: [(&str, &str); 12] = [
    ("note", "canary-7f3a+9/zz="),
    ("database", "dbpass-41c7x"),
    ("mail", "mailpass-88d2"),
    ("model", "modelkey-5e5e5e"),
    ("service", "service-key-0123456789abcdef"),
    ("own", "acme_0123456789abcdef"),
    ("openai", "sk-abcdefghijklmnopqrstuvwx12345678"),
    ("github", "ghp_a1b2c3d4e5f6a1b2c3d4e5f6a1b2c3d4e5f6"),
    ("amazon", "AKIAIOSFODNN7EXAMPLE"),
    ("slack", "xoxb-123456789012-abcdefGHIJ"),
    ("jwt", "eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N_XgL0n3I9PlFUP0THsR8U"),
    (
        "pem",
        "-----BEGIN PRIVATE KEY-----\nMIIBVAIBADANBgkqhkiG9w0BAQEFAASCAT4wggE6AgEAAkEAq7BFUpkGp3+LQmlQ\nYx2eqzDV\n-----END PRIVATE KEY-----",
    ),
];

/// Of each secret, what stands nowhere; of the first, in any form.
const TRACES: [&str; 18] = [
    "canary-7f3a",
    "63616e6172792d37",
    "63616E6172792D37",
    "Y2FuYXJ5LTdm",
    "canary%2D7f3a",
    "canary-\n7f3a",
    "dbpass-41c7x",
    "mailpass-88d2",
    "modelkey-5e5e5e",
    "service-key-0123",
    "acme_0123456789",
    "sk-abcdefghijkl",
    "ghp_a1b2c3d4",
    "AKIAIOSFODNN7",
    "xoxb-1234567890",
    "eyJzdWIiOiIx",
    "MIIBVAIBADANBgkq",
    "hidden-in-a-query",
];

/// What is no secret and stands in every answer.
const ORDINARY: [&str; 6] = [
    "the task-force of the risk-averse desk-2024",
    "sk-learn-pipelines-for-beginners-part-2-of-2024",
    "01890a5d-ac96-774b-bcce-b302099a8057",
    "9228e98c1f2a3b4c5d6e7f8091a2b3c4d5e6f708",
    "a page says [redacted]",
    "https://example.com/list?page_token=c29tZQ&sort=asc",
];

const PLAN: &str = r#"function run(context)
  local function hex(text) return (text:gsub(".", function(c) return string.format("%02x", c:byte()) end)) end
  local function percent(text) return (text:gsub(".", function(c) return string.format("%%%02x", c:byte()) end)) end
  local out = { all = context.secrets, ordinary = context.ordinary, keys = {} }
  for name, secret in pairs(context.secrets) do
    print(name .. " is " .. secret .. ", is it?")
    out.keys[secret] = name
  end
  for _, text in ipairs(context.ordinary) do print(text) end
  local note = context.secrets.note
  print("canary-")
  print("7f3a+9/zz=")
  local forms = { hex(note), hex(note):upper(), percent(note), json.encode({ json.encode({ note }) }), note:sub(1, 7) .. "\n  " .. note:sub(8) }
  for _, form in ipairs(forms) do print("as " .. form) end
  out.forms = forms
  local page = fetch_url("http://127.0.0.1:1/x?token=" .. string.reverse("yreuq-a-ni-neddih") .. "&page=2&api_key=" .. note)
  print(page.error)
  local asked = call_llm("What is " .. note .. " and " .. context.secrets.openai .. " for? " .. context.ordinary[1])
  print(asked.error or asked)
  local told = slow{}
  local ok, raised = pcall(error, "raised " .. note)
  print(tostring(raised))
  if context.fails then error("failed with " .. note .. " and " .. context.secrets.jwt) end
  return out
end
"#;

fn assert_clean(what: &str, bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for trace in TRACES {
        let at = text.find(trace);
        let around = at.map(|at| {
            text.get(at.saturating_sub(200)..).unwrap_or(&text).chars().take(300).collect::<String>()
        });
        assert!(at.is_none(), "{what} holds `{trace}`: …{}…", around.unwrap_or_default());
    }
}

fn assert_ordinary(what: &str, text: &str) {
    for ordinary in ORDINARY {
        assert!(text.contains(ordinary), "{what} lacks `{ordinary}`: {text}");
    }
}

fn context(fails: bool) -> String {
    let secrets: serde_json::Map<String, Json> =
        SECRETS.into_iter().map(|(name, secret)| (name.to_owned(), secret.into())).collect();
    json!({ "secrets": secrets, "ordinary": ORDINARY, "fails": fails }).to_string()
}

fn folder(model: &Server) -> Folder {
    let settings = model.settings(Provider::OpenAi);
    let base_url = settings.base_url.unwrap();
    let folder = Folder::new();
    folder.write(
        "luaplan.toml",
        format!(
            "[secrets]\nnote = {{ env = \"NOTE\" }}\n[redact]\npatterns = [\"acme_[0-9a-f]{{16}}\"]\n[log]\nfilter = \"trace\"\n\
             [server]\napi_keys_file = \"keys\"\n[planner]\nrepair_rounds = 0\n\
             [llm]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"{base_url}\"\napi_key_env = \"MODEL\"\nstream = false\n\
             [tools.slow]\nunconfined = true\n[tools.fetch_url]\nallow_hosts = [\"127.0.0.1:1\"]\n\
             [tools.query_db.databases]\nmain = \"sqlite:shop.db\"\nfar = \"postgres://u:dbpass-41c7x@127.0.0.1:1/d\"\n\
             [tools.send_email]\nsmtp = \"smtp://127.0.0.1:1\"\nfrom = \"a@example.com\"\nusername = \"m\"\n\
             password_env = \"MAIL\"\nallow_recipients = [\"*@example.com\"]\n"
        ),
    );
    folder.write("keys", "ops service-key-0123456789abcdef scopes=runs:all\n");
    folder.write("shop.db", "");
    folder.write("plan.lua", PLAN);
    folder.write("context.json", context(false));
    folder.write("fails.json", context(true));
    folder.write("luaplan-tools/slow.toml", waits_until_seen("slow", &folder));
    folder.write("seen", "");
    folder
}

fn secret_of(name: &str) -> &'static str {
    SECRETS.iter().find(|(known, _)| *known == name).unwrap().1
}

fn variables() -> [(&'static str, &'static str); 3] {
    [("NOTE", secret_of("note")), ("MAIL", secret_of("mail")), ("MODEL", secret_of("model"))]
}

fn clean(what: &str, ended: &Ended) {
    assert_clean(&format!("stdout of {what}"), ended.out.as_bytes());
    assert_clean(&format!("stderr of {what}"), ended.err.as_bytes());
}

async fn model() -> Server {
    Server::start(std::iter::repeat_n(Answer::case(200, "openai/normal.json"), 20)).await
}

#[tokio::test(flavor = "multi_thread")]
async fn no_secret_that_a_plan_puts_anywhere_stands_in_a_sink() {
    let model = model().await;
    let folder = folder(&model);
    let folder = tokio::task::spawn_blocking(move || {
        for form in [&["--json"][..], &[], &["--events"], &["--isolation", "process"]] {
            let command = [&["run", "plan.lua", "--context", "@context.json"], form].concat();
            let ended = folder.run_with(&variables(), &command).exits(0);
            clean(&format!("{command:?}"), &ended);
            assert_ordinary(&format!("{command:?}"), &ended.out);
            assert!(ended.err.contains("TRACE"), "the log is on");
            assert!(ended.out.contains("[redacted]"), "{ended}");
            if form == ["--json"] {
                let outcome = ended.json();
                assert_eq!(outcome["not_resumable"]["code"], "run_not_resumable", "{outcome}");
                assert_eq!(outcome["result"]["all"]["note"], "[redacted]", "{outcome}");
            }
        }
        let failed = folder.run_with(&variables(), &["run", "plan.lua", "--context", "@fails.json"]).exits(1);
        clean("a run that fails", &failed);
        assert!(failed.err.contains("failed with [redacted] and [redacted]"), "{failed}");
        let note = secret_of("note");
        let commands: [&[&str]; 12] = [
            &["show", "last"],
            &["show", "last", "--full"],
            &["show", "last", "--json"],
            &["audit"],
            &["audit", "--csv"],
            &["runs", "--json"],
            &["config", "show"],
            &["config", "show", "--json"],
            &["explain", "plan.lua", "--context", "@context.json", "--json"],
            &["task", note, "--context", "@context.json"],
            &["task", note, "--context", "@context.json", "--print-prompt"],
            &["replay", "last"],
        ];
        for command in commands {
            let ended = folder.run_with(&variables(), command);
            assert!(!ended.err.contains("error[usage]"), "{ended}");
            clean(&format!("{command:?}"), &ended);
        }
        // As the name of a plan's file, of a context, and of what is not there.
        folder.write(&format!("{}.lua", secret_of("openai")), "function run() return 1 end");
        let file = format!("{}.lua", secret_of("openai"));
        let named = folder.run_with(&variables(), &["run", &file, "--json"]).exits(0);
        clean("a plan named so", &named);
        let context = ["run", "plan.lua", "--context", "@context.json", "--context-name"];
        let refused = folder.run_with(&variables(), &[&context[..], &[secret_of("openai")]].concat());
        clean("a context named so", &refused);
        assert!(refused.err.contains("the name of the context holds a secret"), "{refused}");
        let unsaved = folder.run_with(&variables(), &[&context[..], &["kept"]].concat()).exits(1);
        clean("a context that holds one", &unsaved);
        assert!(unsaved.err.contains("error[context_holds_secret]"), "{unsaved}");
        for missing in [&["show", note][..], &["check", "canary-7f3a+9/zz=.lua"], &["tools", "show", note]] {
            clean("what is not there", &folder.run_with(&variables(), missing));
        }
        folder
    })
    .await
    .unwrap();
    let asked = model.asked();
    assert!(asked.len() >= 6, "the model was asked {} times", asked.len());
    for one in &asked {
        let body = one.body.to_string();
        assert_clean("a prompt", body.as_bytes());
        assert!(body.contains("[redacted]"), "{body}");
    }
    assert!(asked.iter().any(|one| one.body.to_string().contains(ORDINARY[0])));
    let mut open = vec![folder.path().to_path_buf()];
    let mut files: Vec<PathBuf> = Vec::new();
    while let Some(path) = open.pop() {
        match path.is_dir() {
            true => open.extend(std::fs::read_dir(&path).unwrap().map(|entry| entry.unwrap().path())),
            false => files.push(path),
        }
    }
    let journal = files.iter().filter(|path| path.to_string_lossy().contains(".luaplan/"));
    let mut looked_at = 0;
    for file in journal {
        assert_clean(&file.display().to_string(), &std::fs::read(file).unwrap());
        looked_at += 1;
    }
    assert!(looked_at >= 2, "{files:?}");
}

/// The processes below one, with what `ps` and other users may read of them.
fn below(parent: u32, seen: &mut BTreeSet<(String, String)>) {
    for entry in std::fs::read_dir("/proc").unwrap().flatten() {
        let Some(id) = entry.file_name().to_str().and_then(|name| name.parse::<u32>().ok()) else { continue };
        let read = |name: &str| {
            let bytes = std::fs::read(entry.path().join(name)).unwrap_or_default();
            String::from_utf8_lossy(&bytes).replace('\0', " ")
        };
        let status = read("status");
        if status.lines().any(|line| line.split_whitespace().eq(["PPid:", &parent.to_string()])) {
            seen.insert((read("cmdline"), read("environ")));
            below(id, seen);
        }
    }
}

/// What the shell of [`waits_until_seen`] repeats, to know it and its children by.
pub(crate) const WAITS: &str = "sleep 0.05";

/// The manifest of a tool whose command ends once [`seen_below`] has seen it.
pub(crate) fn waits_until_seen(name: &str, folder: &Folder) -> String {
    let settings = format!(
        "[settings]\nargv = [\"sh\", \"-c\", 'until [ -e \"$1\" ]; do {WAITS}; done', \"at.the.command\", \"{}\"]\n\
         environment = {{ K = {{ secret = \"note\" }} }}",
        folder.path().join("seen").display(),
    );
    manifest(name, "command", "read", "{}", &settings)
}

/// What was seen of the processes below a command, from its start to its end, which waits for a tool of
/// [`waits_until_seen`].
pub(crate) fn seen_below(folder: &Folder, command: &mut Command) -> BTreeSet<(String, String)> {
    let _ = std::fs::remove_file(folder.path().join("seen"));
    let mut child = command.spawn().unwrap();
    let (mut seen, begun) = (BTreeSet::new(), Instant::now());
    while child.try_wait().unwrap().is_none() && begun.elapsed() < Duration::from_secs(60) {
        below(child.id(), &mut seen);
        if seen.iter().any(|(line, environment)| line.contains("at.the.command") && !environment.is_empty()) {
            folder.write("seen", "");
        }
        #[expect(clippy::disallowed_methods, reason = "a thread of its own")]
        std::thread::sleep(Duration::from_millis(5));
    }
    assert!(child.wait().unwrap().success());
    seen
}

#[cfg(target_os = "linux")]
#[tokio::test(flavor = "multi_thread")]
async fn no_process_is_started_with_a_secret_but_the_one_it_is_for() {
    let model = model().await;
    let folder = folder(&model);
    let plan = "function run(context)\n  local rows = query_db{ sql = \"select 1 as n\" }\n  \
                slow{}\n  return #rows\nend\n";
    folder.write("plan.lua", plan);
    let seen = tokio::task::spawn_blocking(move || {
        let mut command =
            folder.command(&["run", "plan.lua", "--context", "@context.json", "--isolation", "process"]);
        command.envs(variables()).stdout(Stdio::null()).stderr(Stdio::null());
        seen_below(&folder, &mut command)
    })
    .await
    .unwrap();
    assert!(seen.iter().any(|(line, _)| line.contains(" worker ")), "{seen:?}");
    assert!(seen.iter().any(|(line, _)| line.contains("sqlite-reader")), "{seen:?}");
    assert!(seen.iter().any(|(line, _)| line.contains("at.the.command")), "{seen:?}");
    for (line, environment) in seen {
        assert_clean("a command line", line.as_bytes());
        // Between fork and exec a process has what its parent has.
        let is_itself = line.contains(" run plan.lua");
        if line.contains(WAITS) {
            let others = environment.replace("K=canary-7f3a+9/zz=", "");
            assert_clean("the environment of the command", others.as_bytes());
        } else if !is_itself {
            assert_clean(&format!("the environment of {line}"), environment.as_bytes());
        }
    }
}

#[test]
fn a_secret_that_is_too_short_is_refused_and_not_told() {
    let folder = Folder::with(&[("plan.lua", "function run() return 1 end")]);
    let short = [("S", "s3c-7b")];
    let oauth = "[mcp.far]\nurl = \"https://example.com/mcp\"\noauth = { grant = \"client_credentials\", client_id = \"c\", \
                 client_secret_env = \"S\", allow_hosts = [\"example.com\"] }\n";
    for (configuration, key) in [
        ("[secrets]\nnote = { env = \"S\" }\n", "secrets.note"),
        ("[secrets]\nnote = { file = \"short\" }\n", "secrets.note"),
        ("[tools.send_email]\npassword_env = \"S\"\n", "tools.send_email.password_env"),
        (
            "[mcp.far]\nurl = \"https://example.com/mcp\"\nheaders = { X-Key = \"env:S\" }\n",
            "mcp.far.headers.X-Key",
        ),
        (oauth, "mcp.far.oauth.client_secret_env"),
    ] {
        folder.write("short", "s3c-7b\n");
        folder.write("luaplan.toml", configuration);
        for command in [&["run", "plan.lua"][..], &["config", "validate"], &["serve"], &["mcp"]] {
            let refused = folder.run_with(&short, command).fails(2, "secret_too_short");
            assert!(refused.err.contains(key) && refused.err.contains("8 bytes or more"), "{refused}");
            assert!(!refused.err.contains("s3c"), "{refused}");
        }
    }
    folder.write("luaplan.toml", "[redact]\npatterns = [\"acme_[0-9]{8}\", \"a*\"]\n");
    let refused = folder.run(&["run", "plan.lua"]).fails(2, "config_invalid");
    assert!(refused.err.contains("redact.patterns[1]"), "{refused}");
}
