//! Inputs that try to reach past one reading statement, from a case file, on all three databases.

use serde::Deserialize;
use serde_json::{Value as Json, json};

use super::{Fixture, Kind, USERS, failure, rows};

const CASES: &str = include_str!("../../cases/query_db/hostile.toml");

#[derive(Deserialize)]
struct Cases {
    case: Vec<Case>,
}

#[derive(Deserialize)]
struct Case {
    name: String,
    /// The databases it is meant for; all if empty.
    #[serde(default)]
    on: Vec<String>,
    /// The code expected, or several where the databases differ.
    code: Vec<String>,
    arguments: Json,
}

impl Case {
    fn is_for(&self, kind: Kind) -> bool {
        self.on.is_empty() || self.on.iter().any(|name| name == kind.name())
    }
}

#[tokio::test]
async fn hostile_inputs_are_refused_and_change_nothing() {
    let cases: Cases = toml::from_str(CASES).unwrap();
    assert!(cases.case.len() >= 40);
    let all = json!({"sql": "SELECT * FROM users ORDER BY id"});
    for fixture in Fixture::all(USERS).await {
        let kind = fixture.kind;
        let tool = fixture.tool();
        let before = rows(&tool, all.clone()).await;
        for case in cases.case.iter().filter(|case| case.is_for(kind)) {
            let failure = failure(&tool, case.arguments.clone()).await;
            let name = &case.name;
            assert!(case.code.contains(&failure.code), "{name} on {}: {failure:?}", kind.name());
            assert!(!failure.retryable, "{name} on {}", kind.name());
        }
        assert_eq!(rows(&tool, all.clone()).await, before, "{}", kind.name());
        fixture.close().await;
    }
}
