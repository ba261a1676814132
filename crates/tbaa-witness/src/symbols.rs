//! Finds the function, file and line of a code address, from debug information and the symbols of
//! the program and its libraries.

use std::collections::HashMap;
use std::ffi::CStr;

use crate::lock::Lock;

/// Returns the demangled name of a C++ function, or the symbol itself for other functions.
pub(crate) fn source_name(symbol: &str) -> String {
    tbaa_ir::demangled_function(symbol.as_bytes()).unwrap_or_else(|| symbol.to_owned())
}

/// A function that contains an address. Inlined functions have frames of their own.
#[derive(Clone)]
pub(crate) struct Frame {
    /// The function's name, or [`place`](Self::place) if it has none.
    pub(crate) function: String,
    /// The source file; empty without debug information.
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
    /// The program or library, and the offset in it: `prog+0x11a5`. Without a file, the address.
    pub(crate) place: String,
}

/// A cache of frames by address, because a lookup takes milliseconds.
static KNOWN: Lock<Option<HashMap<usize, Vec<Frame>>>> = Lock::new(None);

/// Returns the functions that contain a code address, innermost first: at least one.
pub(crate) fn frames(address: usize) -> Vec<Frame> {
    let Some(mut known) = KNOWN.take() else { return vec![plain(address)] };
    let known = known.get_or_insert_with(HashMap::new);
    known.entry(address).or_insert_with(|| resolve(address)).clone()
}

const SYSTEM: [&str; 3] = ["/lib/", "/lib64/", "/usr/lib/"];

fn resolve(address: usize) -> Vec<Frame> {
    let plain = plain(address);
    let file = linked(address).1;
    if SYSTEM.iter().any(|folder| file.starts_with(folder)) {
        // Reading the debug information of system libraries takes too much memory.
        return vec![plain];
    }
    let mut found = Vec::new();
    // The crate `backtrace` expects a return address, and looks up the byte before it.
    let at = std::ptr::without_provenance_mut(address.wrapping_add(1));
    // SAFETY: this thread holds the lock of `KNOWN`, so no other thread calls this.
    unsafe {
        backtrace::resolve_unsynchronized(at, |symbol| {
            let path = symbol.filename().map(|path| path.display().to_string());
            // Do not demangle C names: `g` is also the mangled name of a C++ type.
            let name = symbol.name().map(|name| match name.as_str() {
                Some(plain) if !plain.starts_with("_Z") && !plain.starts_with("_R") => {
                    plain.to_owned()
                }
                _ => format!("{name:#}"),
            });
            found.push(Frame {
                function: name.unwrap_or_else(|| plain.function.clone()),
                file: path.unwrap_or_default(),
                line: symbol.lineno().unwrap_or(0),
                column: symbol.colno().unwrap_or(0),
                place: plain.place.clone(),
            });
        });
    }
    if found.is_empty() { vec![plain] } else { found }
}

/// Returns a frame without debug information, from the dynamic linker.
fn plain(address: usize) -> Frame {
    let (name, file, offset) = linked(address);
    let place = match &file[..] {
        "" => format!("{address:#x}"),
        file => place_in(file, offset),
    };
    let function = name.unwrap_or_else(|| place.clone());
    Frame { function, file: String::new(), line: 0, column: 0, place }
}

fn place_in(file: &str, offset: usize) -> String {
    format!("{}+{offset:#x}", file.rsplit('/').next().unwrap_or(file))
}

/// Returns the name of the symbol at an address, its file, and the offset in the file.
fn linked(address: usize) -> (Option<String>, String, usize) {
    // SAFETY: all zeros is a valid value, and `dladdr` fills it in.
    let (known, info) = unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        (libc::dladdr(std::ptr::without_provenance(address), &mut info) != 0, info)
    };
    if !known || info.dli_fname.is_null() {
        return (None, String::new(), 0);
    }
    // SAFETY: the strings of `dladdr` exist as long as the file is loaded.
    let string =
        |at: *const libc::c_char| unsafe { CStr::from_ptr(at) }.to_string_lossy().into_owned();
    let name = (!info.dli_sname.is_null()).then(|| string(info.dli_sname));
    (name, string(info.dli_fname), address.wrapping_sub(info.dli_fbase.addr()))
}

/// Returns whether this address is the PLT entry for a function of another file.
pub(crate) fn is_entry(function: usize) -> bool {
    const SYMBOL: libc::c_int = 1;
    unsafe extern "C" {
        fn dladdr1(
            address: *const libc::c_void,
            info: *mut libc::Dl_info,
            symbol: *mut *const libc::Elf64_Sym,
            kind: libc::c_int,
        ) -> libc::c_int;
    }
    let mut symbol = std::ptr::null();
    // SAFETY: all zeros is a valid value. The symbol belongs to a file that stays loaded.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        let at = std::ptr::without_provenance(function);
        dladdr1(at, &mut info, &mut symbol, SYMBOL) != 0
            && symbol.as_ref().is_some_and(|symbol| symbol.st_shndx == 0)
    }
}

/// Returns the name of the symbol at an address, or else the function of its outermost [`Frame`].
pub(crate) fn linked_name(function: usize) -> Option<String> {
    linked(function).0.or_else(|| Some(frames(function).pop()?.function))
}

/// Describes an address in a program or library: the variable, if known, and the file and offset.
/// Returns `None` if no file is known.
pub(crate) fn variable(address: usize) -> Option<String> {
    let (name, file, offset) = linked(address);
    (!file.is_empty()).then(|| {
        let place = place_in(&file, offset);
        name.map_or_else(|| place.clone(), |name| format!("{name} ({place})"))
    })
}

pub(crate) fn line(address: usize) -> String {
    frames(address).first().map_or(String::new(), ToString::to_string)
}

impl std::fmt::Display for Frame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.function)?;
        match (&self.file[..], self.line) {
            ("", _) if self.function == self.place => Ok(()),
            ("", _) => write!(f, " ({})", self.place),
            // The code belongs to no line.
            (file, 0) => write!(f, " ({})", short(file)),
            (file, line) => write!(f, " ({}:{line}:{})", short(file), self.column),
        }
    }
}

/// Returns the path relative to the current folder if the file is in it, or else the whole path.
fn short(file: &str) -> &str {
    let here = std::env::current_dir().ok();
    let rest = here.as_deref().and_then(|here| std::path::Path::new(file).strip_prefix(here).ok());
    rest.and_then(std::path::Path::to_str).unwrap_or(file)
}
