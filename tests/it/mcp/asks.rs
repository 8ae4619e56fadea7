//! A person at the client is asked about calls that need approval: over both forms of the protocol, on real
//! mail.

use std::sync::{Arc, Mutex};

use luaplan::demo::DemoParts;
use rmcp::model::{
    CallToolRequestParams, CallToolResult, ClientCapabilities, ClientConfig, ElicitRequestParams,
    ElicitResult, ElicitationAction, Implementation, JsonObject, ProtocolVersion,
};
use rmcp::service::{ClientLifecycleMode, ClientServiceExt as _, RequestContext, RunningService};
use rmcp::{ClientHandler, ErrorData, RoleClient};
use serde_json::{Value as Json, json};
use tokio::process::Child;

use super::{command, done, refused, rests};
use crate::approvals::{MAILER, POLICY};
use crate::http_support::PATIENCE;

/// Answers what it is asked, in order, and keeps the questions.
#[derive(Clone, Default)]
pub(crate) struct Person {
    pub(crate) can_ask: bool,
    pub(crate) answers: Arc<Mutex<Vec<ElicitResult>>>,
    pub(crate) questions: Arc<Mutex<Vec<(String, Json)>>>,
}

impl ClientHandler for Person {
    fn get_info(&self) -> ClientConfig {
        let capabilities = ClientCapabilities::builder();
        let capabilities =
            if self.can_ask { capabilities.enable_elicitation().build() } else { capabilities.build() };
        ClientConfig::new(capabilities, Implementation::new("person", "1"))
    }

    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        _context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let ElicitRequestParams::FormElicitationParams { message, requested_schema, .. } = request else {
            return Err(ErrorData::internal_error("not a form", None));
        };
        self.questions.lock().unwrap().push((message, serde_json::to_value(requested_schema).unwrap()));
        let mut answers = self.answers.lock().unwrap();
        Ok(if answers.is_empty() { ElicitResult::new(ElicitationAction::Cancel) } else { answers.remove(0) })
    }
}

/// What a person says in the form.
pub(crate) fn says(content: Json) -> ElicitResult {
    ElicitResult::new(ElicitationAction::Accept).with_content(content)
}

pub(crate) struct Desk {
    client: RunningService<RoleClient, Person>,
    person: Person,
    parts: DemoParts,
    _child: Child,
    folder: tempfile::TempDir,
}

impl Desk {
    pub(crate) async fn with(person: Person, policy: &str, modern: bool) -> Self {
        Self::serving(person, policy, modern, &[]).await
    }

    /// With further settings, and a key for the model that they name.
    pub(crate) async fn serving(person: Person, policy: &str, modern: bool, more: &[String]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let parts = DemoParts::start(&folder.path().join("parts")).await.unwrap();
        std::fs::write(folder.path().join("policy.toml"), policy).unwrap();
        let mut settings: Vec<String> =
            parts.configuration().iter().map(|(key, value)| format!("{key}={value}")).collect();
        settings.push("policy.file=policy.toml".to_owned());
        settings.extend_from_slice(more);
        let settings: Vec<&str> = settings.iter().map(String::as_str).collect();
        let mut child = command(folder.path(), &settings).env("OPENAI_API_KEY", "k").spawn().unwrap();
        let pipes = (child.stdout.take().unwrap(), child.stdin.take().unwrap());
        let mode = if modern {
            ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
        } else {
            ClientLifecycleMode::Initialize
        };
        let serving = person.clone().serve_with_lifecycle(pipes, mode);
        let client = tokio::time::timeout(PATIENCE, serving).await.unwrap().unwrap();
        Self { client, person, parts, _child: child, folder }
    }

    pub(crate) async fn of(answers: Vec<ElicitResult>, modern: bool) -> Self {
        let person = Person { can_ask: true, answers: Arc::new(Mutex::new(answers)), ..Person::default() };
        Self::with(person, POLICY, modern).await
    }

