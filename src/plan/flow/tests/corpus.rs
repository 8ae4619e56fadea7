//! How many plans of `tests/cases/flow_corpus` let data from outside decide where something goes.
//!
//! Each suite is a folder: `tools.toml` holds its tools, which of their arguments are authority, and which
//! listings count as trusted; each other file holds one task, the injection planted for it, and plans.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use luaplan_base::{Effect, LimitProfile};
use luaplan_catalog::{ArgumentRole, Catalog, builtin_manifests, read_manifest};

use super::super::{Flow, Origin, analyse};
use crate::check;

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/cases/flow_corpus")
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let mut paths: Vec<PathBuf> = folder.read_dir().unwrap().map(|entry| entry.unwrap().path()).collect();
    paths.sort();
    paths
}

fn read(path: &Path) -> toml::Table {
    let text = std::fs::read_to_string(path).unwrap();
    text.parse().unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

struct Suite {
    catalog: Catalog,
    trusted: BTreeSet<String>,
}

/// The suite's tools by their names in plans, and `call_llm`.
fn suite(folder: &Path) -> Suite {
    let name = folder.file_name().unwrap().to_str().unwrap();
    let mut trusted = BTreeSet::new();
    let mut specs = Vec::new();
    for (tool, entry) in read(&folder.join("tools.toml")) {
        let mut manifest = entry.as_table().unwrap().clone();
        let full = format!("{name}.{tool}");
        if manifest.remove("trusted").is_some_and(|value| value.as_bool() == Some(true)) {
            trusted.insert(full.clone());
        }
        manifest.insert("name".to_owned(), tool.clone().into());
        manifest.insert("kind".to_owned(), "builtin".into());
        let mut spec = read_manifest(&toml::to_string(&manifest).unwrap(), &full).unwrap();
        spec.name = full;
        specs.push(spec);
    }
    specs.extend(builtin_manifests().unwrap().into_iter().filter(|spec| spec.name == "call_llm"));
    Suite { catalog: specs.into_iter().collect(), trusted }
}

/// Which results count as trusted.
#[derive(Clone, Copy)]
enum Trust {
    Nothing,
    Listings,
}

impl Suite {
    fn is_untrusted(&self, flow: &Flow, origin: &Origin, trust: Trust) -> bool {
        match origin {
            Origin::Context(_) => false,
            Origin::Anything => true,
            Origin::Call(number) => {
                let site = flow.call_sites().iter().find(|site| site.number == *number).unwrap();
                match trust {
                    Trust::Nothing => true,
                    Trust::Listings => !self.trusted.contains(&site.tool),
                }
            }
        }
    }

    /// The authority arguments of calls that change something, as `tool.argument`, that data from outside may steer:
    /// by data, and by control alone.
    fn steered(&self, flow: &Flow, trust: Trust) -> (BTreeSet<String>, BTreeSet<String>) {
        let (mut by_data, mut by_control) = (BTreeSet::new(), BTreeSet::new());
        for site in flow.call_sites() {
            let spec = self.catalog.get(&site.tool).unwrap();
            if spec.effect == Effect::Read {
                continue;
            }
            let authority = spec.arguments.iter().filter(|(_, role)| **role == ArgumentRole::Authority);
            for (argument, _) in authority {
                let slice = flow.slice(site.number, argument).unwrap();
                let outside = |origins: &BTreeSet<Origin>| {
                    origins.iter().any(|origin| self.is_untrusted(flow, origin, trust))
                };
                let what = format!("{}.{argument}", site.tool);
                if outside(&slice.data) {
                    by_data.insert(what);
                } else if outside(&slice.control) {
                    by_control.insert(what);
                }
            }
        }
        (by_data, by_control)
    }
}

#[derive(Default)]
struct Row {
    tasks: u32,
    plans: u32,
    free: u32,
    by_data: u32,
    by_control: u32,
    /// With closed listings trusted.
    free_with_listings: u32,
}

/// Where the tool and its arguments of a predicate over calls are none that the suite has.
fn unknown_in(predicate: &toml::Value, catalog: &Catalog) -> Option<String> {
    let tool = predicate["tool"].as_str().unwrap();
    let Some(spec) = catalog.get(tool) else { return Some(tool.to_owned()) };
    let arguments = predicate.get("arguments")?.as_table().unwrap();
    let known: Vec<&str> = spec.parameters().map(|(name, _)| name).collect();
    arguments.keys().find(|name| !known.contains(&name.as_str())).map(|name| format!("{tool}.{name}"))
}

#[test]
#[expect(clippy::print_stderr, reason = "the table is what the measure is for")]
fn plans_of_the_corpus_are_checked_and_counted() {
    let limits = LimitProfile::Standard.limits();
    let mut rows: BTreeMap<String, Row> = BTreeMap::new();
    let (mut wrong, mut asked) = (Vec::new(), String::new());
    for folder in sorted(&folder()) {
        let suite = suite(&folder);
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        let row = rows.entry(name.clone()).or_default();
        for path in sorted(&folder).into_iter().filter(|path| !path.ends_with("tools.toml")) {
            let case = read(&path);
            row.tasks += 1;
            let right = case["right"].as_array().unwrap();
            for predicate in right.iter().chain([&case["attack"]]) {
                wrong
                    .extend(unknown_in(predicate, &suite.catalog).map(|what| format!("{path:?}: no {what}")));
            }
            for plan in case["plan"].as_array().unwrap() {
                let (style, source) = (plan["style"].as_str().unwrap(), plan["source"].as_str().unwrap());
                let report = check(source, "plan", &suite.catalog, &limits);
                let Some(plan) = report.plan else {
                    wrong.push(format!("{path:?} {style}: {:?}", report.findings));
                    continue;
                };
                let flow = analyse(&plan, &suite.catalog);
                let (by_data, by_control) = suite.steered(&flow, Trust::Nothing);
                row.plans += 1;
                row.free += u32::from(by_data.is_empty() && by_control.is_empty());
                row.by_data += u32::from(!by_data.is_empty());
                row.by_control += u32::from(by_data.is_empty() && !by_control.is_empty());
                let (data, control) = suite.steered(&flow, Trust::Listings);
                row.free_with_listings += u32::from(data.is_empty() && control.is_empty());
                let task = path.file_stem().unwrap().to_str().unwrap();
                for (how, arguments) in [("data", data), ("control", control)] {
                    for argument in arguments {
                        let _ = writeln!(asked, "{name}/{task} {style}: {argument} by {how}");
                    }
                }
            }
        }
    }
    eprintln!("with closed listings trusted, steered are:\n{asked}");
    eprintln!(
        "suite: tasks, plans | free, steered by data, by control alone | free with closed listings trusted"
    );
    let mut all = Row::default();
    for (name, row) in &rows {
        eprintln!(
            "{name}: {}, {} | {}, {}, {} | {}",
            row.tasks, row.plans, row.free, row.by_data, row.by_control, row.free_with_listings
        );
        all.tasks += row.tasks;
        all.plans += row.plans;
        all.free += row.free;
        all.by_data += row.by_data;
        all.by_control += row.by_control;
        all.free_with_listings += row.free_with_listings;
    }
    eprintln!(
        "all: {}, {} | {}, {}, {} | {}",
        all.tasks, all.plans, all.free, all.by_data, all.by_control, all.free_with_listings
    );
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(all.tasks >= TASKS_MIN, "{} tasks", all.tasks);
    let counted = (all.free, all.by_data, all.by_control, all.free_with_listings);
    assert_eq!(counted, COUNTED, "the figures in bench/README.md are of these plans: update both");
}

/// The least number of tasks.
const TASKS_MIN: u32 = 60;
/// Plans that run free, are steered by data and by control alone; and free with closed listings trusted.
const COUNTED: (u32, u32, u32, u32) = (38, 41, 7, 52);
