//! One call of a library function: its arguments read with clear errors, its cost charged.

use luaplan_base::{Error, ErrorCode};

use super::value::{LibError, LibHost, Result, Table, Text, Value};

/// Bytes the native parts handle for the price of one VM instruction.
const LIBRARY_BYTES_PER_INSTRUCTION: u64 = 8;

/// What every native call costs before it reads its input.
const CALL_INSTRUCTIONS: u64 = 10;

/// A library function written in Rust.
pub(crate) struct LibFunction {
    /// Its name inside the library.
    pub(crate) name: &'static str,
    /// What it does.
    pub(crate) run: for<'v> fn(&Call<'v>) -> Result<Value<'v>>,
}

impl LibFunction {
    /// One call from an engine, with its base price charged; `library` goes into messages.
    ///
    /// # Errors
    /// The error for the plan, or that the run is over.
    pub(crate) fn call<'v>(
        &self,
        library: &'static str,
        host: &'v dyn LibHost<'v>,
        args: Vec<Value<'v>>,
    ) -> Result<Value<'v>> {
        host.meter().charge(CALL_INSTRUCTIONS)?;
        (self.run)(&Call { host, library, name: self.name, args })
    }
}

/// One call of a [`LibFunction`].
pub(crate) struct Call<'v> {
    pub(super) host: &'v dyn LibHost<'v>,
    library: &'static str,
    name: &'static str,
    args: Vec<Value<'v>>,
}

impl<'v> Call<'v> {
    /// Charges for handling so many bytes. Called before the bytes are handled or allocated.
    pub(super) fn charge_bytes(&self, bytes: usize) -> Result<()> {
        self.charge(bytes as u64 / LIBRARY_BYTES_PER_INSTRUCTION)
    }

    /// Charges for a step of work that has no byte count.
    pub(super) fn charge(&self, instructions: u64) -> Result<()> {
        Ok(self.host.meter().charge(instructions)?)
    }

    /// The error of this call: `library.name`, and what is wrong.
    pub(super) fn fail(&self, message: impl std::fmt::Display) -> LibError {
        let message = format!("{}.{}: {message}", self.library, self.name);
        LibError::Raise(Error::new(ErrorCode::PlanError, message))
    }

    /// The name messages give the argument at `index`: `library.name argument 1`.
    pub(super) fn argument_name(&self, index: usize) -> String {
        format!("{}.{} argument {}", self.library, self.name, index + 1)
    }

    fn wrong(&self, index: usize, name: &str, wanted: &str) -> LibError {
        self.fail(format_args!(
            "argument {} ({name}) must be {wanted}, got {}",
            index + 1,
            self.describe(&self.arg(index))
        ))
    }

    /// What a value is, for a message: its type, `null` for the null value.
    pub(super) fn describe(&self, value: &Value<'_>) -> &'static str {
        match value {
            Value::Nil => "nil",
            Value::Null => "null",
            Value::Boolean(_) => "boolean",
            Value::Integer(_) | Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Table(_) => "table",
            Value::Other(name) => name,
        }
    }

    /// The argument at `index`, counted from 0; nil where there is none.
    pub(super) fn arg(&self, index: usize) -> Value<'v> {
        self.args.get(index).cloned().unwrap_or(Value::Nil)
    }

    /// Whether the argument is nil or absent.
    pub(super) fn is_absent(&self, index: usize) -> bool {
        matches!(self.args.get(index), None | Some(Value::Nil))
    }

    /// Text, charged by its bytes. A number counts as its text, as in Lua's own string functions.
    pub(super) fn text(&self, index: usize, name: &str) -> Result<Text> {
        let value = self.arg(index);
        let text = match value {
            Value::String(text) => text,
            Value::Integer(_) | Value::Number(_) => Text::new(&self.host.number_text(&value)),
            Value::Table(table) => {
                table.refuse_failure()?;
                return Err(self.wrong(index, name, "text"));
            }
            _ => return Err(self.wrong(index, name, "text")),
        };
        self.charge_bytes(text.as_bytes().len())?;
        Ok(text)
    }

    /// Text that is valid UTF-8, for functions that count or change characters.
    pub(super) fn utf8(&self, index: usize, name: &str) -> Result<String> {
        let text = self.text(index, name)?;
        let bytes = text.as_bytes();
        std::str::from_utf8(bytes).map(str::to_owned).map_err(|error| {
            self.fail(format_args!(
                "argument {} ({name}) is not valid UTF-8 at byte {}",
                index + 1,
                error.valid_up_to() + 1
            ))
        })
    }

    /// UTF-8 text, or `default` where the argument is nil.
    pub(super) fn utf8_or(&self, index: usize, name: &str, default: &str) -> Result<String> {
        if self.is_absent(index) { Ok(default.to_owned()) } else { self.utf8(index, name) }
    }

