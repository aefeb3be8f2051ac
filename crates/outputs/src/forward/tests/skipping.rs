//! Messages that need no call.

use super::{Bench, NAME};
use crate::{Breaker, Failed, Message, Named, Output, Partitions, Shape};
use dunnage_buffer::Position;
use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    time::Duration,
};
use tokio_util::sync::CancellationToken;

/// Delivers the messages of devices that begin with `w`, or fails to.
#[derive(Default)]
struct Picky {
    refuses: AtomicBool,
    calls: AtomicUsize,
}

fn is_wanted(message: &Message) -> bool {
    message.device.starts_with('w')
}

#[async_trait::async_trait]
impl Output for Picky {
    fn shape(&self) -> Shape {
        Shape { partitions: Partitions::PerDevice, batch: 4, linger: Duration::ZERO }
    }

    fn skip(&self, messages: &[Message]) -> bool {
        !messages.iter().any(is_wanted)
    }

    async fn deliver(&self, messages: &[Message]) -> Result<(), Failed> {
        if !messages.iter().any(is_wanted) {
            return Ok(());
        }
        self.calls.fetch_add(1, Ordering::Relaxed);
        Err(match self.refuses.load(Ordering::Relaxed) {
            true => Failed::refused("never"),
            false => Failed::retry("down"),
        })
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn skipped_messages_need_no_call_and_do_not_close_the_breaker() {
    let bench = Bench::new();
    let picky = Arc::new(Picky::default());
    let named = || Named {
        name: NAME.into(),
        concurrency: 16,
        expressions: Default::default(),
        output: Arc::clone(&picky) as Arc<dyn Output>,
    };
    let stop = CancellationToken::new();
    let running = tokio::spawn(bench.outputs.forwarder(named(), Position::default(), stop.clone()).run());
    bench.store(0..40, |n| format!("a{}", n % 3)).await;
    bench.until("all are skipped", |status| status.cursor == 40).await;
    assert_eq!(
        (bench.status().skipped, bench.status().delivered, picky.calls.load(Ordering::Relaxed)),
        (40, 0, 0)
    );
    // Five devices that fail open the breaker, and messages that are skipped in between do not close it.
    bench.store(0..5, |n| format!("w{n}")).await;
    bench.until("the breaker opens", |status| status.breaker == Breaker::Open).await;
    bench.store(0..20, |n| format!("a{n}")).await;
    tokio::time::sleep(Duration::from_millis(300)).await;
    assert_ne!(bench.status().breaker, Breaker::Closed);
    picky.refuses.store(true, Ordering::Relaxed);
    bench.until("all are resolved", |status| status.cursor == 65).await;
    assert_eq!((bench.status().skipped, bench.status().refused), (60, 5));
    assert_eq!(bench.dead_letters().await.len(), 5);
    stop.cancel();
    running.await.unwrap();
    bench.close().await;
}
