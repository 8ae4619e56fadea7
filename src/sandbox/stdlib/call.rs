//! One call of a library function: its arguments read with clear errors, its cost charged.

use mlua::{Lua, LuaString, Table, Value};

use crate::sandbox::support::Support;

/// Bytes the native parts handle for the price of one VM instruction.
const BYTES_PER_INSTRUCTION: u64 = 8;

/// What every native call costs before it looks at its input.
const CALL_INSTRUCTIONS: u64 = 10;

/// A library function written in Rust.
pub(super) struct Native {
    /// Its name inside the library.
    pub(super) name: &'static str,
    /// What it does.
    pub(super) run: fn(&Call<'_>) -> mlua::Result<Value>,
}

/// One call of a [`Native`].
pub(super) struct Call<'a> {
    pub(super) lua: &'a Lua,
    pub(super) support: &'a Support,
    library: &'static str,
    name: &'static str,
    args: Vec<Value>,
}

impl<'a> Call<'a> {
    /// A call, with its base price charged.
    pub(super) fn begin(
        lua: &'a Lua,
        support: &'a Support,
        (library, name): (&'static str, &'static str),
        args: Vec<Value>,
    ) -> mlua::Result<Self> {
        support.charge(CALL_INSTRUCTIONS)?;
        Ok(Self { lua, support, library, name, args })
    }

    /// Charges for handling so many bytes. Called before the bytes are handled or allocated.
    pub(super) fn charge_bytes(&self, bytes: usize) -> mlua::Result<()> {
        self.support.charge(bytes as u64 / BYTES_PER_INSTRUCTION)
    }

    /// Charges for a step of work that has no byte count.
    pub(super) fn charge(&self, instructions: u64) -> mlua::Result<()> {
        self.support.charge(instructions)
    }

    /// The error of this call: `library.name`, and what is wrong.
    pub(super) fn fail(&self, message: impl std::fmt::Display) -> mlua::Error {
        self.support.fail(format!("{}.{}: {message}", self.library, self.name))
    }

    /// The name messages give the argument at `index`: `library.name argument 1`.
    pub(super) fn argument_name(&self, index: usize) -> String {
        format!("{}.{} argument {}", self.library, self.name, index + 1)
    }

    fn wrong(&self, index: usize, name: &str, wanted: &str) -> mlua::Error {
        self.fail(format_args!(
            "argument {} ({name}) must be {wanted}, got {}",
            index + 1,
            self.describe(&self.arg(index))
        ))
    }

