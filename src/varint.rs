//! Unsigned LEB128 integers, as Yjs writes them: seven bits a byte, the lowest first.

/// The most bytes that a `u64` takes.
pub const MAX_LEN: usize = 10;

/// Why an integer could not be read.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bad {
    /// The bytes end inside of it.
    Truncated,
    /// It does not fit into 64 bits.
    Overflow,
    /// It is longer than it needs to be.
    Padded,
}

impl Bad {
    /// The reason in words.
    pub fn reason(self) -> &'static str {
        match self {
            Self::Truncated => "the number is cut off",
            Self::Overflow => "the number exceeds 64 bits",
            Self::Padded => "the number is padded",
        }
    }
}

/// Append `value`.
pub fn write(out: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        out.push(value as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

/// Write `value` into the beginning of `out`, which has [`len`] bytes of room.
pub fn write_into(out: &mut [u8], mut value: u64) {
    for byte in &mut out[..len(value)] {
        *byte = value as u8 | 0x80;
        value >>= 7;
        if value == 0 {
            *byte &= 0x7f;
        }
    }
}

/// The number of bytes that [`write`] appends.
pub fn len(value: u64) -> usize {
    (64 - (value | 1).leading_zeros() as usize).div_ceil(7)
}

/// Read one canonical (shortest form) integer from the beginning of `bytes`: its value and its length.
pub fn read(bytes: &[u8]) -> Result<(u64, usize), Bad> {
    let mut value = 0u64;
    for (index, &byte) in bytes.iter().take(MAX_LEN).enumerate() {
        let bits = u64::from(byte & 0x7f);
        if index == MAX_LEN - 1 && bits > 1 {
            return Err(Bad::Overflow);
        }
        value |= bits << (7 * index);
        if byte & 0x80 == 0 {
            return if byte == 0 && index > 0 { Err(Bad::Padded) } else { Ok((value, index + 1)) };
        }
    }
    if bytes.len() < MAX_LEN { Err(Bad::Truncated) } else { Err(Bad::Overflow) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn round_trip(value in any::<u64>(), shift in 0u32..64, rest in any::<Vec<u8>>()) {
            let value = value >> shift;
            let mut bytes = Vec::new();
            write(&mut bytes, value);
            prop_assert_eq!(bytes.len(), len(value));
            let written = bytes.len();
            let mut placed = vec![0xff; written + 1];
            write_into(&mut placed, value);
            prop_assert_eq!(&placed[..written], &bytes[..]);
            prop_assert_eq!(placed[written], 0xff);
            for cut in 0..written {
                prop_assert_eq!(read(&bytes[..cut]), Err(Bad::Truncated));
            }
            bytes.extend(rest);
            prop_assert_eq!(read(&bytes), Ok((value, written)));
        }
    }

    #[test]
    fn refuses_padding_and_overflow() {
        assert_eq!(read(&[0x80, 0x00]), Err(Bad::Padded));
        assert_eq!(read(&[0xff; 10]), Err(Bad::Overflow));
        assert_eq!(read(&[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x02]), Err(Bad::Overflow));
    }
}
