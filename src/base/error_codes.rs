//! Every stable error code, with what it means and what to do.
//!
//! This table is the only place that spells a code. `docs/errors.md` is generated from it, and a
//! test compares the two.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

macro_rules! error_codes {
    ($($variant:ident = $text:literal, $meaning:literal, $remedy:literal;)+) => {
        /// A stable, machine-readable reason. The same text appears in CLI output, problem+json,
        /// the journal and what the planner is told.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum ErrorCode {
            $(#[doc = $meaning] $variant,)+
        }

        impl ErrorCode {
            /// Every code, in the order of the documentation.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The code as it is printed.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// What happened, in a sentence.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $meaning,)+ }
            }

            /// What to do next, in a sentence.
            #[must_use]
            pub const fn remedy(self) -> &'static str {
                match self { $(Self::$variant => $remedy,)+ }
            }
        }
    };
}

error_codes! {
    Usage = "usage", "The command line could not be understood.", "Read the usage line printed with it, or run the command with `--help`.";
    ConfigInvalid = "config_invalid", "A configuration value is missing, has the wrong type or makes no sense.", "Correct the named key; `luaplan config validate` checks the whole file.";
    ConfigUnknownKey = "config_unknown_key", "The configuration has a key luaplan does not know.", "Remove or correct it; the message names the nearest known key.";
    SecretTooShort = "secret_too_short", "A configured secret is so short that it would be found in ordinary words.", "Have one of 8 bytes or more issued and put it where the named key says; what is no secret belongs into another setting.";
    ConfigUnreadable = "config_unreadable", "A configuration file exists but cannot be read.", "Check its path and permissions.";
    BadRequest = "bad_request", "A request or an input could not be understood.", "Correct the named part and send it again.";
    NotFound = "not_found", "There is nothing under that name or id.", "List what there is, for example with `luaplan runs`.";
    Unauthorized = "unauthorized", "The request carries no valid API key.", "Send `Authorization: Bearer KEY` with a key from the configured file.";
    Forbidden = "forbidden", "The API key does not allow this.", "Use a key with the scope named in the message.";
    ApproverIsStarter = "approver_is_starter", "Who started a run may not decide about its calls.", "Ask another approver, or leave `approvers_other_than_starter` out of the policy file.";
    OriginRefused = "origin_refused", "The request comes from a web page of another site, or names this server by a name that is not its own.", "Address it as 127.0.0.1 or localhost and not from a web page, or configure `server.api_keys_file`.";
    MethodNotAllowed = "method_not_allowed", "The route does not take this HTTP method.", "Use a method the `Allow` header names.";
    RequestTimeout = "request_timeout", "The request was not complete or not answered in time.", "Send it again, or raise `server.request_timeout`.";
    RunNotActive = "run_not_active", "The run is not under way, so what was asked does not apply to it.", "Look at how it stands: `luaplan show RUN`.";
    PayloadTooLarge = "payload_too_large", "The request body is larger than the server accepts.", "Send less, or raise `server.body_limit`.";
    TooManyRequests = "too_many_requests", "The server runs as many runs as it may.", "Try again after the time in `Retry-After`, or raise `server.max_concurrent_runs`.";
    IdempotencyKeyReused = "idempotency_key_reused", "The idempotency key stands for another request already.", "Send each request under a key of its own, and repeat a request as it was.";
    IdempotencyInProgress = "idempotency_in_progress", "A request under the same idempotency key is being answered.", "Send it again after the time in `Retry-After`.";
    KeyLimit = "key_limit", "The API key holds as many requests, event streams or sessions as one key may.", "Let some of them end and try again after the time in `Retry-After`, or raise the key of `[server]` that the message names.";
    ServerBusy = "server_busy", "The server holds as many requests or sessions as it may.", "Try again after the time in `Retry-After`, or raise the key of `[server]` that the message names.";
    AnalysisBusy = "analysis_busy", "As many plans as may be wait to be checked or explained.", "Send the request again after the time in `Retry-After`.";
    ShuttingDown = "shutting_down", "The server is stopping and takes no new work.", "Send the request again after the restart.";
    Internal = "internal", "Something luaplan should have prevented happened.", "Report it with the log lines that carry the same run id.";

    ValueNotCarried = "value_not_carried", "A Lua value of a kind that has no JSON form (function, thread, userdata) was to leave the plan.", "Return or pass only nil, booleans, numbers, strings and tables of these.";
    ValueCyclic = "value_cyclic", "A table contains itself.", "Build a copy without the back reference.";
    ValueTooDeep = "value_too_deep", "A value is nested deeper than can be carried.", "Flatten it.";
    ValueTooLarge = "value_too_large", "A value has more nodes or bytes than can be carried.", "Pass a summary or a part of it.";
    ValueNotFinite = "value_not_finite", "NaN or an infinity has no JSON form.", "Test for it (`x ~= x`, `math.huge`) and pass nil or a string instead.";
    ValueKeyUnsupported = "value_key_unsupported", "A table mixes list and named keys, has holes, or has keys that are neither strings nor 1..n.", "Use either a list or a table with string keys.";
    ValueIntegerOutOfRange = "value_integer_out_of_range", "An integer does not fit 64 signed bits.", "Send it as a string.";

    CheckRefused = "check_refused", "The check found errors, so the plan was not run.", "Correct the findings listed with it; `luaplan check FILE` shows them.";
    PlanSyntax = "plan_syntax", "The plan is not valid Lua 5.4.", "Correct the line named.";
    PlanNoRun = "plan_no_run", "The plan defines no global function `run`.", "Define `function run(context) … end` at the top level.";
    PlanUnknownTool = "plan_unknown_tool", "The plan calls a name that is neither a tool nor defined in it.", "Use one of the tools `luaplan tools` lists; the message names the nearest.";
    PlanForbiddenGlobal = "plan_forbidden_global", "The plan uses a part of Lua that the sandbox does not have.", "Use a tool or the plan library instead.";
    EngineUnsupported = "engine_unsupported", "The plan uses a part of Lua that the chosen engine does not have.", "Write the named part otherwise, or run the plan on the engine `mlua`.";
    EngineFailed = "engine_failed", "The engine that ran the plan failed inside.", "Run the plan on the engine `mlua`, and report the plan.";
    PlanBadArgument = "plan_bad_argument", "A tool call in the plan has a missing, unknown or wrongly typed argument.", "Compare the call with the tool's parameters, `luaplan tools show NAME`.";
    PlanUnknownField = "plan_unknown_field", "The plan reads a field that the result of a tool or the context does not have.", "Use a field it has; the message names the nearest.";
    PlanNilIndex = "plan_nil_index", "The plan indexes or calls a value that is, or may be, nil.", "Test the value first.";
    PlanWrongKind = "plan_wrong_kind", "The plan uses a value as what it is not: joins a table to a text, goes over a record as a list, calls or indexes a number.", "Use a field of the value, or bring it into the kind that is needed.";
    PlanToolReplaced = "plan_tool_replaced", "The plan gives another value to the name of a tool.", "Choose another name.";
    PlanResultUnused = "plan_result_unused", "Nobody looks at the result of a tool call, so a failure shows only at the end of the run.", "Test the result's `error`.";
    PlanWriteInUnboundedLoop = "plan_write_in_unbounded_loop", "A call that writes, sends or spends stands in a loop that nothing bounds.", "Count the turns, or go over a list with `for`.";
    PlanCallInLoop = "plan_call_in_loop", "Calls are made one after another where one call, or calls side by side, would do.", "Give the tool a list, or use `parallel`.";
    PlanUnreachable = "plan_unreachable", "A part of the plan is never run.", "Remove it, or correct what stands before it.";
    PlanRunShadowed = "plan_run_shadowed", "`run` is defined more than once, or hidden by a local variable.", "Define `run` once.";
    PlanSecretWritten = "plan_secret_written", "A key, token or password is written into the plan.", "Keep it in the tools' configuration.";
    PlanAddressWritten = "plan_address_written", "An address is written into the plan that is neither in the task nor in the context.", "Make sure that it is meant.";
    PlanDynamicTool = "plan_dynamic_tool", "Which tool is called is worked out while the plan runs.", "Call the tool by its name.";
    PlanToolNotSetUp = "plan_tool_not_set_up", "The plan calls a tool that lacks configuration here; the call will fail.", "Set what the message names.";
    PlanTargetRefused = "plan_target_refused", "A call names what configuration or policy refuses, so it will fail.", "Name a target that is allowed, or allow it as the message says.";
    PlanTemplateRefused = "plan_template_refused", "A template of the plan cannot be filled: a fault in its syntax, a filter, test or template that there is not, a key that its data do not have.", "Correct the template at the place shown; `docs/tools.md` lists what templates have.";
    PlanSqlRefused = "plan_sql_refused", "The database refuses a statement of the plan; it was looked at and not executed.", "Correct the statement by the database's message; `luaplan tools describe query_db` shows tables and columns.";
    PlanSqlUnasked = "plan_sql_unasked", "A database could not be asked about the statements of the plan.", "Make the database reachable, or check without asking it.";
    PlanAllowWithoutReason = "plan_allow_without_reason", "A comment allows a finding without saying why, so it has no effect.", "Write the reason behind it.";
    PlanAllowUnused = "plan_allow_unused", "A comment allows what is not found, or what cannot be allowed.", "Remove the comment.";
    PlanBadParameter = "plan_bad_parameter", "A comment is meant to declare a parameter of the plan and does not.", "Write `-- luaplan: param(NAME, DEFAULT)`, the default as JSON.";
    PlanBadStep = "plan_bad_step", "A step of the plan cannot work as it is written: its name is used twice or cannot be one, or it depends on a step that no step is, that is declared later, or that depends on it.", "Give each step a name of its own, and declare it after the steps it depends on.";
    PlanTypesUnknown = "plan_types_unknown", "The types in the plan could not be worked out, so only names and literals were checked.", "Split the plan into smaller functions.";
    PlanTypesNotBuilt = "plan_types_not_built", "This build of luaplan infers no types, so only names and literals were checked.", "Check the plan with a build that has the feature `types`, as releases have.";

    IterationsExceeded = "iterations_exceeded", "An autonomous run worked on its task by as many plans as it may, and the task is not judged to be done.", "Read what is missing in the message; start the task again with a higher `--max-iterations`, or word it so that its end can be told.";
    PlanError = "plan_error", "The plan raised an error while running.", "Read the message and line; `luaplan show RUN` shows the plan and what happened before.";
    ToolErrorUsed = "tool_error_used", "The plan used the result of a failed call as if it had succeeded.", "Test `result.error` before using a result.";
    ToolErrorIgnored = "tool_error_ignored", "The plan ended without ever looking at the failed result of a call.", "Test `result.error` after each call and decide what to do.";
    RecordUsedAsList = "record_used_as_list", "A function that goes over a list was given a record: a table with named fields that a tool returned or the context holds.", "Use the field that holds the list, as in `ipairs(result.items)`; `pairs` goes over names and values.";
    MustFailed = "must_failed", "`must` was given the result of a failed call, or nil, so the plan did not go on.", "Look at the call that the message names; where the plan can do without its result, test `result.error` instead.";
    CallNotPossibleHere = "call_not_possible_here", "A tool was called where the VM cannot pause: in the callback of a string function.", "Make the call before and use its result there.";
    StepInvalid = "step_invalid", "The plan called `step` in a way that cannot work: with a name that is used or cannot be one, without a function, or depending on a step that has not ended.", "Correct what the message names; `luaplan check` finds it where the names are written as texts.";
    StepFailed = "step_failed", "A step of the plan failed in its last attempt.", "Look at what the message says of the failure; test the step's `error` where the plan can do without it.";
    StepSkipped = "step_skipped", "A step of the plan was not run, as a step it depends on failed or was skipped.", "Look at the step that failed.";
    SandboxViolation = "sandbox_violation", "The plan tried to reach past the sandbox.", "Remove the attempt; nothing outside the tools can be reached.";
    Cancelled = "cancelled", "The run was cancelled.", "Start it again if it is still wanted.";
    RunActive = "run_active", "The run is under way.", "Wait for its end, or end it: `luaplan cancel RUN`.";
    RunTakenOver = "run_taken_over", "The run belongs to another node now: this one's lease ran out, or the database lost what it had written.", "Look at the run (`luaplan show RUN`): it goes on elsewhere.";
    RunNotResumable = "run_not_resumable", "The run cannot go on from its journal.", "Read the message; start the run again, after looking at what it did: `luaplan show RUN`.";
    CallInDoubt = "call_in_doubt", "A call was begun and nobody knows whether it took effect; it is not made again without being asked.", "Look at the world, then `luaplan resume RUN` with `--retry CALL`, `--done CALL=JSON` or `--failed CALL=REASON`.";
    PauseRequested = "pause_requested", "Somebody asked the run to pause; it holds nothing and stands where it was.", "Go on with `luaplan resume RUN`.";
    EffectsRepeat = "effects_repeat", "The run already wrote, sent or spent something, which starting it over would do again.", "Look at the calls the message names; then `luaplan reset RUN --repeat-effects`, or `repeat_effects` over HTTP.";
    RunSleeping = "run_sleeping", "The plan sleeps; nothing of the run is held until it wakes.", "It goes on by itself where a service runs on the same data folder, else with `luaplan resume RUN`.";
    AgentDepth = "agent_depth", "Agents called agents as deep as they may.", "Let the plan do more itself, or raise `agent_depth`.";
    AgentWidens = "agent_widens", "An agent is granted tools that the run which calls it may not call; it was not started.", "Grant the calling agent these tools as well, or take them from the one that is called.";
    CallMarkedFailed = "call_marked_failed", "A person said that the call did not take effect.", "Go on without it, or make the call in a new run.";
    ReplayDiverged = "replay_diverged", "The plan did something else than what is on record.", "The plan, luaplan or a tool's manifest has changed since; start a new run.";
    CallNotOnRecord = "call_not_on_record", "The replayed plan asked for a call that the recorded run did not make.", "A replay makes no calls; run the plan to have it made.";
    WorkerCrashed = "worker_crashed", "The process that ran the plan ended before the plan did.", "Look at its signal or exit status; luaplan itself goes on. If the plan is a harmless one, report it.";
    WorkerProtocol = "worker_protocol", "The process that ran the plan sent something that is not in the protocol, and was ended.", "Report it with the plan and the log lines that carry the same run id.";
    WorkerUnavailable = "worker_unavailable", "No process could be started to run the plan in.", "Run `luaplan doctor`; the message says what the system refused.";
    Interrupted = "interrupted", "The process was asked to stop while the run was going.", "Go on with `luaplan resume RUN`, or start the run again.";

    LimitInstructions = "limit_instructions", "The plan used up its instructions.", "Make the plan do less, or raise the limit `instructions`.";
    LimitMemory = "limit_memory", "The plan used up its memory.", "Keep less at once, or raise the limit `memory`.";
    LimitWallTime = "limit_wall", "The run took longer than it may.", "Do less or call tools in batches, or raise the limit `wall`.";
    LimitCallDepth = "limit_depth", "Functions called one another deeper than allowed.", "Use a loop instead of recursion, or raise the limit `depth`.";
    LimitSourceBytes = "limit_source", "The plan's source is longer than allowed.", "Shorten it, or raise the limit `source`.";
    LimitOutputBytes = "limit_output", "The result of the run is larger than allowed.", "Return less, or raise the limit `output`.";
    LimitPrintBytes = "limit_print", "The plan printed more than allowed.", "Print less, or raise the limit `print`.";
    LimitToolCalls = "limit_tool_calls", "The plan made more tool calls than allowed.", "Use batch calls, or raise the limit `tool_calls`.";
    LimitResultBytes = "limit_result_bytes", "The tool results of the run are larger in sum than allowed.", "Ask for less, or raise the limit `result_bytes`.";
    LimitSteps = "limit_steps", "The plan declared more steps than it may; the limit is fixed.", "Make one step of what belongs together, for example of a loop.";
    LimitLlmTokens = "limit_llm_tokens", "The run used up its model tokens.", "Ask the model for less, or raise the limit `llm_tokens`.";
    LimitLlmCost = "limit_llm_cost", "The run used up its money for models.", "Use a cheaper model, or raise the limit `llm_cost`.";

    ToolUnknown = "tool_unknown", "There is no tool of that name, or it is not enabled.", "See `luaplan tools`.";
    ToolNotConfigured = "tool_not_configured", "The tool needs configuration that is missing; no call was made.", "Set the keys named in the message; `luaplan doctor` shows what is missing.";
    BadArguments = "bad_arguments", "The arguments do not fit the tool's parameters; no call was made.", "Compare with `luaplan tools show NAME`.";
    PermissionDenied = "permission_denied", "Policy or configuration does not allow this call; it was not made.", "The message names the rule or setting; `luaplan policy explain RUN` says which rules matched.";
    FlowRefused = "flow_refused", "What came from outside would decide where this call goes; it was not made.", "Take what decides from the task, the context or a trusted source; `luaplan explain FILE` shows the way of each argument.";
    ApprovalRequired = "approval_required", "A call, or the plan of a task, waits for a person's approval; the run is paused.", "Decide with `luaplan approve RUN CALL`; `luaplan approve` lists what waits.";
    AnswerRequired = "answer_required", "A person is asked, and has not answered; the run is paused.", "Answer with `luaplan answer RUN CALL TEXT`; `luaplan answer` lists the open questions.";
    AnswerStale = "answer_stale", "The question was answered already, or is no longer asked.", "List the open questions: `luaplan answer`.";
    QuestionUnanswered = "question_unanswered", "Nobody answered the question in time, and it has no default.", "Decide in the plan what follows, or give the call a `default`.";
    ApprovalDenied = "approval_denied", "A person denied the call, which was not made, or too many plans of the task.", "Read the reason; do without the call, or ask for another one.";
    ApprovalStale = "approval_stale", "The request was decided already, or the call it is about is no longer wanted.", "List what waits now: `luaplan approve`.";
    RateLimited = "rate_limited", "The tool's rate limit is used up and waiting would take too long.", "Wait for `retry_after_ms`, or call less often.";
    ToolTimeout = "tool_timeout", "The tool did not answer in time.", "Try again, ask for less, or raise the tool's `timeout`.";
    ToolFailed = "tool_failed", "The tool failed for a reason of its own.", "Read the message.";
    ResultTooLarge = "result_too_large", "A single tool result is larger than allowed.", "Ask for less, or raise the cap named in the message.";
    CallCut = "call_cut", "The run ended while the call was under way.", "Nothing is known about its effect; look before repeating it.";

    DatabaseUnknown = "database_unknown", "No database of that name is configured.", "Add it under `[tools.query_db] databases`.";
    DatabaseUnreachable = "database_unreachable", "The database could not be opened or reached.", "Check its address, user and password, and that it is running; `luaplan doctor` tries it.";
    QueryRefused = "query_refused", "The query is not allowed: it writes, has several statements, or names something unsafe.", "Send one reading statement, with parameters for values.";
    QueryFailed = "query_failed", "The database rejected the query.", "Read the database's message.";

    UrlInvalid = "url_invalid", "That is not a URL that can be fetched.", "Use an absolute http or https URL.";
    UrlBlocked = "url_blocked", "The address is not allowed: private, loopback, or not on the allow list.", "Add the host to `allow_hosts` under `[tools.NAME]` of the tool (`[tools.fetch_url]`) if it is meant.";
    FetchFailed = "fetch_failed", "The server could not be reached or broke off.", "Try again later.";
    HttpStatus = "http_status", "The server answered with a status that is not 2xx.", "Look at `status`.";
    TooManyRedirects = "too_many_redirects", "The server redirected more often than is followed.", "Use the final URL.";

    ResponseInvalid = "response_invalid", "What came back is not what the tool's manifest says.", "Compare the answer with the manifest; `luaplan tools test` makes one call.";
    CommandFailed = "command_failed", "The command ended with a status that means failure, or could not be started.", "Look at `exit_code` and `stderr`.";
    ConfinementMissing = "confinement_missing", "Commands run under bubblewrap, which is not there or cannot work here; nothing was run.", "Install bubblewrap (`bwrap`) and allow user namespaces, or grant `unconfined = true` under `[tools.NAME]`.";

    OpenapiUnusable = "openapi_unusable", "An OpenAPI document, or an operation of it, cannot become tools.", "Read the reason: it says what to mend in the document, or which option to give.";

    EmailInvalid = "email_invalid", "An address, subject or attachment cannot be sent as given.", "Correct the part named; line breaks are not allowed in headers.";
    RecipientDenied = "recipient_denied", "A recipient is not on the allow list; nothing was sent.", "Add it to `[tools.send_email] allow_recipients` if it is meant.";
    SmtpFailed = "smtp_failed", "The mail server could not be reached or refused the mail.", "Read the server's reply; `luaplan doctor` tries the connection.";

    TemplateUnknown = "template_unknown", "There is no template of that name.", "Put it into the templates folder, or pass the template text itself.";
    TemplateFailed = "template_failed", "The template is not valid or failed on this input.", "Read the message and line.";

    LlmNotConfigured = "llm_not_configured", "No model is configured.", "Set `[llm] provider` and `model`, and the key in the environment.";
    LlmKeyMissing = "llm_key_missing", "The environment variable with the model's key is not set; no call was made.", "Set the variable named in the message.";
    LlmUnauthorized = "llm_unauthorized", "The model provider refused the key.", "Check the key in the environment variable.";
    LlmRateLimited = "llm_rate_limited", "The model provider asks to wait.", "Try again after the time it names.";
    LlmTimeout = "llm_timeout", "The model did not answer in time.", "Try again or raise `llm.timeout`.";
    LlmUnavailable = "llm_unavailable", "The model provider failed or cannot be reached.", "Try again later or configure `llm.fallback`.";
    LlmStreamCut = "llm_stream_cut", "The model's answer broke off.", "Try again.";
    LlmInvalidReply = "llm_invalid_reply", "The model's answer does not follow its protocol.", "Check `llm.base_url` and the provider's kind.";
    LlmRefused = "llm_refused", "The model declined the task.", "Word the task differently or use another model.";
    LlmRequestRejected = "llm_request_rejected", "The model provider does not accept the request.", "Read the provider's message; check `llm.model`, `llm.base_url` and the other `llm` keys.";
    LlmNoProgram = "llm_no_program", "The model's answer holds no Lua program.", "Try again or use a stronger model.";
    LlmAsked = "llm_asked", "The model answered with a question instead of a program.", "Answer it in the words of the task, and give the task again: `luaplan task \"TASK. ANSWER\"`.";
    LlmContextOverflow = "llm_context_overflow", "The prompt is longer than the model accepts.", "Lower `llm.prompt_tokens`, or give a smaller context.";
    LlmCollapsed = "llm_collapsed", "The model repeated nearly the same wrong answer three times.", "Word the task differently or use another model.";
    LlmDepth = "llm_depth", "A model call was made from within too many model calls.", "Do not call models from plans that models started.";

    McpUnavailable = "mcp_unavailable", "An MCP server could not be started or reached, or broke off.", "Where it is a `command`, look at it and at what it writes (`log.filter = \"debug\"`); it is started again by itself. Where it is at a `url`, look whether that is right and reached from here.";
    McpChanged = "mcp_changed", "A tool of an MCP server is not what was accepted.", "Look at what it is now and accept it: `luaplan mcp accept NAME`.";
    McpFailed = "mcp_failed", "An MCP server answered a call with an error.", "Read its message; the call was made.";
    McpResultInvalid = "mcp_result_invalid", "An MCP server answered with what its own schema does not allow, or what cannot be carried.", "Report it to who makes the server.";
    McpLoginRequired = "mcp_login_required", "An MCP server wants a login, and there is none that holds.", "Log in: `luaplan mcp login NAME`; a client that is no person needs another `client_id` or secret.";
    McpLoginFailed = "mcp_login_failed", "The login to an MCP server came to nothing.", "Read its message; `luaplan mcp login NAME` begins again.";

    JournalUnavailable = "journal_unavailable", "The journal cannot be opened or written.", "Check the data folder's permissions and free space; nothing was done without a record.";
    JournalDiskFull = "journal_disk_full", "The disk that holds the journal is full.", "Free some space, and look at the run's last call: its intent is on record, its outcome may not be.";
    JournalCorrupt = "journal_corrupt", "The journal does not match its own hashes.", "Keep the file as evidence; `luaplan audit verify` says where it differs.";
    JournalNewerVersion = "journal_newer_version", "The journal was written by a newer luaplan.", "Use that version.";

    ContextConflict = "context_conflict", "The named context got a newer version meanwhile; nothing was saved.", "Load the newest version, apply the change to it and save again.";

    ListenRefused = "listen_refused", "The server may not listen on that address without API keys.", "Configure `server.api_keys_file`, or listen on 127.0.0.1.";
    ListenFailed = "listen_failed", "The address to listen on cannot be taken.", "Choose another port or end what uses it.";
    ContextHoldsSecret = "context_holds_secret", "A named context would hold a secret, which would stand in the data folder in clear.", "Return the context without it; tools take secrets from their configuration. What was saved before stays.";
    RunNotReplayable = "run_not_replayable", "The record of a run does not hold all that a replay needs.", "Choose a run that ended by itself, with real tools.";
    MockMissing = "mock_missing", "A plan under test called a tool for which the test has no mock.", "Add a mock for that call.";
    TestFailed = "test_failed", "At least one plan test failed.", "Read the failures listed.";
    FileExists = "file_exists", "A file that was to be written is already there; nothing is overwritten.", "Remove it first, or choose another place.";
    FileUnreadable = "file_unreadable", "A file named on the command line or in the configuration cannot be read.", "Check its path and permissions.";
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

impl FromStr for ErrorCode {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        Self::ALL.iter().copied().find(|code| code.as_str() == text).ok_or(())
    }
}

impl Serialize for ErrorCode {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.as_str())
    }
}

impl<'de> Deserialize<'de> for ErrorCode {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(|()| serde::de::Error::custom(format!("unknown error code `{text}`")))
    }
}
