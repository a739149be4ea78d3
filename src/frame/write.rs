//! Values into frames.

use super::{CHECK, Method, TAG, checksum, has_tag};
use crate::codec::Codec;
use crate::error::{Error, Result};
use crate::limits::DEFAULT_MAX_SIZE;
use crate::{foreign, varint};

/// Values below this many bytes are not tried: see `docs/design-rows.md` for the measurement.
pub const SMALLEST: usize = 64;

/// Make the value to store for `raw` in the beginning of `out`, and return its length.
///
/// Without a codec, `raw` is only given a tag where a reader would take it for something else.
///
/// `None` says that `raw` itself is to be stored: compression would not make it smaller. `out` is a buffer to be used
/// again; what it holds behind the returned length is rubbish.
pub fn compress(raw: &[u8], codec: Option<Codec>, out: &mut Vec<u8>) -> Result<Option<usize>> {
    if let Some(codec) = codec
        && (SMALLEST..=DEFAULT_MAX_SIZE).contains(&raw.len())
    {
        let method = match codec {
            Codec::Zstd(_) => Method::Zstd,
            Codec::Lz4 => Method::Lz4,
            Codec::Brotli(_) => Method::Brotli,
        };
        let header = TAG + varint::len(raw.len() as u64);
        // The largest payload that still makes the frame smaller than the raw value.
        let limit = raw.len() - header - CHECK - 1;
        if let Some(length) = codec.compress(raw, out, header, limit)? {
            let end = header + length;
            out[..TAG].copy_from_slice(&method.tag());
            varint::write_into(&mut out[TAG..header], raw.len() as u64);
            // The check may reach behind what the codec needed.
            if out.len() < end + CHECK {
                out.resize(end + CHECK, 0);
            }
            out[end..end + CHECK].copy_from_slice(&checksum(raw).to_le_bytes());
            return Ok(Some(end + CHECK));
        }
    }
    if must_escape(raw) {
        out.clear();
        out.try_reserve(TAG + raw.len())
            .map_err(|error| Error::Compress { codec: "ypress", problem: error.to_string().into() })?;
        out.extend_from_slice(&Method::Verbatim.tag());
        out.extend_from_slice(raw);
        return Ok(Some(TAG + raw.len()));
    }
    Ok(None)
}

/// Whether a reader would take `raw` for a frame or for another program's container, so that it needs a tag of its own.
pub fn must_escape(raw: &[u8]) -> bool {
    has_tag(raw) || foreign::is_container(raw)
}
