//! `Idempotency-Key`: what comes again has its effect once.

use std::path::Path;

use luaplan::base::{Clock as _, ContentHash, RunId, SystemClock};
use luaplan::journal::{JournalRead as _, KeyedRequest, RunFilter, SqliteJournal};
use serde_json::{Value as Json, json};

use crate::approvals::{ABSENT_MAIL_SERVER, MAILER, POLICY};
use crate::http_support::{Answer, Client, Service};
use crate::nodes::{Ledger, Node};
use crate::postgres_support::Database;

const KEYS: &str = "acme aaaaaaaaaaaaaaaaaaaaaaaa\nbeta bbbbbbbbbbbbbbbbbbbbbbbb\n";

async fn post(client: &Client, path: &str, key: &str, body: &Json) -> Answer {
    let request = client.request("POST", path).header("Idempotency-Key", key).body(body.to_string());
    Answer::of(request.send().await.unwrap()).await
}

fn run_id(answer: &Answer) -> String {
    answer.json()["run_id"].as_str().unwrap_or_else(|| panic!("{}", answer.text)).to_owned()
}

fn is_replayed(answer: &Answer) -> bool {
    answer.headers.contains_key("idempotency-replayed")
}

async fn runs(service: &Service) -> usize {
    service.app.journal().runs(RunFilter::default()).await.unwrap().len()
}

#[tokio::test]
async fn the_same_request_begins_one_run_and_another_is_refused() {
    let service = Service::new().await;
    let client = &service.client;
    let body = json!({ "plan": "function run() return 7 end" });
    let first = post(client, "/v1/runs?wait=20s", "order-1", &body).await;
    assert_eq!((first.status, is_replayed(&first)), (200, false), "{}", first.text);
    let again = post(client, "/v1/runs?wait=20s", "order-1", &body).await;
    assert_eq!((again.status, is_replayed(&again)), (200, true), "{}", again.text);
    assert_eq!(run_id(&again), run_id(&first));
    assert_eq!(again.json()["result"], 7);
    let later = post(client, "/v1/runs", "order-1", &body).await;
    assert_eq!((later.status, &later.json()["status"]), (202, &json!("succeeded")), "{}", later.text);
    // Quoted, as the draft of the header writes it.
    assert_eq!(run_id(&post(client, "/v1/runs", "\"order-1\"", &body).await), run_id(&first));
    let other = post(client, "/v1/runs", "order-1", &json!({ "plan": "function run() return 8 end" })).await;
    assert_eq!((other.status, other.json()["code"].as_str()), (422, Some("idempotency_key_reused")));
    let elsewhere = post(client, &format!("/v1/runs/{}/reset", run_id(&first)), "order-1", &json!({})).await;
    assert_eq!(elsewhere.status, 422, "{}", elsewhere.text);
    assert_eq!(runs(&service).await, 1);
    let without = client.post("/v1/runs", &body).await;
    assert_ne!(run_id(&without), run_id(&first));
}

#[tokio::test]
async fn a_reset_that_comes_again_starts_one_run() {
    let service = Service::new().await;
    let client = &service.client;
    let first = client.post("/v1/runs?wait=20s", &json!({ "plan": "function run() return 7 end" })).await;
    let path = format!("/v1/runs/{}/reset?wait=20s", run_id(&first));
    let (one, two) = (post(client, &path, "k", &json!({})).await, post(client, &path, "k", &json!({})).await);
    assert_eq!((one.status, two.status), (200, 200), "{} {}", one.text, two.text);
    assert_eq!(run_id(&one), run_id(&two));
    assert_ne!(run_id(&one), run_id(&first));
    assert_eq!(runs(&service).await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn of_many_at_once_one_begins_the_run() {
    let service = Service::new().await;
    let body = json!({ "plan": "function run() return 7 end" });
    let posts = (0..24).map(|_| {
        let (client, body) = (service.client.clone(), body.clone());
        tokio::spawn(async move { post(&client, "/v1/runs", "storm", &body).await })
    });
    let mut ids = Vec::new();
    for answer in posts.collect::<Vec<_>>() {
        let answer = answer.await.unwrap();
        match answer.status {
            202 => ids.push(run_id(&answer)),
            409 => {
                assert_eq!(answer.json()["code"], "idempotency_in_progress");
                assert!(answer.headers.contains_key("retry-after"));
            }
            other => panic!("{other}: {}", answer.text),
        }
    }
    ids.dedup();
    assert_eq!(ids.len(), 1);
    assert_eq!(runs(&service).await, 1);
}

#[tokio::test]
async fn a_refused_request_gives_its_key_back() {
    let service = Service::new().await;
    let client = &service.client;
    let refused = post(client, "/v1/runs", "k", &json!({ "plan": "function run() return nope() end" })).await;
    assert_eq!(refused.status, 422, "{}", refused.text);
    let begun =
        post(client, "/v1/runs?wait=20s", "k", &json!({ "plan": "function run() return 7 end" })).await;
    assert_eq!(begun.json()["result"], 7, "{}", begun.text);
    let long = "k".repeat(256);
    for key in ["", "\u{e9}", long.as_str()] {
        let answer = post(client, "/v1/runs", key, &json!({ "plan": "function run() return 7 end" })).await;
        assert_eq!((answer.status, answer.json()["code"].as_str()), (400, Some("bad_request")), "{key:?}");
    }
}

#[tokio::test]
async fn tenants_keys_are_apart_and_outlive_the_process() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("keys"), KEYS).unwrap();
    let file = format!("{:?}", folder.path().join("keys").display().to_string());
    let data = format!("{:?}", folder.path().join("data").display().to_string());
    let settings = [("server.api_keys_file", file.as_str()), ("data_dir", data.as_str())];
    let service = Service::with(&settings, None).await;
    let of = |service: &Service, key: &str| Client { key: Some(key.repeat(24)), ..service.client.clone() };
    let body = json!({ "plan": "function run() return 7 end" });
    let acme = post(&of(&service, "a"), "/v1/runs?wait=20s", "same", &body).await;
    let beta = post(&of(&service, "b"), "/v1/runs?wait=20s", "same", &body).await;
    assert_ne!(run_id(&acme), run_id(&beta));
    assert!(!is_replayed(&beta));
    service.signal("SIGTERM");
    drop(service.ended().await);
    let later = Service::with(&settings, None).await;
    let again = post(&of(&later, "a"), "/v1/runs?wait=20s", "same", &body).await;
    assert_eq!((run_id(&again), is_replayed(&again)), (run_id(&acme), true));
    assert_eq!(runs(&later).await, 2);
}

