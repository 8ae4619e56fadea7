//! Runs a plan with the whole application: configuration, tools, journal.
//!
//!     cargo run --example run_plan

use std::path::Path;
use std::sync::Arc;

use luaplan::app::config::{Environment, LoadOptions, load};
use luaplan::app::{App, RunSpec};
use luaplan::base::{Result, Value};
use luaplan::engine::RunOutcome;
use luaplan::journal::{Event, EventListener};
use tokio_util::sync::CancellationToken;

const PLAN: &str = r##"
function run(context)
  local page = transform_data(context.rows, "# Orders\n{% for r in rows %}- {{ r.customer }}\n{% endfor %}", "markdown")
  if page.error then
    error(page.error)
  end
  return {page = page}
end
"##;

/// Runs [`PLAN`] with its journal under `folder`. `told` receives each event.
pub(crate) async fn example(folder: &Path, told: EventListener) -> Result<RunOutcome> {
    let environment = Environment { working_dir: folder.to_path_buf(), ..Environment::default() };
    // The settings of a luaplan.toml in `folder`, overridden by those of the program.
    let flags = vec![("limits.wall".to_owned(), toml::Value::from("10s"))];
    let loaded = load(&environment, &LoadOptions { file: None, flags })?;
    let app = App::open(&loaded, &environment).await?;

    let context =
        Value::from_json_text(r#"{"rows": [{"customer": "Customer 1"}, {"customer": "Customer 2"}]}"#)?;
    let spec = RunSpec::plan("orders.lua", PLAN, app.config().limits.clone())
        .with_context(Some(context), None)
        .with_listeners(vec![told], CancellationToken::new());
    let outcome = app.run(spec).await;
    app.journal().close().await;
    Ok(outcome)
}

#[tokio::main]
#[expect(clippy::print_stdout, reason = "a program that shows what it does")]
async fn main() -> Result<()> {
    let folder = std::env::temp_dir().join("luaplan-example");
    let told: EventListener = Arc::new(|event: &Event, _| println!("{}", event.body.name()));
    let outcome = example(&folder, told).await?;
    println!("{:#}", outcome.to_json());
    Ok(())
}
