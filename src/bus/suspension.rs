//! Why a run is suspended. Only this module turns a suspension into an error, and into a record of the run.

use std::fmt;

use jiff::Timestamp;
use serde_json::{Value as Json, json};

use luaplan_base::{CallId, Error, ErrorCode, RunId, ToolFailure};
use luaplan_journal::{Actor, EventBody, Redactor, RunStatus};

use super::AskedQuestion;

/// Why a run is suspended. When it resumes, the suspended calls are started again.
#[derive(Debug, Clone, PartialEq)]
pub enum Suspension {
    /// A call sleeps.
    Until {
        /// The run that sleeps: this one, or that of an agent below it.
        run_id: RunId,
        /// When it resumes.
        wake_at: Timestamp,
    },
    /// Calls wait for a person's approval: the ids of the requests.
    Approvals(Vec<String>),
    /// Calls ask a person; at least one question.
    Questions(Vec<AskedQuestion>),
    /// Calls were started, and their outcomes are not on record.
    InDoubt(CallsInDoubt),
    /// A caller requested a pause.
    Requested {
        /// The run to pause: this one, or that of an agent below it.
        run_id: RunId,
    },
}

/// Calls that may or may not have taken effect.
#[derive(Debug, Clone, PartialEq)]
pub struct CallsInDoubt {
    /// The run that started them.
    pub run_id: RunId,
    /// The calls; at least one.
    pub calls: Vec<CallInDoubt>,
    /// Where that run is one of an agent: the agents that lead to it, the outermost first, each with its run.
    pub agents: Vec<(String, RunId)>,
}

/// A call that may or may not have taken effect.
#[derive(Debug, Clone, PartialEq)]
pub struct CallInDoubt {
    /// The call.
    pub call_id: CallId,
    /// The tool.
    pub tool: String,
    /// What a person needs to find its effect.
    pub facts: Json,
}

impl Suspension {
    /// The status of a run with this suspension.
    #[must_use]
    pub const fn status(&self) -> RunStatus {
        match self {
            Self::Until { .. } => RunStatus::Sleeping,
            Self::Approvals(_) | Self::Questions(_) | Self::InDoubt(_) | Self::Requested { .. } => {
                RunStatus::Paused
            }
        }
    }

    /// When it resumes by itself; `None` where it waits for a person, within a time or not.
    #[must_use]
    pub const fn wake_at(&self) -> Option<Timestamp> {
        match self {
            Self::Until { wake_at, .. } => Some(*wake_at),
            Self::Approvals(_) | Self::Questions(_) | Self::InDoubt(_) | Self::Requested { .. } => None,
        }
    }

    /// When it resumes without an answer: once the time of one of its questions is over.
    #[must_use]
    pub fn answer_by(&self) -> Option<Timestamp> {
        match self {
            Self::Questions(asked) => asked.iter().filter_map(|asked| asked.answer_by).min(),
            Self::Until { .. } | Self::Approvals(_) | Self::InDoubt(_) | Self::Requested { .. } => None,
        }
    }

    /// Whether it resumes once a person has decided about its calls, or answered.
    #[must_use]
    pub const fn waits_for_decision(&self) -> bool {
        match self {
            Self::Approvals(_) | Self::Questions(_) => true,
            Self::Until { .. } | Self::InDoubt(_) | Self::Requested { .. } => false,
        }
    }

    /// Whether it waits for a person's answer.
    #[must_use]
    pub const fn waits_for_answer(&self) -> bool {
        matches!(self, Self::Questions(_))
    }

    /// The suspension of the run that called the agent with this one.
    #[must_use]
    pub fn below(self, agent: &str, run_id: RunId) -> Self {
        match self {
            Self::InDoubt(mut doubt) => {
                doubt.agents.insert(0, (agent.to_owned(), run_id));
                Self::InDoubt(doubt)
            }
            Self::Until { .. } | Self::Approvals(_) | Self::Questions(_) | Self::Requested { .. } => self,
        }
    }

