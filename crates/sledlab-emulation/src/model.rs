//! The interface between the server and the model that it serves.

use std::collections::VecDeque;

use sledlab_core::{Error, Request, Result, Span, Time};
use sledlab_models::system::Contents;
use sledlab_sim::{Answer, LiveRun, Outcome};

/// A system driven by the server's clock; the methods are those of [`LiveRun`]. Tests and the probe of the host path
/// use other models.
pub(crate) trait Model: Send {
    /// Submits an operation that arrives at `now`; returns its number and the time at which it counts as arrived.
    fn submit(&mut self, now: Time, request: Request, answers: &mut Vec<Answer>) -> Result<(u64, Time)>;
    /// When `advance` has something to do next.
    fn next_event(&self) -> Option<Time>;
    /// Simulates all events that are due up to `now`; adds the completions to `answers`.
    fn advance(&mut self, now: Time, answers: &mut Vec<Answer>) -> Result<()>;
    /// Requests that wait to be selected by the scheduler.
    fn queue_length(&self) -> usize;
    /// Simulates all remaining events and ends. Returns no outcome if the model has none.
    fn finish(self: Box<Self>, answers: &mut Vec<Answer>) -> Result<Option<Outcome>>;
    /// Simulates a power failure; returns the contents of every block afterwards. See [`LiveRun::crash`].
    fn crash(
        self: Box<Self>,
        at: Time,
        survives: &mut dyn FnMut() -> bool,
        answers: &mut Vec<Answer>,
    ) -> Result<Contents>;
}

impl Model for LiveRun {
    fn submit(&mut self, now: Time, request: Request, answers: &mut Vec<Answer>) -> Result<(u64, Time)> {
        LiveRun::submit(self, now, request, answers)
    }

    fn next_event(&self) -> Option<Time> {
        LiveRun::next_event(self)
    }

    fn advance(&mut self, now: Time, answers: &mut Vec<Answer>) -> Result<()> {
        LiveRun::advance(self, now, answers)
    }

    fn queue_length(&self) -> usize {
        LiveRun::queue_length(self)
    }

    fn finish(self: Box<Self>, answers: &mut Vec<Answer>) -> Result<Option<Outcome>> {
        LiveRun::finish(*self, answers).map(Some)
    }

    fn crash(
        self: Box<Self>,
        at: Time,
        survives: &mut dyn FnMut() -> bool,
        answers: &mut Vec<Answer>,
    ) -> Result<Contents> {
        LiveRun::crash(*self, at, survives, answers).map(|(_, contents)| contents)
    }
}

/// The error of a model that does not store contents of blocks.
pub(crate) fn no_contents_error() -> Error {
    Error::internal("power failure of a model that stores no contents")
}

/// A model whose operations all take equally long, and none waits for another.
#[derive(Debug)]
pub(crate) struct ConstantModel {
    duration: Span,
    issued: u64,
    latest: Time,
    /// Whether completions are known when operations are submitted, or only when they are due.
    answers_at_submit: bool,
    waiting: VecDeque<Answer>,
}

impl ConstantModel {
    /// A model whose completions are known when operations are submitted.
    pub fn new(duration: Span) -> Self {
        ConstantModel {
            duration,
            issued: 0,
            latest: Time::ZERO,
            answers_at_submit: true,
            waiting: VecDeque::new(),
        }
    }

    /// A model whose completions are known only when they are due.
    #[cfg(test)]
    pub fn with_late_answers(duration: Span) -> Self {
        ConstantModel { answers_at_submit: false, ..ConstantModel::new(duration) }
    }
}

impl Model for ConstantModel {
    fn submit(&mut self, now: Time, _: Request, answers: &mut Vec<Answer>) -> Result<(u64, Time)> {
        let now = now.max(self.latest + Span::from_ns(1));
        self.advance(now, answers)?;
        self.latest = now;
        let time = now + self.duration;
        let answer = Answer { id: self.issued, time, durable: time };
        self.issued += 1;
        if self.answers_at_submit {
            answers.push(answer);
        } else {
            self.waiting.push_back(answer);
        }
        Ok((answer.id, now))
    }

    fn next_event(&self) -> Option<Time> {
        self.waiting.front().map(|answer| answer.time)
    }

    fn advance(&mut self, now: Time, answers: &mut Vec<Answer>) -> Result<()> {
        let due_count = self.waiting.partition_point(|answer| answer.time <= now);
        answers.extend(self.waiting.drain(..due_count));
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
        Err(no_contents_error())
    }
}
