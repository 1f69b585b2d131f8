//! Files of compressed members one after another, with or without padding.

use std::io::{self, BufRead, Read};

use bzip2::bufread::BzDecoder;
use flate2::bufread::GzDecoder;

/// A decoder of one member, which leaves the bytes after the member in the reader.
pub(super) trait MemberDecoder: Read {
    /// The reader of the packed bytes.
    type Packed: BufRead;

    /// Returns the reader of the packed bytes, after the end of the member.
    fn into_packed(self) -> Self::Packed;
}

impl<R: BufRead> MemberDecoder for GzDecoder<R> {
    type Packed = R;

    fn into_packed(self) -> R {
        self.into_inner()
    }
}

impl<R: BufRead> MemberDecoder for BzDecoder<R> {
    type Packed = R;

    fn into_packed(self) -> R {
        self.into_inner()
    }
}

/// Reads all members of a file; zeros between and after members are skipped.
pub(super) struct Members<D: MemberDecoder> {
    begin: fn(D::Packed) -> io::Result<D>,
    state: State<D>,
}

enum State<D: MemberDecoder> {
    Between(D::Packed),
    Within(D),
    Ended,
}

impl<D: MemberDecoder> Members<D> {
    /// The file `packed`, which begins with a member; `begin` makes the decoder of a member.
    pub(super) fn new(packed: D::Packed, begin: fn(D::Packed) -> io::Result<D>) -> io::Result<Self> {
        Ok(Members { state: State::Within(begin(packed)?), begin })
    }
}

impl<D: MemberDecoder> Read for Members<D> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match std::mem::replace(&mut self.state, State::Ended) {
                State::Within(mut member) => match member.read(buffer) {
                    Ok(0) if !buffer.is_empty() => self.state = State::Between(member.into_packed()),
                    outcome => {
                        self.state = State::Within(member);
                        return outcome;
                    }
                },
                State::Between(mut packed) => {
                    if skip_zeros(&mut packed)? {
                        self.state = State::Within((self.begin)(packed)?);
                    }
                }
                State::Ended => return Ok(0),
            }
        }
    }
}

/// Skips zeros; returns whether other bytes follow.
pub(super) fn skip_zeros(packed: &mut impl BufRead) -> io::Result<bool> {
    loop {
        let buffered = packed.fill_buf()?;
        if buffered.is_empty() {
            return Ok(false);
        }
        let zeros = buffered.iter().take_while(|byte| **byte == 0).count();
        let has_other_bytes = zeros < buffered.len();
        packed.consume(zeros);
        if has_other_bytes {
            return Ok(true);
        }
    }
}
