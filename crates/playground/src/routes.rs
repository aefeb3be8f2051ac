//! The routes of the playground. Answers are computed one after the other, each by a process of its own.

use super::problems::{
    AboutProblems, CONTENT_TYPE, FAILED, FLEET, LINK, MALFORMED, PlayProblems, QuestionProblems, TOO_LARGE,
    TOO_MUCH_WORK,
};
use crate::{
    about::{About, Process},
    answer::{Answer, NoAnswer, Question},
    bytes::{Bytes, BytesQuestion},
    limits::{ARRIVAL, ARRIVING, BODY_BYTES, MEMORY, WORK, WORK_WHILE_OTHERS_WAIT},
    savings::{Savings, SavingsQuestion},
    worker::{Outcome, Task, compute},
};
use axum::{
    Json,
    body::to_bytes,
    extract::{Request, State},
    http::{HeaderMap, header},
};
use dunnage_inputs::{Code, Problem};
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use std::sync::Arc;
use tokio::{
    select,
    sync::{Semaphore, watch},
    time::{Duration, sleep, timeout},
};
use utoipa_axum::{router::OpenApiRouter, routes};

/// The playground of a process.
struct Playground {
    process: Process,
    /// The requests that arrive, and wait for their turn.
    arriving: Semaphore,
    /// The process that computes.
    turn: Semaphore,
    /// How many wait for their turn.
    waiting: watch::Sender<usize>,
}

/// One that waits for its turn.
struct Waiting<'p>(&'p watch::Sender<usize>);

/// Returns the routes. The process must have called [`crate::work_if_asked`] when it began.
pub fn routes<S: Clone + Send + Sync + 'static>(process: Process) -> OpenApiRouter<S> {
    let (arriving, turn) = (Semaphore::new(ARRIVING), Semaphore::new(1));
    let state = Playground { process, arriving, turn, waiting: watch::Sender::new(0) };
    OpenApiRouter::new()
        .routes(routes!(playground, play))
        .routes(routes!(play_bytes))
        .routes(routes!(play_savings))
        .with_state(Arc::new(state))
}

#[utoipa::path(get, path = "/api/play", tag = "playground", responses(
    (status = 200, description = "The limits of the playground, the links, and examples.", body = About),
    AboutProblems,
))]
async fn playground(State(state): State<Arc<Playground>>) -> Json<About> {
    Json(About::new(state.process))
}

#[utoipa::path(post, path = "/api/play", tag = "playground", request_body = Question, responses(
    (status = 200, description = "What the messages need, or the mistakes in them and in the schema.", body = Answer),
    PlayProblems,
))]
async fn play(
    State(state): State<Arc<Playground>>,
    request: Request,
) -> Result<Json<Box<RawValue>>, Problem> {
    state.take::<Question>(Task::Answer, request).await
}

#[utoipa::path(post, path = "/api/play/bytes", tag = "playground", request_body = BytesQuestion, responses(
    (status = 200, description = "The bytes of one of the messages in one format, and what they mean.", body = Bytes),
    QuestionProblems,
))]
async fn play_bytes(
    State(state): State<Arc<Playground>>,
    request: Request,
) -> Result<Json<Box<RawValue>>, Problem> {
    state.take::<BytesQuestion>(Task::Bytes, request).await
}

#[utoipa::path(post, path = "/api/play/savings", tag = "playground", request_body = SavingsQuestion, responses(
    (status = 200, description = "The changes of the schema that make the packed messages smaller.", body = Savings),
    QuestionProblems,
))]
async fn play_savings(
    State(state): State<Arc<Playground>>,
    request: Request,
) -> Result<Json<Box<RawValue>>, Problem> {
    state.take::<SavingsQuestion>(Task::Savings, request).await
}

