//! SVG, light or dark as the page around it.

use std::fmt::Write as _;

use super::graph::{EdgeKind, Graph, GraphNode, NodeKind};
use super::layout::lay_out;

const LABEL_WIDTH: usize = 34;
const CHARACTER: f64 = 6.7;
const LINE: f64 = 16.0;
const PADDING: f64 = 10.0;
const GAP: f64 = 26.0;
const LAYER_GAP: f64 = 46.0;
const MARGIN: f64 = 16.0;

const STYLE: &str = "
  svg { background: #ffffff; color: #202124; }
  text { font: 12px ui-monospace, 'DejaVu Sans Mono', monospace; fill: #202124; }
  text.first { font-weight: bold; }
  text.note { font-size: 10px; fill: #5f6368; }
  .node { stroke-width: 1.4; }
  .context { fill: #f1f3f4; stroke: #5f6368; } .read { fill: #d2e3fc; stroke: #1967d2; }
  .write { fill: #feefc3; stroke: #b06000; } .send { fill: #fad2cf; stroke: #c5221f; }
  .spend { fill: #e9d2fd; stroke: #8430ce; } .result { fill: #ceead6; stroke: #137333; }
  .anything { fill: #ffffff; stroke: #c5221f; } .step { fill: #ffffff; stroke: #137333; }
  .edge { fill: none; stroke: #5f6368; stroke-width: 1.3; } .control { stroke-dasharray: 5 4; stroke: #9aa0a6; }
  .order { stroke-width: 2.6; }
  .tip { fill: #5f6368; }
  @media (prefers-color-scheme: dark) {
    svg { background: #1b1c1f; color: #e8eaed; }
    text { fill: #e8eaed; } text.note { fill: #9aa0a6; }
    .context { fill: #303134; stroke: #9aa0a6; } .read { fill: #1c3353; stroke: #8ab4f8; }
    .write { fill: #4a3a12; stroke: #fdd663; } .send { fill: #54201d; stroke: #f28b82; }
    .spend { fill: #3c2352; stroke: #c58af9; } .result { fill: #1c3b27; stroke: #81c995; }
    .anything { fill: #1b1c1f; stroke: #f28b82; } .step { fill: #1b1c1f; stroke: #81c995; }
    .edge { stroke: #9aa0a6; } .control { stroke: #5f6368; } .tip { fill: #9aa0a6; }
  }
";

pub(super) fn draw(graph: &Graph) -> String {
    let label = |node: &GraphNode| {
        let mut lines = node.label(LABEL_WIDTH);
        lines.extend(node.step_line(LABEL_WIDTH));
        lines
    };
    let labels: Vec<Vec<String>> = graph.nodes.iter().map(label).collect();
    let widths: Vec<f64> = labels.iter().map(|lines| box_width(lines)).collect();
    let edges = graph.drawn();
    let layout = lay_out(graph, &edges, &widths, GAP);
    let mut heights = vec![0.0_f64; layout.layers];
    for (lines, place) in labels.iter().zip(&layout.placed) {
        heights[place.layer] = heights[place.layer].max(box_height(lines));
    }
    let mut tops = Vec::with_capacity(heights.len());
    let mut at = MARGIN;
    for height in &heights {
        tops.push(at);
        at += height + LAYER_GAP;
    }
    let (width, height) = (layout.width + 2.0 * MARGIN, (at - LAYER_GAP + MARGIN + 18.0).max(60.0));
    let mut text = format!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\" aria-label=\"computation graph of a plan\">\n<style>{STYLE}</style>\n<defs><marker id=\"tip\" viewBox=\"0 0 8 8\" refX=\"7\" refY=\"4\" markerWidth=\"7\" markerHeight=\"7\" orient=\"auto\"><path class=\"tip\" d=\"M0 0L8 4L0 8z\"/></marker></defs>\n"
    );
    let middle = |index: usize| layout.placed[index].x + MARGIN;
    for (edge, way) in edges.iter().zip(&layout.ways) {
        let mut path = String::new();
        let upper = way.first().copied().unwrap_or(0);
        let bottom = |index: usize| {
            let layer = layout.placed[index].layer;
            let own = labels.get(index).map_or(heights[layer], |lines| box_height(lines));
            tops[layer] + own
        };
        let _ = write!(path, "M{:.1} {:.1}", middle(upper), bottom(upper));
        let (mut x, mut y) = (middle(upper), bottom(upper));
        for index in way.iter().skip(1) {
            let (next_x, next_y) = (middle(*index), tops[layout.placed[*index].layer]);
            let half = f64::midpoint(y, next_y);
            let _ = write!(path, " C{x:.1} {half:.1} {next_x:.1} {half:.1} {next_x:.1} {next_y:.1}");
            (x, y) = (next_x, next_y);
            // A point of a long edge goes straight through its layer.
            if *index >= graph.nodes.len() {
                y += heights[layout.placed[*index].layer];
                let _ = write!(path, " L{x:.1} {y:.1}");
            }
        }
        let upwards =
            way.first().and_then(|first| graph.nodes.get(*first)).is_some_and(|node| node.id != edge.from);
        let marker = if upwards { "marker-start" } else { "marker-end" };
        let class = match edge.kind {
            EdgeKind::Data => "edge",
            EdgeKind::Control => "edge control",
            EdgeKind::Order => "edge order",
        };
        let names: Vec<String> = edge.parameters.iter().map(|name| super::plain(name, 24)).collect();
        let title = format!("{} → {} {}", edge.from, edge.to, names.join(", "));
        let _ = writeln!(
            text,
            "<path class=\"{class}\" d=\"{path}\" {marker}=\"url(#tip)\"><title>{}</title></path>",
            escaped(title.trim())
        );
    }
    for ((node, lines), place) in graph.nodes.iter().zip(&labels).zip(&layout.placed) {
        write_box(
            &mut text,
            node,
            lines,
            (place.x + MARGIN - place.width / 2.0, tops[place.layer], place.width),
        );
    }
    let _ = writeln!(
        text,
        "<text class=\"note\" x=\"{MARGIN:.0}\" y=\"{:.0}\">solid: data; dashed: decides{}</text>\n</svg>",
        height - 8.0,
        if graph.frames().is_empty() { "" } else { "; thick: order of steps" }
    );
    text
}

fn box_width(lines: &[String]) -> f64 {
    let cells = |line: &String| line.chars().map(|one| if one.is_ascii() { 1.0 } else { 1.4 }).sum::<f64>();
    lines.iter().map(cells).fold(6.0, f64::max) * CHARACTER * 1.12 + 2.0 * PADDING
}

fn box_height(lines: &[String]) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "a label has few lines")]
    let count = lines.len() as f64;
    count * LINE + PADDING
}

fn write_box(text: &mut String, node: &GraphNode, lines: &[String], (left, top, width): (f64, f64, f64)) {
    let height = box_height(lines);
    let corner = if matches!(node.kind, NodeKind::Call | NodeKind::Step) { 5.0 } else { height / 2.0 };
    let _ = write!(
        text,
        "<g><rect class=\"node {}\" x=\"{left:.1}\" y=\"{top:.1}\" width=\"{width:.1}\" height=\"{height:.1}\" rx=\"{corner:.1}\"/>",
        node.class()
    );
    let mut y = top + LINE;
    for (place, line) in lines.iter().enumerate() {
        let class = if place == 0 { "first" } else { "other" };
        let _ = write!(
            text,
            "<text class=\"{class}\" x=\"{:.1}\" y=\"{y:.1}\">{}</text>",
            left + PADDING,
            escaped(line)
        );
        y += LINE;
    }
    text.push_str("</g>\n");
}

fn escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}
