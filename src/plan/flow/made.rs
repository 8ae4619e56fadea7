//! The results of library functions that neither call nor keep their arguments.

use super::rules::{KeyPart, only};
use super::solver::Solver;
use super::state::{Factor, Key, ObjectKind, Want};
use super::value::{ANY, BOOL, Cell, Constant, NIL, NULL, NUMBER, TEXT, Taint};

/// The form of a result; the bits are the kinds of its plain values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Made {
    One(u8),
    List(u8),
    /// A table of named values.
    Members(u8),
    /// A document read from text: anything but a function.
    Document,
}

/// What a function returns; `None` where it does more than that.
pub(super) fn made_by(name: &str) -> Option<Made> {
    let (library, member) = name.split_once('.').unwrap_or(("", name));
    Some(match (library, member) {
        ("text", "split" | "lines" | "words" | "chars") | ("date", "range") => Made::List(TEXT),
        ("date", "parts") => Made::Members(NUMBER),
        ("json", "decode") | ("csv", "parse") => Made::Document,
        _ => Made::One(kinds_of(library, member)?),
    })
}

fn kinds_of(library: &str, member: &str) -> Option<u8> {
    Some(match (library, member) {
        ("", "type" | "tostring") => TEXT,
        ("", "tonumber") => NUMBER | NIL,
        ("", "print") => NIL,
        ("", "rawequal") => BOOL,
        ("", "rawlen") => NUMBER,
        ("math", "type") => TEXT | NIL,
        ("math", "tointeger") => NUMBER | NIL,
        ("math", "ult") => BOOL,
        ("math", _) => NUMBER,
        ("string", "upper" | "lower" | "rep" | "reverse" | "sub" | "char" | "pack" | "format") => TEXT,
        ("string", "len" | "packsize") => NUMBER,
        ("string", "byte") => NUMBER | NIL,
        ("string", "find" | "match" | "unpack") => ANY,
        ("utf8", "char") => TEXT,
        ("utf8", "len" | "codepoint" | "offset") => NUMBER | NIL,
        ("table", "concat") => TEXT,
        ("json", "encode") | ("csv", "encode") => TEXT,
        ("json", "is_null") => BOOL,
        ("stats", "round" | "correlation") => NUMBER | NIL,
        ("text", "starts_with" | "ends_with" | "contains" | "is_blank") => BOOL,
        ("text", "count" | "len") => NUMBER,
        (
            "text",
            "trim" | "ltrim" | "rtrim" | "join" | "replace" | "sub" | "upper" | "lower" | "title" | "slug"
            | "truncate" | "pad_left" | "pad_right" | "wrap" | "indent" | "number" | "escape_html"
            | "unescape_html",
        ) => TEXT,
        ("date", "valid" | "is_leap_year") => BOOL,
        ("date", "diff" | "compare" | "weekday" | "week" | "week_year" | "days_in_month" | "unix") => NUMBER,
        (
            "date",
            "parse" | "format" | "add" | "start_of" | "end_of" | "make" | "weekday_name" | "month_name"
            | "from_unix" | "to_utc" | "now" | "today",
        ) => TEXT,
        _ => return None,
    })
}

