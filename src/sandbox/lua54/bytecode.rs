//! Our own bytecode without the names of its local variables.
//!
//! Loading the prelude is most of the cost of making a VM, and half of that is interning the names of
//! its local variables. They appear in no message a plan should see. Lines and the names of upvalues
//! stay: lines identify positions, and messages about arguments name Lua's own functions by their
//! upvalues.
//!
//! The form is Lua 5.4's as `ldump.c` of the vendored Lua writes it. Bytecode in any other form stays as it is.
//!
//! **Never here:** bytecode from anywhere else.

/// Signature, version, format, a text that line-end conversions would spoil, and the sizes of an
/// instruction, an integer and a float. One of each number follows, then the count of upvalues.
const HEADER: &[u8] = b"\x1bLua\x54\x00\x19\x93\r\n\x1a\n\x04\x08\x08";
const AFTER_HEADER_BYTES: usize = 8 + 8 + 1;

const INSTRUCTION_BYTES: usize = 4;
const NUMBER_BYTES: usize = 8;
/// Of an upvalue: whether it is of the enclosing function, its place, its kind.
const UPVALUE_BYTES: usize = 3;
/// Of a function: parameters, whether it takes more, registers.
const FUNCTION_BYTES: usize = 3;

/// A count of zero, as counts are written.
const NONE: u8 = 0x80;

/// Tags of constants, by what follows them.
const PLAIN: [u8; 3] = [0x00, 0x01, 0x11];
const NUMBERS: [u8; 2] = [0x03, 0x13];
const TEXTS: [u8; 2] = [0x04, 0x14];

/// Functions inside functions of our parts.
const DEPTH_MAX: u32 = 32;

/// The same functions without the names of their local variables. `None` for any other form.
pub(super) fn without_local_names(bytecode: &[u8]) -> Option<Vec<u8>> {
    let mut copy = Copy { rest: bytecode, done: Vec::with_capacity(bytecode.len()) };
    if copy.bytes(HEADER.len())? != HEADER {
        return None;
    }
    copy.bytes(AFTER_HEADER_BYTES)?;
    copy.function(DEPTH_MAX)?;
    copy.rest.is_empty().then_some(copy.done)
}

struct Copy<'a> {
    rest: &'a [u8],
    done: Vec<u8>,
}

impl<'a> Copy<'a> {
    fn function(&mut self, depth: u32) -> Option<()> {
        let depth = depth.checked_sub(1)?;
        self.text()?;
        // Its first and last line.
        self.count()?;
        self.count()?;
        self.bytes(FUNCTION_BYTES)?;
        let instructions = self.count()?;
        self.bytes(instructions.checked_mul(INSTRUCTION_BYTES)?)?;
        for _ in 0..self.count()? {
            self.constant()?;
        }
        let upvalues = self.count()?;
        self.bytes(upvalues.checked_mul(UPVALUE_BYTES)?)?;
        for _ in 0..self.count()? {
            self.function(depth)?;
        }
        self.lines()?;
        self.leave_out_locals()?;
        for _ in 0..self.count()? {
            self.text()?;
        }
        Some(())
    }

    fn constant(&mut self) -> Option<()> {
        match *self.bytes(1)?.first()? {
            tag if PLAIN.contains(&tag) => Some(()),
            tag if NUMBERS.contains(&tag) => self.bytes(NUMBER_BYTES).map(drop),
            tag if TEXTS.contains(&tag) => self.text(),
            _ => None,
        }
    }

    fn lines(&mut self) -> Option<()> {
        let steps = self.count()?;
        self.bytes(steps)?;
        for _ in 0..self.count()? {
            // An instruction and its line.
            self.count()?;
            self.count()?;
        }
        Some(())
    }

    /// Each local variable is a name, and the start and end of its scope.
    fn leave_out_locals(&mut self) -> Option<()> {
        let mut names = Copy { rest: self.rest, done: Vec::new() };
        for _ in 0..names.count()? {
            names.text()?;
            names.count()?;
            names.count()?;
        }
        self.rest = names.rest;
        self.done.push(NONE);
        Some(())
    }

    /// A text: its length and one, or nothing for no text, then its bytes.
    fn text(&mut self) -> Option<()> {
        let length = self.count()?.saturating_sub(1);
        self.bytes(length).map(drop)
    }

    /// A number in sevens of bits, the highest first; the last has the eighth bit set.
    fn count(&mut self) -> Option<usize> {
        let mut count = 0_usize;
        loop {
            let byte = *self.bytes(1)?.first()?;
            count = count.checked_mul(0x80)?.checked_add(usize::from(byte & 0x7f))?;
            if byte & 0x80 != 0 {
                return Some(count);
            }
        }
    }

    fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count)?;
        self.rest = rest;
        self.done.extend_from_slice(taken);
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use mlua::Lua;
    use mlua::chunk::ChunkMode;

    use super::*;

    const SOURCE: &str = r##"
        local outer_text, outer_number = "text", { 1.5, 2, true, false, nil }
        local function inner_function(argument_one, ...)
          local count_inside = select("#", ...)
          for place_inside = 1, count_inside do outer_text = outer_text .. argument_one end
          return outer_text, outer_number[1], count_inside
        end
        return inner_function
    "##;

    fn dumped() -> Vec<u8> {
        Lua::new().load(SOURCE).set_name("=part").into_function().unwrap().dump(false)
    }

    fn has(bytecode: &[u8], name: &str) -> bool {
        bytecode.windows(name.len()).any(|window| window == name.as_bytes())
    }

    #[test]
    fn local_names_go_and_everything_else_stays() {
        let (with, without) = (dumped(), without_local_names(&dumped()).unwrap());
        for gone in ["inner_function", "argument_one", "count_inside", "place_inside"] {
            assert!(has(&with, gone) && !has(&without, gone), "{gone}");
        }
        assert!(has(&without, "outer_text") && has(&without, "outer_number"));
        assert_eq!(without_local_names(&without).as_deref(), Some(without.as_slice()));

        let lua = Lua::new();
        let load = |bytes: &[u8]| lua.load(bytes).set_mode(ChunkMode::Binary).into_function().unwrap();
        let call = |bytes: &[u8]| {
            let inner: mlua::Function = load(bytes).call(()).unwrap();
            let results = inner.call::<(String, f64, i64)>(("+", 1, 2)).unwrap();
            let error = inner.call::<()>((mlua::Value::Nil, 1)).unwrap_err().to_string();
            (results, error)
        };
        let (before, after) = (call(&with), call(&without));
        assert_eq!(before.0, after.0);
        // The line is named as before, the local variable no more.
        assert!(before.1.contains("part:5:") && after.1.contains("part:5:"), "{} {}", before.1, after.1);
        assert!(before.1.contains("argument_one") && !after.1.contains("argument_one"), "{}", after.1);
    }

    #[test]
    fn what_is_not_understood_is_left_alone() {
        let whole = dumped();
        for length in 0..whole.len() {
            assert_eq!(without_local_names(&whole[..length]), None, "{length}");
        }
        let mut other_version = whole.clone();
        other_version[4] = 0x55;
        assert_eq!(without_local_names(&other_version), None);
        assert_eq!(without_local_names(b"function run() end"), None);
    }
}
