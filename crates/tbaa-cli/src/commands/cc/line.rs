//! Parses the command line of a compiler (clang's flags).

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use tbaa_instrument::is_supported;

use crate::report::{Result, bail};

#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Task {
    /// `-c`, or `-S`: one output for each input.
    Compile,
    Link,
    /// A precompiled header.
    Header,
    /// Anything else, such as `-E`.
    Other,
}

#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) enum Word {
    /// A flag, followed by its value if the value is a separate word.
    Flag(Vec<OsString>),
    /// A C or C++ file, or with `-x ir` a module. `language` is the one that `-x` names, if any.
    Source { path: PathBuf, language: Option<OsString> },
    /// Any other input.
    Input(OsString),
}

#[derive(Debug)]
pub(super) struct Line {
    pub(super) words: Vec<Word>,
    pub(super) task: Task,
    pub(super) output: Option<PathBuf>,
}

/// Flags whose value is the next word.
/// Source: `clang/Driver/Options.td`.
const WITH_VALUE: &str = "-A -B -D -F -G -I -L -MF -MJ -MQ -MT -T -U -Xanalyzer -Xarch_host -Xassembler -Xclang -Xclangas \
    -Xcuda-ptxas -Xlinker -Xoffload-linker -Xopenmp-target -Xpreprocessor -allowable_client -arch -b -bundle_loader \
    -cxx-isystem -darwin-target-variant -dependency-file -dumpbase -dumpdir -e -fdebug-compilation-dir \
    -fmodules-user-build-path -filelist -fplugin -framework -ftrapv-handler -gen-cdb-fragment-path -iapinotes-modules \
    -idirafter -iframework -imacros -imultilib -include -include-pch -init -install_name -iprefix -iquote -isysroot \
    -isystem -isystem-after -ivfsoverlay -iwithprefix -iwithprefixbefore -iwithsysroot -l -mllvm -mmlir -mthread-model \
    -o -rpath -serialize-diagnostics -stdlib++-isystem -target -u -undefined -vfsoverlay -weak_framework -weak_library \
    -working-directory -x -z --config --define-macro --dyld-prefix --for-linker --imacros --include \
    --include-directory --include-directory-after --include-prefix --include-with-prefix \
    --include-with-prefix-after --include-with-prefix-before --library-directory --no-system-header-prefix \
    --param --prefix --rtlib --sysroot --system-header-prefix --undefine-macro";

/// Long spellings of flags, each followed by the short one. After `=`, the long one may have a value.
const LONG: &str = "--assemble -S --compile -c --debug -g --dependencies -M --language -x \
    --no-standard-libraries -nostdlib --optimize -O --output -o --pipe -pipe --preprocess -E --static -static \
    --user-dependencies -MM --write-dependencies -MD --write-user-dependencies -MMD";

/// Prefixes of flags for clang's front end. [`is_front`] excepts `-Wl,` and `-Wa,`.
const FRONT: &str = "-A -D -F -I -MF -MJ -MQ -MT -U -W -Xpreprocessor -ansi -cxx-isystem -idirafter -imacros \
    -imultilib -include -include-pch -iprefix -iquote -isystem -iwithprefix -iwithprefixbefore \
    -pedantic -std -trigraphs";

/// Flags about dependency rules for make.
const DEPENDENCIES: &str = "-M -MM -MD -MMD -MP -MG -MV";

/// Flags with which the task is [`Task::Other`].
const NO_CODE: &str = "-E -M -MM -fsyntax-only --analyze --precompile --version --help -help -### -dumpmachine \
    -dumpversion -emit-ast -cc1 -cc1as -emit-pch";

/// Sanitizers in conflict with checks of TBAA tags. Source: `clang/Basic/Sanitizers.def`.
const OTHER_SANITIZERS: &str = "address alloc-token dataflow hwaddress kcfi kernel-address kernel-hwaddress \
    kernel-memory leak memory memtag memtag-heap memtag-stack numerical realtime thread type";

fn is_among(flag: &OsStr, list: &str) -> bool {
    list.split(' ').any(|part| flag == part)
}

/// Returns the short spelling of a flag in [`LONG`].
fn short(word: &OsStr) -> Option<OsString> {
    let text = word.to_string_lossy();
    let (name, value) = text.split_once('=').unwrap_or((&text, ""));
    let short = LONG.split(' ').skip_while(|long| *long != name).nth(1);
    short.filter(|_| name.starts_with("--")).map(|short| format!("{short}{value}").into())
}

/// Returns whether a flag is a level of optimisation.
pub(super) fn is_level(flag: &OsStr) -> bool {
    let flag = flag.as_encoded_bytes();
    flag.starts_with(b"-O") && !flag.starts_with(b"-ObjC")
}

