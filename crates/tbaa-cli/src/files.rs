//! Reads files and standard input.

use std::fs;
use std::io::{self, Read};
use std::path::Path;

use crate::printable::printable_path;
use crate::progress;
use crate::report::{Context, Result};

/// Reads a file, and returns its printable name and its content.
pub(crate) fn read_file(path: &Path) -> Result<(String, Vec<u8>)> {
    let file = printable_path(path);
    progress::doing(format!("reading {file}"));
    let text = match fs::File::open(path).and_then(read_bounded) {
        _ if path.is_dir() => Err("it is a directory; name a file in it".to_owned()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            Err("there is no such file".to_owned())
        }
        text => text.map_err(|error| error.to_string()),
    };
    let text = text.context(format_args!("cannot read {file}"))?;
    Ok((file, text))
}

pub(crate) fn read_stdin() -> Result<(String, Vec<u8>)> {
    progress::doing("reading standard input");
    let text = read_bounded(io::stdin().lock()).context("cannot read standard input")?;
    Ok(("<stdin>".to_owned(), text))
}

/// Reads at most 4 GiB, because a pipe or a device may have no end. This is one byte more than the
/// module reader accepts, so the module reader reports the error. Fails if the first 64 KiB contain
/// a zero byte and are not bitcode.
fn read_bounded(from: impl Read) -> io::Result<Vec<u8>> {
    const FIRST: u64 = 1 << 16;
    let mut text = Vec::new();
    let mut from = from.take(FIRST);
    from.read_to_end(&mut text)?;
    let at = text.iter().position(|&byte| byte == 0);
    if let Some(at) = at.filter(|_| !is_bitcode(&text)) {
        let message = format!("byte {at} is 0: this is not a text file");
        return Err(io::Error::new(io::ErrorKind::InvalidData, message));
    }
    from.set_limit(u64::from(u32::MAX) + 1 - FIRST);
    from.read_to_end(&mut text)?;
    Ok(text)
}

pub(crate) fn is_bitcode(text: &[u8]) -> bool {
    text.starts_with(b"BC\xc0\xde") || text.starts_with(b"\xde\xc0\x17\x0b")
}
