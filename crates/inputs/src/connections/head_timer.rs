//! The timeout for the head of a request: one timer for all requests of a connection.

use hyper::rt::{Sleep, Timer};
use std::{
    pin::Pin,
    sync::{Arc, Mutex, PoisonError},
    task::{Context, Poll},
    time::{Duration, Instant},
};
use tokio::time;

/// The timer of one connection. hyper requests a new timer for each head and drops it when the head is complete. With `TokioTimer`, each of
/// them is allocated, and added to and removed from the runtime's list under its lock. This one stays in the list. When it expires, it is
/// set to the deadline that applies by then.
#[derive(Clone, Default)]
pub struct HeadTimer(Arc<Mutex<Option<Pin<Box<time::Sleep>>>>>);

impl Timer for HeadTimer {
    fn sleep(&self, duration: Duration) -> Pin<Box<dyn Sleep>> {
        self.sleep_until(self.now() + duration)
    }

    fn sleep_until(&self, deadline: Instant) -> Pin<Box<dyn Sleep>> {
        Box::pin(Until { deadline: deadline.into(), timer: self.clone() })
    }

    fn now(&self) -> Instant {
        time::Instant::now().into()
    }
}

struct Until {
    deadline: time::Instant,
    timer: HeadTimer,
}

impl Sleep for Until {}

impl Future for Until {
    type Output = ();

    fn poll(self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<()> {
        let mut timer = self.timer.0.lock().unwrap_or_else(PoisonError::into_inner);
        let timer = timer.get_or_insert_with(|| Box::pin(time::sleep_until(self.deadline)));
        if timer.deadline() > self.deadline {
            timer.as_mut().reset(self.deadline);
        }
        while timer.as_mut().poll(cx).is_ready() {
            if timer.deadline() >= self.deadline {
                return Poll::Ready(());
            }
            timer.as_mut().reset(self.deadline);
        }
        Poll::Pending
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::future::poll_immediate;

    #[tokio::test(start_paused = true)]
    async fn each_wait_ends_at_its_own_time() {
        let begun = time::Instant::now();
        let timer = HeadTimer::default();
        for (begins, ends) in [(0, 10), (5, 15), (9, 19), (20, 21), (21, 22)] {
            time::sleep_until(begun + Duration::from_secs(begins)).await;
            let mut wait = timer.sleep_until((begun + Duration::from_secs(ends)).into());
            // Started, as by hyper, and dropped when the head arrives. The last of the overlapping waits continues.
            assert_eq!(poll_immediate(&mut wait).await, None);
            if ends >= 19 {
                wait.await;
                assert_eq!(begun.elapsed().as_secs(), ends);
            }
        }
    }

    #[tokio::test(start_paused = true)]
    async fn a_shorter_wait_after_a_longer_one_is_short() {
        let begun = time::Instant::now();
        let timer = HeadTimer::default();
        let mut long = timer.sleep(Duration::from_secs(60));
        assert_eq!(poll_immediate(&mut long).await, None);
        drop(long);
        timer.sleep(Duration::from_secs(1)).await;
        assert_eq!(begun.elapsed().as_secs(), 1);
    }
}
