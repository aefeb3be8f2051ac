//! The routes of the playground. Answers are computed one after the other, each on a thread of its own.

use crate::{
    about::{About, Process},
    answer::{Answer, NoAnswer, Question, answer},
    bytes::{Bytes, BytesQuestion, explain},
    limits::{ARRIVAL, ARRIVING, BODY_BYTES, STACK, WORK},
};
use axum::{
    Json,
    body::to_bytes,
    extract::{Request, State},
    http::{HeaderMap, StatusCode, header},
};
use dunnage_inputs::Problem;
use serde::de::DeserializeOwned;
use std::{sync::Arc, thread::Builder};
use tokio::{
    sync::{OwnedSemaphorePermit, Semaphore, SemaphorePermit, oneshot},
    time::timeout,
};
use utoipa_axum::{router::OpenApiRouter, routes};

/// The playground of a process.
struct Playground {
    process: Process,
    /// The requests that arrive, and wait for their turn.
    arriving: Semaphore,
    /// The playground takes one of the turns, so that the others remain for the rest of the process.
    alone: Arc<Semaphore>,
    turns: &'static Semaphore,
}

/// The right to compute an answer.
struct Turn {
    // Returned first, so that the next answer of the playground does not take a second one.
    _shared: SemaphorePermit<'static>,
    _alone: OwnedSemaphorePermit,
}

/// Returns the routes. Expensive answers wait for a permit of `turns`.
pub fn routes<S: Clone + Send + Sync + 'static>(
    process: Process,
    turns: &'static Semaphore,
) -> OpenApiRouter<S> {
    let state =
        Playground { process, arriving: Semaphore::new(ARRIVING), alone: Arc::new(Semaphore::new(1)), turns };
    OpenApiRouter::new()
        .routes(routes!(playground, play))
        .routes(routes!(play_bytes))
        .with_state(Arc::new(state))
}

#[utoipa::path(get, path = "/api/play", tag = "playground", responses(
    (status = 200, description = "The limits of the playground, the links, and examples.", body = About),
    (status = 401, description = "`unauthorized`", body = Problem, content_type = "application/problem+json"),
    (status = 403, description = "`forbidden`", body = Problem, content_type = "application/problem+json"),
))]
async fn playground(State(state): State<Arc<Playground>>) -> Json<About> {
    Json(About::new(state.process))
}

#[utoipa::path(post, path = "/api/play", tag = "playground", request_body = Question, responses(
    (status = 200, description = "What the messages need, or the mistakes in them and in the schema.", body = Answer),
    (status = 400, description = "`malformed`, `body`, `link`, `fleet`", body = Problem, content_type = "application/problem+json"),
    (status = 401, description = "`unauthorized`", body = Problem, content_type = "application/problem+json"),
    (status = 403, description = "`forbidden`", body = Problem, content_type = "application/problem+json"),
    (status = 408, description = "`body-timeout`", body = Problem, content_type = "application/problem+json"),
    (status = 413, description = "`too-large`", body = Problem, content_type = "application/problem+json"),
    (status = 415, description = "`content-type`: the body must be `application/json`, which pages of other sites cannot send", body = Problem, content_type = "application/problem+json"),
    (status = 422, description = "`work`: the answer takes too long", body = Problem, content_type = "application/problem+json"),
    (status = 500, description = "`failed`", body = Problem, content_type = "application/problem+json"),
    (status = 503, description = "`answers`", body = Problem, content_type = "application/problem+json"),
))]
async fn play(State(state): State<Arc<Playground>>, request: Request) -> Result<Json<Answer>, Problem> {
    let (question, turn) = state.receive::<Question>(request).await?;
    turn.take(move || answer(&question)).await?.map(Json).map_err(refused)
}

#[utoipa::path(post, path = "/api/play/bytes", tag = "playground", request_body = BytesQuestion, responses(
    (status = 200, description = "The bytes of one of the messages in one format, and what they mean.", body = Bytes),
    (status = 400, description = "`malformed`, `body`", body = Problem, content_type = "application/problem+json"),
    (status = 401, description = "`unauthorized`", body = Problem, content_type = "application/problem+json"),
    (status = 403, description = "`forbidden`", body = Problem, content_type = "application/problem+json"),
    (status = 408, description = "`body-timeout`", body = Problem, content_type = "application/problem+json"),
    (status = 413, description = "`too-large`", body = Problem, content_type = "application/problem+json"),
    (status = 415, description = "`content-type`", body = Problem, content_type = "application/problem+json"),
    (status = 500, description = "`failed`", body = Problem, content_type = "application/problem+json"),
    (status = 503, description = "`answers`", body = Problem, content_type = "application/problem+json"),
))]
async fn play_bytes(State(state): State<Arc<Playground>>, request: Request) -> Result<Json<Bytes>, Problem> {
    let (question, turn) = state.receive::<BytesQuestion>(request).await?;
    turn.take(move || explain(&question)).await.map(Json)
}

