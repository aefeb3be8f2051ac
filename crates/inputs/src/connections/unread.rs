//! Ends connections of clients that do not read: a write that makes no progress for too long fails.

use std::{
    io,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};
use tokio::{
    io::{AsyncRead, AsyncWrite, ReadBuf},
    time::{Sleep, sleep},
};

/// A stream whose writes fail with `TimedOut` when the peer accepts nothing for `limit`.
pub struct WriteDeadline<S> {
    stream: S,
    limit: Duration,
    deadline: Option<Pin<Box<Sleep>>>,
}

impl<S> WriteDeadline<S> {
    /// Wraps `stream`, whose peer may leave written bytes unread for at most `limit`.
    pub fn new(stream: S, limit: Duration) -> Self {
        WriteDeadline { stream, limit, deadline: None }
    }

    /// Starts the clock when a write has to wait, and stops it when the write makes progress.
    fn watch<T>(&mut self, cx: &mut Context<'_>, progress: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if progress.is_ready() {
            self.deadline = None;
            return progress;
        }
        let limit = self.limit;
        let deadline = self.deadline.get_or_insert_with(|| Box::pin(sleep(limit)));
        deadline.as_mut().poll(cx).map(|()| Err(io::ErrorKind::TimedOut.into()))
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for WriteDeadline<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        to: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_read(cx, to)
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for WriteDeadline<S> {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let progress = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.watch(cx, progress)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let progress = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.watch(cx, progress)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let progress = Pin::new(&mut self.stream).poll_flush(cx);
        self.watch(cx, progress)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let progress = Pin::new(&mut self.stream).poll_shutdown(cx);
        self.watch(cx, progress)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tokio::io::AsyncWriteExt;

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_stops_ends_the_write_after_the_limit() {
        let (ours, _theirs) = tokio::io::duplex(8);
        let begun = tokio::time::Instant::now();
        let e = WriteDeadline::new(ours, Duration::from_secs(30)).write_all(&[0; 9]).await.unwrap_err();
        assert_eq!(e.kind(), io::ErrorKind::TimedOut);
        assert_eq!(begun.elapsed().as_secs(), 30);
    }

    #[tokio::test(start_paused = true)]
    async fn a_reader_that_goes_on_is_given_the_limit_anew() {
        let (ours, mut theirs) = tokio::io::duplex(8);
        let reader = tokio::spawn(async move {
            let mut byte = [0; 8];
            for _ in 0..4 {
                sleep(Duration::from_secs(20)).await;
                tokio::io::AsyncReadExt::read_exact(&mut theirs, &mut byte).await.unwrap();
            }
        });
        WriteDeadline::new(ours, Duration::from_secs(30)).write_all(&[0; 32]).await.unwrap();
        reader.await.unwrap();
    }
}