    /// The same without the secrets in it.
    #[must_use]
    pub fn redacted(self, redactor: &Redactor) -> Self {
        match self {
            Self::InDoubt(mut doubt) => {
                for call in &mut doubt.calls {
                    call.tool = redactor.text(&call.tool);
                    redactor.document(&mut call.facts);
                }
                for (agent, _) in &mut doubt.agents {
                    *agent = redactor.text(agent);
                }
                Self::InDoubt(doubt)
            }
            Self::Questions(mut asked) => {
                asked.iter_mut().for_each(|asked| asked.redact(redactor));
                Self::Questions(asked)
            }
            Self::Until { .. } | Self::Approvals(_) | Self::Requested { .. } => self,
        }
    }

    /// The error that the caller waiting for `run_id` gets in place of a result, with the exact next command.
    #[must_use]
    pub fn to_error(&self, run_id: &RunId) -> Error {
        let error = self.unnamed_error();
        match self {
            Self::Until { run_id: of, .. } | Self::Requested { run_id: of } => error.about_run(of),
            Self::InDoubt(_) => error,
            Self::Questions(asked) => match asked.first() {
                Some(first) => error.about_run(&first.run_id).about_call(first.call_id.as_str()),
                None => error.about_run(run_id),
            },
            Self::Approvals(ids) => {
                let error = error.about_run(run_id);
                match ids.first().and_then(|id| call_of(id)) {
                    Some(call) => error.about_call(call),
                    None => error,
                }
            }
        }
    }

    /// The event to record.
    #[must_use]
    pub fn event(&self, by: Option<&Actor>) -> EventBody {
        let (calls_in_doubt, approvals) = match self {
            Self::Until { wake_at, .. } => return EventBody::RunSleeping { wake_at: *wake_at },
            Self::Approvals(ids) => (Vec::new(), ids.clone()),
            Self::Questions(_) => (Vec::new(), Vec::new()),
            // Those of an agent are in the records of the agent's run.
            Self::InDoubt(doubt) if doubt.agents.is_empty() => (doubt.ids(), Vec::new()),
            Self::InDoubt(_) | Self::Requested { .. } => (Vec::new(), Vec::new()),
        };
        let questions = match self {
            Self::Questions(asked) => asked.iter().map(AskedQuestion::id).collect(),
            _ => Vec::new(),
        };
        let (by, os_user) = Actor::fields(by);
        let (reason, answer_by) = (self.message(), self.answer_by());
        EventBody::RunPaused { reason, calls_in_doubt, approvals, questions, answer_by, by, os_user }
    }

    fn message(&self) -> String {
        match self {
            Self::Until { wake_at, .. } => format!("the run sleeps until {wake_at:.0}"),
            Self::Approvals(ids) => match ids.len() {
                1 if ids.iter().any(|id| call_of(id) == Some(CallId::WHOLE_PLAN)) => {
                    "the plan waits for a person's approval".to_owned()
                }
                1 => "a call waits for a person's approval".to_owned(),
                count => format!("{count} calls wait for a person's approval"),
            },
            Self::Questions(asked) => match asked.as_slice() {
                [only] => format!("a person is asked: {}", only.head()),
                several => format!("a person is asked {} questions", several.len()),
            },
            Self::InDoubt(doubt) => doubt.message(),
            Self::Requested { .. } => "somebody asked the run to pause".to_owned(),
        }
    }

    fn unnamed_error(&self) -> Error {
        let (code, message) = (self.code(), self.message());
        let error = Error::new(code, message);
        match self {
            Self::Until { wake_at, .. } => error.with_detail("wake_at", wake_at.to_string()),
            Self::Approvals(ids) => error.with_detail("approvals", json!(ids)),
            Self::Questions(asked) => {
                let asked: Vec<Json> = asked.iter().map(AskedQuestion::to_json).collect();
                error.with_detail("questions", json!(asked))
            }
            Self::InDoubt(doubt) => {
                let facts: Vec<&Json> = doubt.calls.iter().map(|call| &call.facts).collect();
                let error = match doubt.agents.as_slice() {
                    [] => error.with_detail("calls_in_doubt", json!(doubt.ids())),
                    _ => error,
                };
                error.with_detail("calls", json!(facts)).with_help(doubt.help())
            }
            Self::Requested { .. } => error,
        }
    }

