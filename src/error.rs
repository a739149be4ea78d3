//! The one error type of the core. `python` converts it to exceptions; nothing else does.

use std::borrow::Cow;

/// What can go wrong when bytes are read, or when a caller asks for something that does not exist.
///
/// Offsets count bytes from the beginning of the value that was handed in.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The bytes claim to be something that they are not: truncated, altered, or followed by rubbish.
    #[error("{format} is damaged at byte {offset}: {problem}")]
    Corrupt {
        /// What the bytes claim to be, for example `zstd frame`.
        format: &'static str,
        /// What is wrong with them.
        problem: Cow<'static, str>,
        /// Where it was noticed.
        offset: usize,
    },
    /// The content is, or claims to be, larger than the caller allows.
    #[error("{format} holds {size} bytes, more than the limit of {limit}; raise max_size to read it")]
    TooLarge {
        /// What the bytes are, for example `brotli frame`.
        format: &'static str,
        /// The size it has or claims; where the true size is unknown, the size reached when it was given up.
        size: u64,
        /// The limit that was in force.
        limit: u64,
    },
    /// A later version of the format; reading it needs a newer ypress.
    #[error("{format} {version} was written by a newer ypress; upgrade ypress to read it")]
    Unsupported {
        /// What is unknown, for example `frame method`.
        format: &'static str,
        /// Its number.
        version: u8,
    },
    /// A level outside of the codec's range.
    #[error("{codec} has {range}; got level {level}")]
    Level {
        /// The codec's name.
        codec: &'static str,
        /// The range in words, for example `levels -7 to 19`.
        range: &'static str,
        /// What was asked for.
        level: i32,
    },
    /// A codec's own failure while compressing; not expected to happen.
    #[error("{codec} could not compress: {problem}")]
    Compress {
        /// The codec's name.
        codec: &'static str,
        /// What the codec's library said.
        problem: Cow<'static, str>,
    },
}

impl Error {
    /// A [`Error::Corrupt`] with less ceremony.
    pub fn corrupt(format: &'static str, offset: usize, problem: impl Into<Cow<'static, str>>) -> Self {
        Self::Corrupt { format, problem: problem.into(), offset }
    }

    /// The same error, for bytes that begin `by` bytes into the value.
    #[must_use]
    pub fn shifted(mut self, by: usize) -> Self {
        if let Self::Corrupt { offset, .. } = &mut self {
            *offset += by;
        }
        self
    }
}

/// The core's result.
pub type Result<T> = std::result::Result<T, Error>;
