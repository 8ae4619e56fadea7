//! Values as the plan library sees them, whatever the engine.

use std::rc::Rc;

use luaplan_base as base;

use crate::vm::meter::{Dead, Meter};

/// A value of the plan. Tables are handles; everything else is a copy.
#[derive(Clone)]
pub(crate) enum Value<'v> {
    Nil,
    /// What a JSON null inside a list is.
    Null,
    Boolean(bool),
    Integer(i64),
    Number(f64),
    String(Text),
    Table(Table<'v>),
    /// Anything else, by the name of its type.
    Other(&'static str),
}

/// Bytes that are usually UTF-8.
#[derive(Clone, PartialEq, Eq)]
pub(crate) struct Text(Rc<[u8]>);

impl Text {
    pub(crate) fn new(bytes: &[u8]) -> Self {
        Self(bytes.into())
    }

    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.0
    }

    pub(crate) fn to_string_lossy(&self) -> String {
        String::from_utf8_lossy(&self.0).into_owned()
    }
}

impl<'v> Value<'v> {
    pub(crate) fn is_nil(&self) -> bool {
        matches!(self, Self::Nil)
    }

    /// Text as a value.
    pub(crate) fn text(bytes: impl AsRef<[u8]>) -> Self {
        Self::String(Text::new(bytes.as_ref()))
    }
}

/// A table of the plan.
pub(crate) type Table<'v> = Rc<dyn LibTable<'v> + 'v>;

/// What the library does with a table. Reading follows `__index` where it says so, so that a strict
/// error value raises its own error.
pub(crate) trait LibTable<'v> {
    /// The member `name`, through `__index`.
    fn get(&self, name: &str) -> Result<Value<'v>>;

    /// The item at `index`, counted from 1, by raw access.
    fn item(&self, index: i64) -> Result<Value<'v>>;

    /// The length by raw access.
    fn len(&self) -> Result<i64>;

    /// Every key with its value by raw access, in an order that no result may depend on.
    fn entries(&self) -> Result<Vec<(Value<'v>, Value<'v>)>>;

    /// Sets the member `name` by raw access.
    fn set(&self, name: &[u8], value: Value<'v>) -> Result<()>;

    /// Sets the item at `index`, counted from 1, by raw access.
    fn set_item(&self, index: i64, value: Value<'v>) -> Result<()>;

    /// Makes it a list even while it is empty: it leaves the plan as `[]`.
    fn mark_array(&self) -> Result<()>;

    /// Makes it an object even while it is empty: it leaves the plan as `{}`.
    fn mark_object(&self) -> Result<()>;

    /// Where it is the result of a failed call, raises that call's error.
    fn refuse_failure(&self) -> Result<()>;

    /// The engine's own number for it, to hand the table back.
    fn place(&self) -> usize;
}

/// The engine as the plan library sees it.
pub(crate) trait LibHost<'v> {
    /// Where cost goes.
    fn meter(&self) -> &Meter;

    /// Bytes the VM holds now.
    fn memory_bytes(&self) -> u64;

    /// When the run started, in Unix seconds, where that is known.
    fn run_started_s(&self) -> Option<i64>;

    /// A new table, with room for so many items and members.
    fn table(&'v self, items: usize, members: usize) -> Result<Table<'v>>;

    /// Reads a value, as for a tool's argument: by raw access, with the caps of conversion, charged.
    /// `name` starts the path in messages.
    fn to_value(&self, name: &str, value: &Value<'v>) -> Result<base::Value>;

    /// Makes a value: null members are absent but remembered, `[]` and `{}` stay apart.
    #[expect(clippy::wrong_self_convention, reason = "the counterpart of `to_value`")]
    fn from_value(&'v self, value: &base::Value) -> Result<Value<'v>>;

    /// A number as Lua prints it.
    fn number_text(&self, number: &Value<'v>) -> Vec<u8>;

    /// Text that Lua takes for a number, as that number.
    fn text_number(&self, text: &[u8]) -> Option<Value<'v>>;
}

/// Why a library function failed.
pub(crate) enum LibError {
    /// The run is over.
    Dead,
    /// An error the plan can catch; the plan's line is added where it is caught or reported.
    Raise(base::Error),
    /// The engine's own, on its way back to it.
    Engine(Box<dyn std::any::Any>),
}

impl From<Dead> for LibError {
    fn from(_: Dead) -> Self {
        Self::Dead
    }
}

pub(crate) type Result<T, E = LibError> = std::result::Result<T, E>;
