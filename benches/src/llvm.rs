//! LLVM 22, loaded into this process through `llvm.cpp`.

use std::collections::hash_map::DefaultHasher;
use std::ffi::{OsString, c_char};
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;

use libloading::{Library, Symbol};

use crate::programs::{of, run};

const SOURCE: &str = include_str!("../llvm.cpp");

/// The `Bench` of `llvm.cpp`.
#[repr(C)]
struct Opaque(u8);

/// The shared library compiled from `llvm.cpp`.
pub(crate) struct Llvm {
    library: Library,
    pub(crate) version: String,
}

impl Llvm {
    /// Compiles the library into `folder`, unless it is there, and loads it.
    ///
    /// # Errors
    ///
    /// The reason, if something is missing.
    pub(crate) fn load(folder: &Path) -> Result<Llvm, String> {
        let version = config(&["--version"])?.concat();
        let file = compile(folder, &version)?;
        // SAFETY: the library is LLVM and `llvm.cpp`, whose initialisers are ordinary C++ ones.
        let library = unsafe { Library::new(&file) };
        let library = library.map_err(of(&file))?;
        Ok(Llvm { library, version })
    }

    /// Reads a text, which must end with a zero byte. `None` if LLVM rejects it.
    pub(crate) fn parse(&self, text: &[u8]) -> Option<LlvmModule<'_>> {
        let (0, text) = text.split_last()? else {
            panic!("a text without a zero byte at its end");
        };
        type Parse = unsafe extern "C" fn(*const c_char, usize) -> *mut Opaque;
        let parse: Symbol<'_, Parse> = self.function(b"bench_parse\0");
        // SAFETY: the text is readable up to and with the zero byte.
        let module = unsafe { parse(text.as_ptr().cast(), text.len()) };
        (!module.is_null()).then_some(LlvmModule { llvm: self, module, pairs: 0, tags: None })
    }

    /// Bytes that the process holds from malloc.
    pub(crate) fn heap(&self) -> f64 {
        let heap: Symbol<'_, unsafe extern "C" fn() -> usize> = self.function(b"bench_heap\0");
        // SAFETY: it only queries malloc.
        unsafe { heap() as f64 }
    }

    fn function<T>(&self, name: &[u8]) -> Symbol<'_, T> {
        // SAFETY: callers give the types that `llvm.cpp` declares.
        unsafe { self.library.get(name) }.expect("a function of llvm.cpp")
    }
}

/// A module that LLVM has read.
pub(crate) struct LlvmModule<'l> {
    llvm: &'l Llvm,
    module: *mut Opaque,
    pairs: usize,
    tags: Option<usize>,
}

