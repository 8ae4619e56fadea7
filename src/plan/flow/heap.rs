//! Reads and writes objects, metatables included.

use super::rules::{KeyPart, key_parts};
use super::solver::Solver;
use super::state::{At, Factor, Key, Node, ObjectId, ObjectKind, Want};
use super::value::{ANY, Cell, NIL, Taint};

impl Solver<'_> {
    pub(super) fn index(&mut self, base: &Cell, key: &Cell, at: At) -> Cell {
        let mut found = self.member(base, key, 0, at);
        let outside = |object: &ObjectId| self.is_outside(*object) && !self.is_plain_table(*object);
        if base.may_be_text() || base.objects.iter().any(outside) {
            found.add(&self.method_of_text(&key_parts(key)));
        }
        found
    }

    /// What `base` holds under `key` where it is a table; the methods of strings are not included.
    pub(super) fn member(&mut self, base: &Cell, key: &Cell, tag: u32, at: At) -> Cell {
        let mut found = self.member_at(base, &key_parts(key), at);
        found.taint.add(&self.scalar(key));
        found.add(&self.metamethods(&base.objects, &[base.clone(), key.clone()], tag, at));
        found
    }

    /// As [`Self::member`], for keys that are known so far; functions behind it are not called.
    pub(super) fn member_at(&mut self, base: &Cell, parts: &[KeyPart], at: At) -> Cell {
        let mut found = Cell::tainted(base.taint);
        let mut sure = base.unknown == 0;
        for object in &base.objects {
            sure &= self.is_plain_table(*object);
            self.read_parts(*object, parts, &mut found);
        }
        if !sure {
            let taint = self.scalar(base);
            self.may_raise(at, &taint);
        }
        self.inherited(&base.objects, parts, &mut found, 0);
        found
    }

    /// What a string has under a key: the library's functions, and what the plan added to them.
    fn method_of_text(&mut self, parts: &[KeyPart]) -> Cell {
        let library = self.object(ObjectKind::Library("string".into()));
        let mut found = Cell::unknown(NIL);
        for part in parts {
            if let KeyPart::Known(_) = part {
                self.read_parts(library, std::slice::from_ref(part), &mut found);
                continue;
            }
            for node in self.cells_of(library) {
                let own = self.read(node);
                found.add(&own);
            }
            if *part == KeyPart::Any {
                // One function that calls its arguments stands for all of the library.
                let any = self.object(ObjectKind::Builtin("string.gsub".into()));
                found.add_value(&Cell::object(any));
            }
        }
        found
    }

    /// What `__index` tables give.
    pub(super) fn inherited(
        &mut self,
        objects: &[ObjectId],
        parts: &[KeyPart],
        found: &mut Cell,
        depth: u32,
    ) {
        const CHAIN_MAX: u32 = 8;
        for object in objects {
            let metatable = self.get(*object).metatable;
            let metatable = self.read(metatable);
            if metatable.objects.is_empty() {
                continue;
            }
            if depth > CHAIN_MAX {
                self.lost = true;
                return;
            }
            found.taint.add(&metatable.taint);
            for meta in &metatable.objects {
                let mut next = Cell::default();
                self.read_parts(*meta, &[KeyPart::Known(Key::Text("__index".into()))], &mut next);
                found.taint.add(&self.scalar(&next));
                for base in &next.objects {
                    self.read_parts(*base, parts, found);
                }
                let known: Vec<ObjectId> =
                    next.objects.iter().copied().filter(|next| !objects.contains(next)).collect();
                self.inherited(&known, parts, found, depth + 1);
            }
        }
    }

    /// Whether the metatable of a table, or one behind it, may hold a function.
    fn may_run_deeper(&mut self, table: ObjectId, depth: u32) -> bool {
        const CHAIN_MAX: u32 = 8;
        if depth > CHAIN_MAX {
            return true;
        }
        let metatable = self.get(table).metatable;
        let metatable = self.read(metatable);
        for meta in metatable.objects {
            for node in self.fields_of_metatable(meta, |_| true) {
                for object in self.read(node).objects {
                    if !self.is_plain_table(object)
                        || object != table && self.may_run_deeper(object, depth + 1)
                    {
                        return true;
                    }
                }
            }
        }
        false
    }

    /// The fields of a metatable under the keys that `keep` takes, and those under keys not known.
    fn fields_of_metatable(&mut self, meta: ObjectId, keep: impl Fn(&Key) -> bool) -> Vec<Node> {
        let shape = self.get(meta).shape;
        self.read(shape);
        let data = self.get(meta);
        let fields = data.fields.iter().filter(|(key, _)| keep(key)).map(|(_, node)| *node);
        fields.chain([data.unknown]).collect()
    }

    /// Whether the value is surely a table. The context as a whole counts as one.
    pub(super) fn is_plain_table(&self, object: ObjectId) -> bool {
        match &self.get(object).kind {
            ObjectKind::Table(..) | ObjectKind::Globals | ObjectKind::Library(_) => true,
            ObjectKind::Context(path) => path.is_empty(),
            _ => false,
        }
    }

    /// Whether the value comes from outside, so that it may be anything but a function.
    pub(super) fn is_outside(&self, object: ObjectId) -> bool {
        matches!(
            self.get(object).kind,
            ObjectKind::Context(_) | ObjectKind::Result(_) | ObjectKind::Derived(_)
        )
    }

    /// What an object holds under a key.
    pub(super) fn read_parts(&mut self, object: ObjectId, parts: &[KeyPart], found: &mut Cell) {
        let kind = self.kind(object);
        if matches!(
            kind,
            ObjectKind::Closure(..) | ObjectKind::Tool(_) | ObjectKind::Builtin(_) | ObjectKind::Coroutine(_)
        ) {
            return;
        }
        found.add_value(&Cell::unknown(NIL));
        for part in parts {
            let (items, unknown) = (self.get(object).items, self.get(object).unknown);
            match part {
                KeyPart::Known(key) => {
                    let field = self.field(object, key);
                    found.add(&self.read(field));
                    if matches!(key, Key::Int(_)) {
                        found.add(&self.read(items));
                    }
                    found.add(&self.read(unknown));
                }
                KeyPart::Number | KeyPart::Any => {
                    if matches!(kind, ObjectKind::Globals | ObjectKind::Library(_)) {
                        self.lost = true;
                        return;
                    }
                    let shape = self.get(object).shape;
                    self.read(shape);
                    let number_only = *part == KeyPart::Number;
                    let fields: Vec<Node> = (self.get(object).fields.iter())
                        .filter(|(key, _)| !number_only || matches!(key, Key::Int(_)))
                        .map(|(_, node)| *node)
                        .chain([items, unknown])
                        .collect();
                    for node in fields {
                        found.add(&self.read(node));
                    }
                    if let ObjectKind::Context(path) = &kind {
                        let inside = self.context_part(path, &"*".into());
                        found.add_value(&Cell::object(inside));
                    }
                }
            }
        }
        match &kind {
            ObjectKind::Result(_) => {
                found.add_value(&Cell::object(object));
            }
            ObjectKind::Context(path) if !path.is_empty() => {
                let parts = self.context_parts;
                found.add(&self.read(parts));
            }
            _ => {}
        }
    }

    pub(super) fn store(&mut self, base: &Cell, key: &Cell, mut value: Cell, at: At) {
        value.taint.add(&base.taint);
        let key_taint = self.scalar(key);
        value.taint.add(&key_taint);
        value.taint.add(&self.decides(at));
        if key.objects.iter().any(|object| !self.is_outside(*object)) {
            // The order of tables as keys depends on when they were made.
            value.taint.add(&Taint::of(Taint::ANYTHING));
        }
        let parts = key_parts(key);
        let mut sure = base.unknown == 0 && base.constants.is_empty();
        for object in &base.objects {
            sure &= self.is_plain_table(*object);
            self.store_under(*object, &parts, &value, key);
        }
        if !sure || key.known().count() == 0 || key.unknown != 0 {
            let mut taint = self.scalar(base);
            taint.add(&key_taint);
            if !sure || key.unknown & NIL != 0 || !key.objects.is_empty() {
                self.may_raise(at, &taint);
            }
        }
        self.metamethods(&base.objects, &[base.clone(), key.clone(), value], 0, at);
    }

    /// Puts `value` into a table; its keys are not known.
    pub(super) fn store_into(&mut self, object: ObjectId, parts: &[KeyPart], value: &Cell) {
        self.store_under(object, parts, value, &Cell::unknown(ANY));
    }

    /// Puts `value` into a table under every `parts` that `key` may be.
    pub(super) fn store_under(&mut self, object: ObjectId, parts: &[KeyPart], value: &Cell, key: &Cell) {
        let kind = self.kind(object);
        for part in parts {
            let to = match part {
                KeyPart::Known(key) => self.field(object, key),
                KeyPart::Number | KeyPart::Any
                    if matches!(kind, ObjectKind::Globals | ObjectKind::Library(_)) =>
                {
                    self.lost = true;
                    return;
                }
                KeyPart::Number => self.get(object).items,
                KeyPart::Any => {
                    let keys = self.get(object).keys;
                    self.add(keys, &Cell { taint: Taint::NONE, ..key.clone() });
                    self.get(object).unknown
                }
            };
            if !matches!(part, KeyPart::Known(_)) {
                self.objects[object as usize].fixed = false;
            }
            self.add(to, value);
        }
        if matches!(&kind, ObjectKind::Context(path) if !path.is_empty()) {
            let parts = self.context_parts;
            self.add(parts, value);
        }
        // A table that gets its entries through `__newindex` keeps them elsewhere.
        let metatable = self.get(object).metatable;
        for meta in self.read(metatable).objects {
            let mut next = Cell::default();
            self.read_parts(meta, &[KeyPart::Known(Key::Text("__newindex".into()))], &mut next);
            for inside in next.objects {
                let (unknown, keys) = (self.get(inside).unknown, self.get(inside).keys);
                self.objects[inside as usize].fixed = false;
                self.add(unknown, value);
                self.add(keys, &Cell { taint: Taint::NONE, ..key.clone() });
            }
        }
    }

    /// Calls every function in the metatables of `objects` with `operands`; gives their results.
    pub(super) fn metamethods(&mut self, objects: &[ObjectId], operands: &[Cell], tag: u32, at: At) -> Cell {
        let mut found = Cell::default();
        let mut methods = Cell::default();
        for object in objects {
            let metatable = self.get(*object).metatable;
            let metatable = self.read(metatable);
            for meta in metatable.objects {
                let named = |key: &Key| matches!(key, Key::Text(name) if name.starts_with("__"));
                for node in self.fields_of_metatable(meta, named) {
                    methods.add(&self.read(node));
                }
            }
            methods.taint.add(&metatable.taint);
        }
        // The metatable of a table used as a method is not followed.
        let tables: Vec<ObjectId> =
            methods.objects.iter().copied().filter(|object| self.is_plain_table(*object)).collect();
        if tables.iter().any(|table| self.may_run_deeper(*table, 0)) {
            self.lost = true;
        }
        methods.objects.retain(|object| !self.is_plain_table(*object));
        if methods.objects.is_empty() {
            return found;
        }
        let argument = self.helper(tag.wrapping_mul(31).wrapping_add(9_001));
        for operand in operands {
            self.add(argument, operand);
        }
        let (result, callee) = (
            self.helper(tag.wrapping_mul(31).wrapping_add(9_002)),
            self.helper(tag.wrapping_mul(31).wrapping_add(9_003)),
        );
        self.add(callee, &methods);
        let want = Want {
            fixed: vec![argument; 3],
            results: vec![result],
            // The library may call one again and again.
            factor: if tag < 2 { Factor::Once } else { Factor::Unbounded },
            tag: tag.wrapping_mul(31).wrapping_add(9_004),
            ..Want::once(at, at.stop)
        };
        self.call(callee, &want);
        found.add(&self.read(result));
        found.taint.add(&methods.taint);
        found.add_value(&Cell::unknown(ANY));
        found
    }
}
