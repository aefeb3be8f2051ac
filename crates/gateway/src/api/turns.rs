//! Bounds how many answers are made at the same time that take much memory or time. Without a bound, a client that may read could use all of
//! both with many requests at once.

use dunnage_inputs::Problem;
use tokio::sync::{Semaphore, SemaphorePermit};

/// How many are made at the same time. Further requests wait.
static TURNS: Semaphore = Semaphore::const_new(2);

/// Waits for a turn, which ends when the permit is dropped.
pub async fn turn() -> Result<SemaphorePermit<'static>, Problem> {
    // The only error is that the semaphore was closed, which never happens.
    TURNS.acquire().await.map_err(|_| Problem::unreadable())
}
