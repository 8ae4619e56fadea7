//! Logins to MCP servers at a `url`: OAuth with a server that behaves well and badly.

mod addresses;
mod broken;
mod commands;
mod faults;
mod flow;
mod real;
mod site;

use std::path::Path;

use luaplan::app::config::{Config, Environment, LoadOptions, load};
use luaplan::app::{App, AppParts, begin_mcp_login, offer_of_mcp_server};
use luaplan::http::Redirect;
use luaplan::journal::{JournalRead as _, RecordFilter};

use self::site::{CANARY, Site};

/// What `[mcp.far.oauth]` may take from the environment.
fn environment(folder: &Path) -> Environment {
    Environment {
        working_dir: folder.to_path_buf(),
        variables: [
            ("SERVICE_SECRET".to_owned(), format!("{CANARY}-service")),
            ("WRONG_SECRET".to_owned(), format!("{CANARY}-wrong")),
        ]
        .into(),
        ..Environment::default()
    }
}

fn config(folder: &Path) -> Config {
    let environment = environment(folder);
    load(&environment, &LoadOptions::default()).unwrap().check(&environment).unwrap()
}

/// A folder with the site as `[mcp.far]`.
fn folder(site: &Site, rest: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    write(folder.path(), &site.configuration(rest));
    folder
}

fn write(folder: &Path, configuration: &str) {
    std::fs::write(folder.join("luaplan.toml"), configuration).unwrap();
}

async fn app(folder: &Path) -> App {
    let environment = environment(folder);
    let loaded = load(&environment, &LoadOptions::default()).unwrap();
    App::open_with(&loaded, &environment, AppParts::default()).await.unwrap()
}

/// Logs in as a person would, with a real browser's way back.
async fn log_in(folder: &Path) {
    log_in_for(folder, &[]).await;
}

async fn log_in_for(folder: &Path, scopes: &[String]) {
    let redirect = Redirect::listen(0).await.unwrap();
    let login = begin_mcp_login(&config(folder), "far", redirect.uri(), scopes).await.unwrap();
    let target = Site::browse(login.address()).await;
    let state = login.state().to_owned();
    let waiting = tokio::spawn(async move { redirect.wait(&state).await });
    let page = reqwest::get(&target).await.unwrap();
    assert_eq!(page.status(), 200);
    let came = waiting.await.unwrap();
    assert_eq!(came, target);
    login.finish(&came).await.unwrap();
}

/// Logged in, and what it offers accepted.
async fn ready(site: &Site, rest: &str) -> (tempfile::TempDir, App) {
    let folder = folder(site, rest);
    if !rest.contains("client_credentials") {
        log_in(folder.path()).await;
    }
    offer_of_mcp_server(&config(folder.path()), "far", true).await.unwrap();
    let app = app(folder.path()).await;
    (folder, app)
}

fn token_file(folder: &Path) -> std::path::PathBuf {
    folder.join(".luaplan/mcp/far.login.json")
}

/// Everything on record, as text.
async fn written(app: &App) -> String {
    let records = app.journal().records(RecordFilter::default()).await.unwrap();
    serde_json::to_string(&records.iter().map(|record| &record.event).collect::<Vec<_>>()).unwrap()
}
