//! The state of the analysis: cells that only grow, and rules run again when what they read grew.

use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use std::rc::Rc;

use luaplan_catalog::Catalog;

use super::program::Program;
use super::state::{
    At, Factor, Frame, FrameId, Key, Link, Node, Object, ObjectId, ObjectKind, Rule, RuleId, SiteCells,
    Source, Use, Want,
};
use super::value::{Cell, NULL, NUMBER, TEXT, Taint};

/// After so much work the analysis gives up and answers "everything from everything".
const WORK_MAX: u64 = 800_000;
/// The deepest context path that is followed.
const PATH_PARTS_MAX: usize = 5;
/// The most context paths that are kept apart.
const PATHS_MAX: usize = 160;

pub(super) struct Solver<'a> {
    pub(super) program: &'a Program,
    pub(super) catalog: &'a Catalog,
    cells: Vec<Cell>,
    readers: Vec<Vec<RuleId>>,
    reading: HashSet<(Node, RuleId)>,
    pub(super) rules: Vec<Rc<Rule>>,
    queue: VecDeque<RuleId>,
    queued: Vec<bool>,
    pub(super) now: RuleId,
    pub(super) objects: Vec<Object>,
    object_ids: HashMap<ObjectKind, ObjectId>,
    pub(super) frames: Vec<Frame>,
    pub(super) frame_ids: HashMap<(ObjectId, Option<RuleId>), FrameId>,
    pub(super) helpers: HashMap<(RuleId, u32), Node>,
    pub(super) linked: HashSet<(RuleId, FrameId, u32)>,
    pub(super) sources: Vec<Source>,
    context_sources: HashMap<Rc<[Rc<str>]>, usize>,
    pub(super) call_sources: HashMap<u32, usize>,
    pub(super) sites: Vec<SiteCells>,
    /// How each call passes its arguments, by rule, site and tag.
    pub(super) bindings: BTreeMap<(RuleId, u32, u32), Want>,
    pub(super) site_ids: HashMap<(u32, Rc<str>), u32>,
    pub(super) loops: Vec<(u32, Factor)>,
    pub(super) links: Vec<Link>,
    pub(super) uses: Vec<Use>,
    /// Where each coroutine is made, by the rule that makes it.
    pub(super) coroutines: HashMap<RuleId, At>,
    /// Depth of library functions that call library functions.
    pub(super) nested: u32,
    /// All error values.
    pub(super) raised: Node,
    /// What decides about pauses of coroutines, and what they yield and receive.
    pub(super) turns: Node,
    /// What decides which of the plan's steps are complete.
    pub(super) steps: Node,
    pub(super) yielded: Node,
    pub(super) resumed: Node,
    /// What decides about the calls of parallel branches.
    pub(super) timing: Node,
    /// What the plan writes into parts of the context at unknown places.
    pub(super) context_parts: Node,
    /// Nothing and true.
    pub(super) nothing: Node,
    /// What may have ended the run before its result.
    pub(super) result_stops: Node,
    work: u64,
    serial: u32,
    /// Whether the analysis gave up.
    pub(super) lost: bool,
}

impl<'a> Solver<'a> {
    pub(super) fn new(program: &'a Program, catalog: &'a Catalog) -> Self {
        let mut solver = Self {
            program,
            catalog,
            cells: Vec::new(),
            readers: Vec::new(),
            reading: HashSet::new(),
            rules: Vec::new(),
            queue: VecDeque::new(),
            queued: Vec::new(),
            now: 0,
            objects: Vec::new(),
            object_ids: HashMap::new(),
            frames: Vec::new(),
            frame_ids: HashMap::new(),
            helpers: HashMap::new(),
            linked: HashSet::new(),
            sources: vec![Source::Anything],
            context_sources: HashMap::new(),
            call_sources: HashMap::new(),
            sites: Vec::new(),
            bindings: BTreeMap::new(),
            site_ids: HashMap::new(),
            loops: vec![(0, Factor::Once)],
            links: Vec::new(),
            uses: Vec::new(),
            coroutines: HashMap::new(),
            nested: 0,
            raised: 0,
            turns: 0,
            steps: 0,
            yielded: 0,
            resumed: 0,
            timing: 0,
            context_parts: 0,
            nothing: 0,
            result_stops: 0,
            work: 0,
            serial: 0,
            lost: program.unreadable,
        };
        solver.nothing = solver.node();
        solver.raised = solver.node();
        solver.turns = solver.node();
        solver.steps = solver.node();
        solver.yielded = solver.node();
        solver.resumed = solver.node();
        solver.timing = solver.node();
        solver.context_parts = solver.node();
        solver
    }