#[tokio::test]
async fn a_decision_that_comes_again_is_answered_as_the_first() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("policy.toml"), POLICY).unwrap();
    let policy = format!("{:?}", folder.path().join("policy.toml").display().to_string());
    let mut settings = vec![("policy.file", policy.as_str())];
    settings.extend(ABSENT_MAIL_SERVER);
    let service = Service::with(&settings, None).await;
    let client = &service.client;
    client.post("/v1/runs?wait=20s", &json!({ "plan": MAILER })).await;
    let waits = client.get("/v1/approvals").await.json();
    let path = format!("/v1/approvals/{}", waits["approvals"][0]["approval_id"].as_str().unwrap());
    let body = json!({ "decision": "deny", "reason": "not today" });
    let first = post(client, &path, "decision", &body).await;
    assert_eq!(first.status, 200, "{}", first.text);
    let again = post(client, &path, "decision", &body).await;
    assert_eq!((again.status, is_replayed(&again)), (200, true), "{}", again.text);
    assert_eq!(again.json(), first.json());
    let late = post(client, &path, "another", &body).await;
    assert_eq!((late.status, late.json()["code"].as_str()), (409, Some("approval_stale")));
}

fn request(key: &str, minutes_ago: i64) -> KeyedRequest {
    KeyedRequest {
        claimant: "acme".into(),
        key: key.into(),
        request_hash: ContentHash::of(b"POST /v1/runs {}"),
        run_id: RunId::generate(),
        claimed_at: SystemClock.now() - jiff::SignedDuration::from_mins(minutes_ago),
        answer: None,
    }
}

#[tokio::test]
async fn keys_expire_and_what_was_never_answered_is_claimed_anew_once() {
    let folder = tempfile::tempdir().unwrap();
    let keys = luaplan::journal::Journal::open(&folder.path().join("journal.db"), None)
        .await
        .unwrap()
        .request_keys();
    let expired = SystemClock.now() - jiff::SignedDuration::from_hours(24);
    let (old, left) = (request("old", 24 * 60 + 1), request("left", 2));
    assert_eq!(keys.claim(&old, jiff::Timestamp::MIN).await.unwrap(), None);
    assert_eq!(keys.claim(&left, expired).await.unwrap(), None);
    assert_eq!(keys.claim(&request("old", 0), expired).await.unwrap(), None, "it has expired");
    let held = keys.claim(&request("left", 0), expired).await.unwrap().unwrap();
    assert_eq!(held.run_id, left.run_id);
    let now = SystemClock.now();
    assert!(keys.claim_again(&held, now).await.unwrap());
    assert!(!keys.claim_again(&held, now).await.unwrap(), "another caller was first");
}

#[tokio::test]
async fn a_journal_of_before_gets_the_table() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("journal.db");
    drop_table(&path).await;
    let journal = luaplan::journal::Journal::open(&path, None).await.unwrap();
    let expired = jiff::Timestamp::MIN;
    assert_eq!(journal.request_keys().claim(&request("k", 0), expired).await.unwrap(), None);
    assert!(journal.verify().await.unwrap().problems.is_empty());
}

async fn drop_table(path: &Path) {
    use sqlx::ConnectOptions as _;
    SqliteJournal::open(path).await.unwrap().close().await;
    let mut connection = sqlx::sqlite::SqliteConnectOptions::new().filename(path).connect().await.unwrap();
    sqlx::query("DROP TABLE request_keys").execute(&mut connection).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nodes_share_the_keys() {
    let Some(database) = Database::new("idempotency").await else { return };
    let ledger = Ledger::start().await;
    let (one, two) = (Node::start(&database, &ledger, "").await, Node::start(&database, &ledger, "").await);
    let body = json!({ "plan": "function run() return mark(\"once\").marked end" });
    let (first, again) = tokio::join!(
        post(&one.client, "/v1/runs?wait=20s", "shared", &body),
        post(&two.client, "/v1/runs?wait=20s", "shared", &body),
    );
    // The one that came second is told the outcome, or that the first is being answered.
    let begun: Vec<&Answer> = [&first, &again].into_iter().filter(|answer| answer.status == 200).collect();
    assert!(!begun.is_empty(), "{} {}", first.text, again.text);
    let later = post(&two.client, "/v1/runs?wait=20s", "shared", &body).await;
    assert_eq!((later.status, is_replayed(&later)), (200, true), "{}", later.text);
    for answer in begun {
        assert_eq!(run_id(answer), run_id(&later));
    }
    assert_eq!(ledger.book().marks.values().copied().collect::<Vec<_>>(), [1]);
}
