//! Marks: what replaces a removed secret, and the JSON pointers (RFC 6901) of the places where one was removed.

/// The text that replaces a secret.
pub const REDACTED: &str = "[redacted]";

/// Beyond so many places, the fields that hold them are listed instead.
const PLACES_MAX: usize = 100;

/// A longer pointer is replaced by its field: pointers consist of keys, and keys are data.
const POINTER_BYTES_MAX: usize = 500;

/// The places found so far.
#[derive(Debug, Default)]
pub(super) struct Marks {
    places: Vec<String>,
    fields: Vec<String>,
    is_full: bool,
}

impl Marks {
    pub(super) fn add(&mut self, place: &Position<'_>) {
        let pointer = place.pointer();
        let end = pointer.get(1..).and_then(|rest| rest.find('/')).map_or(pointer.len(), |at| at + 1);
        let field = pointer.get(..end).unwrap_or_default();
        if !self.fields.iter().any(|known| known == field) {
            self.fields.push(field.to_owned());
        }
        if self.places.len() < PLACES_MAX && pointer.len() <= POINTER_BYTES_MAX {
            if self.places.last() != Some(&pointer) {
                self.places.push(pointer);
            }
        } else {
            self.is_full = true;
        }
    }

    /// The pointers: one for each place, or, where there are too many, one for each field that holds
    /// places.
    pub(super) fn into_pointers(self) -> Vec<String> {
        if self.is_full { self.fields } else { self.places }
    }
}

/// The redactor's position in an event. It lies on the stack and becomes text only where a secret is found.
#[derive(Debug, Clone, Copy)]
pub(super) enum Position<'a> {
    /// The whole event.
    Top,
    /// A member of an object.
    Name(&'a Position<'a>, &'a str),
    /// An item of a list.
    Item(&'a Position<'a>, usize),
}

impl<'a> Position<'a> {
    pub(super) fn name(&'a self, name: &'a str) -> Self {
        Self::Name(self, name)
    }

    pub(super) fn item(&'a self, index: usize) -> Self {
        Self::Item(self, index)
    }

    fn pointer(&self) -> String {
        match self {
            Self::Top => String::new(),
            Self::Name(above, name) => {
                format!("{}/{}", above.pointer(), name.replace('~', "~0").replace('/', "~1"))
            }
            Self::Item(above, index) => format!("{}/{index}", above.pointer()),
        }
    }
}

/// Whether a secret was removed at `field` (such as `/result`), below it, or at a parent of it.
pub fn is_marked<S: AsRef<str>>(pointers: &[S], field: &str) -> bool {
    let holds = |outer: &str, inner: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    pointers.iter().map(AsRef::as_ref).any(|pointer| holds(field, pointer) || holds(pointer, field))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_json_pointer() {
        let mut marks = Marks::default();
        let top = Position::Top;
        let (result, odd) = (top.name("result"), "a/b~c");
        let list = result.name(odd);
        marks.add(&list.item(3));
        marks.add(&top.name("error"));
        let pointers = marks.into_pointers();
        assert_eq!(pointers, ["/result/a~1b~0c/3", "/error"]);
        assert!(is_marked(&pointers, "/result") && is_marked(&pointers, "/error"));
        assert!(!is_marked(&pointers, "/resul") && !is_marked(&pointers, "/context"));
        assert!(is_marked(&["/result"], "/result/a/0"), "a field stands for all in it");
    }

    #[test]
    fn many_places_are_told_by_their_fields() {
        let top = Position::Top;
        let result = top.name("result");
        let mut many = Marks::default();
        (0..=PLACES_MAX).for_each(|index| many.add(&result.item(index)));
        assert_eq!(many.into_pointers(), ["/result"]);
        let (mut long, name) = (Marks::default(), "k".repeat(POINTER_BYTES_MAX));
        long.add(&result.name(&name));
        assert_eq!(long.into_pointers(), ["/result"]);
    }
}
