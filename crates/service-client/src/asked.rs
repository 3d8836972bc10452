//! Blocks that are asked for together: cut up, sent, asked for again where a connection or an answer was lost, and put together in their order.

use std::time::Duration;

use futures_util::future::try_join;
use madrigal_core::Zeroizing;
use madrigal_intake::What;

use crate::blocks::{BLOCK, SERVERS, combine_block};
use crate::client::ServiceClient;
use crate::error::{BlockError, ClientError};
use crate::requests::{AnswerReceiver, Failed, RequestSender};
use crate::servers::Patience;

/// The most blocks that are cut up at once.
const TOGETHER: usize = 1024;

impl ServiceClient {
    /// Sends blocks as requests to a kind such as `aes-128`, and gives the answers, in the order of the blocks. `answered` is called with
    /// the number of answers that have come since the last time.
    ///
    /// Blocks without an answer, because it was lost or refused with a code that may be retried, are cut up and sent anew, until no answer has come for the
    /// configuration's patience.
    ///
    /// # Errors
    /// [`ClientError`] as [`ServiceClient::requests`]; [`ClientError::Refused`], and [`ClientError::Block`] where servers give different answers.
    pub async fn ask_blocks(
        &self,
        kind: &str,
        blocks: &[[u8; BLOCK]],
        mut answered: impl FnMut(usize) + Send,
    ) -> Result<Zeroizing<Vec<[u8; BLOCK]>>, ClientError> {
        let described = self.servers.kind(kind)?;
        // Requests of another size would have other numbers than blocks have.
        if let What::Requests {
            request_bytes,
            answer_bytes,
        } = described.what
            && (self.servers.len(), request_bytes, answer_bytes)
                != (SERVERS, BLOCK as u32, 2 * BLOCK as u32)
        {
            return Err(ClientError::Block {
                kind: kind.to_owned(),
                fault: BlockError::Size,
            });
        }
        let mut round = Round {
            kind,
            blocks,
            answers: Zeroizing::new(vec![[0; BLOCK]; blocks.len()]),
            left: (0..blocks.len()).collect(),
            why: None,
        };
        let mut patience = Patience::new(self.servers.config.patience);
        while !round.left.is_empty() {
            let before = round.left.len();
            let opened = match self.requests(kind).await {
                Ok((sender, receiver)) => round.ask(sender, receiver, &mut answered).await,
                Err(error) => Err(error),
            };
            let error = match opened {
                Ok(()) if round.left.is_empty() => break,
                Ok(()) => round.reason(),
                Err(error) if error.may_pass() => error,
                Err(error) => return Err(error),
            };
            if round.left.len() < before {
                patience = Patience::new(self.servers.config.patience);
            }
            if !patience.pause(Duration::ZERO).await {
                return Err(error);
            }
        }
        Ok(round.answers)
    }
}

/// Blocks, answers, and those that are still to be asked for.
struct Round<'a> {
    kind: &'a str,
    blocks: &'a [[u8; BLOCK]],
    answers: Zeroizing<Vec<[u8; BLOCK]>>,
    /// Places of blocks without answers.
    left: Vec<usize>,
    /// The last failure that may pass.
    why: Option<Failed>,
}

impl Round<'_> {
    /// Asks for what is left, over connections of its own.
    async fn ask(
        &mut self,
        mut sender: RequestSender,
        mut receiver: AnswerReceiver,
        answered: &mut (impl FnMut(usize) + Send),
    ) -> Result<(), ClientError> {
        let asked = std::mem::take(&mut self.left);
        let (places, blocks) = (&asked, self.blocks);
        let sends = async {
            for places in places.chunks(TOGETHER.min(sender.window().max(1))) {
                let some = places.iter().map(|&place| blocks[place]);
                let some: Zeroizing<Vec<_>> = Zeroizing::new(some.collect());
                match sender.send_blocks(&some).await {
                    Ok(_) => {}
                    // The receiver hears of connections that are lost, too.
                    Err(error) if error.may_pass() => break,
                    Err(error) => return Err(error),
                }
            }
            Ok(())
        };
        let mut done = vec![false; asked.len()];
        let receives = async {
            for _ in 0..asked.len() {
                // After the end of the connections there is nothing more, whatever was not sent.
                let Some(answer) = receiver.next().await else {
                    return Ok(());
                };
                let at = answer.number as usize - 1;
                match answer.shares {
                    Ok(shares) => {
                        let wrong = |fault| ClientError::Block {
                            kind: self.kind.to_owned(),
                            fault,
                        };
                        self.answers[asked[at]] = combine_block(&shares).map_err(wrong)?;
                        done[at] = true;
                        answered(1);
                    }
                    Err(failed) if failed.may_retry() => self.why = Some(failed),
                    Err(failed) => return Err(refused(failed)),
                }
            }
            Ok(())
        };
        let joined = try_join(sends, receives).await;
        let missing = asked.iter().zip(&done).filter(|(_, done)| !**done);
        self.left = missing.map(|(place, _)| *place).collect();
        joined.map(drop)
    }

    /// The reason for which blocks have no answers.
    fn reason(&mut self) -> ClientError {
        match self.why.take() {
            Some(failed) => refused(failed),
            // Connections that end tell each request why.
            None => ClientError::Body("the connections have ended".into()),
        }
    }
}

fn refused(failed: Failed) -> ClientError {
    ClientError::Refused {
        server: failed.server,
        code: failed.code,
        text: failed.text.to_string(),
    }
}
