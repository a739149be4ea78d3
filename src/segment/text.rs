//! Bytes of short strings, predicted from the bytes before them, half a byte at a time.

use super::mixer::{At, Mixer};
use super::symbols::SymbolCoder;

/// The model; see the module. Its contexts are nothing, the last byte, the last two, the last four.
pub struct Text {
    mixer: Mixer<4>,
    /// The line of a context is the hash of it, of which these bits count.
    hashed: u32,
    context: Context,
}

/// Of half a byte.
const PLACES: usize = 32;

/// What a byte follows: the bytes before it, the nearest lowest.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Context(u32);

impl Context {
    /// A beginning: of what, `number` says.
    pub const fn start(number: u8) -> Self {
        Self(number as u32)
    }

    /// The context after one more byte.
    #[inline(always)]
    pub fn then(self, byte: u8) -> Self {
        Self(self.0 << 8 | u32::from(byte))
    }

    /// The kind of the last byte: a letter, a digit, other ASCII, or not ASCII.
    #[inline(always)]
    fn kind(self) -> usize {
        static KINDS: [u8; 256] = {
            let mut kinds = [2; 256];
            let mut byte = 0;
            while byte < 256 {
                if (byte as u8).is_ascii_alphabetic() {
                    kinds[byte] = 0;
                } else if (byte as u8).is_ascii_digit() {
                    kinds[byte] = 1;
                } else if byte >= 0x80 {
                    kinds[byte] = 3;
                }
                byte += 1;
            }
            kinds
        };
        usize::from(KINDS[(self.0 & 0xff) as usize])
    }
}

impl Text {
    /// A model for about `expected` bytes, which decides on the number of lines: 2^10 to 2^16.
    pub fn new(expected: usize) -> Self {
        let bits = (expected.max(1).ilog2() + 3).clamp(10, 16);
        Self {
            mixer: Mixer::new((1 << bits) + PLACES, 8),
            hashed: (1 << bits) - 1,
            context: Context::default(),
        }
    }

    /// The next bytes follow `context`.
    pub fn follow(&mut self, context: Context) {
        self.context = context;
    }

    /// What the next byte follows.
    pub fn context(&self) -> Context {
        self.context
    }

    /// Code one byte.
    #[inline]
    pub fn byte<C: SymbolCoder>(&mut self, coder: &mut C, byte: u8) -> u8 {
        let Context(history) = self.context;
        let hashes = [hash(1, history & 0xff), hash(2, history & 0xffff), hash(3, history)];
        let set = 2 * self.context.kind();
        let high = self.mixer.symbol(coder, self.at(hashes, 0), set, byte >> 4);
        let low = self.mixer.symbol(coder, self.at(hashes, 16 + high), set + 1, byte & 15);
        let byte = high << 4 | low;
        self.context = self.context.then(byte);
        byte
    }

    /// The lines of half a byte: the high one is at place 0, the low one at 16 + the high one.
    #[inline(always)]
    fn at(&self, hashes: [u32; 3], place: u8) -> [At; 4] {
        let spread = u32::from(place).wrapping_mul(0x9e37_79b1);
        let nothing = At { line: self.hashed as usize + 1 + usize::from(place), check: 0 };
        let [last, two, four] = hashes.map(|hash| At {
            line: ((hash ^ spread) >> 9 & self.hashed) as usize,
            check: hash as u16 & 0x1ff,
        });
        [nothing, last, two, four]
    }
}

/// Tells contexts apart: `number` is which of them it is, and `value` what it holds.
#[inline(always)]
fn hash(number: u32, value: u32) -> u32 {
    let both = u64::from(value) | u64::from(number) << 32;
    (both.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
}
