//! The baseline: the minimal durable server. One thread writes the raw bodies to SQLite, many in a transaction, and each request is answered
//! after the commit. Nothing is decoded or counted.

use axum::{Router, body::Bytes, extract::State, http::StatusCode, routing::post};
use rusqlite::Connection;
use std::{net::SocketAddr, path::Path, thread};
use tokio::{
    net::TcpListener,
    sync::{mpsc, oneshot},
};

type Waiting = (Bytes, oneshot::Sender<()>);

/// Serves on a free port until the process ends. Returns the address.
pub async fn start(folder: &Path) -> Result<SocketAddr, Box<dyn std::error::Error>> {
    let connection = Connection::open(folder.join("buffer.sqlite3"))?;
    connection.execute_batch(
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
         CREATE TABLE messages (id INTEGER PRIMARY KEY, raw BLOB NOT NULL) STRICT;",
    )?;
    let (queue, waiting) = mpsc::channel(8192);
    thread::spawn(move || write(connection, waiting));
    let listener = TcpListener::bind(("127.0.0.1", 0)).await?;
    let address = listener.local_addr()?;
    let router = Router::new().route("/ingest/{device}", post(ingest)).with_state(queue);
    tokio::spawn(async move { axum::serve(listener, router).await });
    Ok(address)
}

async fn ingest(State(queue): State<mpsc::Sender<Waiting>>, body: Bytes) -> StatusCode {
    let (answer, durable) = oneshot::channel();
    if queue.try_send((body, answer)).is_ok() && durable.await.is_ok() {
        StatusCode::NO_CONTENT
    } else {
        StatusCode::SERVICE_UNAVAILABLE
    }
}

fn write(mut connection: Connection, mut waiting: mpsc::Receiver<Waiting>) {
    let mut batch: Vec<Waiting> = Vec::new();
    while waiting.blocking_recv_many(&mut batch, 1024) > 0 {
        // Dropping the senders makes the waiting requests answer 503.
        match insert(&mut connection, &batch) {
            Ok(()) => batch.drain(..).for_each(|(_, answer)| {
                let _ = answer.send(());
            }),
            Err(_) => batch.clear(),
        }
    }
}

fn insert(connection: &mut Connection, batch: &[Waiting]) -> rusqlite::Result<()> {
    let transaction = connection.transaction()?;
    {
        let mut statement = transaction.prepare_cached("INSERT INTO messages (raw) VALUES (?)")?;
        for (body, _) in batch {
            statement.execute([&body[..]])?;
        }
    }
    transaction.commit()
}