    pub(super) const fn code(&self) -> ErrorCode {
        match self {
            Self::Until { .. } => ErrorCode::RunSleeping,
            Self::Approvals(_) => ErrorCode::ApprovalRequired,
            Self::Questions(_) => ErrorCode::AnswerRequired,
            Self::InDoubt(_) => ErrorCode::CallInDoubt,
            Self::Requested { .. } => ErrorCode::PauseRequested,
        }
    }

    /// The suspensions of one batch's calls as one; `None` where there are none. A wait for a person takes precedence over
    /// a requested pause, that over a sleep, and of several sleeps the longest counts, as the plan resumes when all
    /// are over. Questions come after approvals: the run resumes for each in turn.
    pub(super) fn of_batch(asked: &[String], suspended: Vec<Self>) -> Option<Self> {
        let mut approvals = asked.to_vec();
        let (mut doubt, mut requested, mut longest) = (None, None, None::<Self>);
        let mut questions = Vec::new();
        for suspension in suspended {
            match suspension {
                Self::Approvals(ids) => approvals.extend(ids),
                Self::Questions(asked) => questions.extend(asked),
                Self::InDoubt(_) => doubt = doubt.or(Some(suspension)),
                Self::Requested { .. } => requested = requested.or(Some(suspension)),
                Self::Until { wake_at, .. } => {
                    if longest.as_ref().and_then(Self::wake_at) < Some(wake_at) {
                        longest = Some(suspension);
                    }
                }
            }
        }
        let approvals = (!approvals.is_empty()).then_some(Self::Approvals(approvals));
        let questions = (!questions.is_empty()).then_some(Self::Questions(questions));
        doubt.or(approvals).or(questions).or(requested).or(longest)
    }
}

/// The call of a request for approval: its id starts with run and call. A call of another run belongs to an agent.
fn call_of(approval_id: &str) -> Option<&str> {
    approval_id.split(':').nth(1)
}

impl fmt::Display for Suspension {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {}", self.code(), self.message())
    }
}

impl From<Suspension> for ToolFailure {
    /// The failure of a call that cannot be suspended, as no process would resume it.
    fn from(suspension: Suspension) -> Self {
        suspension.unnamed_error().into()
    }
}

impl CallsInDoubt {
    fn ids(&self) -> Vec<CallId> {
        self.calls.iter().map(|call| call.call_id.clone()).collect()
    }

    fn message(&self) -> String {
        let agents = self.agents.iter().map(|(agent, run_id)| format!("agent `{agent}`, run {run_id}: "));
        let calls: Vec<String> =
            self.calls.iter().map(|call| format!("{} `{}`", call.call_id, call.tool)).collect();
        format!("{}{} may or may not have taken effect", agents.collect::<String>(), calls.join(", "))
    }

