//! A generated program as a tree of lines, so that a failing one can be made smaller.

use std::fmt::Write as _;

/// A line, or a block of lines between two.
#[derive(Debug, Clone)]
pub(crate) enum Node {
    Line(String),
    Block { open: String, body: Vec<Node>, close: String },
}

/// A whole program.
#[derive(Debug, Clone)]
pub(crate) struct Program {
    pub(crate) body: Vec<Node>,
}

/// The start of every program: a printable form of any value, and a bound for all loops.
const HEAD: &str = r#"local out, fuel = {}, 3000
local function tick()
  fuel = fuel - 1
  if fuel < 0 then error("out of fuel", 0) end
end
local function dump(v, deep)
  deep = deep or 0
  local kind = type(v)
  if kind == "number" then
    if math.type(v) == "integer" then return "i" .. string.format("%d", v) end
    if v ~= v then return "nan" end
    return "f" .. string.format("%.17g", v)
  elseif kind == "string" then
    return string.format("%q", v)
  elseif kind == "table" then
    if deep > 3 then return "{..}" end
    local ints, names, rest = {}, {}, {}
    for k in next, v do
      if math.type(k) == "integer" then ints[#ints + 1] = k
      elseif type(k) == "string" then names[#names + 1] = k
      else rest[#rest + 1] = type(k) .. ":" .. dump(k, deep + 1) .. "=" .. dump(rawget(v, k), deep + 1) end
    end
    table.sort(ints)
    table.sort(names)
    table.sort(rest)
    local parts = {}
    for _, k in ipairs(ints) do parts[#parts + 1] = k .. "=" .. dump(rawget(v, k), deep + 1) end
    for _, k in ipairs(names) do parts[#parts + 1] = dump(k) .. "=" .. dump(rawget(v, k), deep + 1) end
    for _, text in ipairs(rest) do parts[#parts + 1] = text end
    return "{" .. table.concat(parts, ",") .. "}"
  elseif kind == "nil" or kind == "boolean" then
    return tostring(v)
  end
  return kind
end
local function emit(...)
  local list = {}
  for place = 1, select('#', ...) do list[place] = dump((select(place, ...))) end
  if #out < 300 then out[#out + 1] = string.sub(table.concat(list, " "), 1, 2000) end
end
local function cut(text) return string.sub(text, 1, 150) end
local function show(...)
  local list = {}
  for place = 1, select('#', ...) do list[place] = dump((select(place, ...))) end
  print(string.sub(table.concat(list, " "), 1, 500))
end
function run(context)
"#;

impl Program {
    pub(crate) fn source(&self) -> String {
        let mut text = HEAD.to_owned();
        write_nodes(&self.body, 1, &mut text);
        text.push_str("  return out\nend\n");
        text
    }

    /// The smallest program that still differs: leaves out one node after the other, as long as
    /// `differs` says that what is left shows it.
    pub(crate) fn shrink(mut self, differs: impl Fn(&Program) -> bool) -> Program {
        loop {
            let mut smaller = false;
            let mut place = 0;
            while place < count(&self.body) {
                let candidates = [remove(&self.body, place), unwrap(&self.body, place)];
                let found = candidates.into_iter().flatten().map(|body| Program { body }).find(&differs);
                match found {
                    Some(found) => {
                        self = found;
                        smaller = true;
                    }
                    None => place += 1,
                }
            }
            if !smaller {
                return self;
            }
        }
    }
}

fn write_nodes(nodes: &[Node], depth: usize, text: &mut String) {
    for node in nodes {
        match node {
            Node::Line(line) => {
                let _ = writeln!(text, "{:1$}{line}", "", depth * 2);
            }
            Node::Block { open, body, close } => {
                let _ = writeln!(text, "{:1$}{open}", "", depth * 2);
                write_nodes(body, depth + 1, text);
                let _ = writeln!(text, "{:1$}{close}", "", depth * 2);
            }
        }
    }
}

fn count(nodes: &[Node]) -> usize {
    nodes
        .iter()
        .map(|node| match node {
            Node::Line(_) => 1,
            Node::Block { body, .. } => 1 + count(body),
        })
        .sum()
}

/// Rebuilds `nodes` with what `change` makes of the node at `place`, counted in the order of lines.
fn with(nodes: &[Node], place: usize, change: &impl Fn(&Node) -> Option<Vec<Node>>) -> Option<Vec<Node>> {
    let mut left = place;
    for (index, node) in nodes.iter().enumerate() {
        let mut rebuilt = nodes.to_vec();
        if left == 0 {
            rebuilt.splice(index..=index, change(node)?);
            return Some(rebuilt);
        }
        left -= 1;
        if let Node::Block { open, body, close } = node {
            let inside = count(body);
            if left < inside {
                let body = with(body, left, change)?;
                rebuilt[index] = Node::Block { open: open.clone(), body, close: close.clone() };
                return Some(rebuilt);
            }
            left -= inside;
        }
    }
    None
}

fn remove(nodes: &[Node], place: usize) -> Option<Vec<Node>> {
    with(nodes, place, &|_| Some(Vec::new()))
}

fn unwrap(nodes: &[Node], place: usize) -> Option<Vec<Node>> {
    with(nodes, place, &|node| match node {
        Node::Block { body, .. } => Some(body.clone()),
        Node::Line(_) => None,
    })
}
