//! Functions whose effects on memory are known by their names: of the C library, and of
//! the C++ library.
//!
//! Source: ISO C 7, POSIX.1-2017, the Linux manual pages, the Itanium C++ ABI.

/// Functions that write nothing through their arguments that checked code accesses, or
/// what they write has the types that the headers say. `*` at the end stands for any
/// characters.
const HARMLESS: &str = include_str!("harmless.txt");

/// Functions that write through some of their arguments and read through the others: bit n
/// stands for the argument with the index n.
const WRITERS: &[(&str, u32)] = &[
    (
        "asprintf fgetws gethostname mbstowcs strftime strxfrm vasprintf wcscat wcscpy \
         wcsncat wcsncpy wcstombs",
        0b1,
    ),
    ("confstr getgroups", 0b10),
    ("getdelim getline", 0b11),
    ("__isoc23_fscanf __isoc23_sscanf __isoc99_fscanf __isoc99_sscanf fscanf sscanf", !0b11),
    ("__isoc23_scanf __isoc99_scanf scanf", !0b1),
    ("inet_ntop", 0b100),
    ("mbsrtowcs wcsrtombs", 0b1011),
];

/// Functions that write only to the objects that some of their arguments point to, by the
/// indices of these arguments, and the most bytes of each object on x86-64 with the GNU C
/// library. They follow no pointer to what they write.
const PARTS: &[(&str, &[(usize, u64)])] = &[
    ("asctime_r ctime_r", &[(1, 26)]),
    ("clock_getres fgetpos fgetpos64 getrlimit getrlimit64 modfl nanosleep", &[(1, 16)]),
    ("clock_nanosleep", &[(3, 16)]),
    ("fcntl fcntl64 setitimer", &[(2, 32)]),
    ("frexp frexpf frexpl inet_aton lgamma_r modff sem_getvalue waitpid", &[(1, 4)]),
    ("fstat64 getrusage lstat64 stat64", &[(1, 144)]),
    ("fstatat fstatat64", &[(2, 144)]),
    ("fstatfs fstatfs64 statfs statfs64", &[(1, 120)]),
    ("fstatvfs fstatvfs64 statvfs statvfs64", &[(1, 112)]),
    ("getitimer", &[(1, 32)]),
    ("inet_pton", &[(2, 16)]),
    (
        "__isoc23_strtol __isoc23_strtoll __isoc23_strtoul __isoc23_strtoull modf \
         pthread_attr_getstacksize pthread_join strtod strtof strtol strtold strtoll \
         strtoul strtoull wcstod wcstof wcstol wcstold wcstoll wcstoul wcstoull",
        &[(1, 8)],
    ),
    ("mbrlen", &[(2, 8)]),
    ("mbrtowc", &[(0, 4), (3, 8)]),
    ("mbtowc pthread_key_create wait", &[(0, 4)]),
    ("mktime timegm", &[(0, 56)]),
    ("pipe pipe2", &[(0, 8)]),
    ("pthread_sigmask sigprocmask", &[(2, 128)]),
    ("remquo", &[(2, 4)]),
    ("select", &[(1, 128), (2, 128), (3, 128), (4, 16)]),
    ("setjmp _setjmp sigsetjmp __sigsetjmp", &[(0, 200)]),
    ("sigaction __sigaction", &[(2, 152)]),
    ("sigaltstack", &[(1, 24)]),
    ("sigaddset sigdelset sigemptyset sigfillset sigpending", &[(0, 128)]),
    ("sincos", &[(1, 8), (2, 8)]),
    ("sincosf", &[(1, 4), (2, 4)]),
    ("sincosl", &[(1, 16), (2, 16)]),
    ("socketpair", &[(3, 8)]),
    ("sysinfo", &[(0, 112)]),
    ("tcgetattr", &[(1, 60)]),
    ("times", &[(0, 32)]),
    ("uname", &[(0, 390)]),
    ("wcrtomb", &[(0, 16), (2, 8)]),
    ("wctomb", &[(0, 16)]),
];