    pub(crate) async fn call(&self, tool: &'static str, arguments: Json) -> CallToolResult {
        let arguments: JsonObject = serde_json::from_value(arguments).unwrap();
        let request = CallToolRequestParams::new(tool).with_arguments(arguments);
        tokio::time::timeout(PATIENCE, self.client.call_tool(request)).await.unwrap().unwrap()
    }

    pub(crate) fn questions(&self) -> Vec<(String, Json)> {
        self.person.questions.lock().unwrap().clone()
    }

    fn mails(&self) -> usize {
        self.parts.received().len()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_person_allows_is_done_and_the_call_is_answered_with_the_end() {
    for modern in [false, true] {
        let desk = Desk::of(vec![says(json!({ "decision": "once" }))], modern).await;
        let outcome = done(desk.call("run_lua", json!({ "program": MAILER })).await);
        assert_eq!((&outcome["status"], desk.mails()), (&json!("succeeded"), 1), "{modern}: {outcome}");
        let questions = desk.questions();
        assert_eq!(questions.len(), 1, "{modern}");
        let (message, form) = &questions[0];
        for shown in ["send_email", "admin@company.com", "mail leaves the machine"] {
            assert!(message.contains(shown), "{modern} {shown}: {message}");
        }
        assert_eq!(form["properties"]["decision"]["enum"], json!(["once", "for", "deny"]), "{form}");
        let audit = done(desk.call("audit", json!({ "event": "approval_resolved" })).await);
        assert_eq!(audit["records"][0]["decision"], "once", "{audit}");
        assert_eq!(audit["records"][0]["by"], "local", "{audit}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_person_denies_or_declines_is_told_to_the_program() {
    for modern in [false, true] {
        let denied = says(json!({ "decision": "deny", "reason": "not on a Sunday" }));
        let declined = ElicitResult::new(ElicitationAction::Decline);
        for (answer, said) in [(denied, "not on a Sunday"), (declined, "declined")] {
            let desk = Desk::of(vec![answer], modern).await;
            let outcome = done(desk.call("run_lua", json!({ "program": MAILER })).await);
            assert_eq!(outcome["result"]["code"], "approval_denied", "{outcome}");
            assert!(outcome["result"]["said"].as_str().unwrap().contains(said), "{outcome}");
            assert_eq!(desk.mails(), 0);
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn who_does_not_answer_leaves_the_run_waiting_and_can_be_asked_again() {
    for modern in [false, true] {
        let nothing = ElicitResult::new(ElicitationAction::Cancel);
        let useless = says(json!({ "decision": "perhaps" }));
        let hour = says(json!({ "decision": "for", "for": "1h" }));
        let desk = Desk::of(vec![nothing, useless, hour], modern).await;
        let answer = desk.call("run_lua", json!({ "program": MAILER })).await;
        // Where the client calls again with what was decided, calling with nothing is a fault of its own.
        let (code, _) = if modern { refused(answer) } else { rests(answer) };
        assert_eq!(code, "approval_required", "{modern}");
        let waits = done(desk.call("list_approvals", json!({})).await);
        let run_id = waits["approvals"][0]["run_id"].clone();
        assert_eq!(waits["approvals"][0]["tool"], "send_email", "{waits}");
        let (code, _) = refused(desk.call("resume_run", json!({ "run_id": run_id })).await);
        assert_eq!((code.as_str(), desk.mails()), ("approval_required", 0));
        let outcome = done(desk.call("resume_run", json!({ "run_id": run_id })).await);
        assert_eq!((&outcome["status"], desk.mails()), (&json!("succeeded"), 1), "{outcome}");
        // The time that was granted holds for the next run.
        let next = done(desk.call("run_lua", json!({ "program": MAILER })).await);
        assert_eq!((&next["status"], desk.mails(), desk.questions().len()), (&json!("succeeded"), 2, 3));
        assert_eq!(done(desk.call("list_approvals", json!({})).await)["approvals"], json!([]));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_client_that_cannot_ask_is_told_what_waits_and_cannot_allow_it() {
    let desk = Desk::with(Person::default(), POLICY, false).await;
    let (code, data) = rests(desk.call("run_lua", json!({ "program": MAILER })).await);
    assert_eq!((code.as_str(), &data["status"]), ("approval_required", &json!("paused")), "{data}");
    let waits = done(desk.call("list_approvals", json!({ "run_id": data["run_id"] })).await);
    let approval_id = waits["approvals"][0]["approval_id"].clone();
    let (code, _) = refused(desk.call("resume_run", json!({ "run_id": data["run_id"] })).await);
    assert_eq!(code, "approval_required");
    // No tool allows a call; an assistant can only take its own request back.
    let tools = desk.client.list_all_tools().await.unwrap();
    assert!(tools.iter().all(|tool| !tool.name.contains("approve")));
    let outcome =
        done(desk.call("deny_approval", json!({ "approval_id": approval_id, "reason": "never mind" })).await);
    assert_eq!(outcome["result"]["code"], "approval_denied", "{outcome}");
    assert_eq!((desk.mails(), desk.questions().len()), (0, 0));
    let again = json!({ "approval_id": approval_id, "reason": "x" });
    assert_eq!(refused(desk.call("deny_approval", again).await).0, "approval_stale");
}

#[tokio::test(flavor = "multi_thread")]
async fn manual_calls_and_those_of_others_are_not_asked_about_here() {
    let desk = Desk::of(vec![says(json!({ "decision": "once" }))], false).await;
    let manual = json!({ "program": MAILER, "context": { "subject": "FINAL call" } });
    let (code, _) = rests(desk.call("run_lua", manual).await);
    assert_eq!((code.as_str(), desk.questions().len()), ("approval_required", 0));
    // Where the policy names approvers, no other person is asked.
    let policy = POLICY.replacen("version = 1\n", "version = 1\napprovers = [\"ops\"]\n", 1);
    let person = Person { can_ask: true, ..Person::default() };
    let desk = Desk::with(person, &policy, false).await;
    let (code, data) = rests(desk.call("run_lua", json!({ "program": MAILER })).await);
    assert_eq!((code.as_str(), desk.questions().len()), ("approval_required", 0));
    let run_id = data["run_id"].as_str().unwrap();
    assert!(desk.folder.path().join("policy.toml").exists() && !run_id.is_empty());
    // Nor who started the run, where the policy keeps him from deciding: his answer would be refused.
    let policy = POLICY.replacen("version = 1\n", "version = 1\napprovers_other_than_starter = true\n", 1);
    for modern in [false, true] {
        let desk = Desk::with(Person { can_ask: true, ..Person::default() }, &policy, modern).await;
        let (code, _) = rests(desk.call("run_lua", json!({ "program": MAILER })).await);
        assert_eq!((code.as_str(), desk.questions().len()), ("approval_required", 0), "{modern}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_answer_to_a_question_nobody_was_asked_decides_nothing() {
    let desk = Desk::of(Vec::new(), true).await;
    let manual = json!({ "program": MAILER, "context": { "subject": "FINAL call" } });
    let (_, data) = rests(desk.call("run_lua", manual).await);
    let waits = done(desk.call("list_approvals", json!({})).await);
    let approval_id = waits["approvals"][0]["approval_id"].as_str().unwrap().to_owned();
    let answers = [(approval_id, json!({ "action": "accept", "content": { "decision": "once" } }))];
    let request = CallToolRequestParams::new("run_lua")
        .with_arguments(serde_json::from_value(json!({ "program": MAILER })).unwrap())
        .with_input_responses(answers.into_iter().collect())
        .with_request_state(data["run_id"].as_str().unwrap());
    let answer = tokio::time::timeout(PATIENCE, desk.client.call_tool(request)).await.unwrap().unwrap();
    assert_eq!(refused(answer).0, "approval_required");
    assert_eq!(desk.mails(), 0);
}
