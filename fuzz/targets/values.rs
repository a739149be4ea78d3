//! Any bytes as a stored value: read, or refused with an error, within the limits. Never a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use ypress::error::Error;
use ypress::foreign;
use ypress::frame::{self, Method, Value};
use ypress_fuzz::memory::{Counting, measured};

#[global_allocator]
static MEMORY: Counting = Counting;

/// What may be taken beside the content: error messages, small tables.
const LITTLE: usize = 64 << 10;
/// Two windows of brotli, or the blocks of an LZ4 frame.
const WINDOWS: usize = 40 << 20;

fuzz_target!(|input: &[u8]| {
    let Some((&[low, high], value)) = input.split_first_chunk() else { return };
    let max_size = usize::from(u16::from_le_bytes([low, high])) << 4;
    match frame::parse(value) {
        Ok(Value::Untagged) => {
            assert!(!frame::has_tag(value));
            let (decoded, taken) = measured(|| foreign::decode(value, max_size));
            assert!(taken <= 3 * max_size + WINDOWS, "{taken} bytes for at most {max_size}");
            let known = match decoded {
                Ok(Some((container, content))) => {
                    assert_eq!(foreign::Container::claimed(value), Some(container));
                    assert!(content.len() <= max_size);
                    true
                }
                Ok(None) => false,
                Err(Error::TooLarge { size, .. }) => {
                    assert!(size > max_size as u64);
                    true
                }
                Err(error) => panic!("{error}"),
            };
            // Of zstd frames with too large a window, only who has room for what they claim finds out that they are
            // unsound; escaping what need not be costs two bytes.
            let careful = foreign::Container::claimed(value) == Some(foreign::Container::ZstdFrame);
            assert!(if careful {
                frame::must_escape(value) >= known
            } else {
                frame::must_escape(value) == known
            });
        }
        Ok(Value::Verbatim(content)) => {
            assert_eq!(content, &value[2..]);
            assert!(frame::must_escape(content));
        }
        Ok(Value::Compressed(frame)) => {
            let (content, taken) = measured(|| frame.decompress(max_size));
            let windows = if frame.method == Method::Brotli { WINDOWS } else { 0 };
            assert!(taken <= max_size + windows + LITTLE, "{taken} bytes for at most {max_size}");
            if let Ok(content) = content {
                assert_eq!(content.len() as u64, frame.raw_length);
                assert!(content.len() <= max_size);
            }
        }
        Err(Error::Corrupt { offset, .. }) => assert!(offset <= value.len()),
        Err(Error::Unsupported { .. }) => assert!(value[0] & 0x7f > 3),
        Err(error) => panic!("{error}"),
    }
});
