//! The standard streams as a transport on which every request is answered.
//!
//! The library's own leaves a line out that is no message in its eyes, and a client then waits for ever.

use std::io;
use std::sync::Arc;
use std::thread;

use rmcp::RoleServer;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncWriteExt, Stdout};
use tokio::sync::{Mutex, mpsc};
use tokio::task::JoinSet;

use super::incoming::{Incoming, Lines};

/// How many refusals may wait for a client that does not read its answers.
const MAX_WAITING: usize = 64;

/// Reads on a thread of its own, which ends with the input, or with the process.
#[derive(Debug)]
pub(super) struct Stdio {
    incoming: mpsc::Receiver<Incoming>,
    output: Output,
    refusals: JoinSet<()>,
}

type Output = Arc<Mutex<Option<Stdout>>>;

impl Stdio {
    pub(super) fn start() -> io::Result<Self> {
        let (sender, incoming) = mpsc::channel(1);
        let read = move || {
            let mut lines = Lines::new(io::stdin().lock());
            // Nobody receives any more once the server ends.
            while let Some(message) = lines.next()
                && sender.blocking_send(message).is_ok()
            {}
        };
        thread::Builder::new().name("attache-stdin".to_owned()).spawn(read)?;
        let output = Arc::new(Mutex::new(Some(tokio::io::stdout())));
        Ok(Self { incoming, output, refusals: JoinSet::new() })
    }
}

async fn write(output: Output, message: TxJsonRpcMessage<RoleServer>) -> io::Result<()> {
    let mut line = serde_json::to_vec(&message)?;
    line.push(b'\n');
    let mut output = output.lock().await;
    let output = output.as_mut().ok_or(io::ErrorKind::NotConnected)?;
    output.write_all(&line).await?;
    output.flush().await
}

impl Transport<RoleServer> for Stdio {
    type Error = io::Error;

    fn send(
        &mut self,
        message: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        write(Arc::clone(&self.output), message)
    }

    /// May be given up at any time: a refusal is written by a task of its own.
    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        loop {
            while self.refusals.len() >= MAX_WAITING {
                self.refusals.join_next().await;
            }
            while self.refusals.try_join_next().is_some() {}
            match self.incoming.recv().await? {
                Incoming::Message(message) => return Some(*message),
                Incoming::Refused(refusal) => {
                    let written = write(Arc::clone(&self.output), *refusal);
                    self.refusals.spawn(async move {
                        if let Err(error) = written.await {
                            tracing::warn!(%error, "a refusal could not be written");
                        }
                    });
                }
            }
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        while self.refusals.join_next().await.is_some() {}
        self.output.lock().await.take();
        Ok(())
    }
}
