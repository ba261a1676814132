//! LLVM 22, loaded into this process through `llvm.cpp`.

use std::collections::hash_map::DefaultHasher;
use std::ffi::{OsString, c_char};
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use libloading::{Library, Symbol};

use tbaa_tests::process::{run, text_of};

use crate::programs::of;

const SOURCE: &str = include_str!("../llvm.cpp");

/// The type `Bench` of `llvm.cpp`.
#[repr(C)]
struct Opaque(u8);

/// Calls a function of `llvm.cpp`. `$name` is the function's name without the prefix `bench_`. An
/// argument's type follows `=>`, and the result's type follows `->`.
macro_rules! call {
    ($llvm:expr, $name:ident($($argument:expr => $ty:ty),*) $(-> $result:ty)?) => {{
        let name = concat!("bench_", stringify!($name), "\0");
        // SAFETY: the library has the function with these types.
        let function: Symbol<'_, unsafe extern "C" fn($($ty),*) $(-> $result)?> =
            unsafe { $llvm.library.get(name.as_bytes()) }.expect("a function of llvm.cpp");
        // SAFETY: the module lives as long as its `LlvmModule`, the indices of tags and pairs were
        // checked, and the buffers are large enough.
        unsafe { function($($argument),*) }
    }};
}

/// The shared library that is compiled from `llvm.cpp`.
pub(crate) struct Llvm {
    library: Library,
    pub(crate) version: String,
}

impl Llvm {
    /// Compiles the library into `folder`, unless it is there already, and loads it.
    ///
    /// # Errors
    ///
    /// A message that names the missing tool or the failed step.
    pub(crate) fn load(folder: &Path) -> Result<Llvm, String> {
        let version = config(&["--version"])?.concat();
        let file = compile(folder, &version)?;
        // SAFETY: the library is LLVM and `llvm.cpp`, whose initialisers are ordinary C++ ones.
        let library = unsafe { Library::new(&file) };
        let library = library.map_err(of(&file))?;
        Ok(Llvm { library, version })
    }

    /// Parses text that ends with a zero byte; `None` if it is empty or LLVM rejects it.
    pub(crate) fn parse(&self, text: &[u8]) -> Option<LlvmModule<'_>> {
        let (0, text) = text.split_last()? else {
            panic!("a text without a zero byte at its end");
        };
        let pointer = text.as_ptr().cast();
        let module =
            call!(self, parse(pointer => *const c_char, text.len() => usize) -> *mut Opaque);
        (!module.is_null()).then_some(LlvmModule { llvm: self, module, pairs: 0, tags: None })
    }

    /// Returns the number of bytes that the process holds from malloc.
    pub(crate) fn heap(&self) -> f64 {
        call!(self, heap() -> usize) as f64
    }
}

pub(crate) struct LlvmModule<'l> {
    llvm: &'l Llvm,
    module: *mut Opaque,
    pairs: usize,
    tags: Option<usize>,
}

impl LlvmModule<'_> {
    pub(crate) fn tags(&mut self) -> usize {
        let count = || call!(self.llvm, tags(self.module => *mut Opaque) -> usize);
        *self.tags.get_or_insert_with(count)
    }

    /// Sets the pairs of tags, by index, that the methods `ask`, `generic` and `answers` query.
    pub(crate) fn set_pairs(&mut self, pairs: &[[u32; 2]]) {
        let tags = self.tags();
        assert!(pairs.as_flattened().iter().all(|&tag| (tag as usize) < tags), "no such tag");
        let numbers = pairs.as_flattened().as_ptr();
        call!(
            self.llvm,
            pairs(self.module => *mut Opaque, numbers => *const u32, pairs.len() => usize)
        );
        self.pairs = pairs.len();
    }

    /// Returns how many of the pairs with indices in `window` may alias.
    pub(crate) fn ask(&self, window: std::ops::Range<usize>) -> usize {
        let (start, len) = self.window(window);
        call!(self.llvm, ask(self.module => *mut Opaque, start => usize, len => usize) -> usize)
    }

    /// Returns how many of the pairs with indices in `window` have a most generic tag.
    pub(crate) fn generic(&self, window: std::ops::Range<usize>) -> usize {
        let (start, len) = self.window(window);
        call!(self.llvm, generic(self.module => *mut Opaque, start => usize, len => usize) -> usize)
    }

    fn window(&self, window: std::ops::Range<usize>) -> (usize, usize) {
        assert!(window.end <= self.pairs, "no such pairs");
        (window.start, window.len())
    }

    /// Queries tag `tag` with each tag of the module. Returns how many may alias it.
    pub(crate) fn row(&mut self, tag: usize) -> usize {
        assert!(tag < self.tags(), "no such tag");
        call!(self.llvm, row(self.module => *mut Opaque, tag => usize) -> usize)
    }

    /// Returns for each pair whether its two tags may alias.
    pub(crate) fn answers(&self) -> Vec<bool> {
        let mut answers = vec![0_u8; self.pairs];
        call!(self.llvm, answers(self.module => *mut Opaque, answers.as_mut_ptr() => *mut u8));
        answers.into_iter().map(|answer| answer != 0).collect()
    }

    /// Prints the module and returns the length of the text in bytes.
    pub(crate) fn print(&self) -> usize {
        call!(self.llvm, print(self.module => *mut Opaque) -> usize)
    }

    /// Adds a struct type of `fields` fields, new for each `number`, and a tag of its second field.
    pub(crate) fn grow(&mut self, number: usize, fields: usize) {
        assert!(fields >= 2, "a tag of the second field");
        self.tags = None;
        call!(self.llvm, grow(self.module => *mut Opaque, number => usize, fields => usize));
    }
}

impl Drop for LlvmModule<'_> {
    fn drop(&mut self) {
        call!(self.llvm, free(self.module => *mut Opaque));
    }
}

/// Returns the library's file, named by a hash of source and LLVM version. Compiles a missing file.
fn compile(folder: &Path, version: &str) -> Result<PathBuf, String> {
    let mut hasher = DefaultHasher::new();
    (SOURCE, version).hash(&mut hasher);
    let file = folder.join(format!("llvm-{:016x}.so", hasher.finish()));
    if file.exists() {
        return Ok(file);
    }
    let source = folder.join("llvm.cpp");
    std::fs::write(&source, SOURCE).map_err(of(&source))?;
    // The file is renamed when it is complete, so that a partial file is never loaded.
    let unfinished = file.with_extension(std::process::id().to_string());
    let mut arguments: Vec<OsString> = vec!["-O2".into(), "-shared".into(), "-fPIC".into()];
    arguments.extend(config(&["--cxxflags"])?.into_iter().map(OsString::from));
    arguments.extend([source.into(), "-o".into(), unfinished.clone().into()]);
    arguments.extend(config(&["--ldflags", "--libs"])?.into_iter().map(OsString::from));
    run(Command::new("clang++-22").args(arguments))?;
    std::fs::rename(&unfinished, &file).map_err(of(&file))?;
    Ok(file)
}

fn config(options: &[&str]) -> Result<Vec<String>, String> {
    let words = text_of(Command::new("llvm-config-22").args(options))?;
    Ok(words.split_whitespace().map(str::to_owned).collect())
}
