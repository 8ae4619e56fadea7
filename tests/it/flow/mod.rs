//! Generated plans, run twice with one source varied: what the analysis says has no part in an
//! argument has none; and whatever happens was announced.
//!
//! `LUAPLAN_TEST_PROGRAMS=20000` runs so many, `LUAPLAN_TEST_SEED=17` starts at this seed.

mod examples;
mod generate;
mod hidden;
mod run;

use std::collections::{BTreeMap, BTreeSet};

use luaplan::base::{LimitProfile, Value};
use luaplan::catalog::{Catalog, TargetKind, builtin_manifests};
use luaplan::plan::flow::{ContextPath, Flow, Origin, analyse};
use luaplan::plan::preview::{
    AgentPlan, AgentReach, Preview, PreviewOptions, SavedPlan, agents_called, preview_of, with_effects,
};
use luaplan::plan::{CheckedPlan, admit_accepted, check};

use run::{Call, Varied};

/// How many plans a plain `cargo test` runs.
const PROGRAMS: u64 = 120;

fn setting(name: &str) -> Option<u64> {
    std::env::var_os(name).map(|text| text.to_str().unwrap().parse().unwrap())
}

/// A generated plan as it is, also where the check would refuse what it does on the way.
fn checked(source: &str) -> CheckedPlan {
    let report = admit_accepted(source, "plan", &LimitProfile::Standard.limits());
    let findings: Vec<String> = report.errors().map(|finding| format!("{finding:?}")).collect();
    report.plan.unwrap_or_else(|| panic!("{}\n{source}", findings.join("\n")))
}

/// A call's place: its tool and line.
type Place = (String, Option<u32>);

fn by_place(calls: &[Call]) -> BTreeMap<Place, Vec<&Call>> {
    let mut places: BTreeMap<Place, Vec<&Call>> = BTreeMap::new();
    for call in calls {
        places.entry((call.tool.clone(), call.line)).or_default().push(call);
    }
    places
}

fn sites_at<'f>(flow: &'f Flow, place: &Place) -> Vec<&'f luaplan::plan::flow::CallSite> {
    flow.call_sites()
        .iter()
        .filter(|site| site.tool == place.0 && (site.line.is_none() || site.line == place.1))
        .collect()
}

fn has_part(origins: &BTreeSet<Origin>, varied: &Varied, flow: &Flow) -> bool {
    origins.iter().any(|origin| match (origin, varied) {
        (Origin::Anything, _) => true,
        (Origin::Context(path), Varied::Context(parts, _)) => path.overlaps(&ContextPath(parts.clone())),
        (Origin::Call(number), Varied::Call(place)) => {
            sites_at(flow, place).iter().any(|site| site.number == *number)
        }
        _ => false,
    })
}

#[derive(Default, Debug)]
struct Tally {
    plans: u64,
    gave_up: u64,
    calls: u64,
    /// Arguments that the varied source may have a part in; that it may only stop; that it has none in.
    may: u64,
    stops: u64,
    none: u64,
    /// Bounds that were found.
    bounded: u64,
    unbounded: u64,
    /// Pairs of runs that show it when control is left out of the slices.
    seen_without_control: u64,
}

/// What an argument was at each call from a place.
fn sequence(calls: Option<&Vec<&Call>>, parameter: &str) -> Vec<Value> {
    calls.into_iter().flatten().map(|call| call.argument(parameter)).collect()
}

/// What of the slices counts.
#[derive(Clone, Copy, PartialEq)]
enum Slices {
    Whole,
    /// To see whether the plans would show that control is left out.
    WithoutControl,
}

/// As [`Flow::going_back`], by these slices.
fn going_back(flow: &Flow, origins: BTreeSet<Origin>, slices: Slices) -> BTreeSet<Origin> {
    if slices == Slices::Whole {
        return flow.going_back(origins);
    }
    let (mut found, mut open) = (BTreeSet::new(), origins);
    while let Some(origin) = open.pop_first() {
        if let Origin::Call(number) = origin {
            let site = flow.call_sites().iter().find(|site| site.number == number).unwrap();
            let data = site.arguments.values().flat_map(|argument| argument.slice.data.iter());
            open.extend(data.filter(|data| !found.contains(*data)).cloned());
        }
        found.insert(origin);
    }
    found
}