impl Playground {
    /// Receives a question and waits for its turn. Until then, its bytes are in memory, so only some may.
    async fn receive<Q: DeserializeOwned>(&self, request: Request) -> Result<(Q, Turn), Problem> {
        is_json(request.headers())?;
        let _arriving = self.arriving.acquire().await.map_err(|_| failed())?;
        let body = timeout(ARRIVAL, to_bytes(request.into_body(), BODY_BYTES)).await.map_err(|_| {
            let detail = format!("the body did not arrive within {} s", ARRIVAL.as_secs());
            Problem::new(StatusCode::REQUEST_TIMEOUT, "body-timeout", "Body too slow", detail)
        })?;
        let body = body.map_err(|error| unread(&error))?;
        let question = serde_json::from_slice(&body).map_err(|error| malformed(&body, &error))?;
        let alone = Arc::clone(&self.alone).acquire_owned().await.map_err(|_| failed())?;
        let shared = self.turns.acquire().await.map_err(|_| failed())?;
        Ok((question, Turn { _shared: shared, _alone: alone }))
    }
}

impl Turn {
    /// Computes on a thread of its own. The turn ends with the work, which goes on when the client has left.
    async fn take<A: Send + 'static>(self, work: impl FnOnce() -> A + Send + 'static) -> Result<A, Problem> {
        let (done, answer) = oneshot::channel();
        let work = move || {
            let _turn = self;
            // The client may have left.
            let _ = done.send(work());
        };
        Builder::new().name("playground".into()).stack_size(STACK).spawn(work).map_err(|_| failed())?;
        answer.await.map_err(|_| failed())
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
    Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "content-type", "Unsupported media type", detail))
}

fn unread(error: &axum::Error) -> Problem {
    let source = std::error::Error::source(error);
    if source.is_some_and(|source| source.to_string().contains("length limit exceeded")) {
        let detail = format!("the body has more than {BODY_BYTES} bytes");
        let problem = Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "too-large", "Request too large", detail);
        return problem.at("limit", Some(BODY_BYTES));
    }
    Problem::new(StatusCode::BAD_REQUEST, "body", "Unreadable body", format!("the body ended early: {error}"))
}

fn malformed(body: &[u8], error: &serde_json::Error) -> Problem {
    let lines = body.split_inclusive(|byte| *byte == b'\n').take(error.line().saturating_sub(1));
    let offset = lines.map(<[u8]>::len).sum::<usize>() + error.column().saturating_sub(1);
    let kind = match error.classify() {
        serde_json::error::Category::Eof => "truncated",
        serde_json::error::Category::Data => "type",
        _ => "malformed",
    };
    Problem::new(StatusCode::BAD_REQUEST, "malformed", "Malformed request", error.to_string())
        .at(kind, Some(offset))
}

fn refused(reason: NoAnswer) -> Problem {
    let bad = |code, title, detail: String| {
        Problem::new(StatusCode::BAD_REQUEST, code, title, detail).at("range", None)
    };
    match reason {
        NoAnswer::TooLong => {
            let detail = format!(
                "the answer takes longer than {} s: give fewer messages, or a schema with less to check",
                WORK.as_secs()
            );
            Problem::new(StatusCode::UNPROCESSABLE_ENTITY, "work", "Too much work", detail).at("limit", None)
        }
        NoAnswer::Link(id) => bad("link", "Unknown link", format!("there is no link {id:?}")),
        NoAnswer::Fleet(error) => bad("fleet", "Fleet out of range", error.to_string()),
        NoAnswer::Plan => failed(),
    }
}

fn failed() -> Problem {
    let detail = "the answer could not be computed; the fault is not in the request";
    Problem::new(StatusCode::INTERNAL_SERVER_ERROR, "failed", "Not computed", detail)
}