    /// What a value is, for a message: its type, `null` for the null value.
    pub(super) fn describe(&self, value: &Value) -> &'static str {
        if *value == self.support.null() {
            return "null";
        }
        match value {
            Value::Integer(_) | Value::Number(_) => "number",
            other => other.type_name(),
        }
    }

    /// The argument at `index`, counted from 0; nil where there is none.
    pub(super) fn arg(&self, index: usize) -> Value {
        self.args.get(index).cloned().unwrap_or(Value::Nil)
    }

    /// Whether the argument is nil or absent.
    pub(super) fn is_absent(&self, index: usize) -> bool {
        matches!(self.args.get(index), None | Some(Value::Nil))
    }

    /// Text; numbers are taken as their text, as Lua's own string functions do. Its bytes are
    /// charged.
    pub(super) fn text(&self, index: usize, name: &str) -> mlua::Result<LuaString> {
        let value = self.arg(index);
        let text = match value {
            Value::String(text) => text,
            Value::Integer(_) | Value::Number(_) => {
                self.lua.coerce_string(value)?.ok_or_else(|| self.wrong(index, name, "text"))?
            }
            Value::Table(table) => {
                Self::refuse_failure(&table)?;
                return Err(self.wrong(index, name, "text"));
            }
            _ => return Err(self.wrong(index, name, "text")),
        };
        self.charge_bytes(text.as_bytes().len())?;
        Ok(text)
    }

    /// Text that is valid UTF-8, for functions that count or change characters.
    pub(super) fn utf8(&self, index: usize, name: &str) -> mlua::Result<String> {
        let text = self.text(index, name)?;
        let bytes = text.as_bytes();
        std::str::from_utf8(&bytes).map(str::to_owned).map_err(|error| {
            self.fail(format_args!(
                "argument {} ({name}) is not valid UTF-8 at byte {}",
                index + 1,
                error.valid_up_to() + 1
            ))
        })
    }

    /// UTF-8 text, or `default` where the argument is nil.
    pub(super) fn utf8_or(&self, index: usize, name: &str, default: &str) -> mlua::Result<String> {
        if self.is_absent(index) { Ok(default.to_owned()) } else { self.utf8(index, name) }
    }

    /// A whole number; numeric text is taken as its number.
    pub(super) fn integer(&self, index: usize, name: &str) -> mlua::Result<i64> {
        self.as_integer(&self.arg(index)).ok_or_else(|| self.wrong(index, name, "a whole number"))
    }

    /// A whole number of at least 0, as a size.
    pub(super) fn size(&self, index: usize, name: &str) -> mlua::Result<usize> {
        let number = self.integer(index, name)?;
        usize::try_from(number).map_err(|_| {
            self.fail(format_args!("argument {} ({name}) must be at least 0, got {number}", index + 1))
        })
    }

    /// Reads a value as a whole number.
    pub(super) fn as_integer(&self, value: &Value) -> Option<i64> {
        self.lua.coerce_integer(value.clone()).ok().flatten()
    }

    /// A number; numeric text is taken as its number.
    pub(super) fn number(&self, index: usize, name: &str) -> mlua::Result<f64> {
        let number = self.lua.coerce_number(self.arg(index)).ok().flatten();
        number.ok_or_else(|| self.wrong(index, name, "a number"))
    }

    /// A list or table.
    pub(super) fn table(&self, index: usize, name: &str) -> mlua::Result<Table> {
        match self.arg(index) {
            Value::Table(table) => {
                Self::refuse_failure(&table)?;
                Ok(table)
            }
            _ => Err(self.wrong(index, name, "a table")),
        }
    }

    /// The named options, an absent table being an empty one.
    ///
    /// An option that is not in `known` is an error: a misspelt one must not pass unseen.
    pub(super) fn options(&self, index: usize, known: &[&str]) -> mlua::Result<Option<Table>> {
        if self.is_absent(index) {
            return Ok(None);
        }
        let table = self.table(index, "options")?;
        let mut unknown: Option<String> = None;
        for pair in table.pairs::<Value, Value>() {
            let (key, _) = pair?;
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
    pub(super) fn give(&self, bytes: impl AsRef<[u8]>) -> mlua::Result<Value> {
        Ok(Value::String(self.lua.create_string(bytes)?))
    }

    /// A list of texts as a result, marked as a list even where it is empty.
    pub(super) fn give_list<T: AsRef<[u8]>>(&self, items: impl Iterator<Item = T>) -> mlua::Result<Value> {
        let list = self.lua.create_table()?;
        for (index, item) in items.enumerate() {
            self.charge(4)?;
            list.raw_set(index + 1, self.lua.create_string(item)?)?;
        }
        self.support.mark_array(&list)?;
        Ok(Value::Table(list))
    }

    /// Room for a result of so many bytes: charged, and refused where the VM could not hold it.
    /// Called before it is built, as the host's own memory is not counted. `None` is more than
    /// can be counted.
    pub(super) fn reserve(&self, bytes: Option<usize>) -> mlua::Result<()> {
        let bytes = bytes.unwrap_or(usize::MAX);
        self.check_room(bytes)?;
        self.charge_bytes(bytes)
    }

    /// Stops the run where the VM could not hold so many bytes more.
    pub(super) fn check_room(&self, bytes: usize) -> mlua::Result<()> {
        let wanted = bytes as u64;
        let limit = self.support.meter.limits().memory_bytes;
        if wanted.saturating_add(self.lua.used_memory() as u64) > limit {
            return Err(self.support.meter.refuse_allocation(wanted));
        }
        Ok(())
    }

    /// Where a table is the result of a failed call, lets it raise its own error, by reading a
    /// member no table has.
    fn refuse_failure(table: &Table) -> mlua::Result<()> {
        let Some(metatable) = table.metatable() else { return Ok(()) };
        if matches!(metatable.raw_get("__index")?, Value::Function(_)) {
            table.get::<Value>("\0")?;
        }
        Ok(())
    }
}

/// A text in a message: quoted, and not longer than a line.
pub(super) fn quoted(text: &str) -> String {
    const SHOWN: usize = 60;
    let shown: String = text.chars().take(SHOWN).collect();
    let more = if text.chars().nth(SHOWN).is_some() { "…" } else { "" };
    format!("{shown:?}{more}")
}