impl LlvmModule<'_> {
    /// Returns how many tags the module has.
    pub(crate) fn tags(&mut self) -> usize {
        let module = self.module;
        let count = || {
            type Tags = unsafe extern "C" fn(*mut Opaque) -> usize;
            let tags: Symbol<'_, Tags> = self.llvm.function(b"bench_tags\0");
            // SAFETY: the module lives as long as `self`.
            unsafe { tags(module) }
        };
        *self.tags.get_or_insert_with(count)
    }

    /// Looks up the tags of pairs of numbers, for [`LlvmModule::ask`] and
    /// [`LlvmModule::answers`].
    pub(crate) fn set_pairs(&mut self, pairs: &[[u32; 2]]) {
        let tags = self.tags();
        assert!(pairs.as_flattened().iter().all(|&tag| (tag as usize) < tags), "no such tag");
        type Pairs = unsafe extern "C" fn(*mut Opaque, *const u32, usize);
        let set: Symbol<'_, Pairs> = self.llvm.function(b"bench_pairs\0");
        // SAFETY: the tags were collected, and every number is one of a tag.
        unsafe { set(self.module, pairs.as_flattened().as_ptr(), pairs.len()) };
        self.pairs = pairs.len();
    }

    /// Returns how many pairs of the window may alias.
    pub(crate) fn ask(&self, window: std::ops::Range<usize>) -> usize {
        self.over(b"bench_ask\0", window)
    }

    /// Returns for how many pairs of the window there is a most generic tag.
    pub(crate) fn generic(&self, window: std::ops::Range<usize>) -> usize {
        self.over(b"bench_generic\0", window)
    }

    fn over(&self, name: &[u8], window: std::ops::Range<usize>) -> usize {
        assert!(window.end <= self.pairs, "no such pairs");
        type Over = unsafe extern "C" fn(*mut Opaque, usize, usize) -> usize;
        let function: Symbol<'_, Over> = self.llvm.function(name);
        // SAFETY: the window is inside the pairs.
        unsafe { function(self.module, window.start, window.len()) }
    }

    /// Returns how many tags may alias tag `tag`.
    pub(crate) fn row(&mut self, tag: usize) -> usize {
        assert!(tag < self.tags(), "no such tag");
        type Row = unsafe extern "C" fn(*mut Opaque, usize) -> usize;
        let row: Symbol<'_, Row> = self.llvm.function(b"bench_row\0");
        // SAFETY: the tag is one of those collected.
        unsafe { row(self.module, tag) }
    }

    /// Returns which pairs may alias.
    pub(crate) fn answers(&self) -> Vec<bool> {
        let mut answers = vec![0_u8; self.pairs];
        type Answers = unsafe extern "C" fn(*mut Opaque, *mut u8);
        let ask: Symbol<'_, Answers> = self.llvm.function(b"bench_answers\0");
        // SAFETY: there is room for an answer a pair.
        unsafe { ask(self.module, answers.as_mut_ptr()) };
        answers.into_iter().map(|answer| answer != 0).collect()
    }

    /// Prints the module and returns how many bytes that are.
    pub(crate) fn print(&self) -> usize {
        type Print = unsafe extern "C" fn(*mut Opaque) -> usize;
        let print: Symbol<'_, Print> = self.llvm.function(b"bench_print\0");
        // SAFETY: the module lives as long as `self`.
        unsafe { print(self.module) }
    }

    /// Makes a struct type of `fields` fields that is unique for each number, and a tag of its
    /// second field.
    pub(crate) fn grow(&mut self, number: usize, fields: usize) {
        assert!(fields >= 2, "a tag of the second field");
        type Grow = unsafe extern "C" fn(*mut Opaque, usize, usize);
        let grow: Symbol<'_, Grow> = self.llvm.function(b"bench_grow\0");
        // SAFETY: nothing else uses the module's context.
        unsafe { grow(self.module, number, fields) };
    }
}

impl Drop for LlvmModule<'_> {
    fn drop(&mut self) {
        type Free = unsafe extern "C" fn(*mut Opaque);
        let free: Symbol<'_, Free> = self.llvm.function(b"bench_free\0");
        // SAFETY: the module is freed once, here.
        unsafe { free(self.module) };
    }
}

/// Compiles the library, under a name that changes with its source.
fn compile(folder: &Path, version: &str) -> Result<PathBuf, String> {
    let mut hasher = DefaultHasher::new();
    (SOURCE, version).hash(&mut hasher);
    let file = folder.join(format!("llvm-{:016x}.so", hasher.finish()));
    if file.exists() {
        return Ok(file);
    }
    let source = folder.join("llvm.cpp");
    std::fs::write(&source, SOURCE).map_err(of(&source))?;
    // Written to a temporary name and renamed, so that a partial file is never loaded.
    let unfinished = file.with_extension(std::process::id().to_string());
    let mut arguments: Vec<OsString> = vec!["-O2".into(), "-shared".into(), "-fPIC".into()];
    arguments.extend(config(&["--cxxflags"])?.into_iter().map(OsString::from));
    arguments.extend([source.into(), "-o".into(), unfinished.clone().into()]);
    arguments.extend(config(&["--ldflags", "--libs"])?.into_iter().map(OsString::from));
    run(Command::new("clang++-22").args(arguments))?;
    std::fs::rename(&unfinished, &file).map_err(of(&file))?;
    Ok(file)
}

/// Returns the words that `llvm-config-22` prints.
fn config(options: &[&str]) -> Result<Vec<String>, String> {
    let words = run(Command::new("llvm-config-22").args(options))?;
    Ok(words.split_whitespace().map(str::to_owned).collect())
}
