//! The plain bytes of a picture, as far back as they are needed: lines of a filter byte and pixels, each less what the
//! filter predicts (PNG specification, section 9).

/// As far back copies reach.
pub const REACH: usize = 1 << 15;
/// The most bytes of a copy.
const LONGEST_COPY: usize = 258;
/// The most bytes of a line.
pub const LONGEST_LINE: usize = 1 << 16;
/// The most bytes of a pixel.
pub const LARGEST_PIXEL: usize = 8;
/// So many earlier places are looked at.
const MOST_STEPS: usize = 256;

const NOWHERE: u32 = u32::MAX;

fn nowhere() -> Box<[u32; REACH]> {
    let all: Box<[u32]> = vec![NOWHERE; REACH].into();
    // It has this length.
    all.try_into().unwrap_or_else(|_| Box::new([NOWHERE; REACH]))
}

/// See the module.
pub struct Window {
    /// The bytes from position `base` on. They begin with zeros, so that each has all neighbours.
    bytes: Vec<u8>,
    /// The same with what the filter predicts.
    pixels: Vec<u8>,
    base: usize,
    /// How many bytes there are before the zeros' end.
    margin: usize,
    line: usize,
    pixel: usize,
    /// Where in the line the next byte is.
    column: usize,
    filter: u8,
    /// By slot: the last position of three bytes; by position: the one before it in its slot.
    heads: Box<[u32; REACH]>,
    links: Box<[u32; REACH]>,
}

/// What is known of the next byte.
#[derive(Debug, Clone, Copy)]
pub struct Place {
    /// 0 for the filter byte of a line, else 1 + the number of the byte in its pixel.
    pub lane: u8,
    /// What the filter predicts.
    pub predicted: u8,
}

impl Window {
    /// For lines of `line` bytes, with the filter byte, and pixels of `pixel` bytes; what is too large or small is cut.
    pub fn new(line: usize, pixel: usize) -> Self {
        let (line, pixel) = (line.clamp(2, LONGEST_LINE), pixel.clamp(1, LARGEST_PIXEL));
        let margin = line + pixel;
        Self {
            bytes: vec![0; margin],
            pixels: vec![0; margin],
            base: 0,
            margin,
            line,
            pixel,
            column: 0,
            filter: 0,
            heads: nowhere(),
            links: nowhere(),
        }
    }

    /// The lengths of a line and of a pixel.
    pub fn geometry(&self) -> (usize, usize) {
        (self.line, self.pixel)
    }

    /// How many bytes there were.
    pub fn len(&self) -> usize {
        self.base + self.bytes.len() - self.margin
    }

    /// The byte so far back, from 1 on: at most as far as copies reach.
    #[inline(always)]
    pub fn back(&self, distance: usize) -> u8 {
        self.bytes[self.bytes.len() - distance]
    }

    /// The byte after the next `at` bytes, if they are copied from `distance` back; any byte if that is too far.
    pub fn ahead(&self, distance: usize, at: usize) -> u8 {
        let start = self.bytes.len().saturating_sub(distance.max(1));
        self.bytes[start + at % distance.max(1)]
    }

    /// What is known of the next byte.
    #[inline(always)]
    pub fn place(&self) -> Place {
        if self.column == 0 {
            return Place { lane: 0, predicted: 0 };
        }
        let lane = 1 + ((self.column - 1) % self.pixel) as u8;
        Place { lane, predicted: self.predicted(self.bytes.len()) }
    }

    /// What the filter predicts for index `at`, in the column that the window is at.
    #[inline(always)]
    fn predicted(&self, at: usize) -> u8 {
        let above = self.pixels[at - self.line];
        let (left, corner) = if self.column > self.pixel {
            (self.pixels[at - self.pixel], self.pixels[at - self.line - self.pixel])
        } else {
            (0, 0)
        };
        prediction(self.filter, left, above, corner)
    }

    /// Append the byte at the place.
    #[inline(always)]
    pub fn push(&mut self, place: Place, byte: u8) {
        self.pixels.push(byte.wrapping_add(place.predicted));
        self.bytes.push(byte);
        self.step(byte);
        self.index(1);
        self.shrink();
    }

    /// To the next column, after `byte`.
    #[inline(always)]
    fn step(&mut self, byte: u8) {
        if self.column == 0 {
            self.filter = byte;
        }
        self.column += 1;
        if self.column == self.line {
            self.column = 0;
        }
    }

