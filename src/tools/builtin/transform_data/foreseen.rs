//! Templates of calls that a plan may make, before there are data: compiled as a call compiles them, and held against
//! what is known of the data.

use std::sync::Arc;

use minijinja::Error;
use minijinja::machinery::parse;
use minijinja::syntax::SyntaxConfig;

use luaplan_base::{ErrorCode, Value, nearest};
use luaplan_bus::{ForeseenCall, TextFault};

use super::data_shape::DataShape;
use super::format::Format;
use super::meter::FilterMeter;
use super::reading::{self, Slip};
use super::{RENDER_STACK_BYTES, Renderer, TransformData, cap_behind, constructs, describe, inline, input};

/// Template instructions that a check may spend on one call whose data are known.
const CHECK_FUEL: u64 = 20_000;
/// Bytes that it may write.
const CHECK_OUTPUT_BYTES: u64 = 64 * 1024;

/// The statements of templates, for those that are misspelt.
const STATEMENTS: [&str; 12] =
    ["for", "endfor", "if", "elif", "else", "endif", "set", "with", "endwith", "raw", "endraw", "endset"];

impl TransformData {
    /// As [`luaplan_bus::Tool::text_faults`].
    pub(super) fn template_faults(&self, call: &ForeseenCall) -> Vec<TextFault> {
        let renderer = Arc::clone(&self.renderer);
        let call = call.clone();
        // The engine parses recursively.
        let started = std::thread::Builder::new()
            .name("template_check".to_owned())
            .stack_size(RENDER_STACK_BYTES)
            .spawn(move || renderer.foreseen_faults(&call));
        started.ok().and_then(|thread| thread.join().ok()).unwrap_or_default()
    }
}

impl Renderer {
    fn foreseen_faults(&self, call: &ForeseenCall) -> Vec<TextFault> {
        let template = call.known.get("template").and_then(Value::as_str);
        let Some(template) = template.filter(|text| call.is_certain("template") && !text.is_empty()) else {
            return Vec::new();
        };
        let data = DataShape::of_argument(call, "input");
        if !is_inline(template) {
            return self.named_fault(template, &data, call).into_iter().collect();
        }
        let parsed = parse(template, "template", SyntaxConfig::default());
        let tree = match parsed {
            Ok(tree) => tree,
            Err(error) => return vec![of_syntax(&error, template)],
        };
        if let Err(refused) = constructs::check(&tree) {
            let message = format!("there is no {} in a template given in the call", refused.name);
            let help = "a template in the templates folder may have it".to_owned();
            return vec![fault(line_start(template, refused.line.into()), message, help)];
        }
        let slips = reading::slips(&tree, template, &data);
        if slips.is_empty() && call.is_whole() {
            return self.tried(template, call).into_iter().collect();
        }
        let place = |slip: Slip| TextFault {
            is_sure: slip.is_sure,
            ..fault(character_at(template, slip.offset), slip.message, slip.help)
        };
        slips.into_iter().map(place).collect()
    }

    /// A name that no template has.
    fn named_fault(&self, name: &str, data: &DataShape, call: &ForeseenCall) -> Option<TextFault> {
        if !call.is_certain("format") {
            return None;
        }
        let format = match call.known.get("format") {
            None | Some(Value::Null) => None,
            Some(format) => Some(Format::named(format.as_str()?)?),
        };
        let failure = self.named.find(name, format).err()?;
        if format == Some(Format::Csv) {
            return missing_column(name, data);
        }
        let known = self.named.names();
        let help = match nearest(name, known.iter().map(String::as_str)) {
            Some(near) => format!("did you mean `{near}`?"),
            None => ErrorCode::TemplateUnknown.remedy().to_owned(),
        };
        Some(fault(None, failure.message, help))
    }

    /// Fills a template whose data are known, as it will be filled.
    fn tried(&self, template: &str, call: &ForeseenCall) -> Option<TextFault> {
        let format = match call.known.get("format") {
            None | Some(Value::Null) => Format::Text,
            Some(format) => Format::named(format.as_str()?)?,
        };
        let input = call.known.get("input").unwrap_or(&Value::Null);
        input::check(input).ok()?;
        let fuel = self.settings.fuel.min(CHECK_FUEL);
        let meter = Arc::new(FilterMeter::new(fuel, self.settings.output_bytes_max.min(CHECK_OUTPUT_BYTES)));
        let error = inline::render(template, input::variables(input), format, fuel, &meter, true).err()?;
        let is_bound = cap_behind(&error).is_some() || error.kind() == minijinja::ErrorKind::OutOfFuel;
        (!is_bound).then(|| of_engine(&error, template, ErrorCode::TemplateFailed.remedy().to_owned()))
    }
}

/// Whether a text is a template and not the name of one.
pub(super) fn is_inline(template: &str) -> bool {
    ["{{", "{%", "{#", "\n"].iter().any(|mark| template.contains(mark))
}

/// A column that the rows do not have.
fn missing_column(columns: &str, data: &DataShape) -> Option<TextFault> {
    let DataShape::Record(members) = data.item() else { return None };
    let names = || members.keys().map(String::as_str);
    let missing = columns.split(',').map(str::trim).find(|name| !members.contains_key(*name))?;
    let help = match nearest(missing, names()) {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            format!("there are {}", names().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", "))
        }
    };
    let offset = columns.find(missing).unwrap_or_default();
    Some(fault(character_at(columns, offset), format!("the rows have no column `{missing}`"), help))
}

fn fault(position: Option<usize>, message: String, help: String) -> TextFault {
    TextFault { parameter: "template".to_owned(), position, message, help, is_sure: true }
}

fn of_syntax(error: &Error, template: &str) -> TextFault {
    let detail = error.detail().unwrap_or_default();
    let unknown = detail.strip_prefix("unknown statement ");
    let near = unknown.and_then(|word| nearest(word.trim_matches('`'), STATEMENTS));
    let help = match near {
        Some(near) => format!("did you mean `{near}`?"),
        None => {
            "correct the template: `{{ value }}`, `{% for x in xs %}…{% endfor %}`, `{% if x %}…{% endif %}`"
                .to_owned()
        }
    };
    of_engine(error, template, help)
}

fn of_engine(error: &Error, template: &str, help: String) -> TextFault {
    let offset = error.range().and_then(|range| character_at(template, range.start));
    let position = offset.or_else(|| error.line().and_then(|line| line_start(template, line)));
    fault(position, describe(error, None).message, help)
}

/// The character at a byte, from 1.
fn character_at(template: &str, offset: usize) -> Option<usize> {
    template.get(..offset).map(|before| before.chars().count() + 1)
}

/// The first character of a line that is no blank.
fn line_start(template: &str, line: usize) -> Option<usize> {
    let before: usize = template.split_inclusive('\n').take(line.checked_sub(1)?).map(str::len).sum();
    let rest = template.get(before..)?;
    character_at(template, before + rest.len() - rest.trim_start().len())
}
