//! How often a first plan is right: tasks over a shop's database, files of the web and mail, their answers checked by value.
//!
//! A model's recorded replies (`bench/planning/replies`) are played back in an ordinary run. These variables change that:
//! - `LUAPLAN_TEST_PLANNING_CONFIG=FILE` asks the model that the `[llm]` of this configuration names;
//! - `LUAPLAN_TEST_PLANNING_PROMPTS=FOLDER` writes each prompt there, for a model to be recorded.
//!
//! `cargo test --test it planning_bench -- --nocapture` prints the table in bench/README.md.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use axum::Router;
use axum::extract::{Path as UrlPath, State};
use axum::http::header::CONTENT_TYPE;
use axum::response::IntoResponse as _;
use luaplan::app::config::{Environment, LoadOptions, load};
use luaplan::app::{App, AppParts, RunSpec, Work};
use luaplan::base::{Result, Value};
use luaplan::demo::{DemoParts, ReceivedMail};
use luaplan::journal::{EventBody, JournalRead as _, RecordFilter};
use luaplan::llm::{ChatReply, ChatRequest, LlmClient, LlmProgress, RecordedClient, RecordedReply};
use mail_parser::MimeHeaders as _;
use serde::Deserialize;
use serde_json::{Value as Json, json};
use sqlx::{AssertSqlSafe, Connection as _, PgConnection};

use crate::app_parts::{environment, setting};
use crate::postgres_support::Database;
use crate::support::variable;

/// How far a number may be from its answer where the answer is no whole number: half of a last decimal, rounded either way.
const ROUNDING: f64 = 0.011;

const REPLIES_MAX: u32 = 2;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Task {
    /// What is asked; `{web}` is the address of the files in `web`.
    task: String,
    /// What `context.answer` has to be, as JSON.
    answer: String,
    /// A statement that gives the answer by another way.
    reference: Option<String>,
    context: Option<String>,
    /// The mail that has to arrive, in any order; absent where none may.
    #[serde(default)]
    mail: Vec<Mail>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Mail {
    to: Vec<String>,
    subject: String,
    /// What its bodies hold.
    #[serde(default)]
    contains: Vec<String>,
    #[serde(default)]
    attachments: BTreeMap<String, String>,
}

/// How a task ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Outcome {
    RightAtFirst,
    RightAfterRepair,
    /// The run failed, or no plan passed the check.
    Failed,
    /// The run succeeded, and its answer or its mail is wrong.
    Wrong,
}

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("bench/planning")
}

/// Plays back the replies, and keeps the prompts.
struct Keeper {
    model: RecordedClient,
    prompts: Mutex<Vec<String>>,
}

#[async_trait]
impl LlmClient for Keeper {
    async fn chat(
        &self,
        request: &ChatRequest,
        progress: &(dyn Fn(LlmProgress) + Send + Sync),
    ) -> Result<ChatReply> {
        let texts = request.messages.iter().map(|message| format!("[{:?}]\n{}", message.role, message.text));
        let prompt = texts.collect::<Vec<_>>().join("\n\n");
        self.prompts.lock().unwrap().push(prompt);
        self.model.chat(request, progress).await
    }

    fn name(&self) -> String {
        self.model.name()
    }
}

fn recorded(name: &str, web: &str) -> RecordedClient {
    let replies = (1..=REPLIES_MAX).filter_map(|round| {
        let plan = std::fs::read_to_string(folder().join(format!("replies/{name}.{round}.lua"))).ok()?;
        let text = json!({ "plan": plan.replace("{web}", web) }).to_string();
        Some(RecordedReply { matches: None, text })
    });
    RecordedClient::new("recorded", replies.collect())
}

/// Serves the files of `web`; gives its address.
async fn web() -> String {
    async fn file(State(folder): State<PathBuf>, UrlPath(name): UrlPath<String>) -> axum::response::Response {
        let kind = if name.ends_with(".json") { "application/json" } else { "text/csv; charset=utf-8" };
        match std::fs::read(folder.join(&name)) {
            Ok(bytes) if !name.contains("..") => ([(CONTENT_TYPE, kind)], bytes).into_response(),
            _ => axum::http::StatusCode::NOT_FOUND.into_response(),
        }
    }
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    let router = Router::new().route("/{name}", axum::routing::get(file)).with_state(folder().join("web"));
    tokio::spawn(async move { axum::serve(listener, router).await.unwrap() });
    format!("http://{address}")
}

