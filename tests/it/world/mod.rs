//! The check knows the world: what configuration, policy and databases refuse is found before a plan runs.

mod corpus;
mod statements;
mod targets;
mod templates;

use serde_json::Value as Json;

use crate::cli::Folder;

/// Mail to one domain, web pages of one host, a database that may be read.
const CONFIGURATION: &str = "[tools.send_email]\nsmtp = \"smtp://127.0.0.1:1\"\nfrom = \"reports@shop.example\"\n\
    allow_recipients = [\"*@shop.example\"]\n[tools.fetch_url]\nallow_hosts = [\"*.rates.example\"]\n\
    [tools.query_db]\ndatabases = { shop = \"sqlite:shop.db\" }\n";

fn folder() -> Folder {
    Folder::with(&[("luaplan.toml", CONFIGURATION)])
}

/// The findings of a check with this code: severity, the source under each, and the message.
fn found(folder: &Folder, source: &str, code: &str, options: &[&str]) -> Vec<(String, String, String)> {
    folder.write("plan.lua", source);
    let ended = folder.run(&[&["check", "plan.lua", "--json"], options].concat());
    let findings = ended.json()["findings"].clone();
    let text = |finding: &Json, name: &str| finding[name].as_str().unwrap().to_owned();
    (findings.as_array().unwrap().iter())
        .filter(|finding| finding["code"] == code)
        .map(|finding| (text(finding, "severity"), under(source, finding), text(finding, "message")))
        .collect()
}

/// What a finding underlines, where that is on one line.
fn under(source: &str, finding: &Json) -> String {
    let number = |name: &str| usize::try_from(finding[name].as_u64().unwrap()).unwrap();
    if number("line") != number("end_line") {
        return String::new();
    }
    let line: Vec<char> = source.lines().nth(number("line") - 1).unwrap().chars().collect();
    line[number("column") - 1..number("end_column") - 1].iter().collect()
}

/// A plan whose `run` has this body.
fn plan(body: &str) -> String {
    format!("function run(context)\n  {body}\nend\n")
}
