//! What stands at an address of code: function, file and line, from debug information and
//! the symbols of the program and its libraries.

use std::collections::HashMap;
use std::ffi::CStr;

use crate::lock::Lock;

/// A function's name as it is in the source, if it is a C++ function.
pub(crate) fn source_name(symbol: &str) -> String {
    tbaa_ir::demangled_function(symbol.as_bytes()).unwrap_or_else(|| symbol.to_owned())
}

/// A function that an address is in; the first is the innermost of those that are inlined
/// there.
#[derive(Clone)]
pub(crate) struct Frame {
    /// Its name; a file and an offset into it where there is none.
    pub(crate) function: String,
    /// Empty without debug information.
    pub(crate) file: String,
    pub(crate) line: u32,
    pub(crate) column: u32,
    /// `prog+0x11a5`.
    pub(crate) place: String,
}

/// What was asked before: to look an address up takes milliseconds.
static KNOWN: Lock<Option<HashMap<usize, Vec<Frame>>>> = Lock::new(None);

/// Returns the functions that an address of code is in, at least one.
pub(crate) fn frames(address: usize) -> Vec<Frame> {
    let Some(mut known) = KNOWN.take() else { return vec![plain(address)] };
    let known = known.get_or_insert_with(HashMap::new);
    known.entry(address).or_insert_with(|| resolve(address)).clone()
}

/// Where the system's own libraries are.
const SYSTEM: [&str; 3] = ["/lib/", "/lib64/", "/usr/lib/"];

fn resolve(address: usize) -> Vec<Frame> {
    let plain = plain(address);
    let file = linked(address).1;
    if SYSTEM.iter().any(|folder| file.starts_with(folder)) {
        // Their debug information takes as much memory as many a program.
        return vec![plain];
    }
    let mut found = Vec::new();
    // The crate takes it for where a call returns, and looks a byte before.
    let at = std::ptr::without_provenance_mut(address.wrapping_add(1));
    // SAFETY: the lock of what is known is held, and nobody else asks.
    unsafe {
        backtrace::resolve_unsynchronized(at, |symbol| {
            let path = symbol.filename().map(|path| path.display().to_string());
            // A C function may be called as C++ calls a type: `g`.
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

/// What the dynamic linker knows.
fn plain(address: usize) -> Frame {
    let (name, file, offset) = linked(address);
    let short = file.rsplit('/').next().unwrap_or(&file);
    let place = match short {
        "" => format!("{address:#x}"),
        short => format!("{short}+{offset:#x}"),
    };
    let function = name.unwrap_or_else(|| place.clone());
    Frame { function, file: String::new(), line: 0, column: 0, place }
}

/// The name that is linked by, the file, and the offset into it.
fn linked(address: usize) -> (Option<String>, String, usize) {
    // SAFETY: all zero is a valid value, and `dladdr` fills it in.
    let (known, info) = unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        (libc::dladdr(std::ptr::without_provenance(address), &mut info) != 0, info)
    };
    if !known || info.dli_fname.is_null() {
        return (None, String::new(), 0);
    }
    // SAFETY: what `dladdr` gives are strings that stay.
    let string =
        |at: *const libc::c_char| unsafe { CStr::from_ptr(at) }.to_string_lossy().into_owned();
    let name = (!info.dli_sname.is_null()).then(|| string(info.dli_sname));
    (name, string(info.dli_fname), address.wrapping_sub(info.dli_fbase.addr()))
}

/// Returns whether a function is another file's, and has an entry at this address.
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
            && symbol.as_ref().is_some_and(|it| it.st_shndx == 0)
    }
}

/// The name by which the function that begins at an address is linked, if it has one.
pub(crate) fn linked_name(function: usize) -> Option<String> {
    linked(function).0.or_else(|| Some(frames(function).pop()?.function))
}

/// The variable at an address, or the file that it is in.
pub(crate) fn variable(address: usize) -> Option<String> {
    let (name, file, offset) = linked(address);
    (!file.is_empty()).then(|| {
        let place = format!("{}+{offset:#x}", file.rsplit('/').next().unwrap_or(&file));
        name.map_or_else(|| place.clone(), |name| format!("{name} ({place})"))
    })
}

/// What stands at an address, on one line.
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

/// A path from the current folder, if it lies below it.
fn short(file: &str) -> &str {
    let here = std::env::current_dir().ok();
    let rest = here.as_deref().and_then(|here| std::path::Path::new(file).strip_prefix(here).ok());
    rest.and_then(std::path::Path::to_str).unwrap_or(file)
}
