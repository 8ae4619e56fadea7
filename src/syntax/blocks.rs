//! Pairs every opener with its closer, to report a missing `end` or bracket where a reader looks for
//! it. The parser recovers from too much to do that well.

use emmylua_parser::LuaTokenKind as Kind;

use super::braces::BraceWatch;
use super::lines::Lines;
use super::tokens::{SourceFault, Token, begins_statement};

/// A fault in the pairing, with the place where it showed.
pub(super) struct PairFault {
    pub(super) fault: SourceFault,
    /// Byte offset of the token that shows the fault.
    pub(super) seen_at: usize,
}

struct Frame {
    kind: Kind,
    at: usize,
    /// `do` after `for` and `while`, `then` after `if`, until it comes.
    needs: Option<&'static str>,
}

impl Frame {
    fn new(kind: Kind, at: usize, needs: Option<&'static str>) -> Self {
        Self { kind, at, needs }
    }

    fn is_bracket(&self) -> bool {
        matches!(self.kind, Kind::TkLeftParen | Kind::TkLeftBrace | Kind::TkLeftBracket)
    }
}

/// How an opener is written.
fn spelled(kind: Kind) -> &'static str {
    kind.syntax_text().unwrap_or("block")
}

struct Pairing<'a> {
    lines: &'a Lines<'a>,
    frames: Vec<Frame>,
    /// The first `end` that is not indented like what it closes: opener and `end`.
    askew: Option<(Kind, usize, usize)>,
    /// The first `else if` on one line, which opens a second block.
    else_if: Option<usize>,
    last_else: Option<usize>,
    braces: BraceWatch,
}

/// What pairing found.
pub(super) struct Paired {
    /// The first fault in the pairing.
    pub(super) fault: Option<PairFault>,
    /// A brace where a block starts; any later fault may come from it.
    pub(super) brace: Option<SourceFault>,
}

/// Pairs `tokens`.
pub(super) fn pair(tokens: &[Token], lines: &Lines<'_>, size_bytes: usize) -> Paired {
    let mut pairing = Pairing {
        lines,
        frames: vec![Frame::new(Kind::None, 0, None)],
        askew: None,
        else_if: None,
        last_else: None,
        braces: BraceWatch::new(),
    };
    for (index, token) in tokens.iter().enumerate() {
        let (depth, needs) = (pairing.frames.len(), pairing.top().needs);
        pairing.braces.look(token, tokens.get(index + 1), (depth, needs), lines);
        if let Some(fault) = pairing.step(token) {
            let fault = Some(PairFault { fault, seen_at: token.span.0 });
            return Paired { fault, brace: pairing.braces.fault() };
        }
    }
    let brace = pairing.braces.fault();
    Paired { fault: pairing.unclosed(size_bytes), brace }
}

