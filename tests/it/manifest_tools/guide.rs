//! The guide says what the code does: its manifests are good, its plans pass the check on them, and
//! every key is in it.

use luaplan::base::LimitProfile;
use luaplan::catalog::{Catalog, builtin_manifests};
use luaplan::plan::check;
use serde_json::json;
use sqlx::{Connection as _, Executor as _};

use super::{Shop, manifest};
use crate::cli::Folder;

fn read(path: &str) -> String {
    std::fs::read_to_string(format!("{}/{path}", env!("CARGO_MANIFEST_DIR"))).unwrap()
}

fn blocks<'t>(text: &'t str, kind: &str) -> Vec<&'t str> {
    let fence = format!("```{kind}\n");
    text.split(&fence).skip(1).filter_map(|rest| rest.split("```").next()).collect()
}

fn manifests(guide: &str) -> Vec<(String, String)> {
    let named = |text: &str| text.strip_prefix("name = \"")?.split('"').next().map(str::to_owned);
    blocks(guide, "toml").into_iter().filter_map(|text| Some((named(text)?, text.to_owned()))).collect()
}

#[tokio::test]
async fn the_manifests_of_the_guide_are_tools_and_its_plans_pass_the_check() {
    let guide = read("docs/tools-by-manifest.md");
    let manifests = manifests(&guide);
    assert_eq!(manifests.len(), 3);
    let files: Vec<(&str, &str)> =
        manifests.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let shop = Shop::open(&files, &[], &[]).await;
    let own = shop.app.tools().catalog().iter().map(|spec| (**spec).clone());
    let catalog: Catalog = builtin_manifests().unwrap().into_iter().chain(own).collect();
    let plans = blocks(&guide, "lua");
    assert!(!plans.is_empty());
    for plan in plans {
        let report = check(plan, "plan", &catalog, &LimitProfile::Standard.limits());
        assert!(report.findings.is_empty(), "{plan}\n{:#?}", report.findings);
    }
    assert_eq!(
        read("examples/own_tools/luaplan-tools/stock_levels.toml"),
        manifests[1].1,
        "the example is the guide's"
    );
    for configuration in blocks(&guide, "toml").into_iter().filter(|text| text.starts_with('[')) {
        luaplan::app::config::validate_text(configuration, "guide").unwrap();
    }
}

/// The keys a refusal names as known.
fn known_keys(message: &str) -> Vec<String> {
    let (_, known) = message.split_once("expected").unwrap();
    let keys: Vec<String> = known.split('`').skip(1).step_by(2).map(str::to_owned).collect();
    assert!(keys.len() >= 3, "{message}");
    keys
}

#[tokio::test]
async fn every_key_is_in_the_guide() {
    let guide = read("docs/tools-by-manifest.md");
    let section = |title: &str| {
        let (_, rest) = guide.split_once(&format!("\n## {title}\n")).unwrap();
        rest.split("\n## ").next().unwrap()
    };
    for (kind, title, good) in [
        ("http", "HTTP requests", "url = \"https://a.example/\""),
        ("sql", "SQL statements", "sql = \"SELECT 1\""),
        ("command", "Commands", "argv = [\"true\"]"),
    ] {
        let text = |rest: &str| manifest("t", kind, "read", "{}", &format!("[settings]\n{good}\n{rest}"));
        let refused = |text: String, settings: Vec<(&'static str, &'static str)>| async move {
            match Shop::try_open(&[("t", &text)], &settings, &[]).await {
                Ok(_) => panic!("an unknown key was taken"),
                Err(error) => known_keys(error.message()),
            }
        };
        let mut keys = refused(text("no_such_key = 1"), vec![]).await;
        keys.extend(refused(text(""), vec![("tools.t.no_such_key", "1")]).await);
        if kind == "http" {
            keys.extend(refused(text("pages = { no_such_key = 1 }"), vec![]).await);
        }
        let missing: Vec<&String> =
            keys.iter().filter(|key| !section(title).contains(&format!("\n| `{key}` |"))).collect();
        assert!(missing.is_empty(), "{title}: {missing:?}");
    }
}

#[tokio::test]
async fn the_example_runs_on_a_real_database() {
    let folder = Folder::new();
    let url = format!("sqlite:{}?mode=rwc", folder.join("shop.db").display());
    let mut database = sqlx::SqliteConnection::connect(&url).await.unwrap();
    let sql =
        "CREATE TABLE stock (item TEXT, pieces INTEGER); INSERT INTO stock VALUES ('nail', 2), ('screw', 40)";
    database.execute(sqlx::raw_sql(sql)).await.unwrap();
    database.close().await.unwrap();
    let examples = format!("{}/examples/own_tools", env!("CARGO_MANIFEST_DIR"));
    let set = format!("tools_dir={examples}/luaplan-tools");
    let plan = format!("{examples}/stock_report.lua");
    let databases = "tools.query_db.databases={ main = \"sqlite:shop.db\" }";
    let ended = folder.run(&[
        "run",
        &plan,
        "--context",
        "{\"below\": 5}",
        "--set",
        &set,
        "--set",
        databases,
        "--json",
    ]);
    assert_eq!(ended.exits(0).json()["result"], json!({"orders": [{"item": "nail", "pieces": 48}]}));
}
