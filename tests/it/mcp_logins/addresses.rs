//! What of a server's address people see, and what they are told where nothing good comes from it.

use axum::http::StatusCode;
use luaplan::app::{begin_mcp_login, offer_of_mcp_server};
use luaplan::base::ErrorCode;
use serde_json::json;

use super::site::{Site, field};
use super::{app, config, folder, write};
use crate::cli::Folder;
use crate::http_support::refusing;
use crate::mcp_servers::failure;

const QUERY: &str = "api=canary-of-the-query&v=canary-2";

/// The site's address with a user and a query.
fn with_secrets(base: &str) -> String {
    let host = base.trim_start_matches("http://");
    format!("[mcp.far]\nurl = \"http://canary-user:canary-pw@{host}/mcp?{QUERY}\"\n")
}

#[tokio::test(flavor = "multi_thread")]
async fn user_and_query_are_shown_nowhere() {
    let (site, gone) = (Site::start().await, std::net::TcpListener::bind("127.0.0.1:0").unwrap());
    let gone_base = format!("http://{}", gone.local_addr().unwrap());
    drop(gone);
    site.seen().is_open = true;
    for (base, is_there) in [(&site.base, true), (&gone_base, false)] {
        let shown = format!("http://…@{}/mcp?…", base.trim_start_matches("http://"));
        let folder = Folder::with(&[("luaplan.toml", &with_secrets(base))]);
        let commands: [(&[&str], bool); 7] = [
            (&["mcp", "accept", "far", "--set", "log.filter=\"trace,rmcp=trace\""], !is_there),
            (&["mcp", "list"], true),
            (&["mcp", "list", "--json"], true),
            (&["doctor", "--json"], true),
            (&["config", "validate"], false),
            (&["config", "show"], true),
            (&["mcp", "login", "far", "--wait", "300ms"], false),
        ];
        for (command, is_named) in commands {
            let ended = tokio::task::block_in_place(|| folder.run(command));
            let all = format!("{}{}", ended.out, ended.err);
            let at = all.find("canary").map_or("", |at| &all[at.saturating_sub(100)..]);
            assert_eq!(at.chars().take(300).collect::<String>(), "", "{command:?}");
            assert_eq!(all.contains(&shown), is_named, "{command:?}: {all}");
        }
    }
    // An address that is none is repeated without them too.
    let folder =
        Folder::with(&[("luaplan.toml", "[mcp.far]\nurl = \"ftp://canary@example.com/x?canary\"\n")]);
    let ended = tokio::task::block_in_place(|| folder.run(&["mcp", "list"])).fails(2, "config_invalid");
    assert!(ended.err.contains("`ftp://…@example.com/x?…`") && !ended.err.contains("canary"), "{ended}");
}

#[tokio::test(flavor = "multi_thread")]
async fn an_authorization_server_is_not_told_the_query() {
    let site = Site::start().await;
    // What the server does not call itself is made of its address.
    site.seen().has_resource_metadata = false;
    let place = tempfile::tempdir().unwrap();
    write(place.path(), &with_secrets(&site.base));
    let login =
        begin_mcp_login(&config(place.path()), "far", "http://127.0.0.1:1/callback", &[]).await.unwrap();
    assert!(!login.address().contains("canary"), "{}", login.address());
    let came = Site::browse(login.address()).await;
    login.finish(&came).await.unwrap();
    let seen = site.seen();
    assert_eq!(field(&seen.token_requests[0], "resource"), format!("{}/mcp", site.base));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_refusal_says_what_came_and_what_to_do() {
    let site = Site::start().await;
    site.seen().is_open = true;
    let place = folder(&site, "");
    offer_of_mcp_server(&config(place.path()), "far", true).await.unwrap();
    for (status, words) in [
        (StatusCode::FORBIDDEN, "[mcp.far] headers"),
        (StatusCode::NOT_FOUND, "mcp.far.url"),
        (StatusCode::INTERNAL_SERVER_ERROR, "try again later"),
    ] {
        site.seen().status = Some(status);
        let error = offer_of_mcp_server(&config(place.path()), "far", false).await.unwrap_err();
        let said = format!("the MCP server `far` at {}/mcp answered with HTTP {status}", site.base);
        assert_eq!((error.code(), error.message()), (ErrorCode::McpUnavailable, said.as_str()));
        assert!(error.help().contains(words), "{}", error.help());
        let plan = "far.echo{}";
        let failed = failure(&app(place.path()).await, plan).await;
        assert_eq!((&failed["code"], &failed["error"]), (&json!("mcp_unavailable"), &json!(said)));
    }
    // Also where it let in before.
    site.seen().status = None;
    let app = app(place.path()).await;
    assert!(failure(&app, "far.echo{}").await["worked"].is_string());
    site.seen().status = Some(StatusCode::FORBIDDEN);
    let failed = failure(&app, "far.echo{}").await;
    assert!(failed["error"].as_str().unwrap().contains("HTTP 403"), "{failed}");

    let (_held, gone) = refusing();
    write(place.path(), &format!("[mcp.far]\nurl = \"http://{gone}/mcp\"\n"));
    let error = offer_of_mcp_server(&config(place.path()), "far", false).await.unwrap_err();
    assert!(error.message().contains(&format!("at http://{gone}/mcp could not be reached: ")), "{error}");
    assert!(error.help().contains("`mcp.far.url`") && !error.help().contains("log"), "{}", error.help());
}