impl Line {
    /// Parses a command line. `@file` is replaced by the contents of the file, if it can be read.
    pub(super) fn read(arguments: &[OsString]) -> Result<Line> {
        let arguments = expand(arguments, 0)?;
        let mut line = Line { words: Vec::new(), task: Task::Link, output: None };
        let (mut language, mut rest) = (None, arguments.into_iter());
        while let Some(word) = rest.next() {
            let word = short(&word).unwrap_or(word);
            if word == "--" {
                rest.by_ref().for_each(|name| line.input(name, language.clone()));
            } else if word == "-" || !word.as_encoded_bytes().starts_with(b"-") {
                line.input(word, language.clone());
            } else if is_among(&word, WITH_VALUE) {
                let value = rest.next().unwrap_or_default();
                if word == "-o" {
                    line.output = Some(value.into());
                    continue;
                }
                if word == "-x" {
                    language = (value != "none").then(|| value.clone());
                }
                line.words.push(Word::Flag(vec![word, value]));
            } else {
                let bytes = word.as_encoded_bytes();
                let joined = |flag: &[u8]| bytes.strip_prefix(flag).map(String::from_utf8_lossy);
                // `-object-file-name` and `-objcmt-migrate-all` are flags of their own.
                let is_flag = |name: &str| name.starts_with("bject-") || name.starts_with("bjcmt-");
                if let Some(value) = joined(b"-o").filter(|value| !is_flag(value)) {
                    line.output = Some(value.into_owned().into());
                    continue;
                }
                if let Some(value) = joined(b"-x").filter(|value| !value.is_empty()) {
                    language = (value != "none").then(|| value.into_owned().into());
                }
                line.flag(&word);
                line.words.push(Word::Flag(vec![word]));
            }
        }
        if !line.words.iter().any(|word| matches!(word, Word::Source { .. } | Word::Input(_))) {
            line.task = Task::Other;
        }
        Ok(line)
    }

    fn input(&mut self, word: OsString, language: Option<OsString>) {
        let path = PathBuf::from(&word);
        let extension = path.extension().and_then(OsStr::to_str).unwrap_or_default();
        let is_header = match language.as_deref() {
            Some(language) => language.as_encoded_bytes().ends_with(b"-header"),
            None => is_among(extension.as_ref(), "h H hh hp hpp hxx h++ HPP tcc"),
        };
        if is_header && self.task != Task::Other {
            self.task = Task::Header;
        }
        let is_source = match language.as_deref() {
            Some(language) => is_among(language, "c c++ cpp-output c++-cpp-output ir"),
            None => is_among(extension.as_ref(), "c i cc cp cpp cxx c++ C CPP ii"),
        };
        self.words.push(match is_source {
            true => Word::Source { path, language },
            false => Word::Input(word),
        });
    }

    fn flag(&mut self, flag: &OsStr) {
        let text = flag.to_string_lossy();
        if is_among(flag, NO_CODE) || text.starts_with("-print-") || text.starts_with("--print-") {
            self.task = Task::Other;
        } else if self.task == Task::Link && (flag == "-c" || flag == "-S") {
            self.task = Task::Compile;
        }
    }

    pub(super) fn has(&self, flag: &str) -> bool {
        self.words.iter().any(|word| matches!(word, Word::Flag(words) if words[0] == flag))
    }

    pub(super) fn saves_temporaries(&self) -> bool {
        self.flags().any(|flag| flag[0].to_string_lossy().contains("-save-temps"))
    }

    /// Returns a flag that enables one of [`OTHER_SANITIZERS`] or puts bytes before functions.
    pub(super) fn other_sanitizer(&self) -> Option<String> {
        let mut found: Vec<String> = Vec::new();
        for flag in self.flags() {
            let text = flag[0].to_string_lossy();
            if let Some(list) = text.strip_prefix("-fsanitize=") {
                let others = OTHER_SANITIZERS.split(' ');
                let others = others.filter(|it| list.split(',').any(|other| other == *it));
                found.extend(others.map(str::to_owned));
            } else if let Some(list) = text.strip_prefix("-fno-sanitize=") {
                found.retain(|found| list != "all" && list.split(',').all(|other| other != found));
            }
        }
        let patchable = |flag: &[OsString]| {
            let text = flag[0].to_string_lossy();
            let counts = text.strip_prefix("-fpatchable-function-entry=")?;
            (counts.split_once(',')?.1 != "0").then(|| text.to_string())
        };
        let first = found.first().map(|found| format!("-fsanitize={found}"));
        first.or_else(|| self.flags().find_map(patchable))
    }

    /// Returns false if the last `-target` or the last width (`-m32`) selects no supported target.
    pub(super) fn is_supported_target(&self) -> bool {
        // A width such as `-m32` also changes a target that comes later on the command line.
        let width = self.flags().rev().find_map(|flag| match flag[0].to_str()? {
            "-m32" | "-mx32" | "-m16" => Some(false),
            "-m64" => Some(true),
            _ => None,
        });
        let target = self.flags().rev().find_map(|flag| match (flag[0].to_str()?, &flag[1..]) {
            ("-target", [name]) => Some(is_supported(name.as_encoded_bytes())),
            (text, _) => text.strip_prefix("--target=").map(|name| is_supported(name.as_bytes())),
        });
        width != Some(false) && target != Some(false)
    }

    pub(super) fn flags(&self) -> impl DoubleEndedIterator<Item = &[OsString]> {
        self.words.iter().filter_map(|word| match word {
            Word::Flag(words) => Some(&words[..]),
            _ => None,
        })
    }

