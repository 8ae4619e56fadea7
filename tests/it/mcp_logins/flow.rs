//! Logging in, and being kept logged in.

use std::time::Duration;

use luaplan::app::{mcp_server_states, offer_of_mcp_server};
use luaplan::base::ErrorCode;
use serde_json::json;

use super::site::{CANARY, Site, field};
use super::{app, config, folder, log_in, log_in_for, ready, token_file, write, written};
use crate::http_support::until;
use crate::mcp_servers::{failure, result};

const ECHO: &str = "far.echo{}";

#[tokio::test(flavor = "multi_thread")]
async fn metadata_is_where_a_refused_message_says() {
    let site = Site::start().await;
    site.seen().is_elsewhere = true;
    site.seen().expires_in = 5;
    let (_folder, app) = ready(&site, "").await;
    assert_eq!(failure(&app, ECHO).await["worked"], "you are Bearer [redacted]");
    assert!(site.seen().renewals() > 0, "it is found again for renewals");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_person_logs_in_and_plans_call() {
    let site = Site::start().await;
    let (folder, app) = ready(&site, "").await;
    assert_eq!(failure(&app, ECHO).await["worked"], "you are Bearer [redacted]");
    {
        let seen = site.seen();
        let resource = format!("{}/mcp", site.base);
        assert_eq!(field(&seen.authorized[0], "resource"), resource);
        assert_eq!(field(&seen.authorized[0], "scope"), "asked-for", "what the refusal names");
        assert_eq!(field(&seen.token_requests[0], "resource"), resource);
        assert!(seen.bearers.iter().flatten().all(|bearer| bearer.starts_with(&format!("Bearer {CANARY}"))));
    }
    let state = &mcp_server_states(&config(folder.path()))[0];
    assert_eq!((state.tools, state.login, &state.missing), (Some(1), Some("renewed"), &None));
    assert!(state.token_until.is_some());

    // What the server repeats, in results and failures, reaches no reader.
    let failed = failure(&app, "far.echo{fail = true}").await;
    assert_eq!(failed["code"], "mcp_failed");
    assert!(failed["error"].as_str().unwrap().contains("you are Bearer [redacted]"), "{failed}");
    let written = written(&app).await;
    assert!(written.contains("far.echo") && !written.contains("canary"), "{written}");
}

#[cfg(unix)]
#[tokio::test(flavor = "multi_thread")]
async fn the_tokens_are_for_their_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let site = Site::start().await;
    let (folder, _app) = ready(&site, "").await;
    let kept = std::fs::read_to_string(token_file(folder.path())).unwrap();
    assert!(kept.contains(&format!("{CANARY}-access-1")) && kept.contains(&format!("{CANARY}-renew-1")));
    assert!(!kept.contains(&format!("{CANARY}-id")), "what is not needed is not kept");
    let of_mode = |path: &std::path::Path| std::fs::metadata(path).unwrap().permissions().mode() & 0o777;
    assert_eq!(of_mode(&token_file(folder.path())), 0o600);
    assert_eq!(of_mode(&folder.path().join(".luaplan/mcp/far.login.lock")), 0o600);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_that_ends_is_renewed_without_asking() {
    let site = Site::start().await;
    // Shorter than the time before its end at which a token is renewed.
    site.seen().expires_in = 5;
    let (folder, app) = ready(&site, "").await;
    let before = site.seen().renewals();
    assert_eq!(failure(&app, ECHO).await["worked"], "you are Bearer [redacted]");
    let seen = site.seen();
    assert!(seen.renewals() > before);
    let renewal = seen.token_requests.last().unwrap();
    assert_eq!(field(renewal, "resource"), format!("{}/mcp", site.base));
    drop(seen);
    // The token to renew with is another each time, and the file has the newest.
    let kept = std::fs::read_to_string(token_file(folder.path())).unwrap();
    assert!(kept.contains(&format!("{CANARY}-renew-{}", site.seen().renewals() + 1)), "{kept}");
}

#[tokio::test(flavor = "multi_thread")]
async fn processes_that_share_a_login_renew_it_one_after_another() {
    let site = Site::start().await;
    let (folder, first) = ready(&site, "").await;
    let second = app(folder.path()).await;
    let calls = "function run()\n  local all = parallel{ function() return far.echo{} end, function() return far.echo{} end, \
                 function() return far.echo{} end }\n  for _, one in ipairs(all) do if type(one) ~= \"string\" then \
                 error(one.error) end end\n  return #all\nend";
    for app in [&first, &second] {
        assert_eq!(result(app, calls).await, json!(3));
    }
    for _ in 0..5 {
        site.revoke();
        let (one, other) = tokio::join!(result(&first, calls), result(&second, calls));
        assert_eq!((one, other), (json!(3), json!(3)));
    }
    // A token to renew with that came twice would have been refused, and the login be gone.
    assert!(token_file(folder.path()).exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_taken_back_in_the_middle_of_a_run_is_renewed() {
    let site = Site::start().await;
    let (_folder, app) = ready(&site, "").await;
    site.seen().revoke_after_calls = Some(1);
    let twice = "function run()\n  local first, second = far.echo{}, far.echo{}\n  if type(second) ~= \"string\" then \
                 error(second.error) end\n  return first == second\nend";
    assert_eq!(result(&app, twice).await, json!(true));
    assert_eq!(site.seen().renewals(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_is_given_up_during_a_renewal_costs_no_login() {
    let site = Site::start().await;
    let (folder, _app) = ready(&site, "[tools.\"far.echo\"]\ntimeout = \"500ms\"").await;
    let app = app(folder.path()).await;
    assert_eq!(failure(&app, ECHO).await["worked"], "you are Bearer [redacted]");
    site.revoke();
    site.seen().token_delay = Duration::from_secs(2);
    let before = std::fs::read(token_file(folder.path())).unwrap();
    assert_eq!(failure(&app, ECHO).await["code"], "tool_timeout");
    // The refresh token is used up: the answer to it must be stored, though no call waits for it.
    until(async || (std::fs::read(token_file(folder.path())).unwrap() != before).then_some(())).await;
    site.seen().token_delay = Duration::ZERO;
    assert_eq!(failure(&app, ECHO).await["worked"], "you are Bearer [redacted]");
    assert_eq!(site.seen().renewals(), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_login_that_is_gone_fails_the_call_and_says_what_to_do() {
    let site = Site::start().await;
    let (folder, app) = ready(&site, "").await;
    site.seen().refuses_renewal = true;
    site.seen().revoke_after_calls = Some(1);
    let plan = "function run()\n  local first, second = far.echo{}, far.echo{}\n  return { first = type(first), \
                code = second.code, error = second.error, retryable = second.retryable }\nend";
    let seen = result(&app, plan).await;
    assert_eq!((&seen["first"], &seen["code"]), (&json!("string"), &json!("mcp_login_required")), "{seen}");
    assert_eq!(seen["retryable"], false);
    assert!(seen["error"].as_str().unwrap().contains("luaplan mcp login far"), "{seen}");
    assert!(!token_file(folder.path()).exists(), "what renews nothing any more is not kept");
    // The same process continues after the next login, without a pause.
    site.seen().refuses_renewal = false;
    assert_eq!(failure(&app, ECHO).await["code"], "mcp_login_required");
    log_in(folder.path()).await;
    assert_eq!(failure(&app, ECHO).await["worked"], "you are Bearer [redacted]");
}

#[tokio::test(flavor = "multi_thread")]
async fn nobody_logged_in_is_told_so() {
    let site = Site::start().await;
    let folder = folder(&site, "");
    let error = offer_of_mcp_server(&config(folder.path()), "far", true).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::McpLoginRequired, "{error}");
    assert!(error.message().contains("luaplan mcp login far"), "{error}");
    let state = &mcp_server_states(&config(folder.path()))[0];
    assert_eq!((state.tools, state.login), (None, Some("none")));
    assert_eq!(state.help.as_ref().unwrap().to_string(), "run `luaplan mcp accept far`");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_authorization_server_out_of_order_costs_no_login() {
    let site = Site::start().await;
    let (folder, app) = ready(&site, "").await;
    site.seen().renewal_fails = true;
    site.revoke();
    let failed = failure(&app, ECHO).await;
    assert_eq!(
        (&failed["code"], &failed["retryable"]),
        (&json!("mcp_unavailable"), &json!(true)),
        "{failed}"
    );
    let asked = site.seen().renewals();
    assert_eq!(failure(&app, ECHO).await["code"], "mcp_unavailable");
    assert_eq!(site.seen().renewals(), asked, "it is not asked again at once");
    assert!(token_file(folder.path()).exists());
    site.seen().renewal_fails = false;
    until(async || (failure(&app, ECHO).await["worked"] == "you are Bearer [redacted]").then_some(())).await;
}

#[tokio::test(flavor = "multi_thread")]
async fn a_token_goes_to_the_server_it_was_given_for_alone() {
    let (site, other) = (Site::start().await, Site::start().await);
    let (folder, _app) = ready(&site, "").await;
    write(folder.path(), &other.configuration(""));
    let app = app(folder.path()).await;
    assert_eq!(failure(&app, ECHO).await["code"], "mcp_login_required");
    {
        let seen = other.seen();
        assert!(!seen.bearers.is_empty() && seen.bearers.iter().all(Option::is_none), "{:?}", seen.bearers);
    }
    // Nor is it sent by another client.
    write(folder.path(), &site.configuration("oauth = { client_id = \"another\" }"));
    let before = site.seen().bearers.len();
    let app = super::app(folder.path()).await;
    assert_eq!(failure(&app, ECHO).await["code"], "mcp_login_required");
    assert!(site.seen().bearers[before..].iter().all(Option::is_none));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wider_leave_is_asked_for_by_name() {
    let site = Site::start().await;
    let (folder, app) = ready(&site, "oauth = { scopes = [\"notes\", \"more\"] }").await;
    assert_eq!(field(&site.seen().authorized[0], "scope"), "notes more", "configured ones go first");
    site.seen().scope_needed = "write:notes more admin".to_owned();
    let failed = failure(&app, ECHO).await;
    assert_eq!(failed["code"], "mcp_login_required");
    let words = failed["error"].as_str().unwrap();
    // The login replaces the one there is, so it keeps what that one may do.
    let all = ["notes", "more", "write:notes", "admin"];
    let command = format!("`luaplan mcp login far --scope {}`", all.join(" --scope "));
    assert!(words.contains(&command), "{words}");
    log_in_for(folder.path(), &all.map(str::to_owned)).await;
    assert_eq!(field(&site.seen().authorized[1], "scope"), all.join(" "));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_service_needs_no_person() {
    let site = Site::start().await;
    site.seen().expires_in = 5;
    let oauth = "oauth = { grant = \"client_credentials\", client_id = \"service\", client_secret_env = \"SERVICE_SECRET\", \
                 scopes = [\"notes\"] }";
    let (_folder, app) = ready(&site, oauth).await;
    assert_eq!(failure(&app, ECHO).await["worked"], "you are Bearer [redacted]");
    {
        let seen = site.seen();
        assert!(seen.token_requests.len() >= 2, "a new token for each time the last one ended");
        let asked = &seen.token_requests[0];
        let resource = format!("{}/mcp", site.base);
        assert_eq!((field(asked, "resource"), field(asked, "scope")), (resource.as_str(), "notes"));
    }
    let wrong = oauth.replace("SERVICE_SECRET", "WRONG_SECRET");
    let folder = folder(&site, &wrong);
    let error = offer_of_mcp_server(&config(folder.path()), "far", true).await.unwrap_err();
    assert_eq!(error.code(), ErrorCode::McpUnavailable, "{error}");
    let words = format!("{error:?} {error}");
    assert!(words.contains("invalid_client") && !words.contains("canary-7f3a9zz-wrong"), "{words}");
}
