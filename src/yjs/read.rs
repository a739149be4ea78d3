//! The primitives of the lib0 encoding, read from a slice. Nothing is allocated and no length is trusted.

use crate::error::{Error, Result};
use crate::varint;

/// The name of the format in errors.
pub const FORMAT: &str = "Yjs update";

/// Clients and clocks beyond this are not exact in JavaScript, so no writer makes them.
pub const MAX_NUMBER: u64 = (1 << 53) - 1;

/// A position in an update.
#[derive(Debug)]
pub struct Reader<'a> {
    bytes: &'a [u8],
    offset: usize,
}

impl<'a> Reader<'a> {
    /// Begin at the first byte.
    pub fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, offset: 0 }
    }

    /// Bytes read so far.
    pub fn offset(&self) -> usize {
        self.offset
    }

    /// Bytes that are left.
    pub fn rest(&self) -> &'a [u8] {
        self.bytes.get(self.offset..).unwrap_or_default()
    }

    /// The error for what is at this position.
    pub fn bad(&self, problem: impl Into<std::borrow::Cow<'static, str>>) -> Error {
        Error::corrupt(FORMAT, self.offset, problem)
    }

    /// One byte.
    pub fn byte(&mut self) -> Result<u8> {
        let byte = *self.bytes.get(self.offset).ok_or_else(|| self.bad("it is cut off"))?;
        self.offset += 1;
        Ok(byte)
    }

    /// The next `length` bytes.
    pub fn take(&mut self, length: u64) -> Result<&'a [u8]> {
        let rest = self.rest();
        match usize::try_from(length).ok().and_then(|length| rest.get(..length)) {
            Some(taken) => {
                self.offset += taken.len();
                Ok(taken)
            }
            None => Err(self.bad("it is cut off")),
        }
    }

    /// An unsigned integer of at most 53 bits.
    pub fn number(&mut self) -> Result<u64> {
        match varint::read(self.rest()) {
            Ok((value, length)) if value <= MAX_NUMBER => {
                self.offset += length;
                Ok(value)
            }
            Ok(_) => Err(self.bad("the number exceeds 53 bits")),
            Err(bad) => Err(self.bad(bad.reason())),
        }
    }

    /// Step over a signed integer.
    pub fn skip_signed(&mut self) -> Result<()> {
        for _ in 0..varint::MAX_LEN {
            if self.byte()? & 0x80 == 0 {
                return Ok(());
            }
        }
        Err(self.bad("the number exceeds 64 bits"))
    }

    /// A byte string that its length precedes.
    pub fn buffer(&mut self) -> Result<&'a [u8]> {
        let length = self.number()?;
        self.take(length)
    }

    /// A text that its length in bytes precedes.
    pub fn text(&mut self) -> Result<&'a str> {
        let start = self.offset;
        let bytes = self.buffer()?;
        std::str::from_utf8(bytes).map_err(|_| Error::corrupt(FORMAT, start, "the text is not UTF-8"))
    }

    /// Step over a JSON-like value, however deeply nested.
    pub fn skip_any(&mut self) -> Result<()> {
        // For each value that is open: how many values it still lacks, and whether a key precedes each.
        let mut open = vec![(1u64, false)];
        while let Some((missing, keyed)) = open.last_mut() {
            if *missing == 0 {
                open.pop();
                continue;
            }
            *missing -= 1;
            if *keyed {
                self.buffer()?;
            }
            match self.byte()? {
                127 | 126 | 121 | 120 => {}
                125 => self.skip_signed()?,
                124 => drop(self.take(4)?),
                123 | 122 => drop(self.take(8)?),
                119 | 116 => drop(self.buffer()?),
                118 => open.push((self.number()?, true)),
                117 => open.push((self.number()?, false)),
                tag => return Err(self.bad(format!("there is no value of kind {tag}"))),
            }
        }
        Ok(())
    }
}
