//! What a value may be, and what it may depend on.

use std::rc::Rc;

use super::program::Literal;

/// The most sources that are kept apart; later ones count as [`Taint::ANYTHING`].
pub(super) const SOURCES_MAX: usize = 512;
const WORDS: usize = SOURCES_MAX / 64;
/// The most constants kept of one value; with more it is unknown.
const CONSTANTS_MAX: usize = 16;
const TEXT_BYTES_MAX: usize = 4096;

/// A set of sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Taint([u64; WORDS]);

impl Taint {
    pub(super) const NONE: Self = Self([0; WORDS]);
    /// The source that stands for every other.
    pub(super) const ANYTHING: usize = 0;

    pub(super) fn of(source: usize) -> Self {
        let mut taint = Self::NONE;
        let source = if source < SOURCES_MAX { source } else { Self::ANYTHING };
        if let Some(word) = taint.0.get_mut(source / 64) {
            *word |= 1 << (source % 64);
        }
        taint
    }

    /// Adds `other`, and says whether that changed anything.
    pub(super) fn add(&mut self, other: &Self) -> bool {
        let mut changed = false;
        for (mine, theirs) in self.0.iter_mut().zip(other.0) {
            changed |= theirs & !*mine != 0;
            *mine |= theirs;
        }
        changed
    }

    pub(super) fn sources(&self) -> impl Iterator<Item = usize> {
        let words = self.0;
        (0..SOURCES_MAX).filter(move |source| words[source / 64] >> (source % 64) & 1 == 1)
    }
}

/// A constant, or the beginning of a text whose rest is unknown.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Constant {
    Bool(bool),
    Int(i64),
    Float(f64),
    Text(Rc<str>),
    Begins(Rc<str>),
}

/// Kinds of unknown values, as bits.
pub(super) const NIL: u8 = 1;
pub(super) const NUMBER: u8 = 2;
pub(super) const TEXT: u8 = 4;
pub(super) const BOOL: u8 = 8;
/// The value `null`.
pub(super) const NULL: u8 = 16;
pub(super) const ANY: u8 = NIL | NUMBER | TEXT | BOOL | NULL;

/// What is known about the values that reach a place.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Cell {
    /// What decides which value it is. The table holds what decides about its content.
    pub(super) taint: Taint,
    pub(super) constants: Vec<Constant>,
    /// Kinds of plain values it may be besides the constants.
    pub(super) unknown: u8,
    /// Objects it may be, sorted.
    pub(super) objects: Vec<u32>,
}

impl Cell {
    pub(super) fn object(object: u32) -> Self {
        Self { objects: vec![object], ..Self::default() }
    }

    pub(super) fn unknown(kinds: u8) -> Self {
        Self { unknown: kinds, ..Self::default() }
    }

    pub(super) fn tainted(taint: Taint) -> Self {
        Self { taint, ..Self::default() }
    }

    pub(super) fn constant(constant: Constant) -> Self {
        Self { constants: vec![constant], ..Self::default() }
    }

    pub(super) fn literal(literal: &Literal) -> Self {
        match literal {
            Literal::Nil => Self::unknown(NIL),
            Literal::Bool(value) => Self::constant(Constant::Bool(*value)),
            Literal::Int(value) => Self::constant(Constant::Int(*value)),
            Literal::Float(value) => Self::constant(Constant::Float(*value)),
            Literal::Text(text) if text.len() <= TEXT_BYTES_MAX => {
                Self::constant(Constant::Text(text.clone()))
            }
            Literal::Text(_) | Literal::Bytes => Self::unknown(ANY),
        }
    }

    /// Adds what `other` may be, and says whether that changed anything.
    pub(super) fn add(&mut self, other: &Self) -> bool {
        let mut changed = self.taint.add(&other.taint);
        changed |= self.add_value(other);
        changed
    }

    /// As [`Self::add`], without the taint.
    pub(super) fn add_value(&mut self, other: &Self) -> bool {
        let mut changed = other.unknown & !self.unknown != 0;
        self.unknown |= other.unknown;
        for constant in &other.constants {
            changed |= self.add_constant(constant);
        }
        for object in &other.objects {
            if let Err(place) = self.objects.binary_search(object) {
                self.objects.insert(place, *object);
                changed = true;
            }
        }
        changed
    }

    fn add_constant(&mut self, constant: &Constant) -> bool {
        let kind = kind_of(constant);
        if self.unknown & kind != 0 || self.constants.contains(constant) {
            return false;
        }
        if self.constants.len() < CONSTANTS_MAX {
            self.constants.push(constant.clone());
            return true;
        }
        // Too many: every kind among them is now unknown, for good.
        self.unknown |= self.constants.iter().fold(kind, |kinds, constant| kinds | kind_of(constant));
        true
    }

    /// The constants, without those whose kind is unknown as a whole.
    pub(super) fn known(&self) -> impl Iterator<Item = &Constant> {
        self.constants.iter().filter(|constant| self.unknown & kind_of(constant) == 0)
    }

    pub(super) fn may_be_text(&self) -> bool {
        self.unknown & TEXT != 0 || self.constants.iter().any(|constant| kind_of(constant) == TEXT)
    }
}

fn kind_of(constant: &Constant) -> u8 {
    match constant {
        Constant::Bool(_) => BOOL,
        Constant::Int(_) | Constant::Float(_) => NUMBER,
        Constant::Text(_) | Constant::Begins(_) => TEXT,
    }
}

/// What `left .. right` may be.
pub(super) fn concat(left: &Cell, right: &Cell, opaque: bool) -> Cell {
    let mut result = Cell::default();
    if left.unknown & (TEXT | NUMBER | NULL) != 0 || opaque {
        return Cell::unknown(TEXT);
    }
    for one in &left.constants {
        let (head, open) = match one {
            Constant::Text(text) => (text.clone(), false),
            Constant::Begins(text) => (text.clone(), true),
            Constant::Int(number) => (number.to_string().into(), false),
            Constant::Bool(_) => continue,
            Constant::Float(_) => return Cell::unknown(TEXT),
        };
        let whole = !open && right.unknown & (TEXT | NUMBER | NULL) == 0 && right.objects.is_empty();
        if !whole {
            result.add_value(&Cell::constant(Constant::Begins(head)));
            continue;
        }
        for other in &right.constants {
            let (tail, open) = match other {
                Constant::Text(text) => (text.clone(), false),
                Constant::Begins(text) => (text.clone(), true),
                Constant::Int(number) => (number.to_string().into(), false),
                Constant::Bool(_) => continue,
                Constant::Float(_) => return Cell::unknown(TEXT),
            };
            if head.len() + tail.len() > TEXT_BYTES_MAX {
                result.add_value(&Cell::unknown(TEXT));
                continue;
            }
            let text: Rc<str> = format!("{head}{tail}").into();
            let constant = if open { Constant::Begins(text) } else { Constant::Text(text) };
            result.add_value(&Cell::constant(constant));
        }
    }
    result
}
