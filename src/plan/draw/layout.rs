//! Places nodes in layers, so that edges go down and cross rarely.

use std::collections::BTreeMap;

use super::graph::{Edge, Graph};

/// Rounds of putting each node under the middle of its neighbours.
const SWEEPS: usize = 8;
/// Room for a long edge that goes through a layer.
const POINT_WIDTH: f64 = 6.0;

/// A box or, on a long edge's way, a point: its layer, its place in the layer and its width.
#[derive(Debug, Clone)]
pub(super) struct Placed {
    pub(super) layer: usize,
    pub(super) x: f64,
    pub(super) width: f64,
}

/// What is drawn where.
#[derive(Debug)]
pub(super) struct Layout {
    /// By node of the graph, then the points of long edges.
    pub(super) placed: Vec<Placed>,
    /// The places each drawn edge goes through, from its upper to its lower end.
    pub(super) ways: Vec<Vec<usize>>,
    pub(super) width: f64,
    pub(super) layers: usize,
}

/// Lays the graph out; `widths` are those of the nodes, `gap` stands between two.
pub(super) fn lay_out(graph: &Graph, edges: &[&Edge], widths: &[f64], gap: f64) -> Layout {
    let place: BTreeMap<&str, usize> =
        graph.nodes.iter().enumerate().map(|(place, node)| (node.id.as_str(), place)).collect();
    let of = |id: &str| place.get(id).copied().unwrap_or(0);
    // Upwards edges, as loops make them, count as downwards.
    let ends: Vec<(usize, usize)> = edges
        .iter()
        .map(|edge| (of(&edge.from).min(of(&edge.to)), of(&edge.from).max(of(&edge.to))))
        .collect();
    let layers = layers(graph.nodes.len(), &ends);
    let mut placed: Vec<Placed> = layers
        .iter()
        .zip(widths)
        .map(|(layer, width)| Placed { layer: *layer, x: 0.0, width: *width })
        .collect();
    let mut ways = Vec::with_capacity(ends.len());
    for (from, to) in &ends {
        let mut way = vec![*from];
        for layer in layers[*from] + 1..layers[*to] {
            placed.push(Placed { layer, x: 0.0, width: POINT_WIDTH });
            way.push(placed.len() - 1);
        }
        way.push(*to);
        ways.push(way);
    }
    let count = placed.iter().map(|one| one.layer + 1).max().unwrap_or(0);
    let mut rows: Vec<Vec<usize>> = vec![Vec::new(); count];
    for (index, one) in placed.iter().enumerate() {
        rows[one.layer].push(index);
    }
    let mut above: Vec<Vec<usize>> = vec![Vec::new(); placed.len()];
    let mut below: Vec<Vec<usize>> = vec![Vec::new(); placed.len()];
    for pair in ways.iter().flat_map(|way| way.windows(2)) {
        if let [upper, lower] = pair {
            below[*upper].push(*lower);
            above[*lower].push(*upper);
        }
    }
    for row in &rows {
        pack(row, &mut placed, gap);
    }
    for sweep in 0..SWEEPS {
        let order: Vec<usize> =
            if sweep % 2 == 0 { (0..count).collect() } else { (0..count).rev().collect() };
        let neighbours = if sweep % 2 == 0 { &above } else { &below };
        for layer in order {
            arrange(&mut rows[layer], &mut placed, neighbours, gap);
        }
    }
    let left = placed.iter().map(|one| one.x - one.width / 2.0).fold(f64::INFINITY, f64::min);
    let left = if left.is_finite() { left } else { 0.0 };
    for one in &mut placed {
        one.x -= left;
    }
    let width = placed.iter().map(|one| one.x + one.width / 2.0).fold(0.0, f64::max);
    Layout { placed, ways, width, layers: count }
}

/// The longest way from above decides a node's layer.
fn layers(count: usize, ends: &[(usize, usize)]) -> Vec<usize> {
    let mut layers: Vec<usize> = vec![0; count];
    for node in 0..count {
        for (from, to) in ends {
            if *to == node && from != to {
                layers[node] = layers[node].max(layers[*from] + 1);
            }
        }
    }
    // A node without anything above stands right above what needs it.
    for node in (0..count).rev() {
        let has_above = ends.iter().any(|(from, to)| *to == node && from != to);
        let nearest =
            ends.iter().filter(|(from, to)| *from == node && from != to).map(|(_, to)| layers[*to]).min();
        if let (false, Some(nearest)) = (has_above, nearest) {
            layers[node] = nearest.saturating_sub(1);
        }
    }
    layers
}

/// Half the width of a node with the gap beside it. Edges may lie nearer to one another than boxes.
fn room(one: &Placed, gap: f64) -> f64 {
    let gap = if one.width > POINT_WIDTH { gap } else { gap / 3.0 };
    f64::midpoint(one.width, gap)
}

/// Puts a row's nodes side by side around the middle.
fn pack(row: &[usize], placed: &mut [Placed], gap: f64) {
    let whole: f64 = row.iter().map(|index| 2.0 * room(&placed[*index], gap)).sum();
    let mut at = -whole / 2.0;
    for index in row {
        let one = &mut placed[*index];
        let half = room(one, gap);
        one.x = at + half;
        at += 2.0 * half;
    }
}

/// Orders a row by where its neighbours are, and moves each node as near to them as the others let it.
fn arrange(row: &mut [usize], placed: &mut [Placed], neighbours: &[Vec<usize>], gap: f64) {
    let wish = |index: usize, placed: &[Placed]| -> f64 {
        let near = &neighbours[index];
        if near.is_empty() {
            return placed[index].x;
        }
        #[expect(clippy::cast_precision_loss, reason = "a count of neighbours is small")]
        let count = near.len() as f64;
        near.iter().map(|other| placed[*other].x).sum::<f64>() / count
    };
    let wishes: BTreeMap<usize, f64> = row.iter().map(|index| (*index, wish(*index, placed))).collect();
    row.sort_by(|one, other| wishes[one].total_cmp(&wishes[other]).then(one.cmp(other)));
    // A pass from the left, one from the right, and the middle of both.
    let mut from_left = Vec::with_capacity(row.len());
    let mut edge = f64::NEG_INFINITY;
    for index in row.iter() {
        let half = room(&placed[*index], gap);
        let x = wishes[index].max(edge + half);
        edge = x + half;
        from_left.push(x);
    }
    let mut from_right = vec![0.0; row.len()];
    let mut edge = f64::INFINITY;
    for (place, index) in row.iter().enumerate().rev() {
        let half = room(&placed[*index], gap);
        let x = wishes[index].min(edge - half);
        edge = x - half;
        from_right[place] = x;
    }
    for (place, index) in row.iter().enumerate() {
        placed[*index].x = f64::midpoint(from_left[place], from_right[place]);
    }
}
