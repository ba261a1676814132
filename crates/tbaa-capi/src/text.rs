//! Strings and arrays that C code passes to the library or gets from it.

use std::ffi::c_char;
use std::ptr;

use crate::error::{Error, given};

/// A string that somebody else owns: a pointer to its bytes, and their number. It need not end in a
/// NUL. `data` may be NULL if `len` is 0. Names in `tbaa_build_...` calls, operands and the module
/// of `tbaa_tag_module` may be any bytes; all other strings are UTF-8.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Str {
    /// The first byte.
    data: *const c_char,
    /// The number of bytes.
    len: usize,
}

impl Str {
    pub(crate) fn of(text: &str) -> Str {
        Str::of_bytes(text.as_bytes())
    }

    pub(crate) fn of_bytes(bytes: &[u8]) -> Str {
        Str { data: bytes.as_ptr().cast(), len: bytes.len() }
    }

    pub(crate) fn bytes(&self) -> Result<&[u8], Error> {
        // SAFETY: this crate only makes strings by `of_bytes`; others come from C, where the caller
        // promises that `len` bytes are at `data`.
        unsafe { slice(self.data.cast(), self.len, "a string") }
    }

    pub(crate) fn text(&self) -> Result<&str, Error> {
        std::str::from_utf8(self.bytes()?).map_err(|error| {
            let at = error.valid_up_to();
            Error::argument(format!("a string is not UTF-8 from byte {at} on"))
        })
    }
}

/// Returns the `count` elements at `data`, which may be NULL if `count` is 0.
///
/// # Safety
///
/// Unless the pointer is NULL, it points to `count` initialised elements that nothing changes while
/// the result is used.
pub(crate) unsafe fn slice<'a, T>(
    data: *const T,
    count: usize,
    name: &str,
) -> Result<&'a [T], Error> {
    if count == 0 {
        return Ok(&[]);
    }
    if data.is_null() {
        return Err(Error::argument(format!("{name} of {count} elements is NULL")));
    }
    let fits = count.checked_mul(size_of::<T>()).is_some_and(|bytes| bytes <= isize::MAX as usize);
    if !fits || !data.is_aligned() {
        return Err(Error::argument(format!("{name} of {count} elements cannot be in memory")));
    }
    // SAFETY: not NULL, aligned, not too large; the rest is the caller's promise.
    Ok(unsafe { std::slice::from_raw_parts(data, count) })
}

/// A string that the library made and `tbaa_text_free` frees.
#[repr(C)]
pub struct Text {
    /// The first byte. A NUL follows the last.
    data: *mut c_char,
    /// The number of bytes, without the NUL.
    len: usize,
}

impl From<String> for Text {
    fn from(text: String) -> Text {
        let len = text.len();
        let mut bytes = text.into_bytes();
        bytes.push(0);
        let bytes: *mut [u8] = Box::into_raw(bytes.into_boxed_slice());
        Text { data: bytes.cast(), len }
    }
}

/// Frees a string that the library made, and clears it, so that it may be freed again. NULL is not
/// an error.
#[unsafe(no_mangle)]
pub extern "C" fn tbaa_text_free(text: Option<&mut Text>) {
    let Some(text) = text else { return };
    let data = std::mem::replace(&mut text.data, ptr::null_mut());
    let len = std::mem::replace(&mut text.len, 0);
    if !data.is_null() {
        // SAFETY: the caller passes only strings made by `From<String>`, which have one byte more
        // than `len`.
        drop(unsafe { Box::from_raw(ptr::slice_from_raw_parts_mut(data.cast::<u8>(), len + 1)) });
    }
}

/// The memory to which a function writes its result; `None` for NULL.
pub(crate) type Out<'o, T> = Option<&'o mut std::mem::MaybeUninit<T>>;

/// Writes the result of `make` to `out`. Returns an error without calling `make` if `out` is NULL.
pub(crate) fn write<T>(
    out: Out<'_, T>,
    make: impl FnOnce() -> Result<T, Error>,
) -> Result<(), Error> {
    let out = given(out, "the place of the result")?;
    out.write(make()?);
    Ok(())
}

/// Returns the element of `all` with index `number`, or the error that `number` is no `name`.
pub(crate) fn constant<T: Copy>(all: &[T], number: u32, name: &str) -> Result<T, Error> {
    let found = usize::try_from(number).ok().and_then(|number| all.get(number));
    let error = || Error::argument(format!("{number} is no {name}"));
    found.copied().ok_or_else(error)
}
