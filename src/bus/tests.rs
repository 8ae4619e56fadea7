//! Policy, and the limiter on a clock that advances only when all tasks wait.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use luaplan_base::{ContentHash, RunId, ToolFailure, Value};
use luaplan_catalog::{ToolSpec, read_manifest};

use super::*;

fn spec(name: &str, rate: &str, burst: u32, concurrency: u32, effect: &str) -> ToolSpec {
    let manifest = format!(
        "name = \"{name}\"\ndescription = \"d\"\neffect = \"{effect}\"\nrate = \"{rate}\"\nburst = {burst}\n\
         concurrency = {concurrency}\ncapability = \"cap.{name}\"\nkind = \"builtin\"\n\
         [params]\ntype = \"object\"\nproperties = {{}}\n"
    );
    read_manifest(&manifest, name).unwrap()
}

fn denied(policy: &Policy, spec: &ToolSpec) -> Option<String> {
    let verdict = policy.decide(spec, &Value::from_iter::<[(String, Value); 0]>([]));
    (verdict.decision == Tier::Deny).then(|| {
        let failure = verdict.refusal(spec);
        format!("{} {}", failure.code, failure.message)
    })
}

#[test]
fn policy_denies_missing_capabilities_and_stronger_effects() {
    let read = spec("look", "1/s", 1, 1, "read");
    let send = spec("post", "1/s", 1, 1, "send");
    assert_eq!(denied(&Policy::registered_tools(), &send), None);
    assert_eq!(denied(&Policy::read_only(), &read), None);
    assert_eq!(
        denied(&Policy::read_only(), &send).unwrap(),
        "permission_denied the tool `post` has the effect `send`; this run may go no further than `read`; \
         no call was made"
    );
    let policy =
        Policy { allowed_capabilities: Some(["cap.look".to_owned()].into()), ..Policy::registered_tools() };
    assert_eq!(denied(&policy, &read), None);
    assert!(denied(&policy, &send).unwrap().contains("capability `cap.post`"));
}

fn limiter(settings: LimiterSettings) -> Arc<Limiter> {
    Arc::new(Limiter::new(settings))
}

/// Calls wait two seconds at most.
fn impatient() -> LimiterSettings {
    LimiterSettings { max_wait: Some(Duration::from_secs(2)), ..LimiterSettings::standard() }
}

fn no_arguments() -> Value {
    Value::from_iter::<[(String, Value); 0]>([])
}

/// A call without arguments, in a run with one minute left.
async fn acquire(limiter: &Limiter, run: &RunGate, spec: &ToolSpec) -> Result<Permit, ToolFailure> {
    limiter.acquire(run, spec, &no_arguments(), Instant::now() + Duration::from_secs(60)).await
}

fn retry_after_ms(failure: &ToolFailure) -> i64 {
    assert_eq!(failure.code, "rate_limited");
    assert!(failure.retryable);
    match failure.details["retry_after_ms"] {
        Value::Integer(ms) => ms,
        ref other => panic!("{other:?}"),
    }
}