/// Whether a value is the answer, whatever the order of members and the kind of number.
fn is_answer(value: &Json, answer: &Json) -> bool {
    match (value, answer) {
        (Json::Number(value), Json::Number(answer)) => {
            let (value, answer) = (value.as_f64().unwrap(), answer.as_f64().unwrap());
            let allowed = if answer.fract() == 0.0 { 1e-9 } else { ROUNDING };
            (value - answer).abs() <= allowed
        }
        (Json::Array(values), Json::Array(answers)) => {
            values.len() == answers.len()
                && values.iter().zip(answers).all(|(value, answer)| is_answer(value, answer))
        }
        (Json::Object(values), Json::Object(answers)) => {
            values.len() == answers.len()
                && answers
                    .iter()
                    .all(|(key, answer)| values.get(key).is_some_and(|value| is_answer(value, answer)))
        }
        _ => value == answer,
    }
}

fn is_expected(received: &ReceivedMail, expected: &Mail) -> bool {
    let bytes = std::fs::read(&received.path).unwrap();
    let message = mail_parser::MessageParser::default().parse(&bytes).unwrap();
    let texts = message.text_bodies().chain(message.html_bodies()).filter_map(|part| part.text_contents());
    let body = texts.collect::<Vec<_>>().join("\n");
    let attached = |name: &str, text: &str| {
        message.attachments().any(|part| {
            let lines = part.text_contents().unwrap_or_default().replace("\r\n", "\n");
            part.attachment_name() == Some(name) && lines.trim_end() == text.trim_end()
        })
    };
    received.to == expected.to
        && message.subject() == Some(expected.subject.as_str())
        && expected.contains.iter().all(|text| body.contains(text.as_str()))
        && expected.attachments.iter().all(|(name, text)| attached(name, text))
}

/// Whether exactly the expected mail came.
fn is_all_mail(received: &[ReceivedMail], expected: &[Mail]) -> bool {
    received.len() == expected.len()
        && expected.iter().all(|mail| received.iter().any(|received| is_expected(received, mail)))
}

/// The shop in a database of its own, and a connection to it.
async fn shop(what: &str) -> Option<(Database, PgConnection)> {
    let database = Database::new(what).await?;
    let mut connection = PgConnection::connect(&database.url()).await.unwrap();
    let sql = std::fs::read_to_string(folder().join("shop.sql")).unwrap();
    sqlx::raw_sql(AssertSqlSafe(sql)).execute(&mut connection).await.unwrap();
    Some((database, connection))
}

struct Bench {
    database: Database,
    parts: DemoParts,
    web: String,
    home: tempfile::TempDir,
}

impl Bench {
    async fn new() -> Option<Self> {
        let (database, _) = shop("plans for tasks over a shop").await?;
        let home = tempfile::tempdir().unwrap();
        let parts = DemoParts::start(&home.path().join("parts")).await.unwrap();
        Some(Self { database, parts, web: web().await, home })
    }

    async fn app(&self, name: &str) -> (App, Arc<Keeper>) {
        let address = self.web.trim_start_matches("http://");
        let mut flags = self.parts.configuration();
        for (key, text) in [
            ("tools.query_db.databases", format!("{{ shop = \"{}\" }}", self.database.url())),
            ("tools.fetch_url.allow_hosts", format!("[\"{address}\"]")),
            ("tools.send_email.allow_recipients", "[\"*@example.com\"]".to_owned()),
            ("planner.replans", "1".to_owned()),
        ] {
            flags.push(setting(key, &text));
        }
        let file = variable("LUAPLAN_TEST_PLANNING_CONFIG").map(PathBuf::from);
        let mut surroundings = environment(self.home.path());
        // Where its key stands.
        if file.is_some() {
            surroundings.variables = Environment::from_process().variables;
        }
        let keeper = Arc::new(Keeper { model: recorded(name, &self.web), prompts: Mutex::default() });
        let llm = file.is_none().then(|| Arc::clone(&keeper) as Arc<dyn LlmClient>);
        let loaded = load(&surroundings, &LoadOptions { file, flags }).unwrap();
        let parts = AppParts { llm, ..AppParts::default() };
        (App::open_with(&loaded, &surroundings, parts).await.unwrap(), keeper)
    }

