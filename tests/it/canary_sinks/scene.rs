//! What the runs go through: a folder with the configuration, a server that is asked with the secret, and a model.

use std::sync::{Arc, Mutex};

use axum::Router;
use axum::extract::State;
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse as _, Response};
use serde_json::{Value as Json, json};

use super::forms::{BETWEEN, DATABASE, MAIL, MODEL, SECRET, SERVICE, all_marked, context};
use crate::cli::Folder;
use crate::llm::server::{Answer, Server};
use crate::manifest_tools::canary_plan::waits_until_seen;
use crate::manifest_tools::manifest;

/// Puts every form into every place that a plan has.
pub(super) const PLAN: &str = r#"function run(context)
  local words, data, keys = {}, {}, {}
  local function marked(form) return "at." .. form.name .. "." .. form.text:reverse() .. ".end" end
  for _, form in ipairs(context.forms) do
    local text = marked(form)
    print(text)
    words[#words + 1] = text
    if not form.in_words then
      data[#data + 1] = text
      keys[text] = form.name
    end
  end
  local all = table.concat(words, " ")
  if context.ends == "raises" then error("raised " .. all) end
  local first, second = marked(context.broken[1]), marked(context.broken[2])
  print(first:match("^(.-)\n"))
  print(first:match("\n(.*)$"))
  print(second:match("^(.-)\n"))
  local told = note_down{ note = words }
  print(second:match("\n(.*)$"))
  if context.ends == "uses a failure" then
    return #refuse{ note = words }.nothing
  end
  local asked = call_llm(all)
  return { data = data, keys = keys, told = told.error or told, asked = asked.error or #asked }
end
"#;

/// Which calls a person is asked about.
const POLICY: &str = r#"version = 1
[defaults]
send = "auto"
spend = "auto"
[[rule]]
name = "asks"
tool = "note_down"
decision = "prompt"
reason = "a note leaves the machine"
mode = "structured"
"#;

pub(super) const VARIABLES: [(&str, &str); 4] =
    [("NOTE", SECRET), ("BETWEEN", BETWEEN), ("MAIL", MAIL), ("MODEL", MODEL)];

const SCOPES: &str = "scopes=runs:start,runs:read,runs:control,approvals:decide,audit:read,mode:autonomous";

/// Of who sees the runs of the command line.
pub(super) const LOCAL: &str = "Localkey-0123456789abcdef";

type Asked = Arc<Mutex<Vec<Json>>>;

/// A server that repeats what it is asked, and one path of which refuses and repeats it.
pub(super) struct Site {
    address: String,
    pub(super) asked: Asked,
    task: tokio::task::JoinHandle<()>,
}

impl Drop for Site {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Site {
    async fn start() -> Self {
        let asked = Asked::default();
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap().to_string();
        let router = Router::new().fallback(repeat).with_state(asked.clone());
        let task = tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
        Self { address, asked, task }
    }
}

async fn repeat(
    State(asked): State<Asked>,
    uri: axum::http::Uri,
    headers: HeaderMap,
    body: String,
) -> Response {
    let key = headers.get("x-key").map_or("", |key| key.to_str().unwrap());
    let seen = json!({ "key": format!("at.as_is.{key}.end"), "message": body });
    asked.lock().unwrap().push(seen.clone());
    let status = if uri.path() == "/refuse" { StatusCode::UNPROCESSABLE_ENTITY } else { StatusCode::OK };
    (status, axum::Json(seen)).into_response()
}

/// The folder of all commands, and the servers they reach.
pub(super) struct Scene {
    pub(super) folder: Folder,
    pub(super) site: Site,
    pub(super) model: Server,
}

impl Scene {
    /// With a model that says this, one text to each request.
    pub(super) async fn new(said: Vec<String>) -> Self {
        let (folder, site) = (Folder::new(), Site::start().await);
        let model = Server::start(said.iter().map(|text| streamed(text))).await;
        let mut configuration = format!(
            "[secrets]\nnote = {{ env = \"NOTE\" }}\nbetween = {{ env = \"BETWEEN\" }}\n\
             [redact]\npatterns = [\"acme_[0-9a-f]{{16}}\"]\n[log]\nfilter = \"trace\"\n\
             [server]\napi_keys_file = \"keys\"\n[policy]\nfile = \"policy.toml\"\n\
             [llm]\nprovider = \"openai\"\nmodel = \"m\"\nbase_url = \"{}\"\napi_key_env = \"MODEL\"\n\
             [tools.query_db.databases]\nfar = \"postgres://u:{DATABASE}@127.0.0.1:1/d\"\n\
             [tools.send_email]\nsmtp = \"smtp://127.0.0.1:1\"\nfrom = \"a@example.com\"\nusername = \"m\"\n\
             password_env = \"MAIL\"\nallow_recipients = [\"*@example.com\"]\n[tools.waits]\nunconfined = true\n",
            model.base_url()
        );
        for name in ["note_down", "refuse"] {
            let settings = format!(
                "[settings]\nmethod = \"POST\"\nurl = \"http://{}/{name}\"\nbody = {{ json = {{ note = \"{{note}}\" }} }}\n\
                 auth = {{ header = {{ name = \"X-Key\", secret = \"note\" }} }}\n\
                 [settings.response]\npointer = \"/key\"\nerror_message = \"/message\"",
                site.address
            );
            let text = manifest(name, "http", "send", "{ note = { type = \"array\" } }", &settings);
            folder.write(&format!("luaplan-tools/{name}.toml"), text);
            configuration.push_str(&format!("[tools.{name}]\nallow_hosts = [\"{}\"]\n", site.address));
        }
        folder.write("luaplan-tools/waits.toml", waits_until_seen("waits", &folder));
        folder.write("luaplan.toml", configuration);
        folder.write("policy.toml", POLICY);
        folder.write("keys", format!("ops {SERVICE} {SCOPES}\nadmin {LOCAL} scopes=runs:read:all\n"));
        folder.write("open.toml", "version = 1\n[defaults]\nsend = \"auto\"\nspend = \"auto\"\n");
        folder.write("plan.lua", PLAN);
        for ends in ["well", "raises", "uses a failure"] {
            folder.write(&format!("{ends}.json"), context(ends).to_string());
        }
        folder.write("waits.lua", "function run() local told = waits{} return told.error or told end");
        Self { folder, site, model }
    }
}

/// Two calls of plans are answered with the forms; then a program comes that is refused, and one that is not.
pub(super) fn said() -> Vec<String> {
    let program = |source: &str| json!({ "plan": source, "explanation": all_marked(true) }).to_string();
    let refused = format!("function run() return no_such_tool({}) end", json!(all_marked(false)));
    let good = "function run(context) return 7 end";
    vec![all_marked(false), all_marked(false), program(&refused), program(good)]
}

/// An answer in pieces that are shorter than most forms of a secret.
fn streamed(text: &str) -> Answer {
    let line = |delta: Json, finish: Json| {
        let chunk = json!({
            "id": "c", "object": "chat.completion.chunk", "created": 1, "model": "m",
            "choices": [{ "index": 0, "delta": delta, "finish_reason": finish }],
        });
        format!("data: {chunk}\n\n")
    };
    let pieces = text.as_bytes().chunks(16).map(|piece| String::from_utf8_lossy(piece));
    let said: String = pieces.map(|piece| line(json!({ "content": piece }), Json::Null)).collect();
    let end = line(json!({}), json!("stop"));
    Answer::text("text/event-stream", &format!("{said}{end}data: [DONE]\n\n"))
}
