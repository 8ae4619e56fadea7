//! Mermaid.

use std::fmt::Write as _;

use super::graph::{EdgeKind, Graph, GraphNode, NodeKind};

const LABEL_WIDTH: usize = 48;

/// Colours that read on light and on dark pages.
const CLASSES: [(&str, &str); 8] = [
    ("context", "fill:#e8eaed,stroke:#5f6368,color:#202124"),
    ("read", "fill:#d2e3fc,stroke:#1967d2,color:#202124"),
    ("write", "fill:#feefc3,stroke:#b06000,color:#202124"),
    ("send", "fill:#fad2cf,stroke:#c5221f,color:#202124"),
    ("spend", "fill:#e9d2fd,stroke:#8430ce,color:#202124"),
    ("step", "fill:#ffffff,stroke:#137333,color:#202124"),
    ("result", "fill:#ceead6,stroke:#137333,color:#202124"),
    ("anything", "fill:#ffffff,stroke:#c5221f,color:#202124"),
];

pub(super) fn draw(graph: &Graph) -> String {
    let mut text = String::from("flowchart TD\n");
    let frames = graph.frames();
    for (number, nodes) in frames.iter().enumerate() {
        let _ = writeln!(text, "  subgraph frame{}[\" \"]", number + 1);
        for node in nodes {
            write_node(&mut text, "  ", node);
        }
        text.push_str("  end\n");
    }
    let framed = |node: &GraphNode| frames.iter().flatten().any(|inside| inside.id == node.id);
    for node in graph.nodes.iter().filter(|node| !framed(node)) {
        write_node(&mut text, "", node);
    }
    for edge in graph.drawn() {
        let parameters: Vec<String> =
            edge.parameters.iter().map(|name| escaped(&super::plain(name, 24))).collect();
        let arrow = match (edge.kind, parameters.is_empty()) {
            (EdgeKind::Order, _) => "==>".to_owned(),
            (EdgeKind::Control, _) => "-.->".to_owned(),
            (EdgeKind::Data, true) => "-->".to_owned(),
            (EdgeKind::Data, false) => format!("-->|\"{}\"|", parameters.join(", ")),
        };
        let _ = writeln!(text, "  {} {arrow} {}", edge.from, edge.to);
    }
    for (class, style) in CLASSES {
        if graph.nodes.iter().any(|node| node.class() == class) {
            let _ = writeln!(text, "  classDef {class} {style}");
        }
    }
    text
}

fn write_node(text: &mut String, indent: &str, node: &GraphNode) {
    let label: Vec<String> = node.label(LABEL_WIDTH).iter().map(|line| escaped(line)).collect();
    let label = label.join("<br/>");
    let (open, close) = match node.kind {
        NodeKind::Context | NodeKind::Anything => ("([\"", "\"])"),
        NodeKind::Result => ("{{\"", "\"}}"),
        NodeKind::Step => ("[[\"", "\"]]"),
        NodeKind::Call => ("[\"", "\"]"),
    };
    let _ = writeln!(text, "  {indent}{}{open}{label}{close}:::{}", node.id, node.class());
}

/// Everything but letters, digits and a few signs as an entity, as Mermaid writes them.
fn escaped(text: &str) -> String {
    let mut escaped = String::new();
    for character in text.chars() {
        let harmless = character.is_alphanumeric()
            || matches!(
                character,
                ' ' | '.' | ',' | '_' | '-' | '=' | '/' | ':' | '…' | '·' | '≤' | '×' | '∞'
            );
        if harmless {
            escaped.push(character);
        } else {
            let _ = write!(escaped, "#{};", u32::from(character));
        }
    }
    escaped
}