    pub(super) fn sources(&self) -> impl Iterator<Item = (&Path, Option<&OsStr>)> {
        self.words.iter().filter_map(|word| match word {
            Word::Source { path, language } => Some((&**path, language.as_deref())),
            _ => None,
        })
    }
}

pub(super) fn is_front(flag: &[OsString]) -> bool {
    let first = flag[0].as_encoded_bytes();
    let begins = |list: &str| list.split(' ').any(|part| first.starts_with(part.as_bytes()));
    // `-Wl,` and `-Wa,` are for the linker and the assembler, though they begin with `-W`.
    !begins("-Wl, -Wa,") && (begins(FRONT) || is_among(&flag[0], DEPENDENCIES))
}

/// The largest depth of response files that name other response files.
const DEEP: u32 = 16;

fn expand(arguments: &[OsString], depth: u32) -> Result<Vec<OsString>> {
    let mut all = Vec::new();
    for argument in arguments {
        let file = argument.to_str().and_then(|text| text.strip_prefix('@'));
        match file.and_then(|file| std::fs::read_to_string(file).ok()) {
            None => all.push(argument.clone()),
            Some(_) if depth >= DEEP => {
                bail!("response files name each other {DEEP} deep: {}", argument.display())
            }
            Some(text) => all.extend(expand(&words(&text), depth + 1)?),
        }
    }
    Ok(all)
}

/// Splits a response file into words. A backslash escapes the next character, even in quotes.
/// LLVM: `cl::TokenizeGNUCommandLine`.
fn words(text: &str) -> Vec<OsString> {
    let (mut words, mut word) = (Vec::new(), None::<String>);
    let mut quote = None;
    let mut rest = text.chars();
    while let Some(char) = rest.next() {
        match (char, quote) {
            ('\\', _) => word.get_or_insert_default().extend(rest.next()),
            (char, Some(open)) if char == open => quote = None,
            ('"' | '\'', None) => {
                quote = Some(char);
                word.get_or_insert_default();
            }
            (char, None) if char.is_whitespace() => words.extend(word.take().map(OsString::from)),
            (char, _) => word.get_or_insert_default().push(char),
        }
    }
    words.extend(word.map(OsString::from));
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Line {
        Line::read(&words(line)).unwrap_or_else(|_| panic!("{line}"))
    }

    #[test]
    fn lines_are_taken_apart() {
        for (line, task, sources, output) in [
            ("-c a.c", Task::Compile, 1, None),
            ("-c -o x.o a.c", Task::Compile, 1, Some("x.o")),
            ("a.c b.cpp c.o -lm -ox", Task::Link, 2, Some("x")),
            ("-c -obar.o a.c -object-file-name=b.o", Task::Compile, 1, Some("bar.o")),
            ("-c a.s", Task::Compile, 0, None),
            ("-x assembler a.c -x none b.c -S", Task::Compile, 1, None),
            ("-E a.c", Task::Other, 1, None),
            ("-c -E a.c", Task::Other, 1, None),
            ("-MD -MF a.c -c b.c", Task::Compile, 1, None),
            ("-I a.c -D b.c -include c.c -c d.c", Task::Compile, 1, None),
            ("--version", Task::Other, 0, None),
            ("-print-file-name=a.c", Task::Other, 0, None),
            ("-xc - -c", Task::Compile, 1, None),
            ("-x ir a.ll -x none b.ll", Task::Link, 1, None),
            ("-shared a.o -o liba.so", Task::Link, 0, Some("liba.so")),
            ("-x c++-header a -o a.pch", Task::Header, 0, Some("a.pch")),
            ("-O1 -c a.h", Task::Header, 0, None),
            ("-E a.h", Task::Other, 0, None),
            ("--compile --output=x.o a.c", Task::Compile, 1, Some("x.o")),
            ("--preprocess --output x.i --language=c a", Task::Other, 1, Some("x.i")),
            ("-c -working-directory a.c --define-macro b.c -- c.c", Task::Compile, 1, None),
        ] {
            let read = read(line);
            assert_eq!(read.task, task, "{line}");
            assert_eq!(read.sources().count(), sources, "{line}");
            assert_eq!(read.output.as_deref(), output.map(Path::new), "{line}");
        }
    }

    #[test]
    fn response_files_are_read_as_a_shell_reads_words() {
        let text = "-c \"a b.c\" 'it\\'s.c' \\\"x\\\" -DX=\"1 2\"\n\t'' end";
        let expected = ["-c", "a b.c", "it's.c", "\"x\"", "-DX=1 2", "", "end"];
        assert_eq!(words(text), expected);
    }

    #[test]
    fn flags_for_the_front_end_are_known() {
        for flag in ["-DX", "-I.", "-MD", "-MFa.d", "-Wall", "-Wp,-MD,a.d", "-std=c11", "-pedantic"]
        {
            assert!(is_front(&[flag.into()]), "{flag}");
        }
        for flag in ["-O2", "-flto", "-Wl,-s", "-Wa,-x", "-march=native", "-fPIC", "-g"] {
            assert!(!is_front(&[flag.into()]), "{flag}");
        }
    }
}
