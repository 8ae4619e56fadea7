//! DOT, for Graphviz.

use std::fmt::Write as _;

use super::graph::{EdgeKind, Graph, GraphNode, NodeKind};

const LABEL_WIDTH: usize = 48;

pub(super) fn draw(graph: &Graph) -> String {
    let mut text = String::from(
        "digraph plan {\n  graph [rankdir=TB, bgcolor=transparent];\n  node [shape=box, style=\"rounded,filled\", fontname=\"sans-serif\", fontsize=11];\n  edge [fontname=\"sans-serif\", fontsize=9];\n",
    );
    let frames = graph.frames();
    for (number, nodes) in frames.iter().enumerate() {
        let _ = writeln!(text, "  subgraph cluster{} {{\n    style=rounded; color=\"#137333\";", number + 1);
        for node in nodes {
            write_node(&mut text, "  ", node);
        }
        text.push_str("  }\n");
    }
    let framed = |node: &GraphNode| frames.iter().flatten().any(|inside| inside.id == node.id);
    for node in graph.nodes.iter().filter(|node| !framed(node)) {
        write_node(&mut text, "", node);
    }
    for edge in graph.drawn() {
        let parameters: Vec<String> =
            edge.parameters.iter().map(|name| escaped(&super::plain(name, 24))).collect();
        let style = match edge.kind {
            EdgeKind::Order => "style=bold".to_owned(),
            EdgeKind::Control => "style=dashed".to_owned(),
            EdgeKind::Data => format!("label=\"{}\"", parameters.join(", ")),
        };
        let _ = writeln!(text, "  {} -> {} [{style}];", edge.from, edge.to);
    }
    text.push_str("}\n");
    text
}

fn write_node(text: &mut String, indent: &str, node: &GraphNode) {
    let label: Vec<String> = node.label(LABEL_WIDTH).iter().map(|line| escaped(line)).collect();
    let shape = match node.kind {
        NodeKind::Context | NodeKind::Anything => "ellipse",
        NodeKind::Result => "hexagon",
        NodeKind::Step => "component",
        NodeKind::Call => "box",
    };
    let (fill, line) = colours(node.class());
    let _ = writeln!(
        text,
        "  {indent}{} [label=\"{}\", shape={shape}, fillcolor=\"{fill}\", color=\"{line}\"];",
        node.id,
        label.join("\\n")
    );
}

fn colours(class: &str) -> (&'static str, &'static str) {
    match class {
        "read" => ("#d2e3fc", "#1967d2"),
        "write" => ("#feefc3", "#b06000"),
        "send" => ("#fad2cf", "#c5221f"),
        "spend" => ("#e9d2fd", "#8430ce"),
        "result" => ("#ceead6", "#137333"),
        "step" => ("#ffffff", "#137333"),
        "anything" => ("#ffffff", "#c5221f"),
        _ => ("#e8eaed", "#5f6368"),
    }
}

fn escaped(text: &str) -> String {
    text.replace('\\', "\\\\").replace('"', "\\\"")
}
