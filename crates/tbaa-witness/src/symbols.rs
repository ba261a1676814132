//! Finds the function, file and line of a code address, from debug information and the symbols of
//! the program and its libraries.

use std::collections::HashMap;
use std::ffi::CStr;

use crate::lock::Lock;

/// Returns a C++ function's name in the source, or the symbol itself for other functions.
pub(crate) fn source_name(symbol: &str) -> String {
    tbaa_ir::demangled_function(symbol.as_bytes()).unwrap_or_else(|| symbol.to_owned())
}

/// A function that contains an address. If functions are inlined there, the innermost comes first.
#[derive(Clone)]
pub(crate) struct Frame {
    /// The function's name, or the file and offset if it has none.
    pub(crate) function: String,
    /// The source file; empty without debug information.
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
    /// The file and offset: `prog+0x11a5`.
    pub(crate) place: String,
}

/// A cache of results: a lookup takes milliseconds.
static KNOWN: Lock<Option<HashMap<usize, Vec<Frame>>>> = Lock::new(None);

/// Returns the functions that contain a code address, at least one.
pub(crate) fn frames(address: usize) -> Vec<Frame> {
    let Some(mut known) = KNOWN.take() else { return vec![plain(address)] };
    let known = known.get_or_insert_with(HashMap::new);
    known.entry(address).or_insert_with(|| resolve(address)).clone()
}

/// The folders of the system's own libraries.
const SYSTEM: [&str; 3] = ["/lib/", "/lib64/", "/usr/lib/"];

fn resolve(address: usize) -> Vec<Frame> {
    let plain = plain(address);
    let file = linked(address).1;
    if SYSTEM.iter().any(|folder| file.starts_with(folder)) {
        // Reading their debug information takes as much memory as a typical program.
        return vec![plain];
    }
    let mut found = Vec::new();
    // The crate expects a return address, and looks one byte before.
    let at = std::ptr::without_provenance_mut(address.wrapping_add(1));
    // SAFETY: the lock on `KNOWN` is held, so no other thread resolves.
    unsafe {
        backtrace::resolve_unsynchronized(at, |symbol| {
            let path = symbol.filename().map(|path| path.display().to_string());
            // A C function may have the name of a mangled C++ type: `g` would become a type.
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

/// Returns what the dynamic linker knows about an address.
fn plain(address: usize) -> Frame {
    let (name, file, offset) = linked(address);
    let place = match &file[..] {
        "" => format!("{address:#x}"),
        file => place_in(file, offset),
    };
    let function = name.unwrap_or_else(|| place.clone());
    Frame { function, file: String::new(), line: 0, column: 0, place }
}

/// A file's name without its folder, and an offset in it.
fn place_in(file: &str, offset: usize) -> String {
    format!("{}+{offset:#x}", file.rsplit('/').next().unwrap_or(file))
}

/// Returns the linked symbol's name, the file, and the offset in the file.
fn linked(address: usize) -> (Option<String>, String, usize) {
    // SAFETY: all zero is a valid value, and `dladdr` fills it in.
    let (known, info) = unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        (libc::dladdr(std::ptr::without_provenance(address), &mut info) != 0, info)
    };
    if !known || info.dli_fname.is_null() {
        return (None, String::new(), 0);
    }
    // SAFETY: `dladdr` returns strings that live as long as the file is loaded.
    let string =
        |at: *const libc::c_char| unsafe { CStr::from_ptr(at) }.to_string_lossy().into_owned();
    let name = (!info.dli_sname.is_null()).then(|| string(info.dli_sname));
    (name, string(info.dli_fname), address.wrapping_sub(info.dli_fbase.addr()))
}

/// Returns whether a function belongs to another file, and this address is its PLT entry.
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
    // SAFETY: all zero is a valid value. The symbol that is found is the file's own, which stays.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        let at = std::ptr::without_provenance(function);
        dladdr1(at, &mut info, &mut symbol, SYMBOL) != 0
            && symbol.as_ref().is_some_and(|symbol| symbol.st_shndx == 0)
    }
}

/// Returns the symbol name of the function that begins at an address, if it has one.
pub(crate) fn linked_name(function: usize) -> Option<String> {
    linked(function).0.or_else(|| Some(frames(function).pop()?.function))
}

/// Returns the variable at an address, or the file that contains it.
pub(crate) fn variable(address: usize) -> Option<String> {
    let (name, file, offset) = linked(address);
    (!file.is_empty()).then(|| {
        let place = place_in(&file, offset);
        name.map_or_else(|| place.clone(), |name| format!("{name} ({place})"))
    })
}

/// Describes a code address on one line.
pub(crate) fn line(address: usize) -> String {
    frames(address).first().map_or(String::new(), ToString::to_string)
}

impl std::fmt::Display for Frame {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.function)?;
        match (&self.file[..], self.line) {
            ("", _) if self.function == self.place => Ok(()),
            ("", _) => write!(f, " ({})", self.place),
            // Code that belongs to no line.
            (file, 0) => write!(f, " ({})", short(file)),
            (file, line) => write!(f, " ({}:{line}:{})", short(file), self.column),
        }
    }
}

/// Returns a path relative to the current folder if it lies below it.
fn short(file: &str) -> &str {
    let here = std::env::current_dir().ok();
    let rest = here.as_deref().and_then(|here| std::path::Path::new(file).strip_prefix(here).ok());
    rest.and_then(std::path::Path::to_str).unwrap_or(file)
}
