//! `transform_data`: turns data into HTML, Markdown, text, JSON or CSV, through a template or
//! without.
//!
//! Reaches nothing: no files but the templates folder, no network, no environment, no clock.

mod applied;
mod constructs;
mod data_shape;
mod escape;
mod filters;
mod foreseen;
mod format;
mod formatting;
mod inline;
mod input;
mod meter;
mod named;
mod paths;
mod plain;
mod reading;
mod settings;
#[cfg(test)]
mod tests;

use std::error::Error as _;
use std::path::Path;
use std::sync::Arc;

use async_trait::async_trait;

use luaplan_base::{CallOutcome, ErrorCode, Result, ToolFailure, Value};
use luaplan_bus::{ForeseenCall, Invocation, TextFault, Tool};
use luaplan_catalog::ToolSpec;

use self::format::Format;
use self::meter::{Exceeded, FilterMeter};
use self::named::NamedTemplates;

pub use settings::TransformDataSettings;

/// The longest template in a call.
const INLINE_BYTES_MAX: usize = 32 * 1024;
/// The engine compiles and drops nested things recursively; with the caps above it needs less.
const RENDER_STACK_BYTES: usize = 64 * 1024 * 1024;

/// The tool.
pub struct TransformData {
    spec: ToolSpec,
    renderer: Arc<Renderer>,
}

struct Renderer {
    settings: TransformDataSettings,
    named: NamedTemplates,
}

/// What to render with.
enum Choice {
    Plain(Format),
    Columns(Vec<String>),
    Inline(String, Format),
    Named(String, Format),
}

impl TransformData {
    /// The tool as configured; `base_dir` is what a relative `templates_dir` starts from.
    ///
    /// # Errors
    /// `config_invalid` for a zero or a `templates_dir` that is not a folder.
    pub fn new(spec: ToolSpec, settings: TransformDataSettings, base_dir: &Path) -> Result<Self> {
        settings.check()?;
        let named = NamedTemplates::new(settings.templates_dir.as_ref().map(|folder| base_dir.join(folder)))?;
        Ok(Self { spec, renderer: Arc::new(Renderer { settings, named }) })
    }
}

#[async_trait]
impl Tool for TransformData {
    fn spec(&self) -> &ToolSpec {
        &self.spec
    }

    fn planning_rules(&self) -> Vec<String> {
        vec![format!("filters of templates: {}", filters::SHOWN.join(", "))]
    }

    fn text_faults(&self, call: &ForeseenCall) -> Vec<TextFault> {
        self.template_faults(call)
    }

    async fn call(&self, invocation: Invocation) -> CallOutcome {
        let renderer = self.renderer.clone();
        let (sender, receiver) = tokio::sync::oneshot::channel();
        // A thread of its own: rendering is pure computation, bounded by its fuel, and needs a
        // deeper stack than a runtime thread has.
        let started = std::thread::Builder::new()
            .name("transform_data".to_owned())
            .stack_size(RENDER_STACK_BYTES)
            .spawn(move || {
                let outcome = renderer.transform(&invocation.arguments);
                // A cancelled call has dropped its receiver.
                let _ = sender.send(outcome);
            });
        if let Err(error) = started {
            return Err(ToolFailure::new(
                ErrorCode::ToolFailed,
                format!("no thread could be started: {error}"),
            ));
        }
        receiver
            .await
            .unwrap_or_else(|_| {
                Err(ToolFailure::new(ErrorCode::Internal, "rendering ended without a result"))
            })
            .map(Value::String)
    }
}

impl Renderer {
    fn transform(&self, arguments: &Value) -> std::result::Result<String, ToolFailure> {
        let input = arguments.get("input").unwrap_or(&Value::Null);
        input::check(input)?;
        let neutralise = self.settings.csv_neutralise_formulas;
        let text = match self.choose(arguments, input)? {
            Choice::Plain(format) => plain::write(input, format, neutralise)?,
            Choice::Columns(columns) => {
                let columns: Vec<&str> = columns.iter().map(String::as_str).collect();
                plain::csv(input, Some(&columns), neutralise)?
            }
            Choice::Inline(source, format) => {
                let meter = Arc::new(FilterMeter::new(self.settings.fuel, self.settings.output_bytes_max));
                let variables = input::variables(input);
                inline::render(&source, variables, format, self.settings.fuel, &meter, neutralise)
                    .map_err(|error| self.failure(&error, None))
                    .and_then(|text| valid(text, format))?
            }
            Choice::Named(file, format) => self
                .named
                .render(
                    &file,
                    input::variables(input),
                    format,
                    self.settings.fuel,
                    self.settings.output_bytes_max,
                    neutralise,
                )
                .map_err(|error| self.failure(&error, Some(&file)))
                .and_then(|text| valid(text, format))?,
        };
        let size_bytes = text.len() as u64;
        if size_bytes > self.settings.output_bytes_max {
            return Err(too_large(self.settings.output_bytes_max, size_bytes));
        }
        Ok(text)
    }

