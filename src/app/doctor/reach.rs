//! What plans and planner can reach: databases, mail, hosts, files, models.

use std::time::Duration;

use luaplan_catalog::{Catalog, ToolKind, ToolSpec};
use luaplan_llm::LlmSettings;
use luaplan_tools::query_db::QueryDbSettings;

use super::{DoctorReport, DoctorState};
use crate::config::{Config, Environment, Loaded};
use crate::mcp_server_states;
use crate::tools::assemble;

const ENDPOINT_TIMEOUT: Duration = Duration::from_secs(5);

pub(super) async fn tools(
    report: &mut DoctorReport,
    loaded: &Loaded,
    config: &Config,
    environment: &Environment,
) {
    let checked = assemble::tool_catalog(config).and_then(|catalog| {
        assemble::check_tool_settings(config, environment)?;
        Ok(catalog)
    });
    let mut catalog = match checked {
        Ok(catalog) => catalog,
        Err(error) => return report.failed("tools", DoctorState::Bad, &loaded.placed(error)),
    };
    assemble::note_not_set_up(config, environment, config.llm.is_configured(), &mut catalog);
    let ready = assemble::usable_tools(&catalog);
    let waiting: Vec<&str> = catalog.names().filter(|name| ready.get(name).is_none()).collect();
    let note =
        if waiting.is_empty() { String::new() } else { format!("; not set up: {}", waiting.join(", ")) };
    let names = ready.names().collect::<Vec<_>>().join(", ");
    report.good("tools", format!("{names}{note}"));
    // What built-in tools lack is said of the parts they reach.
    for spec in catalog.iter().filter(|spec| spec.kind != ToolKind::Builtin) {
        if let Some(missing) = catalog.not_set_up(&spec.name) {
            let help = format!(
                "set what is missing, or take the tool out with `[tools.{}] enabled = false`",
                spec.name
            );
            report.warn(&format!("tool {}", spec.name), missing, &help);
        }
    }
    databases(report, config, &catalog).await;
    mail(report, config, environment, &catalog).await;
    if catalog.get("fetch_url").is_some() {
        hosts(report, config);
    }
    paths(report, config, &catalog);
    commands(report, config, &catalog).await;
    mcp_servers(report, config);
}

/// What was accepted of MCP servers, and how their logins stand. None is started or asked.
fn mcp_servers(report: &mut DoctorReport, config: &Config) {
    for server in mcp_server_states(config) {
        let name = format!("mcp {}", server.name);
        let at = server.address.map_or_else(String::new, |address| format!("; at {address}"));
        let login = server.login.map_or_else(String::new, |login| format!("; login: {login}"));
        match server.missing {
            Some(missing) => {
                let help = server.help.map_or_else(String::new, |help| help.to_string());
                report.warn(&name, format!("{missing}{at}{login}"), &help);
            }
            None => report.good(&name, format!("{} tools accepted{at}{login}", server.tools.unwrap_or(0))),
        }
    }
}

/// Whether tools that are commands can be confined.
async fn commands(report: &mut DoctorReport, config: &Config, catalog: &Catalog) {
    if !catalog.iter().any(|spec| spec.kind == ToolKind::Command) {
        return;
    }
    let help = "install bubblewrap and allow user namespaces; without it commands are refused. Where luaplan is root and \
                namespaces are root's alone, grant `as_root = true` under `[tools.NAME]`";
    let Some(bubblewrap) = &config.bubblewrap else {
        return report.warn("commands", "`bwrap` is not in the PATH", help);
    };
    match luaplan_tools::command::try_bubblewrap(bubblewrap).await {
        Ok(()) => {
            let user = luaplan_tools::command::user_of_commands().map(|user| format!("; {user}"));
            report.good(
                "commands",
                format!("{} confines them{}", bubblewrap.display(), user.unwrap_or_default()),
            );
        }
        Err(why) => {
            report.warn("commands", format!("{} cannot work here: {why}", bubblewrap.display()), help);
        }
    }
}

async fn databases(report: &mut DoctorReport, config: &Config, catalog: &Catalog) {
    let Some(spec) = catalog.get("query_db") else { return };
    if setting(config, "query_db", "databases").is_none() {
        let help = "add one under `[tools.query_db] databases` if plans should query";
        return report.warn("databases", "none configured", help);
    }
    let tool = match assemble::query_db(config, ToolSpec::clone(spec)) {
        Ok(tool) => tool,
        Err(error) => return report.failed("databases", DoctorState::Bad, &error),
    };
    for (name, result) in tool.probe().await {
        match result {
            Ok(seen) => report.good(&format!("database {name}"), seen),
            Err(error) => report.failed(&format!("database {name}"), DoctorState::Warning, &error),
        }
    }
}

