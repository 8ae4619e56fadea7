//! `luaplan resume RUN`.

use luaplan_app::{CallResolution, Caller, ResumeRequest};
use luaplan_base::{Result, Value};
use luaplan_journal::Resolved;

use super::Session;
use super::run::{attend, finish};
use crate::cli::args::ResumeArgs;
use crate::cli::exit::usage;
use crate::cli::progress::EventPrinter;
use crate::cli::signals::cancelled_by_signals;

pub(super) async fn run(session: &Session<'_>, args: &ResumeArgs) -> Result<u8> {
    let resolutions = resolutions(args)?;
    let policy = session.policy_flag(args.policy.as_deref()).into_iter();
    let (app, run_id) = session.open_to_resume(&args.run, policy.collect()).await?;
    let listeners = vec![EventPrinter::new(session.output, args.events).listener()];
    let cancel = cancelled_by_signals();
    let request = ResumeRequest {
        run_id,
        resolutions,
        listeners: listeners.clone(),
        cancel: cancel.clone(),
        by: Some(Caller::at_terminal().actor().clone()),
    };
    let outcome = app.runs().resume_to_rest(request).await?;
    let outcome = attend(session, &app, outcome, args.events, &listeners, &cancel).await?;
    Ok(finish(session, &outcome, args.events, None))
}

fn resolutions(args: &ResumeArgs) -> Result<Vec<CallResolution>> {
    let mut resolutions = Vec::new();
    for call in &args.retry {
        resolutions.push(CallResolution { call_id: call.clone(), resolved: Resolved::Retry });
    }
    for pair in &args.done {
        let (call_id, text) = split(pair, "--done", "CALL=JSON")?;
        let value = Value::from_json_text(text).map_err(|error| {
            usage(
                format!("--done {pair}: {}", error.message()),
                "--done",
                "the result is JSON, for example `--done 3=[]`",
            )
        })?;
        resolutions
            .push(CallResolution { call_id, resolved: Resolved::Done { result: value.to_exact_json() } });
    }
    for pair in &args.failed {
        let (call_id, reason) = split(pair, "--failed", "CALL=REASON")?;
        resolutions
            .push(CallResolution { call_id, resolved: Resolved::Failed { message: reason.to_owned() } });
    }
    let mut named: Vec<&str> = resolutions.iter().map(|one| one.call_id.as_str()).collect();
    named.sort_unstable();
    if let Some(twice) = named.windows(2).find(|pair| pair[0] == pair[1]) {
        let message = format!("call {} is resolved twice", twice[0]);
        return Err(usage(message, "--retry", "say one thing about each call"));
    }
    Ok(resolutions)
}

fn split<'a>(pair: &'a str, flag: &str, form: &str) -> Result<(String, &'a str)> {
    let (call, rest) = pair.split_once('=').ok_or_else(|| {
        usage(format!("`{flag} {pair}` has no `=`"), flag, &format!("write `{flag} {form}`"))
    })?;
    Ok((call.to_owned(), rest))
}
