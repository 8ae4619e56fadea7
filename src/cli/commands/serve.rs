//! `luaplan serve`.

use std::sync::Arc;

use luaplan_app::AppParts;
use luaplan_base::Result;
use luaplan_engine::Isolation;
use luaplan_http::Server;
use luaplan_workers::raise_descriptor_limit;

use super::{Session, mcp};
use crate::cli::args::ServeArgs;
use crate::cli::exit;
use crate::cli::signals::Signals;

pub(super) async fn run(session: &Session<'_>, args: ServeArgs) -> Result<u8> {
    let mut options = session.options.clone();
    options.flags.extend(session.policy_flag(args.policy.as_deref()));
    if let Some(listen) = args.listen {
        options.flags.push(("server.listen".to_owned(), toml::Value::String(listen)));
    }
    let signals = Signals::listen();
    let parts = AppParts { isolation: Isolation::Process, ..AppParts::default() };
    let app = Arc::new(session.open_with(&options, parts).await?);
    raise_descriptor_limit();
    app.runs().keep_vms_ready();
    let server = mcp::mounted(Server::bind(app).await?);
    let address = format!("http://{}", server.address());
    if session.output.is_json() {
        session.output.data_line(&serde_json::json!({ "listening": address }));
    } else {
        session.output.note(format_args!("listening on {address}"));
    }
    server.run(|| signals.clone().next()).await;
    Ok(exit::DONE)
}