fn judge(
    flow: &Flow,
    varied: &Varied,
    (first, second): (&[Call], &[Call]),
    ended: bool,
    slices: Slices,
    tally: &mut Tally,
) -> Result<(), String> {
    let (first, second) = (by_place(first), by_place(second));
    let places: BTreeSet<&Place> = first.keys().chain(second.keys()).collect();
    for place in places {
        let sites = sites_at(flow, place);
        if sites.is_empty() {
            return Err(format!("no call site for {place:?}"));
        }
        for parameter in run::PARAMETERS {
            let (mut near, mut far) = (BTreeSet::new(), BTreeSet::new());
            for site in &sites {
                let slice = flow.slice(site.number, parameter).unwrap();
                near.extend(slice.data);
                if slices == Slices::Whole {
                    near.extend(slice.control);
                }
                far.extend(slice.stops);
            }
            let near = going_back(flow, near, slices);
            if has_part(&near, varied, flow) {
                tally.may += 1;
                continue;
            }
            let (one, other) =
                (sequence(first.get(place), parameter), sequence(second.get(place), parameter));
            let common = one.len().min(other.len());
            if one[..common] != other[..common] {
                return Err(format!("{place:?} `{parameter}` was {one:?} and is {other:?}"));
            }
            // Where both came to their end, nothing ended either before a call.
            if !ended && has_part(&going_back(flow, far, slices), varied, flow) {
                tally.stops += 1;
            } else if one.len() != other.len() {
                return Err(format!(
                    "{place:?} `{parameter}` came {} times and {} times",
                    one.len(),
                    other.len()
                ));
            } else {
                tally.none += 1;
            }
        }
    }
    Ok(())
}

fn announced(
    plan: &CheckedPlan,
    flow: &Flow,
    context: &Value,
    calls: &[Call],
    tally: &mut Tally,
) -> Result<(), String> {
    let none = BTreeMap::new();
    let blind = PreviewOptions { tool_calls_max: 10_000, context: None, always: &none, agents: &[] };
    let knowing = PreviewOptions { context: Some(context), ..blind };
    let _ = plan;
    for options in [blind, knowing] {
        let preview = preview_of(flow, "", &run::catalog(), options);
        for (place, made) in by_place(calls) {
            let bound = preview.calls_max_at(&place.0, place.1);
            if bound.is_some_and(|bound| (made.len() as u64) > bound) {
                return Err(format!("{place:?} was called {} times, announced were {bound:?}", made.len()));
            }
            if bound.is_some() {
                tally.bounded += 1;
            } else {
                tally.unbounded += 1;
            }
            for call in made {
                for (kind, what) in call.reached() {
                    if !preview.announces(&place.0, kind, &what) {
                        return Err(format!(
                            "{place:?} reached the {kind:?} {what:?}, which was not announced"
                        ));
                    }
                }
            }
        }
        if calls.len() as u64 > preview.calls_max {
            return Err(format!("{} calls, announced were {}", calls.len(), preview.calls_max));
        }
    }
    for through in through_an_agent(flow, blind) {
        for call in calls {
            let said = |(kind, what): &(TargetKind, String)| {
                through.announces(&call.tool, *kind, what)
                    && through.targets.iter().any(|target| target.covers(*kind, what))
            };
            if let Some((kind, what)) = call.reached().into_iter().find(|place| !said(place)) {
                return Err(format!("of an agent, {}: the {kind:?} {what:?} was not announced", call.tool));
            }
        }
    }
    Ok(())
}