impl Solver<'_> {
    pub(super) fn plain(&mut self, name: &str, made: Made, want: &Want) {
        let (mut taint, objects) = self.everything_in(want);
        // The text of a table or function depends on how many were printed before.
        let shows = matches!(name, "tostring" | "string.format" | "print" | "table.concat");
        if shows && objects.iter().any(|object| !self.is_outside(*object)) {
            taint.add(&Taint::of(Taint::ANYTHING));
        }
        let first = self.cell(want, 0);
        let surely = !only(&first, kinds_taken(name));
        if !matches!(name, "type" | "tostring" | "print" | "rawequal" | "json.is_null") && surely {
            self.may_raise(want.at, &taint);
        }
        let of_metatables = self.metamethods(&objects, std::slice::from_ref(&first), want.part(4), want.at);
        let Made::One(kinds) = made else {
            let result = self.container(made, taint, &of_metatables, want);
            return self.give_all(want, &result);
        };
        let mut result = Cell::unknown(kinds);
        if name == "string.format" && first.unknown & (TEXT | NUMBER) == 0 && first.objects.is_empty() {
            result = Cell::default();
            for constant in &first.constants {
                let Constant::Text(text) = constant else { continue };
                let constant = match text.split_once('%') {
                    Some((head, _)) => Constant::Begins(head.into()),
                    None => Constant::Text(text.clone()),
                };
                result.add_value(&Cell::constant(constant));
            }
        }
        if name == "tostring" && only(&first, TEXT) {
            result = first;
        }
        result.taint = taint;
        result.add(&of_metatables);
        self.give_all(want, &result);
    }

    fn container(&mut self, made: Made, taint: Taint, more: &Cell, want: &Want) -> Cell {
        let inside = |kinds: u8| {
            let mut cell = Cell { taint, ..Cell::unknown(kinds) };
            cell.add(more);
            cell
        };
        match made {
            Made::Document => {
                let table = self.object(ObjectKind::Derived(self.now));
                let mut cell = inside(ANY);
                cell.add_value(&Cell::object(table));
                let unknown = self.get(table).unknown;
                self.add(unknown, &cell);
                cell
            }
            Made::Members(kinds) => {
                let table = self.object(ObjectKind::Table(self.now, 1 + want.part(30)));
                self.store_into(table, &[KeyPart::Any], &inside(kinds));
                Cell::object(table)
            }
            Made::One(kinds) | Made::List(kinds) => self.listed(want, 0, &inside(kinds)),
        }
    }

    /// `json.array` and `json.object`: the table it is given, or a new one.
    pub(super) fn marked(&mut self, want: &Want) {
        let mut table = self.cell(want, 0);
        if table.unknown & NIL != 0 || table.objects.iter().any(|object| self.is_outside(*object)) {
            table.add_value(&self.listed(want, 0, &Cell::default()));
        }
        self.raise_unless_table(want.at, &table);
        self.give(want, 0, &Cell { unknown: 0, constants: Vec::new(), ..table });
    }

    /// `string.gsub`.
    pub(super) fn substituted(&mut self, want: &Want) {
        let (mut taint, objects) = self.everything_in(want);
        let by = self.cell(want, 2);
        let (matched, answer) = self.element_nodes(want, &Cell { taint, ..Cell::unknown(TEXT | NUMBER) });
        if by.objects.iter().any(|object| self.is_callable(*object)) {
            let callee = want.argument(2);
            self.call_each(want, callee, vec![matched; 3], answer, &taint, Factor::Unbounded);
        }
        let said = self.read(answer);
        taint.add(&self.deep(&said).0);
        let inside = Cell { taint, ..Cell::unknown(TEXT) };
        let read = self.metamethods(&objects, &[by, inside.clone()], want.part(4), want.at);
        taint.add(&self.scalar(&read));
        self.may_raise(want.at, &taint);
        self.give(want, 0, &Cell { taint, ..inside });
        self.give(want, 1, &Cell { taint, ..Cell::unknown(NUMBER) });
    }

    /// `string.gmatch`: a function that gives texts.
    pub(super) fn matches(&mut self, want: &Want) {
        let (taint, _) = self.everything_in(want);
        let made = self.object(ObjectKind::Derived(self.now));
        let unknown = self.get(made).unknown;
        self.add(unknown, &Cell { taint, ..Cell::unknown(TEXT | NUMBER | NIL) });
        self.may_raise(want.at, &taint);
        self.give(want, 0, &Cell::object(made));
    }

    /// `table.pack`.
    pub(super) fn packed(&mut self, want: &Want) {
        let made = self.object(ObjectKind::Table(self.now, 1 + want.part(31)));
        let mut count = Cell::unknown(NUMBER);
        for (place, node) in (1..).zip(want.fixed.iter().copied()) {
            let value = self.read(node);
            self.store_into(made, &[KeyPart::Known(Key::Int(place))], &value);
            count.taint.add(&self.scalar(&value));
        }
        if let Some(rest) = want.rest {
            let value = self.read(rest);
            count.taint.add(&self.scalar(&value));
            self.store_into(made, &[KeyPart::Number], &value);
        }
        self.store_into(made, &[Self::text_key("n")], &count);
        self.give(want, 0, &Cell::object(made));
    }
}

/// What a function takes as its first argument without raising.
fn kinds_taken(name: &str) -> u8 {
    match name.split_once('.').map_or("", |(library, _)| library) {
        "math" => NUMBER,
        "" if name == "tonumber" => NUMBER | TEXT | NIL | BOOL | NULL,
        "string" if matches!(name, "string.upper" | "string.lower" | "string.len" | "string.reverse") => {
            NUMBER | TEXT
        }
        _ => 0,
    }
}
