//! Drawings of small plans, and of hostile names.

use std::collections::BTreeMap;

use luaplan_base::LimitProfile;
use luaplan_catalog::{Catalog, read_manifest};

use super::*;
use crate::check;
use crate::preview::{PreviewOptions, preview};

fn graph(source: &str) -> Graph {
    let manifest = |(name, effect): (&str, &str)| {
        let text = format!(
            "name = \"{name}\"\ndescription = \"A tool.\"\neffect = \"{effect}\"\nkind = \"builtin\"\n\
             [params]\ntype = \"object\"\n[params.properties.what]\n"
        );
        read_manifest(&text, name).unwrap()
    };
    let catalog: Catalog = [("get", "read"), ("put", "send")].into_iter().map(manifest).collect();
    let report = check(source, "plan", &catalog, &LimitProfile::Standard.limits());
    let always = BTreeMap::new();
    let options = PreviewOptions { tool_calls_max: 100, context: None, always: &always, agents: &[] };
    Graph::of(&preview(&report.plan.unwrap_or_else(|| panic!("{:?}", report.findings)), &catalog, options))
}

const SMALL: &str = "function run(context)
  local found = get{what = context.key}
  if found.error then return nil end
  put{what = found}
  return found
end";

const HOSTILE: &str = "function run(context)
  put{what = '\"]--><script>alert(1)</script><!-- \\\\ end\\n %% | ` &amp; }}'}
  put{what = context['</text><script>\"']}
end";

#[test]
fn a_small_plan_is_drawn_as_expected() {
    let graph = graph(SMALL);
    insta::assert_snapshot!("small_json", graph.draw(GraphFormat::Json));
    insta::assert_snapshot!("small_mermaid", graph.draw(GraphFormat::Mermaid));
    insta::assert_snapshot!("small_dot", graph.draw(GraphFormat::Dot));
}

const STEPS: &str = "function run(context)
  local found = step('load', function() return get{what = context.key} end)
  step('tell', function()
    step('\"]--><script>', function() put{what = found} end, {depends_on = {'load', 'unknown' .. context.n}})
  end)
  return found
end";

#[test]
fn the_calls_of_a_step_are_framed_with_it() {
    let graph = graph(STEPS);
    let of = |name: &str| graph.nodes.iter().find(|node| node.name == name).unwrap();
    assert_eq!(of("get").step.as_deref(), Some("load"));
    assert_eq!(of("put").step.as_deref(), Some("\"]--><script>"), "the innermost step");
    assert_eq!((of("load").kind, of("load").line), (NodeKind::Step, Some(2)));
    assert_eq!(of("load").state, Some(luaplan_base::StepState::Pending));
    let order: Vec<_> = graph.edges.iter().filter(|edge| edge.kind == EdgeKind::Order).collect();
    assert_eq!(order.len(), 1);
    assert_eq!((order[0].from.as_str(), order[0].to.as_str()), ("step1", "step3"));
    let running =
        graph.clone().with_states(|name| (name == "load").then_some(luaplan_base::StepState::Complete));
    for (format, frame) in
        [(GraphFormat::Mermaid, "subgraph frame3"), (GraphFormat::Dot, "subgraph cluster3")]
    {
        let text = graph.draw(format);
        assert!(text.contains(frame) && text.contains("step load · line 2 · pending"), "{text}");
        assert!(running.draw(format).contains("step load · line 2 · complete"));
    }
    let mermaid = graph.draw(GraphFormat::Mermaid);
    assert!(mermaid.contains("step1 ==> step3") && !mermaid.contains("<script"), "{mermaid}");
    for line in mermaid.lines().filter(|line| line.contains(":::")) {
        assert_eq!(line.matches('"').count(), 2, "{line}");
    }
    assert!(graph.draw(GraphFormat::Dot).contains("step1 -> step3 [style=bold];"));
    let svg = graph.draw(GraphFormat::Svg);
    assert!(
        svg.contains("in step load") && svg.contains("thick: order of steps") && !svg.contains("<script"),
        "{svg}"
    );
    let plain = self::graph(SMALL);
    assert!(
        !plain.draw(GraphFormat::Json).contains("step") && !plain.draw(GraphFormat::Svg).contains("thick")
    );
}

#[test]
fn no_name_breaks_out_of_its_label() {
    let graph = graph(HOSTILE);
    let svg = graph.draw(GraphFormat::Svg);
    assert!(!svg.contains("<script"), "{svg}");
    assert_eq!(svg.matches("<svg").count(), 1);
    let mermaid = graph.draw(GraphFormat::Mermaid);
    for line in mermaid.lines().filter(|line| line.contains(":::")) {
        assert_eq!(line.matches('"').count(), 2, "{line}");
        assert!(!line.contains("<script") && !line.contains('`'), "{line}");
    }
    let dot = graph.draw(GraphFormat::Dot);
    for line in dot.lines().filter(|line| line.contains("label=")) {
        let quotes = line.replace("\\\\", "").replace("\\\"", "").matches('"').count();
        assert_eq!(quotes % 2, 0, "{line}");
    }
    let json: serde_json::Value = serde_json::from_str(&graph.draw(GraphFormat::Json)).unwrap();
    assert_eq!(json["nodes"].as_array().unwrap().len(), 5);
}

#[test]
fn an_svg_is_well_formed() {
    let svg = graph(SMALL).draw(GraphFormat::Svg);
    let mut open: Vec<String> = Vec::new();
    for tag in svg.split('<').skip(1) {
        let (inside, _) = tag.split_once('>').unwrap();
        if let Some(name) = inside.strip_prefix('/') {
            assert_eq!(open.pop().as_deref(), Some(name));
        } else if !inside.ends_with('/') {
            open.push(inside.split_whitespace().next().unwrap().to_owned());
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn every_form_is_named_back() {
    for format in GraphFormat::ALL {
        assert_eq!(format.as_str().parse::<GraphFormat>().unwrap(), format);
    }
    assert!("png".parse::<GraphFormat>().is_err());
}