    fn choose(&self, arguments: &Value, input: &Value) -> std::result::Result<Choice, ToolFailure> {
        let format = match arguments.get("format") {
            None | Some(Value::Null) => None,
            Some(format) => Some(format.as_str().and_then(Format::named).ok_or_else(|| {
                bad_arguments("`format` is one of html, markdown, text, json and csv".to_owned())
            })?),
        };
        let template = match arguments.get("template") {
            None | Some(Value::Null) => "",
            Some(Value::String(template)) => template.as_str(),
            Some(other) => {
                return Err(bad_arguments(format!(
                    "`template` is a name or a template text, not {}",
                    other.kind()
                )));
            }
        };
        if template.is_empty() {
            return Ok(Choice::Plain(format.unwrap_or(Format::Text)));
        }
        if foreseen::is_inline(template) {
            if template.len() > INLINE_BYTES_MAX {
                return Err(bad_arguments(format!("a template text has at most {INLINE_BYTES_MAX} bytes"))
                    .with_detail("limit", INLINE_BYTES_MAX as i64)
                    .with_detail("observed", template.len() as i64));
            }
            return Ok(Choice::Inline(template.to_owned(), format.unwrap_or(Format::Text)));
        }
        let found = self.named.find(template, format);
        if found.is_err() && format == Some(Format::Csv) && names_columns(template, input) {
            return Ok(Choice::Columns(template.split(',').map(|column| column.trim().to_owned()).collect()));
        }
        found.map(|(file, format)| Choice::Named(file, format))
    }

    fn failure(&self, error: &minijinja::Error, file: Option<&str>) -> ToolFailure {
        if let Some(exceeded) = cap_behind(error) {
            return match exceeded {
                Exceeded::Output { limit, observed } => too_large(limit, observed),
                Exceeded::Work { limit, observed } => ToolFailure::new(
                    ErrorCode::TemplateFailed,
                    "the template does more work than its `fuel` allows",
                )
                .with_detail("limit", as_number(limit))
                .with_detail("observed", as_number(observed)),
            };
        }
        if error.kind() == minijinja::ErrorKind::OutOfFuel {
            return ToolFailure::new(ErrorCode::TemplateFailed, "the template used up its `fuel`")
                .with_detail("limit", as_number(self.settings.fuel))
                .with_detail("observed", as_number(self.settings.fuel.saturating_add(1)));
        }
        describe(error, file)
    }
}

/// Whether a template that is not a name lists columns: several, or one that the rows have.
fn names_columns(template: &str, input: &Value) -> bool {
    let rows = input.as_array().unwrap_or(std::slice::from_ref(input));
    template.contains(',') || rows.iter().any(|row| row.get(template).is_some())
}

/// Refuses a JSON result that is not JSON.
fn valid(text: String, format: Format) -> std::result::Result<String, ToolFailure> {
    if format == Format::Json
        && let Err(error) = serde_json::from_str::<serde::de::IgnoredAny>(&text)
    {
        return Err(ToolFailure::new(
            ErrorCode::TemplateFailed,
            format!("the template's result is not valid JSON: {error}"),
        ));
    }
    Ok(text)
}

fn cap_behind(error: &minijinja::Error) -> Option<Exceeded> {
    let mut source = error.source();
    while let Some(current) = source {
        let wrapped = current.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
        let found = match wrapped {
            Some(inner) => inner.downcast_ref::<Exceeded>(),
            None => current.downcast_ref::<Exceeded>(),
        };
        if found.is_some() {
            return found.copied();
        }
        source = current.source();
    }
    None
}

/// The engine's error in one line, with the innermost place known.
fn describe(error: &minijinja::Error, file: Option<&str>) -> ToolFailure {
    let mut innermost = error;
    while let Some(source) = innermost.source().and_then(|source| source.downcast_ref::<minijinja::Error>()) {
        innermost = source;
    }
    let what = innermost.detail().map_or_else(|| innermost.kind().to_string(), str::to_owned);
    let line = innermost.line().or_else(|| error.line());
    let place = match (file.and(innermost.name()), line) {
        (Some(name), Some(line)) => format!(" ({name}, line {line})"),
        (None, Some(line)) => format!(" (line {line})"),
        _ => String::new(),
    };
    let written = match (innermost.range(), innermost.template_source()) {
        (Some(range), Some(source)) => source.get(range).map(|text| format!(", at `{text}`")),
        _ => None,
    };
    let hint = if innermost.kind() == minijinja::ErrorKind::UndefinedError {
        "; where a value may be missing, write `default(\"\")`"
    } else {
        ""
    };
    let message = format!("{what}{}{place}{hint}", written.unwrap_or_default());
    let failure = ToolFailure::new(ErrorCode::TemplateFailed, message);
    match line {
        Some(line) => failure.with_detail("line", line as i64),
        None => failure,
    }
}

fn too_large(limit: u64, observed: u64) -> ToolFailure {
    ToolFailure::new(
        ErrorCode::ResultTooLarge,
        format!("the result is larger than `output_bytes_max` of {limit} bytes"),
    )
    .with_detail("limit", as_number(limit))
    .with_detail("observed", as_number(observed))
}

fn as_number(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

fn bad_arguments(message: String) -> ToolFailure {
    ToolFailure::new(ErrorCode::BadArguments, message)
}