    /// Append `length` bytes from so far back.
    pub fn copy(&mut self, distance: usize, length: usize) {
        let start = self.bytes.len();
        // Where they overlap the bytes are repeated: each time there are twice as many to copy.
        while self.bytes.len() < start + length {
            let more = (self.bytes.len() - start + distance).min(start + length - self.bytes.len());
            self.bytes.extend_from_within(start - distance..start - distance + more);
        }
        self.pixels.resize(self.bytes.len(), 0);
        let mut at = start;
        while at < self.bytes.len() {
            if self.column == 0 {
                self.step(self.bytes[at]);
                at += 1;
            }
            let length = (self.bytes.len() - at).min(self.line - self.column);
            self.unfilter(at, length);
            at += length;
            self.column += length;
            if self.column == self.line {
                self.column = 0;
            }
        }
        self.index(length);
        self.shrink();
    }

    /// Find the pixels of `length` bytes from index `at` on, in the line and the column that the window is at.
    fn unfilter(&mut self, at: usize, length: usize) {
        let (known, pixels) = self.pixels.split_at_mut(at);
        let pixels = &mut pixels[..length];
        let bytes = &self.bytes[at..at + length];
        let above = &known[at - self.line..];
        let corner = &known[at - self.line - self.pixel..];
        pixels.copy_from_slice(bytes);
        if self.filter == 0 || self.filter > 4 {
            return;
        }
        if self.filter == 2 {
            pixels.iter_mut().zip(above).for_each(|(pixel, above)| *pixel = pixel.wrapping_add(*above));
            return;
        }
        // The pixel to the left, in a ring; there is none before the first.
        let (mut left, mut lane) = ([0; LARGEST_PIXEL], 0);
        left[..self.pixel].copy_from_slice(&known[at - self.pixel..]);
        let first = (1 + self.pixel).saturating_sub(self.column).min(self.pixel);
        left[..first].fill(0);
        for (number, (pixel, (above, corner))) in pixels.iter_mut().zip(above.iter().zip(corner)).enumerate()
        {
            let left = &mut left[lane];
            let corner = if number < first { 0 } else { *corner };
            *pixel = pixel.wrapping_add(prediction(self.filter, *left, *above, corner));
            *left = *pixel;
            lane += 1;
            if lane == self.pixel {
                lane = 0;
            }
        }
    }

    /// Enter the positions that now have three bytes, after `more`.
    #[inline(always)]
    fn index(&mut self, more: usize) {
        let first = self.bytes.len().saturating_sub(more + 2).max(self.margin.saturating_sub(self.base));
        for (number, three) in self.bytes[first..].windows(3).enumerate() {
            let slot = slot([three[0], three[1], three[2]]);
            let position = self.base + first + number;
            self.links[position % REACH] = self.heads[slot];
            self.heads[slot] = position as u32;
        }
    }

    /// Distances from the last three bytes to where the same three were before, the nearest first.
    pub fn earlier(&self) -> impl Iterator<Item = usize> {
        let end = self.bytes.len();
        let here = self.base + end - 3;
        let three = &self.bytes[end - 3..];
        let mut next = self.links[here % REACH];
        let steps = std::iter::from_fn(move || {
            let position = next as usize;
            // Farther back the links are those of later positions.
            if next == NOWHERE || here - position >= REACH {
                return None;
            }
            next = self.links[position % REACH];
            Some(position)
        });
        steps.take(MOST_STEPS).filter_map(move |position| {
            (self.bytes[position - self.base..][..3] == *three).then_some(here - position)
        })
    }

    fn shrink(&mut self) {
        let kept = REACH + LONGEST_COPY + self.margin;
        if self.bytes.len() >= 2 * kept {
            let gone = self.bytes.len() - kept;
            self.bytes.drain(..gone);
            self.pixels.drain(..gone);
            self.base += gone;
        }
    }
}

#[inline(always)]
fn slot([a, b, c]: [u8; 3]) -> usize {
    (u32::from_le_bytes([a, b, c, 0]).wrapping_mul(0x9e37_79b1) >> 17) as usize
}

/// What a filter predicts from the neighbours of a byte.
#[inline(always)]
fn prediction(filter: u8, left: u8, above: u8, corner: u8) -> u8 {
    match filter {
        1 => left,
        2 => above,
        3 => ((u16::from(left) + u16::from(above)) / 2) as u8,
        4 => paeth(left, above, corner),
        _ => 0,
    }
}

/// Of left, above and corner the one that is nearest to left + above - corner.
#[inline(always)]
fn paeth(left: u8, above: u8, corner: u8) -> u8 {
    let (a, b, c) = (i16::from(left), i16::from(above), i16::from(corner));
    let (to_a, to_b, to_c) = ((b - c).abs(), (a - c).abs(), (a + b - 2 * c).abs());
    if to_a <= to_b && to_a <= to_c {
        left
    } else if to_b <= to_c {
        above
    } else {
        corner
    }
}