async fn mail(report: &mut DoctorReport, config: &Config, environment: &Environment, catalog: &Catalog) {
    let Some(spec) = catalog.get("send_email") else { return };
    if setting(config, "send_email", "smtp").is_none() {
        let help = "set `[tools.send_email] smtp`, `from` and `allow_recipients` if plans should send mail";
        return report.warn("mail", "no SMTP server configured", help);
    }
    if let Some(missing) = catalog.not_set_up("send_email") {
        let help = "set the variable in the environment luaplan is started in";
        return report.warn("mail", missing, help);
    }
    match assemble::send_email(config, environment, ToolSpec::clone(spec)) {
        Ok(tool) => match tool.probe().await {
            Ok(greeting) => report.good("mail", greeting),
            Err(error) => report.failed("mail", DoctorState::Warning, &error),
        },
        Err(error) => return report.failed("mail", DoctorState::Bad, &error),
    }
    let recipients = texts(setting(config, "send_email", "allow_recipients"));
    if recipients.is_empty() {
        let help = "add addresses to `[tools.send_email] allow_recipients`, for example `*@example.com`";
        report.warn("recipients", "nobody may be written to", help);
    } else {
        report.good("recipients", format!("only {}", recipients.join(", ")));
    }
}

/// What `fetch_url` may reach, so that a surprise shows before a run does.
fn hosts(report: &mut DoctorReport, config: &Config) {
    let hosts = texts(setting(config, "fetch_url", "allow_hosts"));
    let blocked = "loopback and private addresses are blocked unless named in full";
    if hosts.is_empty() {
        report.good("hosts", format!("allowed: every public host; {blocked}"));
    } else {
        report.good("hosts", format!("allowed: {}; all others are blocked", hosts.join(", ")));
    }
}

/// The only files plans can reach, all through tools.
fn paths(report: &mut DoctorReport, config: &Config, catalog: &Catalog) {
    let mut allowed = Vec::new();
    if catalog.get("query_db").is_some()
        && let Some(tool) = config.tools.get("query_db")
        && let Ok(settings) = tool.settings.clone().try_into::<QueryDbSettings>()
    {
        for (name, url) in &settings.databases {
            let url = url.to_string();
            let Some(path) = url.strip_prefix("sqlite:") else { continue };
            let path = path.trim_start_matches("//").split('?').next().unwrap_or_default();
            let how = if settings.writes.contains(name) { "read and write" } else { "read" };
            allowed.push(format!("{} ({how})", config.base_dir.join(path).display()));
        }
    }
    if catalog.get("transform_data").is_some()
        && let Some(folder) = setting(config, "transform_data", "templates_dir").and_then(toml::Value::as_str)
    {
        allowed.push(format!("{} (read)", config.base_dir.join(folder).display()));
    }
    let allowed = if allowed.is_empty() { "none".to_owned() } else { allowed.join(", ") };
    report.good("paths", format!("allowed to plans: {allowed}; all others are blocked"));
}

fn setting<'a>(config: &'a Config, tool: &str, key: &str) -> Option<&'a toml::Value> {
    config.tools.get(tool)?.settings.get(key)
}

fn texts(value: Option<&toml::Value>) -> Vec<&str> {
    value.and_then(toml::Value::as_array).into_iter().flatten().filter_map(toml::Value::as_str).collect()
}

/// Keys and endpoints of the model and its fallbacks. Nothing is asked: an answer costs money.
pub(super) async fn model(
    report: &mut DoctorReport,
    loaded: &Loaded,
    config: &Config,
    environment: &Environment,
) {
    if !config.llm.is_configured() {
        let help = "set `[llm] provider` and `model` to use `task` and `plan`; saved plans need none";
        return report.warn("model", "none configured", help);
    }
    if let Err(error) = config.llm.validate() {
        return report.failed("model", DoctorState::Bad, &loaded.placed(error));
    }
    for link in config.llm.all() {
        if let Some(name) = link.key_variable()
            && environment.get(name).is_none()
        {
            let help = format!("export {name}=…");
            report.warn("model key", format!("${name} for {} is not set", link.name()), &help);
        }
        endpoint(report, link).await;
    }
}

async fn endpoint(report: &mut DoctorReport, model: &LlmSettings) {
    let Some((host, port)) = model.endpoint() else { return };
    let help = "start the model server, check the network, or correct `llm.base_url`";
    let connect = tokio::net::TcpStream::connect((host.clone(), port));
    match tokio::time::timeout(ENDPOINT_TIMEOUT, connect).await {
        Ok(Ok(_)) => report.good("model", format!("{} at {host}:{port} accepts connections", model.name())),
        Ok(Err(error)) => {
            report.warn(
                "model",
                format!("{} at {host}:{port} cannot be reached: {error}", model.name()),
                help,
            );
        }
        Err(_) => {
            let seconds = ENDPOINT_TIMEOUT.as_secs();
            let message = format!("{} at {host}:{port} did not answer within {seconds} s", model.name());
            report.warn("model", message, help);
        }
    }
}