impl Pairing<'_> {
    fn top(&mut self) -> &mut Frame {
        if self.frames.is_empty() {
            self.frames.push(Frame::new(Kind::None, 0, None));
        }
        let last = self.frames.len() - 1;
        &mut self.frames[last]
    }

    fn open(&mut self, token: &Token, needs: Option<&'static str>) {
        self.frames.push(Frame::new(token.kind, token.span.0, needs));
    }

    fn close(&mut self) {
        if self.frames.len() > 1 {
            self.frames.pop();
        }
    }

    fn line_of(&self, offset: usize) -> u32 {
        self.lines.line(offset)
    }

    /// One token; the fault it shows, if any.
    fn step(&mut self, token: &Token) -> Option<SourceFault> {
        if let (Kind::TkIf, Some(before)) = (token.kind, self.last_else)
            && self.else_if.is_none()
            && self.line_of(before) == self.line_of(token.span.0)
        {
            self.else_if = Some(before);
        }
        self.last_else = (token.kind == Kind::TkElse).then_some(token.span.0);
        let fault = match token.kind {
            Kind::TkEnd => self.check_end(token),
            Kind::TkUntil | Kind::TkElse | Kind::TkElseIf => self.check_middle(token),
            Kind::TkRightParen | Kind::TkRightBrace | Kind::TkRightBracket => self.check_bracket(token),
            kind if begins_statement(kind) => self.check_needs(token),
            _ => None,
        };
        self.follow(token);
        fault
    }

    /// Opens and closes frames.
    fn follow(&mut self, token: &Token) {
        match token.kind {
            Kind::TkFunction
            | Kind::TkRepeat
            | Kind::TkLeftParen
            | Kind::TkLeftBrace
            | Kind::TkLeftBracket => {
                self.open(token, None);
            }
            Kind::TkIf => self.open(token, Some("then")),
            Kind::TkFor | Kind::TkWhile => self.open(token, Some("do")),
            Kind::TkDo => {
                if self.top().needs == Some("do") {
                    self.top().needs = None;
                } else {
                    self.open(token, None);
                }
            }
            Kind::TkThen => self.top().needs = None,
            Kind::TkElseIf => self.top().needs = Some("then"),
            Kind::TkEnd | Kind::TkUntil | Kind::TkRightParen | Kind::TkRightBrace | Kind::TkRightBracket => {
                self.close();
            }
            _ => {}
        }
    }

    fn check_needs(&mut self, token: &Token) -> Option<SourceFault> {
        let (needs, kind, at) = (self.top().needs?, self.top().kind, self.top().at);
        let line = self.line_of(at);
        Some(SourceFault::new(
            token.span,
            format!(
                "expected `{needs}` for the `{}` on line {line} before this `{}`",
                spelled(kind),
                spelled(token.kind)
            ),
            format!("write `{needs}` after the condition"),
        ))
    }

    fn check_end(&mut self, token: &Token) -> Option<SourceFault> {
        if let Some(fault) = self.check_needs(token) {
            return Some(fault);
        }
        let (kind, at, is_bracket) = (self.top().kind, self.top().at, self.top().is_bracket());
        let line = self.line_of(at);
        if kind == Kind::None {
            return Some(SourceFault::new(
                token.span,
                "this `end` closes nothing",
                self.with_hint("remove it, or look above for an `end` too many"),
            ));
        }
        if is_bracket {
            return Some(self.unclosed_bracket(token, kind, at));
        }
        if kind == Kind::TkRepeat {
            return Some(SourceFault::new(
                token.span,
                format!("the `repeat` on line {line} is closed by `until`, not by `end`"),
                "write `until CONDITION` here",
            ));
        }
        self.compare_indent(kind, at, token.span.0);
        None
    }

    /// `else`, `elseif`, `until`: each belongs to one kind of block.
    fn check_middle(&mut self, token: &Token) -> Option<SourceFault> {
        let (kind, at, is_bracket) = (self.top().kind, self.top().at, self.top().is_bracket());
        let wanted = if token.kind == Kind::TkUntil { Kind::TkRepeat } else { Kind::TkIf };
        if kind == wanted {
            return if kind == Kind::TkIf { self.check_needs(token) } else { None };
        }
        if is_bracket {
            return Some(self.unclosed_bracket(token, kind, at));
        }
        let word = spelled(token.kind);
        let message = match kind {
            Kind::None => format!("this `{word}` belongs to no `{}`", spelled(wanted)),
            _ => format!(
                "the `{}` on line {} needs its `end` before this `{word}`",
                spelled(kind),
                self.line_of(at)
            ),
        };
        Some(SourceFault::new(
            token.span,
            message,
            self.with_hint("every function, if, for, while and do has one `end`"),
        ))
    }

    fn check_bracket(&mut self, token: &Token) -> Option<SourceFault> {
        let (kind, at) = (self.top().kind, self.top().at);
        let opener = match token.kind {
            Kind::TkRightParen => Kind::TkLeftParen,
            Kind::TkRightBrace => Kind::TkLeftBrace,
            _ => Kind::TkLeftBracket,
        };
        if kind == opener {
            return None;
        }
        let word = spelled(token.kind);
        if self.top().is_bracket() {
            return Some(self.unclosed_bracket(token, kind, at));
        }
        let message = match kind {
            Kind::None => format!("this `{word}` closes nothing"),
            _ => format!(
                "the `{}` on line {} needs its `end` before this `{word}`",
                spelled(kind),
                self.line_of(at)
            ),
        };
        Some(SourceFault::new(token.span, message, self.with_hint("count the openers and closers above")))
    }

    fn unclosed_bracket(&self, token: &Token, kind: Kind, at: usize) -> SourceFault {
        let closer = match kind {
            Kind::TkLeftParen => ")",
            Kind::TkLeftBrace => "}",
            _ => "]",
        };
        SourceFault::new(
            token.span,
            format!(
                "the `{}` on line {} is not closed before this `{}`",
                spelled(kind),
                self.line_of(at),
                spelled(token.kind)
            ),
            format!("write `{closer}` before it"),
        )
    }

    fn unclosed(&mut self, size_bytes: usize) -> Option<PairFault> {
        let (kind, at) = (self.top().kind, self.top().at);
        if kind == Kind::None {
            return None;
        }
        let (closer, what) = match kind {
            Kind::TkLeftParen => (")", "bracket"),
            Kind::TkLeftBrace => ("}", "bracket"),
            Kind::TkLeftBracket => ("]", "bracket"),
            Kind::TkRepeat => ("until", "block"),
            _ => ("end", "block"),
        };
        if let Some(else_if) = self.else_if.filter(|_| closer == "end") {
            let fault = SourceFault::new(
                (else_if, else_if + "else".len()),
                "this `else if` opens a second block, and the plan ends without the `end` of one",
                "write `elseif`",
            );
            return Some(PairFault { fault, seen_at: size_bytes });
        }
        let word = spelled(kind);
        let span = (at, at + word.len());
        let fault = SourceFault::new(
            span,
            format!("this `{word}` is never closed: the plan ends without its `{closer}`"),
            self.with_hint(&format!("write `{closer}` where the {what} ends")),
        );
        Some(PairFault { fault, seen_at: size_bytes })
    }

    fn compare_indent(&mut self, kind: Kind, opener: usize, end: usize) {
        let same_line = self.line_of(opener) == self.line_of(end);
        let ((opener_width, _), (end_width, end_is_first)) =
            (self.lines.indent(opener), self.lines.indent(end));
        if self.askew.is_none() && !same_line && end_is_first && opener_width != end_width {
            self.askew = Some((kind, opener, end));
        }
    }

    fn with_hint(&self, help: &str) -> String {
        if let Some(else_if) = self.else_if {
            let line = self.line_of(else_if);
            return format!("{help}; the `else if` on line {line} opens a second block: write `elseif`");
        }
        match self.askew {
            None => help.to_owned(),
            Some((kind, opener, end)) => format!(
                "{help}; judging by the indentation, look at the `{}` on line {} and the `end` on line {}",
                spelled(kind),
                self.line_of(opener),
                self.line_of(end)
            ),
        }
    }
}