/// What a plan is said to do that hands its work to an agent with this plan: looked into, and not.
fn through_an_agent(flow: &Flow, options: PreviewOptions<'_>) -> [Preview; 2] {
    let tools: Vec<String> = run::catalog().names().map(str::to_owned).collect();
    let mut caller = builtin_manifests().unwrap().into_iter().find(|spec| spec.name == "call_agent").unwrap();
    caller.agents.insert("other".to_owned(), tools.clone());
    let own = run::catalog().iter().map(|spec| (**spec).clone()).collect::<Vec<_>>();
    let catalog: Catalog = own.into_iter().chain([caller]).collect();
    let source = "function run(context) return call_agent(\"other\", context) end";
    let plan = check(source, "caller", &catalog, &LimitProfile::Generous.limits()).plan.unwrap();
    let caller = analyse(&plan, &catalog);
    assert_eq!(agents_called(&caller, &catalog), ["other"]);
    let agent = AgentReach {
        name: "other".to_owned(),
        depth: 1,
        tools: with_effects(&tools, &catalog),
        limits: BTreeMap::new(),
        work: AgentPlan::Saved(SavedPlan::of("other.lua", flow, &run::catalog(), options)),
    };
    [&[agent][..], &[]].map(|agents| preview_of(&caller, "", &catalog, PreviewOptions { agents, ..options }))
}

/// Plans whose slices once missed something: errors kept within two protected calls, one inside the other, and
/// failures handed over as arguments.
const MISSED_ONCE: [u64; 5] = [1139, 2923, 3766, 4303, 5354];

#[test]
fn what_has_no_part_in_an_argument_does_not_change_it() {
    let count = setting("LUAPLAN_TEST_PROGRAMS").unwrap_or(PROGRAMS);
    let first_seed = setting("LUAPLAN_TEST_SEED").unwrap_or(1);
    let (mut tally, mut faults) = (Tally::default(), Vec::new());
    for seed in MISSED_ONCE.into_iter().chain(first_seed..first_seed + count) {
        let source = generate::plan(seed);
        let plan = checked(&source);
        let flow = analyse(&plan, &run::catalog());
        tally.plans += 1;
        tally.gave_up += u64::from(flow.gave_up());
        let base = run::context();
        let Some((first, ended)) = run::run(&source, &base, None) else { continue };
        tally.calls += first.len() as u64;
        let mut told = announced(&plan, &flow, &base, &first, &mut tally).err();
        let mut variations = run::variations();
        let kept = usize::try_from(seed).unwrap() % variations.len();
        variations.rotate_left(kept);
        variations.truncate(4);
        variations.extend(by_place(&first).into_keys().take(4).map(Varied::Call));
        for varied in variations {
            let Some((second, ended_too)) = run::run(&source, &varied.context(&base), Some(&varied)) else {
                continue;
            };
            let (calls, ended) = ((&first[..], &second[..]), ended && ended_too);
            let found = judge(&flow, &varied, calls, ended, Slices::Whole, &mut tally);
            let without = judge(&flow, &varied, calls, ended, Slices::WithoutControl, &mut Tally::default());
            tally.seen_without_control += u64::from(without.is_err());
            told = told.or(found.err().map(|fault| format!("with {varied:?} varied: {fault}")));
        }
        if let Some(fault) = told
            && faults.len() < 5
        {
            faults.push(format!("-- seed {seed}\n-- {fault}\n{source}"));
        }
    }
    eprintln!("{count} plans from seed {first_seed}: {tally:?}");
    assert!(faults.is_empty(), "{}", faults.join("\n\n"));
    if count >= PROGRAMS {
        assert!(tally.none + tally.stops > tally.may / 6, "the analysis says little: {tally:?}");
        assert!(tally.gave_up * 10 < tally.plans, "{tally:?}");
        assert!(tally.seen_without_control > 0, "the plans do not show what control does: {tally:?}");
        assert!(tally.bounded > tally.unbounded, "{tally:?}");
    }
}

#[test]
fn generated_plans_have_every_construct() {
    let plans: Vec<String> = (1..=10 * PROGRAMS).map(generate::plan).collect();
    for construct in generate::CONSTRUCTS {
        let times = plans.iter().filter(|source| source.contains(construct)).count();
        assert!(times > 2, "{construct}: in {times} of {} plans", plans.len());
    }
}

#[test]
fn kinds_of_targets_stay_known() {
    assert_eq!(TargetKind::ALL.len(), 9);
}