    pub(super) fn node(&mut self) -> Node {
        self.cells.push(Cell::default());
        self.readers.push(Vec::new());
        u32::try_from(self.cells.len() - 1).unwrap_or(u32::MAX)
    }

    pub(super) fn node_of(&mut self, cell: &Cell) -> Node {
        let node = self.node();
        self.add(node, cell);
        node
    }

    /// A node of the current rule, the same each time it runs.
    pub(super) fn helper(&mut self, part: u32) -> Node {
        if let Some(node) = self.helpers.get(&(self.now, part)) {
            return *node;
        }
        let node = self.node();
        self.helpers.insert((self.now, part), node);
        node
    }

    /// The cell; the current rule runs again when it grows.
    pub(super) fn read(&mut self, node: Node) -> Cell {
        self.work += 1;
        if self.reading.insert((node, self.now)) {
            self.readers[node as usize].push(self.now);
        }
        self.cells[node as usize].clone()
    }

    /// The cell, for reading after the solver is done.
    pub(super) fn peek(&self, node: Node) -> &Cell {
        &self.cells[node as usize]
    }

    pub(super) fn add(&mut self, node: Node, cell: &Cell) {
        self.work += 1;
        if self.cells[node as usize].add(cell) {
            self.touch(node);
        }
    }

    pub(super) fn add_taint(&mut self, node: Node, taint: &Taint) {
        if self.cells[node as usize].taint.add(taint) {
            self.touch(node);
        }
    }

    pub(super) fn touch(&mut self, node: Node) {
        for place in 0..self.readers[node as usize].len() {
            let rule = self.readers[node as usize][place];
            self.enqueue(rule);
        }
    }

    fn enqueue(&mut self, rule: RuleId) {
        if !std::mem::replace(&mut self.queued[rule as usize], true) {
            self.queue.push_back(rule);
        }
    }

    pub(super) fn rule(&mut self, rule: Rule) -> RuleId {
        let id = u32::try_from(self.rules.len()).unwrap_or(u32::MAX);
        self.rules.push(Rc::new(rule));
        self.queued.push(false);
        self.enqueue(id);
        id
    }

    /// Runs every rule until no cell grows any more, or the work exceeds its bound.
    pub(super) fn solve(&mut self) {
        while let Some(rule) = self.queue.pop_front() {
            if self.lost || self.work > WORK_MAX {
                self.lost = true;
                return;
            }
            self.queued[rule as usize] = false;
            self.now = rule;
            let body = self.rules[rule as usize].clone();
            self.run(&body);
        }
    }

    pub(super) fn object(&mut self, kind: ObjectKind) -> ObjectId {
        if let Some(object) = self.object_ids.get(&kind) {
            return *object;
        }
        let id = u32::try_from(self.objects.len()).unwrap_or(u32::MAX);
        let object = Object {
            kind: kind.clone(),
            fields: BTreeMap::new(),
            items: self.node(),
            unknown: self.node(),
            keys: self.node(),
            metatable: self.node(),
            shape: self.node(),
            fixed: matches!(kind, ObjectKind::Table(..)),
        };
        self.objects.push(object);
        self.object_ids.insert(kind, id);
        id
    }

    /// A new table of the plan.
    pub(super) fn new_table(&mut self) -> ObjectId {
        self.serial += 1;
        self.object(ObjectKind::Table(self.serial, 0))
    }

    pub(super) fn get(&self, object: ObjectId) -> &Object {
        &self.objects[object as usize]
    }

    pub(super) fn kind(&self, object: ObjectId) -> ObjectKind {
        self.get(object).kind.clone()
    }

    /// The cell of a field, made if it is not there.
    pub(super) fn field(&mut self, object: ObjectId, key: &Key) -> Node {
        if let Some(node) = self.get(object).fields.get(key) {
            return *node;
        }
        let node = self.node();
        self.objects[object as usize].fields.insert(key.clone(), node);
        let inside = match (&self.get(object).kind, key) {
            (ObjectKind::Context(path), key) => {
                let part: Rc<str> = match key {
                    Key::Text(name) => name.clone(),
                    Key::Int(_) => "*".into(),
                };
                Some(self.context_part(&path.clone(), &part))
            }
            (ObjectKind::Library(name), Key::Text(member)) => {
                let path = format!("{name}.{member}");
                match library_value(&path) {
                    Some(kinds) => {
                        self.add(node, &Cell::unknown(kinds));
                        None
                    }
                    None => Some(self.object(ObjectKind::Builtin(path.into()))),
                }
            }
            _ => None,
        };
        if let Some(inside) = inside {
            self.add(node, &Cell::object(inside));
        }
        let shape = self.get(object).shape;
        self.touch(shape);
        node
    }

