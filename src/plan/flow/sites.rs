//! Tool calls: which value reaches which parameter, as [`luaplan_catalog::ToolSpec::bind`] would bind it.

use std::collections::BTreeMap;
use std::rc::Rc;

use serde_json::Value as Json;

use luaplan_catalog::ToolSpec;

use super::rules::only;
use super::solver::Solver;
use super::state::{Key, Node, ObjectKind, SiteCells, Use, Want};
use super::value::{BOOL, Cell, NIL, NUMBER, TEXT};

/// The name for arguments that fit no parameter.
pub(super) const OTHER: &str = "…";

impl Solver<'_> {
    fn site(&mut self, place: u32, tool: &Rc<str>) -> u32 {
        if let Some(site) = self.site_ids.get(&(place, tool.clone())) {
            return *site;
        }
        let (control, stops) = (self.node(), self.node());
        let site = u32::try_from(self.sites.len()).unwrap_or(u32::MAX);
        self.sites.push(SiteCells { place, tool: tool.clone(), parameters: BTreeMap::new(), control, stops });
        self.site_ids.insert((place, tool.clone()), site);
        site
    }

    fn give_parameter(&mut self, site: u32, name: &str, cell: &Cell) {
        let known = self.sites[site as usize].parameters.get(name).copied();
        let node = match known {
            Some(node) => node,
            None => {
                let node = self.node();
                self.sites[site as usize].parameters.insert(name.into(), node);
                node
            }
        };
        self.add(node, cell);
    }

    pub(super) fn tool(&mut self, tool: &Rc<str>, want: &Want) {
        if self.catalog.get(tool).is_none() {
            return;
        }
        let site = self.site(want.place, tool);
        if self.linked.insert((self.now, u32::MAX - site, want.tag)) {
            self.uses.push(Use {
                from: want.at.frame,
                loops: want.at.loops,
                factor: want.factor.clone(),
                site,
            });
        }
        let (control, stops) = (self.sites[site as usize].control, self.sites[site as usize].stops);
        let mut decides = self.decides(want.at);
        let before = self.read(want.before).taint;
        let outer = self.frames[want.at.frame as usize].stop_before;
        let outer = self.read(outer).taint;
        let guard = want.guard.map(|guard| self.read(guard).taint).unwrap_or_default();
        // An error earlier in the same protected call skips this call, and the run continues.
        if self.is_guarded(want.at.frame) {
            decides.add(&before);
            decides.add(&guard);
        }
        if self.is_guarded_twice(want.at.frame) {
            decides.add(&outer);
        }
        if self.is_beside(want.at.frame) || want.beside {
            let timing = self.timing;
            self.add_taint(timing, &decides);
            decides.add(&self.read(timing).taint);
        }
        self.add_taint(control, &decides);
        self.add_taint(stops, &before);
        self.add_taint(stops, &outer);
        self.add_taint(stops, &guard);
        self.bindings.insert((self.now, site, want.tag), want.clone());
        let (taint, objects) = self.everything_in(want);
        // A tool takes no function, and no table with one.
        let strange = |kind: &ObjectKind| {
            matches!(
                kind,
                ObjectKind::Closure(..)
                    | ObjectKind::Coroutine(_)
                    | ObjectKind::Tool(_)
                    | ObjectKind::Builtin(_)
                    | ObjectKind::Globals
            )
        };
        if objects.iter().any(|object| strange(&self.get(*object).kind)) {
            let changing = self.metamethods(&objects, &[], want.part(80), want.at);
            self.give_all(want, &changing);
        }
        if objects.iter().any(|object| strange(&self.get(*object).kind)) || self.is_cyclic(&objects) {
            self.may_raise(want.at, &taint);
        }
        // Nor does it take the failure of another call: this call is then not made.
        if objects.iter().any(|object| matches!(self.get(*object).kind, ObjectKind::Result(_))) {
            self.may_raise(want.at, &taint);
            self.add_taint(stops, &taint);
            if self.is_guarded(want.at.frame) || want.guard.is_some() {
                self.add_taint(control, &taint);
            }
        }
        let result = self.object(ObjectKind::Result(site));
        self.give(want, 0, &Cell::object(result));
        for place in 1..want.results.len() {
            self.give(want, place, &Cell::unknown(NIL));
        }
    }

    /// Whether tables among these may contain themselves; no tool takes such a value.
    fn is_cyclic(&mut self, objects: &[u32]) -> bool {
        let made = |kind: &ObjectKind| {
            matches!(
                kind,
                ObjectKind::Table(..)
                    | ObjectKind::Derived(_)
                    | ObjectKind::Context(_)
                    | ObjectKind::Result(_)
            )
        };
        let mut open: Vec<(u32, Vec<u32>)> = Vec::new();
        for object in objects {
            if made(&self.get(*object).kind) {
                let mut inside = Vec::new();
                for node in self.cells_of(*object) {
                    inside.extend(self.read(node).objects);
                }
                open.push((*object, inside));
            }
        }
        // Removes objects that hold none of the remaining ones, until nothing changes.
        loop {
            let left: Vec<u32> = open.iter().map(|(object, _)| *object).collect();
            open.retain(|(_, inside)| inside.iter().any(|object| left.contains(object)));
            if open.len() == left.len() {
                return !open.is_empty();
            }
        }
    }

    /// Binds the arguments of every call once all cells have reached their size: how a table is read
    /// depends on everything in it.
    pub(super) fn bind_all(&mut self) {
        let catalog = self.catalog;
        for ((_, site, _), want) in std::mem::take(&mut self.bindings) {
            if let Some(spec) = self.sites.get(site as usize).and_then(|cells| catalog.get(&cells.tool)) {
                self.bind(site, spec, &want);
            }
        }
    }

    fn bind(&mut self, site: u32, spec: &ToolSpec, want: &Want) {
        let names: Vec<&str> = spec.parameters().map(|(name, _)| name).collect();
        let first = match want.argument(0) {
            Some(node) => self.read(node),
            None => return,
        };
        let alone = (1..want.fixed.len().max(2)).all(|place| match want.argument(place) {
            Some(node) => {
                let cell = self.read(node);
                cell == Cell::default() || !only(&cell, NUMBER | TEXT | BOOL) || cell.unknown & NIL != 0
            }
            None => true,
        });
        let mut in_a_row = !(first.unknown == 0 && first.constants.is_empty() && alone);
        if alone {
            for object in first.objects.clone() {
                in_a_row |= self.bind_named(site, spec, &names, object, &first);
            }
        } else {
            in_a_row = true;
        }
        if !in_a_row {
            return;
        }
        for (place, name) in names.iter().enumerate() {
            if let Some(node) = want.argument(place) {
                let mut cell = self.read(node);
                if place == 0 && alone && first.objects.is_empty() && first == Cell::default() {
                    cell = first.clone();
                }
                self.give_parameter(site, name, &cell);
            }
        }
        for node in want.fixed.iter().skip(names.len()).copied().chain(want.rest) {
            let cell = self.read(node);
            self.give_parameter(site, OTHER, &cell);
        }
    }

    /// One table that may hold the arguments by name; says whether it may also be the first argument.
    fn bind_named(&mut self, site: u32, spec: &ToolSpec, names: &[&str], object: u32, first: &Cell) -> bool {
        let (shape, items, unknown) = {
            let data = self.get(object);
            (data.shape, data.items, data.unknown)
        };
        self.read(shape);
        let kind = self.kind(object);
        for name in names {
            let mut cell = Cell::tainted(first.taint);
            self.read_parts(object, &[Self::text_key(name)], &mut cell);
            if matches!(kind, ObjectKind::Table(..)) && !self.was_there(object, name) {
                continue;
            }
            self.give_parameter(site, name, &cell);
        }
        let (items, unknown) = (self.read(items), self.read(unknown));
        let takes_table = spec.parameters().next().is_none_or(|(_, schema)| accepts_table(schema));
        if !matches!(kind, ObjectKind::Table(..)) || unknown != Cell::default() {
            let mut cell = unknown.clone();
            cell.taint.add(&first.taint);
            for name in names {
                self.give_parameter(site, name, &cell);
            }
            if spec.takes_unknown_names() {
                self.give_parameter(site, OTHER, first);
            }
            return true;
        }
        let fields: Vec<(Key, Node)> =
            self.get(object).fields.iter().map(|(key, node)| (key.clone(), *node)).collect();
        let mut surely_named = false;
        let mut maybe_list = items != Cell::default();
        for (key, node) in fields {
            let cell = self.read(node);
            match key {
                Key::Text(name) if names.contains(&&*name) => {
                    surely_named |=
                        cell.unknown & NIL == 0 && cell.objects.is_empty() && !cell.constants.is_empty()
                            || cell
                                .objects
                                .iter()
                                .any(|object| matches!(self.get(*object).kind, ObjectKind::Table(..)));
                }
                Key::Text(_) if cell == Cell::default() => {}
                Key::Text(_) => {
                    maybe_list |= takes_table;
                    if spec.takes_unknown_names() {
                        self.give_parameter(site, OTHER, &cell);
                    }
                }
                Key::Int(_) => maybe_list |= cell != Cell::default(),
            }
        }
        maybe_list || takes_table && !surely_named
    }

    /// Whether anything was ever written there.
    fn was_there(&mut self, object: u32, name: &str) -> bool {
        let node = self.field(object, &Key::Text(name.into()));
        let unknown = self.get(object).unknown;
        self.read(node) != Cell::default() || self.read(unknown) != Cell::default()
    }
}

fn accepts_table(schema: &Json) -> bool {
    match schema.get("type") {
        Some(Json::String(kind)) => matches!(kind.as_str(), "object" | "array"),
        Some(Json::Array(kinds)) => kinds.iter().any(|kind| kind == "object" || kind == "array"),
        _ => true,
    }
}
