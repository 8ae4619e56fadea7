//! Templates that come with a call, and so from a plan: rendered under the meter.
//!
//! Constructs that cannot be counted (macros, blocks, captured output, includes, recursion) are refused by
//! name; only templates of the templates folder, which people write, may use them. The rest is compiled,
//! and each instruction of variable cost is preceded by one that counts.

use std::sync::Arc;

use minijinja::machinery::{
    CompiledTemplate, Instruction, Instructions, TemplateConfig, eval, make_string_output, parse,
};
use minijinja::syntax::SyntaxConfig;
use minijinja::value::{Value, ValueKind};
use minijinja::{Environment, Error, ErrorKind, State, UndefinedBehavior};

use super::format::Format;
use super::meter::FilterMeter;
use super::{constructs, escape, filters};

/// What the engine calls the template.
const NAME: &str = "template";
/// Nested loops, conditions and scopes.
const NESTING_MAX: usize = 40;

// No template can spell these names, so none can call or replace the functions behind them.
const COUNT_ADD: &str = "+";
const COUNT_MULTIPLY: &str = "*";
const COUNT_TEXT: &str = "~";
const REMAINDER: &str = "%";
const COUNT_COMPARE: &str = "<>";
const COUNT_BUILT: &str = "[]";
const COUNT_STORED: &str = ".=";
const COUNT_RAW: &str = "raw";

/// Renders `source`.
///
/// # Errors
/// Whatever the engine or the meter says.
pub(super) fn render(
    source: &str,
    variables: Value,
    format: Format,
    fuel: u64,
    meter: &Arc<FilterMeter>,
    neutralise_formulas: bool,
) -> Result<String, Error> {
    let config = TemplateConfig {
        syntax_config: SyntaxConfig::default(),
        default_auto_escape: Arc::new(move |_| format.auto_escape()),
    };
    constructs::check(&parse(source, NAME, SyntaxConfig::default())?)
        .map_err(|construct| refused(construct.name, construct.line.into()))?;
    let mut compiled = CompiledTemplate::new(NAME, source, &config)?;
    count(&mut compiled.instructions)?;

    let mut environment = Environment::empty();
    environment.set_undefined_behavior(UndefinedBehavior::SemiStrict);
    environment.set_recursion_limit(NESTING_MAX);
    environment.set_fuel(Some(fuel));
    let written = meter.clone();
    environment.set_formatter(move |out, state, value| {
        let bytes = written.charge_text(value)?;
        written.emit(bytes)?;
        escape::write_value(out, state, value, neutralise_formulas)
    });
    filters::add(&mut environment, meter);
    add_counters(&mut environment, meter);

    let mut text = String::new();
    let mut output = make_string_output(&mut text);
    eval(
        &environment,
        &compiled.instructions,
        variables,
        &compiled.blocks,
        &mut output,
        format.auto_escape(),
    )?;
    drop(output);
    Ok(text)
}

/// The functions behind the counting instructions. Those for two operands return them in the order in
/// which unpacking restores them.
fn add_counters(environment: &mut Environment<'_>, meter: &Arc<FilterMeter>) {
    let counted = meter.clone();
    environment.add_function(COUNT_ADD, move |left: Value, right: Value| {
        if !left.is_number() {
            counted.charge_text(&left)?;
            counted.charge_text(&right)?;
        }
        Ok::<_, Error>(vec![right, left])
    });
    environment.add_function(COUNT_MULTIPLY, |left: Value, right: Value| {
        let is_repetition =
            [&left, &right].iter().any(|value| value.as_str().is_some() || value.as_object().is_some());
        if is_repetition {
            return Err(Error::new(
                ErrorKind::InvalidOperation,
                "`*` multiplies numbers here; it does not repeat text or lists",
            ));
        }
        Ok(vec![right, left])
    });
    let counted = meter.clone();
    environment.add_function(COUNT_TEXT, move |left: Value, right: Value| {
        counted.charge_text(&left)?;
        counted.charge_text(&right)?;
        Ok::<_, Error>(vec![right, left])
    });
    // Done here and not only counted: a text on the left is a format, as in Python.
    let counted = meter.clone();
    environment.add_function(REMAINDER, move |state: &mut State<'_, '_>, left: Value, right: Value| {
        if left.as_str().is_none() {
            return filters::remainder(left, right);
        }
        let values = match right.kind() {
            ValueKind::Seq => right.try_iter()?.collect(),
            _ => vec![right],
        };
        filters::printf(&counted, state, &left, values)
    });
    let counted = meter.clone();
    environment.add_function(COUNT_COMPARE, move |left: Value, right: Value| {
        counted.charge_walk(&left)?;
        counted.charge_walk(&right)?;
        Ok::<_, Error>(vec![right, left])
    });
    let counted = meter.clone();
    environment.add_function(COUNT_BUILT, move |value: Value| {
        counted.charge_walk(&value)?;
        Ok::<_, Error>(value)
    });
    // A namespace that held a list could be made to hold itself.
    environment.add_function(COUNT_STORED, |value: Value, namespace: Value| {
        if value.as_object().is_some() {
            return Err(Error::new(
                ErrorKind::InvalidOperation,
                "a namespace can hold only numbers, text and booleans here",
            ));
        }
        Ok(vec![namespace, value])
    });
    let counted = meter.clone();
    environment.add_function(COUNT_RAW, move |bytes: u64| {
        counted.charge(1)?;
        counted.emit(bytes)
    });
}