impl Playground {
    /// Receives a question of the type `Q`, waits for its turn and answers. The work ends when the client leaves, because this is dropped.
    async fn take<Q: DeserializeOwned>(
        &self,
        task: Task,
        request: Request,
    ) -> Result<Json<Box<RawValue>>, Problem> {
        is_json(request.headers())?;
        // Until the answer is computed, the bytes of the request are in memory, so only some may wait.
        let _arriving = self.arriving.acquire().await.map_err(|_| failed())?;
        let body = timeout(ARRIVAL, to_bytes(request.into_body(), BODY_BYTES)).await.map_err(|_| {
            let detail = format!("the body did not arrive within {} s", ARRIVAL.as_secs());
            Problem::new(Code::BodyTimeout.into(), detail)
        })?;
        let body = body.map_err(|error| unread(&error))?;
        serde_json::from_slice::<Q>(&body).map_err(|error| malformed(&body, &error))?;
        let _turn = {
            let _waiting = Waiting::new(&self.waiting);
            self.turn.acquire().await.map_err(|_| failed())?
        };
        let outcome = select! {
            outcome = compute(task, &body) => outcome,
            () = sleep(WORK) => return Err(too_much(&format!("takes longer than {} s", WORK.as_secs()))),
            () = self.others_wait_after(WORK_WHILE_OTHERS_WAIT) => {
                let seconds = WORK_WHILE_OTHERS_WAIT.as_secs();
                return Err(too_much(&format!("takes longer than {seconds} s while others wait")));
            }
        };
        let outcome = outcome.map_err(|error| match error {
            None => too_much(&format!("takes more than {} MiB of memory", MEMORY >> 20)),
            Some(error) => {
                tracing::warn!(%error, "the playground has no answer");
                failed()
            }
        })?;
        match serde_json::from_slice::<Outcome<Box<RawValue>>>(&outcome).map_err(|_| failed())? {
            Outcome::Answer(answer) => Ok(Json(answer)),
            Outcome::Refused(reason) => Err(refused(reason)),
        }
    }

    /// Completes when somebody waits for the turn, but not before `time`.
    async fn others_wait_after(&self, time: Duration) {
        sleep(time).await;
        // The only error is that the sender is gone, which is `self`.
        let _ = self.waiting.subscribe().wait_for(|waiting| *waiting > 0).await;
    }
}

impl<'p> Waiting<'p> {
    fn new(count: &'p watch::Sender<usize>) -> Waiting<'p> {
        count.send_modify(|count| *count += 1);
        Waiting(count)
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        self.0.send_modify(|count| *count -= 1);
    }
}

/// A browser sends this type for a page of another site only after asking, and nobody answers that.
fn is_json(headers: &HeaderMap) -> Result<(), Problem> {
    let given = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok()).unwrap_or_default();
    let media_type = given.split(';').next().unwrap_or_default().trim();
    if media_type.eq_ignore_ascii_case("application/json") {
        return Ok(());
    }
    let detail = "the Content-Type must be application/json";
    Err(Problem::new(CONTENT_TYPE, detail))
}

fn unread(error: &axum::Error) -> Problem {
    let source = std::error::Error::source(error);
    if source.is_some_and(|source| source.to_string().contains("length limit exceeded")) {
        let detail = format!("the body has more than {BODY_BYTES} bytes");
        let problem = Problem::new(TOO_LARGE, detail);
        return problem.at("limit", Some(BODY_BYTES));
    }
    Problem::new(Code::Body.into(), format!("the body ended early: {error}"))
}

fn malformed(body: &[u8], error: &serde_json::Error) -> Problem {
    let lines = body.split_inclusive(|byte| *byte == b'\n').take(error.line().saturating_sub(1));
    let offset = lines.map(<[u8]>::len).sum::<usize>() + error.column().saturating_sub(1);
    let kind = match error.classify() {
        serde_json::error::Category::Eof => "truncated",
        serde_json::error::Category::Data => "type",
        _ => "malformed",
    };
    Problem::new(MALFORMED, error.to_string()).at(kind, Some(offset))
}

fn refused(reason: NoAnswer) -> Problem {
    let bad = |kind, detail: String| Problem::new(kind, detail).at("range", None);
    match reason {
        NoAnswer::Link(id) => bad(LINK, format!("there is no link {id:?}")),
        NoAnswer::Fleet(reason) => bad(FLEET, reason),
        NoAnswer::Plan => failed(),
    }
}

fn too_much(what: &str) -> Problem {
    let detail = format!("the answer {what}: give fewer messages, or a schema with less to check");
    Problem::new(TOO_MUCH_WORK, detail).at("limit", None)
}

fn failed() -> Problem {
    let detail = "the answer could not be computed; the fault is not in the request";
    Problem::new(FAILED, detail)
}