/// Functions that give a block of the heap back, by their first argument.
const RELEASE: &str = "free cfree realloc reallocarray _ZdlPv _ZdaPv _ZdlPvm _ZdaPvm \
    _ZdlPvSt11align_val_t _ZdaPvSt11align_val_t _ZdlPvmSt11align_val_t _ZdaPvmSt11align_val_t \
    _ZdlPvRKSt9nothrow_t _ZdaPvRKSt9nothrow_t";

/// Functions that allocate, and the arguments whose product is the size, where LLVM's
/// attribute `allocsize` does not say it.
const ALLOCATE: &[(&str, &[usize])] = &[
    ("malloc valloc pvalloc _Znwm _Znam _ZnwmRKSt9nothrow_t _ZnamRKSt9nothrow_t", &[0]),
    ("_ZnwmSt11align_val_t _ZnamSt11align_val_t", &[0]),
    ("realloc aligned_alloc memalign", &[1]),
    ("calloc", &[0, 1]),
    ("reallocarray", &[1, 2]),
];

/// Returns whether a function, by the name that it is linked by, is known to write nothing
/// that checked code accesses by another type.
#[must_use]
pub fn is_harmless(name: &[u8]) -> bool {
    is_listed(name) && !is_constructor(name)
}

fn is_listed(name: &[u8]) -> bool {
    HARMLESS.split_ascii_whitespace().any(|known| match known.strip_suffix('*') {
        Some(start) => name.starts_with(start.as_bytes()),
        None => name == known.as_bytes(),
    })
}

/// Whether a name is that of a C++ constructor: it may write an object where another was.
fn is_constructor(name: &[u8]) -> bool {
    let holds = |end| memchr::memmem::find(name, end).is_some();
    name.starts_with(b"_ZN") && (holds(b"C1E") || holds(b"C2E"))
}

/// Whether a name is one of some names with spaces between them.
fn has(names: &str, name: &[u8]) -> bool {
    names.split_ascii_whitespace().any(|known| known.as_bytes() == name)
}

/// The arguments that a function may write through, a bit for each.
pub(crate) fn written(name: &[u8]) -> u32 {
    match WRITERS.iter().find(|(known, _)| has(known, name)) {
        Some((_, mask)) => *mask,
        None if !is_listed(name) => !0,
        None => u32::from(is_constructor(name)),
    }
}

/// Returns the indices of the arguments whose objects a function writes, and the most bytes of each
/// object, if the function writes nothing else.
#[must_use]
pub fn parts(name: &[u8]) -> Option<&'static [(usize, u64)]> {
    let known = PARTS.iter().find(|(known, _)| has(known, name));
    known.map(|(_, parts)| *parts)
}

/// Returns the names of functions whose effects are known, without those of which only the start is
/// known.
pub fn known_names() -> impl Iterator<Item = &'static str> {
    let whole = HARMLESS.split_ascii_whitespace().filter(|name| !name.ends_with('*'));
    let parts = PARTS.iter().flat_map(|(names, _)| names.split_ascii_whitespace());
    let writers = WRITERS.iter().flat_map(|(names, _)| names.split_ascii_whitespace());
    whole.chain(parts).chain(writers)
}

pub(crate) fn releases(name: &[u8]) -> bool {
    has(RELEASE, name)
}

pub(crate) fn allocates(name: &[u8]) -> Option<&'static [usize]> {
    let known = ALLOCATE.iter().find(|(known, _)| has(known, name));
    known.map(|(_, size)| *size)
}

/// Returns the C library's functions that `libtbaa_witness` takes the place of, where it is linked
/// dynamically.
pub fn interposed() -> impl Iterator<Item = &'static str> {
    include_str!("interposed.txt").split_ascii_whitespace()
}