/// Puts a counting instruction before (or after) each one that needs it.
///
/// Positions are jump targets, so nothing is inserted: the instruction moves after the end, together
/// with its counting instruction, and a jump leads there and back.
fn count(instructions: &mut Instructions<'_>) -> Result<(), Error> {
    let mut end = 0;
    while instructions.get(end).is_some() {
        end += 1;
    }
    // Execution that reaches the old end exits.
    let exit = instructions.add(Instruction::Jump(0));
    for position in 0..end {
        let Some(original) = instructions.get(position).cloned() else { break };
        if is_uncounted(&original) {
            return Err(refused("construct of this kind", instructions.get_line(position).unwrap_or(1)));
        }
        let Some(detour) = detour(original) else { continue };
        let line = instructions.get_line(position).unwrap_or(1);
        let line = u16::try_from(line).unwrap_or(u16::MAX);
        let mut start = None;
        for instruction in detour {
            let added = instructions.add_with_line(instruction, line);
            start = start.or(Some(added));
        }
        instructions.add_with_line(Instruction::Jump(position + 1), line);
        if let (Some(start), Some(slot)) = (start, instructions.get_mut(position)) {
            *slot = Instruction::Jump(start);
        }
    }
    let past_all = instructions.add(Instruction::Jump(0));
    for position in [exit, past_all] {
        if let Some(slot) = instructions.get_mut(position) {
            *slot = Instruction::Jump(past_all + 1);
        }
    }
    Ok(())
}

/// What runs in place of an instruction that needs counting.
fn detour(original: Instruction<'_>) -> Option<Vec<Instruction<'_>>> {
    let counter = match &original {
        Instruction::Add => COUNT_ADD,
        Instruction::Mul => COUNT_MULTIPLY,
        Instruction::StringConcat => COUNT_TEXT,
        Instruction::Eq
        | Instruction::Ne
        | Instruction::Gt
        | Instruction::Gte
        | Instruction::Lt
        | Instruction::Lte
        | Instruction::In
        | Instruction::CompareAndPreserve(_) => COUNT_COMPARE,
        Instruction::SetAttr(_) => COUNT_STORED,
        Instruction::Rem => return Some(vec![Instruction::CallFunction(REMAINDER, Some(2))]),
        Instruction::BuildList(_)
        | Instruction::BuildTuple(_)
        | Instruction::BuildMap(_)
        | Instruction::Slice
        | Instruction::ApplyFilter(..) => {
            return Some(vec![original, Instruction::CallFunction(COUNT_BUILT, Some(1))]);
        }
        Instruction::EmitRaw(text) => {
            let bytes = Value::from(text.len());
            return Some(vec![
                Instruction::LoadConst(bytes),
                Instruction::CallFunction(COUNT_RAW, Some(1)),
                Instruction::DiscardTop,
                original,
            ]);
        }
        _ => return None,
    };
    Some(vec![Instruction::CallFunction(counter, Some(2)), Instruction::UnpackList(2), original])
}

/// Instructions that no template of the allowed constructs has. The check of constructs comes first;
/// this refuses what the engine compiles unexpectedly.
fn is_uncounted(instruction: &Instruction<'_>) -> bool {
    matches!(
        instruction,
        Instruction::Include(_)
            | Instruction::LoadBlocks
            | Instruction::ExportLocals
            | Instruction::BuildMacro(..)
            | Instruction::Enclose(_)
            | Instruction::GetClosure
            | Instruction::Return
            | Instruction::IsUndefined
            | Instruction::BeginCapture(_)
            | Instruction::EndCapture
            | Instruction::CallBlock(_)
            | Instruction::FastSuper
            | Instruction::FastRecurse
            | Instruction::PushAutoEscape
            | Instruction::PopAutoEscape
            | Instruction::UnpackLists(_)
            | Instruction::MergeKwargs(_)
    )
}

fn refused(name: &str, line: usize) -> Error {
    Error::new(
        ErrorKind::InvalidOperation,
        format!(
            "there is no {name} in a template given in the call (line {line}); a template in the templates folder may have it"
        ),
    )
}
