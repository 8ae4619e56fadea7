//! Two corpora as files: plans that are right, in which no error may be found, and plans with a
//! fault each, which must be found where it is.
//!
//! A file holds several plans. Each starts with a line `--# what it shows`, and may continue with
//! `--# context: {…}` and `--# task: …`. In a plan with a fault, the line at fault ends with `--! code` (`--? code`
//! where it is advice).

use std::fmt::Write as _;
use std::path::Path;

use luaplan::base::Value;
use luaplan::catalog::{Catalog, builtin_manifests, load_folder};
use luaplan::plan::{CheckInput, CheckReport, Finding, Severity, check_with};

use super::{cases, compiles, limits};

pub(crate) struct Plan {
    /// File and title.
    pub(crate) name: String,
    /// The line of the file before the plan's first.
    line_before: usize,
    pub(crate) context: Option<Value>,
    task: Option<String>,
    /// The source without its marks.
    pub(crate) source: String,
    /// The findings it is marked with.
    marks: Vec<Mark>,
}

impl Plan {
    /// The lines of its errors, with their codes.
    pub(crate) fn errors(&self) -> impl Iterator<Item = (u32, &str)> {
        let errors = self.marks.iter().filter(|mark| mark.severity == Severity::Error);
        errors.map(|mark| (mark.line, mark.code.as_str()))
    }

    /// Whether the plan says itself that this is found in it.
    pub(super) fn is_marked(&self, finding: &Finding) -> bool {
        let mut marks = self.marks.iter();
        marks.any(|mark| {
            (mark.line, mark.severity, &mark.code) == (finding.line, finding.severity, &finding.code)
        })
    }
}

struct Mark {
    line: u32,
    severity: Severity,
    code: String,
}

fn marks(text: &str, lines_before: usize) -> Vec<Mark> {
    let mut marks = Vec::new();
    for (sign, severity) in [(" --! ", Severity::Error), (" --? ", Severity::Warning)] {
        let Some((_, codes)) = text.split_once(sign) else { continue };
        let codes = codes.split(" --").next().unwrap_or_default();
        let line = u32::try_from(lines_before + 1).unwrap();
        marks.extend(codes.split_whitespace().map(|code| Mark { line, severity, code: code.to_owned() }));
    }
    marks
}

/// The built-in tools and those of the corpora.
pub(crate) fn tools() -> Catalog {
    let own = load_folder(&cases().join("manifests")).unwrap();
    builtin_manifests().unwrap().into_iter().chain(own).collect()
}

pub(crate) fn plans(folder: &str) -> Vec<Plan> {
    let mut files: Vec<_> =
        std::fs::read_dir(cases().join(folder)).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "lua"));
    files.sort();
    files.iter().flat_map(|file| split(file)).collect()
}

fn split(file: &Path) -> Vec<Plan> {
    let text = std::fs::read_to_string(file).unwrap();
    let file = file.file_name().unwrap().to_string_lossy().into_owned();
    let mut plans: Vec<Plan> = Vec::new();
    for (index, line) in text.lines().enumerate() {
        if let Some(context) = line.strip_prefix("--# context: ") {
            let plan = plans.last_mut().unwrap();
            plan.context = Some(Value::from_json_text(context).unwrap());
            plan.line_before = index + 1;
        } else if let Some(task) = line.strip_prefix("--# task: ") {
            let plan = plans.last_mut().unwrap();
            plan.task = Some(task.to_owned());
            plan.line_before = index + 1;
        } else if let Some(title) = line.strip_prefix("--# ") {
            plans.push(Plan {
                name: format!("{file}: {title}"),
                line_before: index + 1,
                context: None,
                task: None,
                source: String::new(),
                marks: Vec::new(),
            });
        } else {
            let plan = plans.last_mut().unwrap();
            plan.marks.extend(marks(line, plan.source.lines().count()));
            let marks = [" --! ", " --? "].iter().filter_map(|sign| line.find(sign)).min();
            let _ = writeln!(plan.source, "{}", marks.map_or(line, |place| &line[..place]));
        }
    }
    plans
}

pub(super) fn checked(plan: &Plan, catalog: &Catalog) -> CheckReport {
    check_with(&CheckInput {
        source: &plan.source,
        name: "plan",
        catalog,
        limits: &limits(),
        context: plan.context.as_ref(),
        task: plan.task.as_deref(),
        results: &[],
    })
}

pub(super) fn shown(plan: &Plan, finding: &Finding) -> String {
    format!(
        "{} (line {}): {:?} {} | {} | {}\n",
        plan.name,
        plan.line_before + finding.line as usize,
        finding.severity,
        finding.code,
        finding.message,
        finding.help
    )
}

#[test]
fn no_error_is_found_in_plans_that_are_right() {
    let (plans, catalog) = (plans("correct"), tools());
    assert!(plans.len() >= 200, "only {} plans", plans.len());
    let (mut wrong, mut advised, mut advice) = (String::new(), 0, String::new());
    for plan in &plans {
        if let Err(why) = compiles(&plan.source) {
            let _ = writeln!(wrong, "{}: {why}", plan.name);
        }
        let report = checked(plan, &catalog);
        wrong.extend(report.errors().map(|finding| shown(plan, finding)));
        let warnings = report.findings.iter().filter(|finding| finding.severity == Severity::Warning);
        let before = advice.len();
        advice.extend(warnings.map(|finding| shown(plan, finding)));
        advised += usize::from(advice.len() > before);
    }
    assert!(wrong.is_empty(), "in {} plans:\n{wrong}", plans.len());
    // Advice that comes with every plan is not read.
    assert!(advised * 10 <= plans.len(), "{advised} of {} plans are advised:\n{advice}", plans.len());
}

#[test]
fn every_fault_is_found_where_it_is() {
    let (plans, catalog) = (plans("faults"), tools());
    assert!(plans.len() >= 200, "only {} plans", plans.len());
    let mut wrong = String::new();
    for plan in &plans {
        let marks = &plan.marks;
        if marks.is_empty() {
            let _ = writeln!(wrong, "{}: no line is marked", plan.name);
        }
        let findings = checked(plan, &catalog).findings;
        for Mark { line, severity, code } in marks {
            let is_found =
                findings.iter().any(|it| (it.line, it.severity) == (*line, *severity) && it.code == *code);
            if !is_found {
                let place = plan.line_before + *line as usize;
                let _ = writeln!(wrong, "{} (line {place}): {code} is not found", plan.name);
            }
        }
        let is_marked =
            |it: &&Finding| marks.iter().any(|mark| (it.line, &it.code) == (mark.line, &mark.code));
        let errors = findings.iter().filter(|it| it.severity == Severity::Error);
        wrong.extend(
            errors.filter(|it| !is_marked(it)).map(|it| format!("not expected: {}", shown(plan, it))),
        );
    }
    assert!(wrong.is_empty(), "in {} plans:\n{wrong}", plans.len());
}
