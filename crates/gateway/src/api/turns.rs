//! Limits how many expensive answers are computed at the same time. Without a limit, a client that may read could use all memory or
//! processor time with many concurrent requests.

use dunnage_inputs::Problem;
use tokio::sync::{Semaphore, SemaphorePermit};

/// How many are computed at the same time. Further requests wait.
static TURNS: Semaphore = Semaphore::const_new(2);

/// Waits for a turn, which ends when the permit is dropped.
pub async fn turn() -> Result<SemaphorePermit<'static>, Problem> {
    // The only error is that the semaphore was closed, which never happens.
    TURNS.acquire().await.map_err(|_| Problem::unreadable())
}
