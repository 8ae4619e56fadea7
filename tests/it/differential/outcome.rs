//! What a program did, in a form in which two engines can be compared.

use luaplan::base::Value;

/// How a run ended.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum End {
    Returned(Value),
    /// The code and the message.
    Failed(String, String),
    /// Something the comparison cannot judge: too long, or an argument that no tool is given.
    Unjudged(String),
}

/// Everything that can be seen of a run from outside.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) end: End,
    pub(crate) printed: String,
    /// The calls in their order, each with its arguments.
    pub(crate) calls: Vec<String>,
}

impl Outcome {
    pub(crate) fn is_unjudged(&self) -> bool {
        matches!(self.end, End::Unjudged(_))
    }

    /// Where `self` (Lua) and `other` differ, in words; `None` where they do not.
    pub(crate) fn difference(&self, other: &Outcome) -> Option<String> {
        if self.is_unjudged() || other.is_unjudged() {
            return None;
        }
        if self.calls != other.calls {
            let (left, right) = first_difference(&self.calls, &other.calls);
            return Some(format!("calls: Lua {left}\n       ours {right}"));
        }
        if self.printed != other.printed {
            let split = |text: &str| text.lines().map(str::to_owned).collect::<Vec<_>>();
            let (left, right) = first_difference(&split(&self.printed), &split(&other.printed));
            return Some(format!("printed: Lua {left}\n         ours {right}"));
        }
        if let (End::Returned(Value::Array(left)), End::Returned(Value::Array(right))) =
            (&self.end, &other.end)
        {
            let texts = |items: &[Value]| items.iter().map(text_of).collect::<Vec<_>>();
            let (left, right) = (texts(left), texts(right));
            if left == right {
                return None;
            }
            let (left, right) = first_difference(&left, &right);
            return Some(format!("returned: Lua {left}\n          ours {right}"));
        }
        (self.end != other.end).then(|| format!("end: Lua {:?}\n     ours {:?}", self.end, other.end))
    }
}

fn text_of(value: &Value) -> String {
    match value.as_bytes() {
        Some(bytes) => bytes.escape_ascii().to_string(),
        None => value.to_json().to_string(),
    }
}

fn first_difference(left: &[String], right: &[String]) -> (String, String) {
    let place = left.iter().zip(right).take_while(|(left, right)| left == right).count();
    let show = |list: &[String]| list.get(place).cloned().unwrap_or_else(|| "(nothing more)".to_owned());
    (format!("[{}] {}", place + 1, show(left)), format!("[{}] {}", place + 1, show(right)))
}
