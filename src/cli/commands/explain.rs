//! `luaplan explain FILE`.

use std::path::Path;

use serde_json::{Value as Json, json};

use luaplan_app::{Explanation, explain};
use luaplan_base::{Error, ErrorCode, Result};
use luaplan_journal::neutralize;
use luaplan_plan::draw::GraphFormat;
use luaplan_plan::parameters::context_of_check;
use luaplan_plan::preview::{Preview, Texts};
use luaplan_plan::{CheckInput, Finding};

use super::{Session, inputs, plan};
use crate::cli::args::ExplainArgs;
use crate::cli::{exit, findings};

pub(super) fn run(session: &Session<'_>, args: &ExplainArgs) -> Result<u8> {
    let (name, source) = inputs::read_plan(session, &args.file)?;
    let (config, catalog) = session.tools()?;
    let context = inputs::read_context(session, args.context.as_deref())?;
    // Redact before texts are shortened: a part of a secret is not found.
    let source = config.redactor(session.environment).exact_text(&source).into_owned();
    let context = context_of_check(&source, context.as_ref());
    let (limits, context) = (&config.limits, context.as_ref());
    let input = CheckInput {
        source: &source,
        name: &name,
        catalog: &catalog,
        limits,
        context,
        task: None,
        results: &[],
    };
    let explanation = explain(&config, session.environment, &input);
    if let Some(file) = &args.output {
        plan::refuse_existing(session, file, args.force)?;
    }
    let format = args.graph.as_deref().map(str::parse::<GraphFormat>).transpose()?;
    let Some(preview) = &explanation.preview else {
        refused(session, &explanation, &name, &source);
        return Ok(exit::REFUSED);
    };
    let drawn = format.and_then(|format| Some(explanation.graph()?.draw(format)));
    if let Some(file) = &args.output {
        let page = drawn.is_none().then(|| preview.page(Texts::Whole));
        write(session, file, page.as_deref().or(drawn.as_deref()).unwrap_or_default())?;
        if !session.output.is_json() {
            session.output.line(format_args!("wrote {}", file.display()));
            return Ok(exit::DONE);
        }
    } else if let Some(text) = drawn.as_ref().filter(|_| !session.output.is_json()) {
        session.output.source(text);
        return Ok(exit::DONE);
    }
    if session.output.is_json() {
        let mut report = explanation.to_json();
        if let (Json::Object(members), Some(format), Some(text)) = (&mut report, &args.graph, drawn) {
            members.insert("drawing".to_owned(), json!({ "format": format, "text": text }));
        }
        session.output.data(&report);
    } else {
        // The page already says at each call what its tool lacks, and what it is refused for.
        let on_page = [ErrorCode::PlanToolNotSetUp, ErrorCode::PlanTargetRefused];
        let said = |finding: &Finding| on_page.iter().any(|code| code.as_str() == finding.code);
        let findings: Vec<Finding> = explanation.findings.iter().filter(|it| !said(it)).cloned().collect();
        if !findings.is_empty() {
            findings::print(session.output, &name, &source, &findings);
            session.output.line("");
        }
        let texts = if args.full { Texts::Whole } else { Texts::Short };
        print(session, preview, texts, &args.file);
    }
    Ok(exit::DONE)
}

/// The page of a preview.
pub(super) fn print(session: &Session<'_>, preview: &Preview, texts: Texts, file: &Path) {
    let page = preview.page(texts);
    session.output.line(neutralize(page.trim_end()));
    if texts == Texts::Short && page != preview.page(Texts::Whole) {
        let all = format!("\nlong texts are cut; whole: `luaplan explain {} --full`", file.display());
        session.output.line(neutralize(&all));
    }
}

/// The findings of a plan that may not run.
fn refused(session: &Session<'_>, explanation: &Explanation, name: &str, source: &str) {
    if session.output.is_json() {
        session.output.data(&explanation.to_json());
    } else {
        findings::print(session.output, name, source, &explanation.findings);
    }
}

fn write(session: &Session<'_>, file: &Path, text: &str) -> Result<()> {
    std::fs::write(session.environment.working_dir.join(file), text).map_err(|error| {
        Error::new(ErrorCode::FileUnreadable, format!("cannot write {}: {error}", file.display()))
    })
}