    fn help(&self) -> String {
        let run = &self.run_id;
        let call = self.calls.first().map_or("CALL", |call| call.call_id.as_str());
        format!(
            "look whether it happened, then go on: `luaplan resume {run} --retry {call}` makes it again, \
             `--done {call}=JSON` takes it as done with that result, `--failed {call}=REASON` as not done"
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn until(second: i64) -> Suspension {
        let wake_at = Timestamp::from_second(second).unwrap();
        Suspension::Until { run_id: RunId::generate(), wake_at }
    }

    fn in_doubt(call: u64) -> Suspension {
        let call = CallInDoubt { call_id: CallId::single(call), tool: "pay".into(), facts: json!({}) };
        Suspension::InDoubt(CallsInDoubt { run_id: RunId::generate(), calls: vec![call], agents: Vec::new() })
    }

    fn question(call: u64, second: Option<i64>) -> Vec<AskedQuestion> {
        vec![AskedQuestion {
            run_id: RunId::generate(),
            call_id: CallId::single(call),
            question: "Which month?".into(),
            choices: Vec::new(),
            default: None,
            answer_by: second.map(|second| Timestamp::from_second(second).unwrap()),
        }]
    }

    #[test]
    fn of_what_a_batch_waits_for_the_first_in_rank_is_told() {
        let requested = Suspension::Requested { run_id: RunId::generate() };
        let approvals = |ids: &[&str]| Suspension::Approvals(ids.iter().map(|&id| id.to_owned()).collect());
        let of = |asked: &[&str], suspended: &[&Suspension]| {
            let asked: Vec<String> = asked.iter().map(|&id| id.to_owned()).collect();
            Suspension::of_batch(&asked, suspended.iter().map(|&suspension| suspension.clone()).collect())
        };
        let (near, far, doubt, other) = (until(1), until(2), in_doubt(1), in_doubt(2));
        assert_eq!(of(&[], &[]), None);
        assert_eq!(of(&[], &[&near, &far, &near]), Some(far.clone()));
        assert_eq!(of(&[], &[&far, &requested]), Some(requested.clone()));
        assert_eq!(of(&["a"], &[&requested, &approvals(&["b"]), &far]), Some(approvals(&["a", "b"])));
        let (one, two) = (question(1, None), question(2, Some(7)));
        let both = Suspension::Questions([one.clone(), two.clone()].concat());
        let (one, two) = (Suspension::Questions(one), Suspension::Questions(two));
        assert_eq!(of(&[], &[&far, &one, &requested, &two]), Some(both.clone()));
        assert_eq!((both.answer_by(), one.answer_by()), (Timestamp::from_second(7).ok(), None));
        assert_eq!(of(&["a"], &[&one, &two]), Some(approvals(&["a"])));
        assert_eq!(of(&["a"], &[&requested, &doubt, &other]), Some(doubt));
    }

    #[test]
    fn what_is_on_record_names_the_runs_own_calls_alone() {
        let record = |suspension: &Suspension| serde_json::to_value(suspension.event(None)).unwrap();
        let paused = |reason: &str, calls: Json| json!({ "event": "run_paused", "reason": reason, "calls_in_doubt": calls });
        assert_eq!(record(&until(0)), json!({ "event": "run_sleeping", "wake_at": "1970-01-01T00:00:00Z" }));
        let requested = Suspension::Requested { run_id: RunId::generate() };
        assert_eq!(record(&requested), paused("somebody asked the run to pause", json!([])));
        let doubt = in_doubt(3);
        assert_eq!(record(&doubt), paused("3 `pay` may or may not have taken effect", json!(["3"])));
        let above = record(&doubt.below("inner", RunId::generate()));
        assert_eq!(above["calls_in_doubt"], json!([]));
        let mut asked = paused("2 calls wait for a person's approval", json!([]));
        asked["approvals"] = json!(["a", "b"]);
        assert_eq!(record(&Suspension::Approvals(vec!["a".into(), "b".into()])), asked);
        let asks = question(3, Some(0));
        let mut paused = paused("a person is asked: Which month?", json!([]));
        paused["questions"] = json!([asks[0].id()]);
        paused["answer_by"] = json!("1970-01-01T00:00:00Z");
        assert_eq!(record(&Suspension::Questions(asks)), paused);
    }

    #[test]
    fn each_is_told_with_the_run_and_call_to_name_in_the_next_command() {
        let (own, agents) = (RunId::generate(), RunId::generate());
        let error = Suspension::Requested { run_id: agents.clone() }.to_error(&own);
        assert!(error.help().contains(agents.as_str()), "{}", error.help());
        let error = Suspension::Approvals(vec![format!("{agents}:7:0123")]).to_error(&own);
        assert!(error.help().contains(&format!("luaplan approve {own} 7")), "{}", error.help());
        assert_eq!(error.details()["approvals"], json!([format!("{agents}:7:0123")]));
        let doubt = in_doubt(3);
        let error = doubt.to_error(&own);
        assert_eq!(error.message(), "3 `pay` may or may not have taken effect");
        assert_eq!(error.details()["calls_in_doubt"], json!(["3"]));
        let above = doubt.below("inner", agents.clone()).below("outer", own.clone()).to_error(&own);
        let named = format!("agent `outer`, run {own}: agent `inner`, run {agents}: {}", error.message());
        assert_eq!((above.message(), above.help()), (named.as_str(), error.help()));
        assert!(!above.details().contains_key("calls_in_doubt") && above.details().contains_key("calls"));
    }
}