    /// How a task ends, and why where not well.
    async fn outcome(&self, name: &str, task: &Task) -> (Outcome, String) {
        let (app, keeper) = self.app(name).await;
        let before = self.parts.received().len();
        let mut spec =
            RunSpec::new(Work::Task(task.task.replace("{web}", &self.web)), app.config().limits.clone());
        let context = |text: &String| Value::from_json(serde_json::from_str(text).unwrap()).unwrap();
        spec.context = task.context.as_ref().map(context);
        let outcome = app.run(spec).await;
        keep_prompts(name, &keeper.prompts.lock().unwrap(), &self.web);
        let received = self.parts.received().split_off(before);
        let result = match outcome.result {
            Ok(result) => result.to_json(),
            Err(_) => return (Outcome::Failed, outcome.error().unwrap().to_string()),
        };
        let answer: Json = serde_json::from_str(&task.answer).unwrap();
        if !is_answer(&result["answer"], &answer) {
            return (Outcome::Wrong, format!("gave {}, not {answer}", result["answer"]));
        }
        if !is_all_mail(&received, &task.mail) {
            let told: Vec<_> = received.iter().map(|mail| mail.summary().unwrap()).collect();
            return (Outcome::Wrong, format!("sent {told:?}"));
        }
        let filter = RecordFilter { run_id: Some(outcome.run_id), ..RecordFilter::default() };
        let records = app.journal().records(filter).await.unwrap();
        let plans =
            records.iter().filter(|record| matches!(record.event.body, EventBody::PlanProposed { .. }));
        let outcome = if plans.count() == 1 { Outcome::RightAtFirst } else { Outcome::RightAfterRepair };
        (outcome, String::new())
    }
}

fn keep_prompts(name: &str, prompts: &[String], web: &str) {
    let Some(folder) = variable("LUAPLAN_TEST_PLANNING_PROMPTS") else { return };
    for (round, prompt) in (1..).zip(prompts) {
        let path = Path::new(&folder).join(format!("{name}.{round}.txt"));
        std::fs::write(path, prompt.replace(web, "{web}")).unwrap();
    }
}

fn tasks() -> BTreeMap<String, Task> {
    let files = std::fs::read_dir(folder().join("tasks")).unwrap().map(|entry| entry.unwrap().path());
    files
        .map(|path| {
            let name = path.file_stem().unwrap().to_str().unwrap().to_owned();
            let task = toml::from_str(&std::fs::read_to_string(&path).unwrap());
            (name, task.unwrap_or_else(|fault| panic!("{}: {fault}", path.display())))
        })
        .collect()
}

#[tokio::test(flavor = "multi_thread")]
async fn answers_agree_with_their_references() {
    let Some((_database, mut connection)) = shop("the answers of tasks over a shop").await else { return };
    sqlx::raw_sql("SET timezone = 'UTC'").execute(&mut connection).await.unwrap();
    let mut compared = 0;
    for (name, task) in tasks() {
        let Some(reference) = task.reference else { continue };
        let answer: Json = serde_json::from_str(&task.answer).unwrap();
        let told: Json =
            sqlx::query_scalar(AssertSqlSafe(reference)).fetch_one(&mut connection).await.unwrap();
        assert!(is_answer(&told, &answer), "{name}: {told} is not {answer}");
        compared += 1;
    }
    assert!(compared >= 20, "{compared}");
}

#[tokio::test(flavor = "multi_thread")]
async fn first_plans_are_right() {
    let Some(bench) = Bench::new().await else { return };
    let tasks = tasks();
    let mut outcomes = BTreeMap::<Outcome, Vec<String>>::new();
    for (name, task) in &tasks {
        let (outcome, why) = bench.outcome(name, task).await;
        eprintln!("{name}: {outcome:?} {why}");
        outcomes.entry(outcome).or_default().push(name.clone());
    }
    let count = |outcome: Outcome| outcomes.get(&outcome).map_or(0, Vec::len);
    let (first, repaired) = (count(Outcome::RightAtFirst), count(Outcome::RightAfterRepair));
    eprintln!("{} tasks, {first} right at first, {repaired} after a repair; {outcomes:#?}", tasks.len());
    assert!(tasks.len() >= 40, "{}", tasks.len());
    if variable("LUAPLAN_TEST_PLANNING_CONFIG").is_none() {
        assert_eq!(count(Outcome::Wrong), 0, "{outcomes:#?}");
        assert!(
            first * 100 >= tasks.len() * 90 && (first + repaired) * 100 >= tasks.len() * 95,
            "{outcomes:#?}"
        );
    }
}
