//! Ways of writing a call that a policy denies: another name for the tool, another place for an argument, another
//! spelling of an address. Each is denied, or is no call at all.
use serde_json::json;

use crate::http_support::Service;

/// Mail and requests go anywhere but to one place.
const POLICY: &str = r#"version = 1

[defaults]
send = "auto"

[[rule]]
name = "no-mail-to"
tool = "send_email"
decision = "deny"
reason = "nothing goes there"
arguments.to = { any = "*@evil.example" }

[[rule]]
name = "no-copies-to"
tool = "send_email"
decision = "deny"
reason = "nothing goes there"
arguments.cc = { any = "*@evil.example" }

[[rule]]
name = "no-blind-copies-to"
tool = "send_email"
decision = "deny"
reason = "nothing goes there"
arguments.bcc = { any = "*@evil.example" }

[[rule]]
name = "no-requests-to"
tool = "fetch_*"
decision = "deny"
reason = "nothing goes there"
arguments.urls = { any = ["http://evil.example/*", "https://evil.example/*"] }
"#;

/// A plan around one line of the file: how its call ended.
fn plan(line: &str) -> String {
    format!(
        "function run(context)\n  local ok, result = pcall(function() {line} end)\n  \
         if not ok then return \"raised\" end\n  \
         if type(result) == \"table\" and result.error then return result.code end\n  return \"passed\"\nend"
    )
}

#[tokio::test(flavor = "multi_thread")]
async fn no_spelling_of_a_denied_call_goes_through() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("policy.toml"), POLICY).unwrap();
    let policy = format!("{:?}", folder.path().join("policy.toml").display().to_string());
    let service = Service::with(&[("policy.file", &policy)], None).await;
    let end = |line: &'static str| {
        let client = service.client.clone();
        async move {
            let answer = client.post("/v1/runs?wait=25s", &json!({ "plan": plan(line) })).await;
            match answer.status {
                200 => answer.json()["result"].as_str().unwrap_or("ended").to_owned(),
                422 => "refused".to_owned(),
                _ => answer.text,
            }
        }
    };
    // No mail server is set up here: a call that is allowed says so.
    let allowed = r#"return send_email("a@company.example", "s", "b")"#;
    assert_eq!(end(allowed).await, "tool_not_configured");
    let text = include_str!("../cases/policy/spellings.txt");
    let lines: Vec<&'static str> =
        text.lines().filter(|line| !line.is_empty() && !line.starts_with("--")).collect();
    assert!(lines.len() >= 90, "the case file lost cases: {}", lines.len());
    let (mut faults, mut denied) = (Vec::new(), 0);
    for line in &lines {
        let end = end(line).await;
        denied += usize::from(end == "permission_denied");
        if !["permission_denied", "bad_arguments", "raised", "refused", "url_invalid"].contains(&end.as_str())
        {
            faults.push(format!("{line}: {end}"));
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    assert!(denied >= 60, "only {denied} met the policy");
}