    pub(super) fn context_part(&mut self, path: &Rc<[Rc<str>]>, part: &Rc<str>) -> ObjectId {
        let mut longer: Vec<Rc<str>> = path.to_vec();
        longer.push(part.clone());
        let longer: Rc<[Rc<str>]> = longer.into();
        let kind = ObjectKind::Context(longer);
        if path.len() >= PATH_PARTS_MAX
            || (self.object_ids.len() > PATHS_MAX * 8 && !self.object_ids.contains_key(&kind))
        {
            return self.object(ObjectKind::Context(path.clone()));
        }
        self.object(kind)
    }

    pub(super) fn context_source(&mut self, path: &Rc<[Rc<str>]>) -> Taint {
        if let Some(source) = self.context_sources.get(path) {
            return Taint::of(*source);
        }
        if self.context_sources.len() >= PATHS_MAX && !path.is_empty() {
            return self.context_source(&Vec::new().into());
        }
        let source = self.sources.len();
        self.sources.push(Source::Context(path.clone()));
        self.context_sources.insert(path.clone(), source);
        Taint::of(source)
    }

    pub(super) fn call_source(&mut self, site: u32) -> Taint {
        let next = self.sources.len();
        let source = *self.call_sources.entry(site).or_insert(next);
        if source == next {
            self.sources.push(Source::Call(site));
        }
        Taint::of(source)
    }

    /// What a value depends on when its plain value, kind or truth is looked at.
    pub(super) fn scalar(&mut self, cell: &Cell) -> Taint {
        let mut taint = cell.taint;
        for object in &cell.objects {
            match self.kind(*object) {
                ObjectKind::Context(path) => {
                    taint.add(&self.context_source(&path));
                }
                ObjectKind::Result(site) => {
                    taint.add(&self.call_source(site));
                }
                _ => {}
            }
        }
        taint
    }

    /// Every cell inside an object; the current rule runs again for new ones.
    pub(super) fn cells_of(&mut self, object: ObjectId) -> Vec<Node> {
        let shape = self.get(object).shape;
        self.read(shape);
        let object = self.get(object);
        object.fields.values().copied().chain([object.items, object.unknown, object.metatable]).collect()
    }

    /// What a value with everything inside depends on, and the objects inside.
    pub(super) fn deep(&mut self, cell: &Cell) -> (Taint, Vec<ObjectId>) {
        let mut taint = self.scalar(cell);
        let mut found: Vec<ObjectId> = cell.objects.clone();
        let mut seen: HashSet<ObjectId> = found.iter().copied().collect();
        let mut next = 0;
        while let Some(object) = found.get(next).copied() {
            next += 1;
            if matches!(
                self.get(object).kind,
                ObjectKind::Library(_) | ObjectKind::Builtin(_) | ObjectKind::Tool(_)
            ) {
                continue;
            }
            if self.get(object).kind == ObjectKind::Globals {
                self.lost = true;
                return (taint, found);
            }
            for node in self.cells_of(object) {
                let inside = self.read(node);
                taint.add(&self.scalar(&inside));
                found.extend(inside.objects.iter().filter(|object| seen.insert(**object)));
            }
            if matches!(&self.get(object).kind, ObjectKind::Context(_)) {
                let parts = self.context_parts;
                let inside = self.read(parts);
                taint.add(&self.scalar(&inside));
                found.extend(inside.objects.iter().filter(|object| seen.insert(**object)));
            }
        }
        (taint, found)
    }

    /// Notes that the run may end here, by what `taint` says.
    pub(super) fn may_raise(&mut self, at: At, taint: &Taint) {
        let control = self.read(at.control).taint;
        self.add_taint(at.stop, taint);
        self.add_taint(at.stop, &control);
    }
}

/// Members of libraries that are not functions, as kinds of values.
fn library_value(path: &str) -> Option<u8> {
    Some(match path {
        "json.null" => NULL,
        "math.pi" | "math.huge" | "math.maxinteger" | "math.mininteger" => NUMBER,
        "utf8.charpattern" => TEXT,
        _ => return None,
    })
}