#[tokio::test(start_paused = true)]
async fn a_burst_goes_through_at_once_and_the_next_calls_wait_their_turn() {
    let limiter = limiter(impatient());
    let (run, spec) = (limiter.run_gate(), spec("look", "1/s", 2, 9, "read"));
    let start = Instant::now();
    for expected_ms in [0, 0, 1000, 2000] {
        acquire(&limiter, &run, &spec).await.unwrap();
        assert_eq!(start.elapsed().as_millis().div_ceil(10) * 10, expected_ms);
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_beyond_the_bound_is_refused_at_once_with_the_time_to_wait() {
    let limiter = limiter(impatient());
    let (run, spec) = (limiter.run_gate(), spec("look", "6/m", 1, 9, "read"));
    acquire(&limiter, &run, &spec).await.unwrap();
    let start = Instant::now();
    let refused = acquire(&limiter, &run, &spec).await.unwrap_err();
    assert_eq!(retry_after_ms(&refused), 10_000);
    assert!(refused.message.contains("6/m"), "{}", refused.message);
    assert_eq!(start.elapsed(), Duration::ZERO);
    tokio::time::sleep(Duration::from_secs(10)).await;
    acquire(&limiter, &run, &spec).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn those_who_cannot_get_a_turn_in_time_are_refused_and_the_others_go_in_order() {
    let limiter = limiter(impatient());
    let spec = spec("look", "2/s", 1, 99, "read");
    let calls = (0..10).map(|number| {
        let (limiter, spec) = (Arc::clone(&limiter), spec.clone());
        tokio::spawn(async move {
            let answer = acquire(&limiter, &limiter.run_gate(), &spec).await.map(drop);
            (number, Instant::now(), answer)
        })
    });
    let mut through = Vec::new();
    let mut refused = 0;
    for call in calls.collect::<Vec<_>>() {
        let (number, at, answer) = call.await.unwrap();
        match answer {
            Ok(()) => through.push((number, at)),
            Err(failure) => {
                assert!(retry_after_ms(&failure) > 0);
                refused += 1;
            }
        }
    }
    assert_eq!(through.iter().map(|(number, _)| *number).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);
    assert!(through.is_sorted_by_key(|(_, at)| *at));
    assert_eq!(refused, 5);
}

#[tokio::test(start_paused = true)]
async fn a_full_queue_refuses_before_the_wait_does() {
    let settings = LimiterSettings { queue_max: 2, ..impatient() };
    let limiter = limiter(settings);
    let spec = spec("look", "10/s", 1, 99, "read");
    let calls = (0..6).map(|_| {
        let (limiter, spec) = (Arc::clone(&limiter), spec.clone());
        tokio::spawn(async move { acquire(&limiter, &limiter.run_gate(), &spec).await.is_ok() })
    });
    let mut through = 0;
    for call in calls.collect::<Vec<_>>() {
        through += usize::from(call.await.unwrap());
    }
    // The first passes without a wait, two wait, the rest is refused.
    assert_eq!(through, 3);
}

#[tokio::test(start_paused = true)]
async fn slots_are_shared_by_runs_and_waiting_for_one_is_bounded() {
    let limiter = limiter(impatient());
    let spec = spec("look", "1000/s", 100, 1, "read");
    let held = acquire(&limiter, &limiter.run_gate(), &spec).await.unwrap();
    let refused = acquire(&limiter, &limiter.run_gate(), &spec).await.unwrap_err();
    assert_eq!(retry_after_ms(&refused), 2000);
    assert!(refused.message.contains("1 times at once"), "{}", refused.message);
    drop(held);
    acquire(&limiter, &limiter.run_gate(), &spec).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_run_has_its_own_rate_over_all_tools() {
    let run_rate = Some(("6/m".parse().unwrap(), 2));
    let limiter = limiter(LimiterSettings { run_rate, ..impatient() });
    let (one, other) = (limiter.run_gate(), limiter.run_gate());
    let (look, find) = (spec("look", "99/s", 99, 9, "read"), spec("find", "99/s", 99, 9, "read"));
    acquire(&limiter, &one, &look).await.unwrap();
    acquire(&limiter, &one, &find).await.unwrap();
    let refused = acquire(&limiter, &one, &look).await.unwrap_err();
    assert_eq!(retry_after_ms(&refused), 10_000);
    acquire(&limiter, &other, &look).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn calls_wait_in_order_as_long_as_their_run_may_go_on() {
    let limiter = limiter(LimiterSettings::standard());
    let spec = spec("look", "1/s", 1, 999, "read");
    let start = Instant::now();
    let calls = (0..60).map(|_| {
        let (limiter, spec) = (Arc::clone(&limiter), spec.clone());
        let run_ends = start + Duration::from_millis(30_500);
        tokio::spawn(async move {
            let run = limiter.run_gate();
            limiter
                .acquire(&run, &spec, &no_arguments(), run_ends)
                .await
                .map(|permit| permit.waited.as_secs())
        })
    });
    let mut waited = Vec::new();
    let mut refused = 0;
    for call in calls.collect::<Vec<_>>() {
        match call.await.unwrap() {
            Ok(seconds) => waited.push(seconds),
            Err(failure) => {
                assert!(retry_after_ms(&failure) >= 1_000, "{failure:?}");
                refused += 1;
            }
        }
    }
    assert_eq!(waited, (0..=30).collect::<Vec<u64>>());
    assert_eq!(refused, 29);
}

fn look_at_urls() -> ToolSpec {
    let manifest = "name = \"look\"\ndescription = \"d\"\neffect = \"read\"\nrate = \"1/s\"\nburst = 1\n\
                    concurrency = 1\nkind = \"builtin\"\n[params]\ntype = \"object\"\n\
                    [params.properties.urls]\ntype = [\"string\", \"array\"]\n[targets]\nurls = \"url\"\n";
    read_manifest(manifest, "look").unwrap()
}

fn urls(urls: &[&str]) -> Value {
    let urls = urls.iter().map(|url| Value::from(*url)).collect();
    Value::from_iter([("urls".to_owned(), Value::Array(urls))])
}

#[tokio::test(start_paused = true)]
async fn each_host_has_a_rate_and_slots_of_its_own() {
    let limiter = limiter(LimiterSettings::standard());
    let (run, spec) = (limiter.run_gate(), look_at_urls());
    let start = Instant::now();
    let run_ends = start + Duration::from_secs(60);
    let get = async |list: &[&str]| {
        limiter.acquire(&run, &spec, &urls(list), run_ends).await.unwrap();
        start.elapsed().as_millis().div_ceil(10) * 10
    };
    assert_eq!(get(&["https://one.example/a"]).await, 0);
    assert_eq!(get(&["https://two.example/a"]).await, 0);
    // The same host, however it is written.
    assert_eq!(get(&["http://ONE.example:8080/b"]).await, 1000);
    assert_eq!(get(&["https://two.example/b", "https://one.example/c"]).await, 2000);
    assert_eq!(get(&["https://three.example/"]).await, 2000);
    let held = limiter.acquire(&run, &spec, &urls(&["https://four.example/"]), run_ends).await.unwrap();
    let same = urls(&["https://four.example/"]);
    let again = limiter.acquire(&run, &spec, &same, run_ends);
    assert!(tokio::time::timeout(Duration::from_secs(5), again).await.is_err());
    drop(held);
}

#[tokio::test(start_paused = true)]
async fn a_flood_of_hosts_makes_no_gate_forget_what_passed_it() {
    let limiter = limiter(LimiterSettings::standard());
    let spec = look_at_urls();
    let run_ends = Instant::now() + Duration::from_secs(60);
    let call =
        async |url: String| limiter.acquire(&limiter.run_gate(), &spec, &urls(&[&url]), run_ends).await;
    call("https://kept.example/".into()).await.unwrap();
    let start = Instant::now();
    for number in 0..1_023 {
        call(format!("https://host{number}.example/")).await.unwrap();
    }
    assert_eq!(start.elapsed(), Duration::ZERO);
    // All gates are in use: further hosts share one gate.
    call("https://more.example/".into()).await.unwrap();
    assert_eq!(start.elapsed(), Duration::ZERO);
    call("https://kept.example/".into()).await.unwrap();
    assert_eq!(start.elapsed().as_millis().div_ceil(10) * 10, 1000);
    // Gates whose burst is available again are dropped for others.
    call("https://another.example/".into()).await.unwrap();
    call("https://one-more.example/".into()).await.unwrap();
    assert_eq!(start.elapsed().as_millis().div_ceil(10) * 10, 1000);
}

#[tokio::test(start_paused = true)]
async fn two_hosts_at_one_gate_do_not_wait_for_each_other() {
    let limiter = limiter(LimiterSettings::standard());
    let spec = look_at_urls();
    let run_ends = Instant::now() + Duration::from_secs(60);
    let call = async |list: &[&str]| {
        limiter.acquire(&limiter.run_gate(), &spec, &urls(list), run_ends).await.unwrap()
    };
    let mut held = Vec::new();
    for number in 0..1_024 {
        held.push(call(&[&format!("https://host{number}.example/")]).await);
    }
    // All gates are held, so these two share one, of which a call may hold one slot.
    call(&["https://more.example/", "https://another.example/"]).await;
}

#[test]
fn a_request_about_a_plan_is_named_after_the_plan_the_context_and_its_place_in_the_run() {
    let (run_id, [one, other]) =
        (RunId::generate(), ["one", "other"].map(|text| ContentHash::of(text.as_bytes())));
    let id = plan_approval_id(&run_id, &one, &other, 0);
    assert!(id.starts_with(&format!("{run_id}:plan:")), "{id}");
    assert_eq!(id, plan_approval_id(&run_id, &one, &other, 0));
    let others = [
        plan_approval_id(&run_id, &other, &other, 0),
        plan_approval_id(&run_id, &one, &one, 0),
        plan_approval_id(&run_id, &one, &other, 1),
        plan_approval_id(&RunId::generate(), &one, &other, 0),
    ];
    assert!(!others.contains(&id), "{id}: {others:?}");
}
