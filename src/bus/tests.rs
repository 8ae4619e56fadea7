//! Policy, and the limiter on a clock that only moves when everything waits.

use std::sync::Arc;
use std::time::Duration;

use tokio::time::Instant;

use super::*;
use crate::base::{ToolFailure, Value};
use crate::catalog::{ToolSpec, read_manifest};

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
    let limiter = limiter(LimiterSettings::standard());
    let (run, spec) = (limiter.run_gate(), spec("look", "1/s", 2, 9, "read"));
    let start = Instant::now();
    for expected_ms in [0, 0, 1000, 2000] {
        limiter.acquire(&run, &spec).await.unwrap();
        assert_eq!(start.elapsed().as_millis().div_ceil(10) * 10, expected_ms);
    }
}

#[tokio::test(start_paused = true)]
async fn a_wait_beyond_the_bound_is_refused_at_once_with_the_time_to_wait() {
    let limiter = limiter(LimiterSettings::standard());
    let (run, spec) = (limiter.run_gate(), spec("look", "6/m", 1, 9, "read"));
    limiter.acquire(&run, &spec).await.unwrap();
    let start = Instant::now();
    let refused = limiter.acquire(&run, &spec).await.unwrap_err();
    assert_eq!(retry_after_ms(&refused), 10_000);
    assert!(refused.message.contains("6/m"), "{}", refused.message);
    assert_eq!(start.elapsed(), Duration::ZERO);
    tokio::time::sleep(Duration::from_secs(10)).await;
    limiter.acquire(&run, &spec).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn those_who_cannot_get_a_turn_in_time_are_refused_and_the_others_go_in_order() {
    let limiter = limiter(LimiterSettings::standard());
    let spec = spec("look", "2/s", 1, 99, "read");
    let calls = (0..10).map(|number| {
        let (limiter, spec) = (Arc::clone(&limiter), spec.clone());
        tokio::spawn(async move {
            let answer = limiter.acquire(&limiter.run_gate(), &spec).await.map(drop);
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
    let settings = LimiterSettings { queue_max: 2, ..LimiterSettings::standard() };
    let limiter = limiter(settings);
    let spec = spec("look", "10/s", 1, 99, "read");
    let calls = (0..6).map(|_| {
        let (limiter, spec) = (Arc::clone(&limiter), spec.clone());
        tokio::spawn(async move { limiter.acquire(&limiter.run_gate(), &spec).await.is_ok() })
    });
    let mut through = 0;
    for call in calls.collect::<Vec<_>>() {
        through += usize::from(call.await.unwrap());
    }
    // The first passes without waiting, two wait, the rest is refused.
    assert_eq!(through, 3);
}

#[tokio::test(start_paused = true)]
async fn slots_are_shared_by_runs_and_waiting_for_one_is_bounded() {
    let limiter = limiter(LimiterSettings::standard());
    let spec = spec("look", "1000/s", 100, 1, "read");
    let held = limiter.acquire(&limiter.run_gate(), &spec).await.unwrap();
    let refused = limiter.acquire(&limiter.run_gate(), &spec).await.unwrap_err();
    assert_eq!(retry_after_ms(&refused), 2000);
    assert!(refused.message.contains("1 times at once"), "{}", refused.message);
    drop(held);
    limiter.acquire(&limiter.run_gate(), &spec).await.unwrap();
}

#[tokio::test(start_paused = true)]
async fn a_run_has_its_own_rate_over_all_tools() {
    let run_rate = Some(("6/m".parse().unwrap(), 2));
    let limiter = limiter(LimiterSettings { run_rate, ..LimiterSettings::standard() });
    let (one, other) = (limiter.run_gate(), limiter.run_gate());
    let (look, find) = (spec("look", "99/s", 99, 9, "read"), spec("find", "99/s", 99, 9, "read"));
    limiter.acquire(&one, &look).await.unwrap();
    limiter.acquire(&one, &find).await.unwrap();
    let refused = limiter.acquire(&one, &look).await.unwrap_err();
    assert_eq!(retry_after_ms(&refused), 10_000);
    limiter.acquire(&other, &look).await.unwrap();
}
