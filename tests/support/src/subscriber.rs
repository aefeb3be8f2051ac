//! A subscriber to an MQTT broker, which collects messages, and connects again when the broker is back.

use crate::{runtime, wait::wait_for};
use dunnage_clients::mqtt::{Client, Event, Options, Publish, Version};
use std::{
    sync::{
        Arc, Mutex,
        atomic::{AtomicBool, AtomicU32, Ordering},
    },
    time::Duration,
};
use tokio::runtime::Runtime;

pub struct Subscriber {
    state: Arc<State>,
    /// Its task ends with it.
    _runtime: Runtime,
}

struct State {
    options: Options,
    subscribed: AtomicBool,
    received: Mutex<Vec<Arc<Publish>>>,
}

impl Subscriber {
    /// Subscribes to all topics of the broker at `port`, and waits until the broker has the subscription.
    pub fn new(port: u16) -> Subscriber {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let id = format!("subscriber-{}-{}", std::process::id(), NUMBER.fetch_add(1, Ordering::Relaxed));
        let options = Options::new(Version::V5, id, "127.0.0.1", port);
        let (subscribed, received) = Default::default();
        let state = Arc::new(State { options, subscribed, received });
        let runtime = runtime();
        runtime.spawn(Arc::clone(&state).run());
        let subscriber = Subscriber { state, _runtime: runtime };
        wait_for(|| if subscriber.is_subscribed() { Ok(()) } else { Err("not subscribed") });
        subscriber
    }

    pub fn is_subscribed(&self) -> bool {
        self.state.subscribed.load(Ordering::Acquire)
    }

    pub fn received(&self) -> Vec<Arc<Publish>> {
        self.state.received.lock().unwrap().clone()
    }

    /// Waits until it has received `count` messages.
    #[track_caller]
    pub fn wait(&self, count: usize) -> Vec<Arc<Publish>> {
        wait_for(|| {
            let received = self.received();
            if received.len() >= count { Ok(received) } else { Err(format!("{received:?}")) }
        })
    }
}

impl State {
    async fn run(self: Arc<State>) {
        loop {
            let _ = self.collect().await;
            self.subscribed.store(false, Ordering::Release);
            tokio::time::sleep(Duration::from_millis(20)).await;
        }
    }

    async fn collect(&self) -> Result<(), dunnage_clients::mqtt::Error> {
        let (mut client, _) = Client::connect(&self.options).await?;
        client.subscribe(&["#".to_owned()])?;
        loop {
            match client.next(true).await? {
                Event::Subscribed(answer) => {
                    answer.unwrap();
                    self.subscribed.store(true, Ordering::Release);
                }
                Event::Message(publish) => {
                    if publish.id != 0 {
                        client.acknowledge(publish.id);
                    }
                    self.received.lock().unwrap().push(Arc::new(publish));
                }
                Event::Acknowledged(..) | Event::Answered => {}
            }
        }
    }
}