    /// A whole number; numeric text counts as its number.
    pub(super) fn integer(&self, index: usize, name: &str) -> Result<i64> {
        self.as_integer(&self.arg(index)).ok_or_else(|| self.wrong(index, name, "a whole number"))
    }

    /// A whole number of at least 0, as a size.
    pub(super) fn size(&self, index: usize, name: &str) -> Result<usize> {
        let number = self.integer(index, name)?;
        usize::try_from(number).map_err(|_| {
            self.fail(format_args!("argument {} ({name}) must be at least 0, got {number}", index + 1))
        })
    }

    /// Reads a value as a whole number.
    pub(super) fn as_integer(&self, value: &Value<'v>) -> Option<i64> {
        match value {
            Value::Integer(number) => Some(*number),
            Value::Number(number) => whole(*number),
            Value::String(text) => match self.host.text_number(text.as_bytes())? {
                Value::Integer(number) => Some(number),
                Value::Number(number) => whole(number),
                _ => None,
            },
            _ => None,
        }
    }

    /// A number; numeric text counts as its number.
    pub(super) fn number(&self, index: usize, name: &str) -> Result<f64> {
        let value = match self.arg(index) {
            Value::String(text) => self.host.text_number(text.as_bytes()),
            other => Some(other),
        };
        match value {
            Some(Value::Integer(number)) => Ok(number as f64),
            Some(Value::Number(number)) => Ok(number),
            _ => Err(self.wrong(index, name, "a number")),
        }
    }

    /// A list or table.
    pub(super) fn table(&self, index: usize, name: &str) -> Result<Table<'v>> {
        match self.arg(index) {
            Value::Table(table) => {
                table.refuse_failure()?;
                Ok(table)
            }
            _ => Err(self.wrong(index, name, "a table")),
        }
    }

    /// The named options, an absent table being an empty one.
    ///
    /// An option that is not in `known` is an error, so that the plan's author notices a misspelt one.
    pub(super) fn options(&self, index: usize, known: &[&str]) -> Result<Option<Table<'v>>> {
        if self.is_absent(index) {
            return Ok(None);
        }
        let table = self.table(index, "options")?;
        let mut unknown: Option<String> = None;
        for (key, _) in table.entries()? {
            self.charge(1)?;
            let name = match &key {
                Value::String(text) => text.to_string_lossy(),
                other => format!("a {} key", self.describe(other)),
            };
            // Hash order must not decide which of several is named.
            if !known.contains(&name.as_str()) && unknown.as_ref().is_none_or(|seen| name < *seen) {
                unknown = Some(name);
            }
        }
        match unknown {
            None => Ok(Some(table)),
            Some(name) => Err(self.fail(format_args!("unknown option {name}; known: {}", known.join(", ")))),
        }
    }

    /// Text as a result.
    pub(super) fn give(&self, bytes: impl AsRef<[u8]>) -> Result<Value<'v>> {
        Ok(Value::text(bytes))
    }

    /// A list of texts as a result, marked as a list even where it is empty.
    pub(super) fn give_list<T: AsRef<[u8]>>(&self, items: impl Iterator<Item = T>) -> Result<Value<'v>> {
        let list = self.host.table(0, 0)?;
        for (place, item) in (1..).zip(items) {
            self.charge(4)?;
            list.set_item(place, Value::text(item))?;
        }
        list.mark_array()?;
        Ok(Value::Table(list))
    }

    /// Charges for a result of so many bytes, and refuses one that the VM could not hold. Called before
    /// the result is built, as the host's own memory is not counted. `None` is more than can be counted.
    pub(super) fn reserve(&self, bytes: Option<usize>) -> Result<()> {
        let bytes = bytes.unwrap_or(usize::MAX);
        self.check_room(bytes)?;
        self.charge_bytes(bytes)
    }

    /// Stops the run where the VM could not hold so many bytes more.
    pub(super) fn check_room(&self, bytes: usize) -> Result<()> {
        let wanted = bytes as u64;
        let limit = self.host.meter().limits().memory_bytes;
        if wanted.saturating_add(self.host.memory_bytes()) > limit {
            return Err(self.host.meter().refuse_allocation(wanted).into());
        }
        Ok(())
    }
}

/// A float that is a whole number of 64 bits.
fn whole(number: f64) -> Option<i64> {
    const RANGE: std::ops::Range<f64> = -9_223_372_036_854_775_808.0..9_223_372_036_854_775_808.0;
    (number.fract() == 0.0 && RANGE.contains(&number)).then_some(number as i64)
}

/// A text in a message: quoted, and not longer than a line.
pub(crate) fn quoted(text: &str) -> String {
    const SHOWN: usize = 60;
    let shown: String = text.chars().take(SHOWN).collect();
    let more = if text.chars().nth(SHOWN).is_some() { "…" } else { "" };
    format!("{shown:?}{more}")
}
