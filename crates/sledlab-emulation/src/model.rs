//! What answers requests, as the server sees it.

use std::collections::VecDeque;

use sledlab_core::{Error, Request, Result, Span, Time};
use sledlab_models::system::Contents;
use sledlab_sim::{Answer, Live, Outcome};

/// A system whose clock the server owns; see [`Live`], of which this is the part that tests and the probe of the host's
/// path replace.
pub(crate) trait Model: Send {
    /// Takes an operation that comes at `now`; tells its number and its stamp.
    fn submit(&mut self, now: Time, request: Request, answers: &mut Vec<Answer>) -> Result<(u64, Time)>;
    /// When `advance` has something to do.
    fn next_event(&self) -> Option<Time>;
    /// Does all that is due up to `now`.
    fn advance(&mut self, now: Time, answers: &mut Vec<Answer>) -> Result<()>;
    /// Requests that wait to be selected.
    fn queue_length(&self) -> usize;
    /// The end: the rest at once. No outcome where the model has none.
    fn finish(self: Box<Self>, answers: &mut Vec<Answer>) -> Result<Option<Outcome>>;
    /// The power fails; tells what blocks hold. See [`Live::crash`].
    fn crash(
        self: Box<Self>,
        at: Time,
        survives: &mut dyn FnMut() -> bool,
        answers: &mut Vec<Answer>,
    ) -> Result<Contents>;
}

impl Model for Live {
    fn submit(&mut self, now: Time, request: Request, answers: &mut Vec<Answer>) -> Result<(u64, Time)> {
        Live::submit(self, now, request, answers)
    }

    fn next_event(&self) -> Option<Time> {
        Live::next_event(self)
    }

    fn advance(&mut self, now: Time, answers: &mut Vec<Answer>) -> Result<()> {
        Live::advance(self, now, answers)
    }

    fn queue_length(&self) -> usize {
        Live::queue_length(self)
    }

    fn finish(self: Box<Self>, answers: &mut Vec<Answer>) -> Result<Option<Outcome>> {
        Live::finish(*self, answers).map(Some)
    }

    fn crash(
        self: Box<Self>,
        at: Time,
        survives: &mut dyn FnMut() -> bool,
        answers: &mut Vec<Answer>,
    ) -> Result<Contents> {
        Live::crash(*self, at, survives, answers).map(|(_, contents)| contents)
    }
}

/// A model without media.
pub(crate) fn keeps_nothing() -> Error {
    Error::internal("the power fails of a model that keeps no contents")
}

/// Everything takes equally long and nothing waits for anything.
#[derive(Debug)]
pub(crate) struct Constant {
    takes: Span,
    issued: u64,
    latest: Time,
    /// Whether answers are known when operations are submitted, or only when they are due.
    promises: bool,
    waiting: VecDeque<Answer>,
}

impl Constant {
    /// Answers are known ahead of their time.
    pub fn new(takes: Span) -> Self {
        Constant { takes, issued: 0, latest: Time::ZERO, promises: true, waiting: VecDeque::new() }
    }

    /// Answers are known only when they are due.
    #[cfg(test)]
    pub fn unforeseen(takes: Span) -> Self {
        Constant { promises: false, ..Constant::new(takes) }
    }
}

impl Model for Constant {
    fn submit(&mut self, now: Time, _: Request, answers: &mut Vec<Answer>) -> Result<(u64, Time)> {
        let now = now.max(self.latest + Span::from_ns(1));
        self.advance(now, answers)?;
        self.latest = now;
        let answer = Answer { id: self.issued, at: now + self.takes };
        self.issued += 1;
        if self.promises {
            answers.push(answer);
        } else {
            self.waiting.push_back(answer);
        }
        Ok((answer.id, now))
    }

    fn next_event(&self) -> Option<Time> {
        self.waiting.front().map(|answer| answer.at)
    }

    fn advance(&mut self, now: Time, answers: &mut Vec<Answer>) -> Result<()> {
        let due = self.waiting.partition_point(|answer| answer.at <= now);
        answers.extend(self.waiting.drain(..due));
        self.latest = self.latest.max(now);
        Ok(())
    }

    fn queue_length(&self) -> usize {
        self.waiting.len()
    }

    fn finish(self: Box<Self>, answers: &mut Vec<Answer>) -> Result<Option<Outcome>> {
        answers.extend(self.waiting);
        Ok(None)
    }

    fn crash(self: Box<Self>, _: Time, _: &mut dyn FnMut() -> bool, _: &mut Vec<Answer>) -> Result<Contents> {
        Err(keeps_nothing())
    }
}
