//! Functions of the C and C++ libraries whose effects on memory are known by name.
//!
//! Source: ISO C 7, POSIX.1-2017, the Linux manual pages, the Itanium C++ ABI.

/// Functions that write no memory of the program through their arguments, or write it only with the
/// types that the headers declare. A `*` at the end of a name matches any characters.
const HARMLESS: &str = include_str!("harmless.txt");

/// Functions that write through some of their arguments and only read through the others. Bit n is
/// set if the function writes through the argument with index n.
const WRITERS: &[(&str, u32)] = &[
    (
        "asprintf fgetws gethostname mbstowcs strftime strxfrm vasprintf wcscat wcscpy \
         wcsncat wcsncpy wcstombs",
        0b1,
    ),
    ("confstr getgroups", 0b10),
    ("getdelim getline", 0b11),
    ("getopt_long getopt_long_only", 0b11000),
    ("__isoc23_fscanf __isoc23_sscanf __isoc99_fscanf __isoc99_sscanf fscanf sscanf", !0b11),
    ("__isoc23_scanf __isoc99_scanf scanf", !0b1),
    ("inet_ntop", 0b100),
    ("mbsrtowcs wcsrtombs", 0b1011),
];

/// Functions that write only to the targets of some arguments, not through pointers in these
/// targets. For each: the arguments' indices, and the largest number of bytes written to each
/// target on x86-64 with the GNU C library.
const PARTS: &[(&str, &[(usize, u64)])] = &[
    ("mbtowc pthread_key_create wait", &[(0, 4)]),
    ("mbrtowc", &[(0, 4), (3, 8)]),
    ("pipe pipe2", &[(0, 8)]),
    ("wctomb _ZNSt8__detail15_List_node_base7_M_hookEPS0_", &[(0, 16)]),
    ("wcrtomb", &[(0, 16), (2, 8)]),
    ("times", &[(0, 32)]),
    ("mktime timegm", &[(0, 56)]),
    ("sysinfo", &[(0, 112)]),
    ("sigaddset sigdelset sigemptyset sigfillset sigpending", &[(0, 128)]),
    ("setjmp _setjmp sigsetjmp __sigsetjmp", &[(0, 200)]),
    ("uname", &[(0, 390)]),
    (
        "frexp frexpf frexpl inet_aton lgamma_r modff pthread_mutexattr_getprotocol \
         pthread_mutexattr_getpshared pthread_mutexattr_getrobust pthread_mutexattr_gettype \
         pthread_setcancelstate pthread_setcanceltype sem_getvalue waitpid",
        &[(1, 4)],
    ),
    ("sincosf", &[(1, 4), (2, 4)]),
    (
        "__isoc23_strtol __isoc23_strtoll __isoc23_strtoul __isoc23_strtoull modf \
         pthread_attr_getstacksize pthread_join strtod strtof strtol strtold strtoll strtoul \
         strtoull wcstod wcstof wcstol wcstold wcstoll wcstoul wcstoull",
        &[(1, 8)],
    ),
    ("sincos", &[(1, 8), (2, 8)]),
    ("clock_getres fgetpos fgetpos64 getrlimit getrlimit64 modfl nanosleep", &[(1, 16)]),
    ("sincosl", &[(1, 16), (2, 16)]),
    ("sigaltstack", &[(1, 24)]),
    ("_ZSt29_Rb_tree_insert_and_rebalancebPSt18_Rb_tree_node_baseS0_RS_", &[(1, 32)]),
    ("asctime_r ctime_r", &[(1, 26)]),
    ("getitimer", &[(1, 32)]),
    ("tcgetattr", &[(1, 60)]),
    ("fstatvfs fstatvfs64 statvfs statvfs64", &[(1, 112)]),
    ("fstatfs fstatfs64 statfs statfs64", &[(1, 120)]),
    ("select", &[(1, 128), (2, 128), (3, 128), (4, 16)]),
    ("fstat64 getrusage lstat64 stat64", &[(1, 144)]),
    ("remquo", &[(2, 4)]),
    ("mbrlen", &[(2, 8)]),
    ("inet_pton", &[(2, 16)]),
    ("fcntl fcntl64 setitimer", &[(2, 32)]),
    ("pthread_sigmask sigprocmask", &[(2, 128)]),
    ("fstatat fstatat64", &[(2, 144)]),
    ("sigaction __sigaction", &[(2, 152)]),
    ("socketpair", &[(3, 8)]),
    ("clock_nanosleep", &[(3, 16)]),
];

/// Functions that free the heap block to which their first argument points.
const RELEASE: &str = "free cfree realloc reallocarray _ZdlPv _ZdaPv _ZdlPvm _ZdaPvm \
    _ZdlPvSt11align_val_t _ZdaPvSt11align_val_t _ZdlPvmSt11align_val_t _ZdaPvmSt11align_val_t \
    _ZdlPvRKSt9nothrow_t _ZdaPvRKSt9nothrow_t";

/// Functions that allocate memory, and the indices of the arguments whose product is its size. The
/// list is needed for declarations without LLVM's attribute `allocsize`.
const ALLOCATE: &[(&str, &[usize])] = &[
    ("malloc valloc pvalloc _Znwm _Znam _ZnwmRKSt9nothrow_t _ZnamRKSt9nothrow_t", &[0]),
    ("_ZnwmSt11align_val_t _ZnamSt11align_val_t", &[0]),
    ("realloc aligned_alloc memalign", &[1]),
    ("calloc", &[0, 1]),
    ("reallocarray", &[1, 2]),
];

/// Returns whether the function with this symbol name is known to write no memory through its
/// arguments, or to write it only with the types that the headers declare.
pub fn is_harmless(name: &[u8]) -> bool {
    is_listed(name) && !is_constructor(name) && parts(name).is_none()
}

fn is_listed(name: &[u8]) -> bool {
    HARMLESS.split_ascii_whitespace().any(|known| match known.strip_suffix('*') {
        Some(start) => name.starts_with(start.as_bytes()),
        None => name == known.as_bytes(),
    })
}

/// Returns whether a name is that of a C++ constructor, which may replace an existing object.
fn is_constructor(name: &[u8]) -> bool {
    let holds = |end| memchr::memmem::find(name, end).is_some();
    name.starts_with(b"_ZN") && (holds(b"C1E") || holds(b"C2E"))
}

fn has(names: &str, name: &[u8]) -> bool {
    memchr::memmem::find(names.as_bytes(), name).is_some()
        && names.split_ascii_whitespace().any(|known| known.as_bytes() == name)
}

/// Returns a mask of the arguments that a function may write through: bit n for index n.
pub(crate) fn written(name: &[u8]) -> u32 {
    match WRITERS.iter().find(|(known, _)| has(known, name)) {
        Some((_, mask)) => *mask,
        None if !is_listed(name) => !0,
        None => u32::from(is_constructor(name)),
    }
}

/// For a function that is known to write only to the targets of some arguments, returns these
/// arguments' indices, and the largest number of bytes written to each target.
pub fn parts(name: &[u8]) -> Option<&'static [(usize, u64)]> {
    let known = PARTS.iter().find(|(known, _)| has(known, name));
    known.map(|(_, parts)| *parts)
}

/// Returns the names in `HARMLESS`, `PARTS` and `WRITERS`, without the names that end in `*`.
pub fn known_names() -> impl Iterator<Item = &'static str> {
    let whole = HARMLESS.split_ascii_whitespace().filter(|name| !name.ends_with('*'));
    let lists = PARTS.iter().map(|it| it.0).chain(WRITERS.iter().map(|it| it.0));
    whole.chain(lists.flat_map(str::split_ascii_whitespace))
}

pub(crate) fn releases(name: &[u8]) -> bool {
    has(RELEASE, name)
}

pub(crate) fn allocates(name: &[u8]) -> Option<&'static [usize]> {
    let known = ALLOCATE.iter().find(|(known, _)| has(known, name));
    known.map(|(_, size)| *size)
}

/// Returns the C functions that `libtbaa_witness` intercepts in a dynamically linked program.
pub fn interposed() -> impl Iterator<Item = &'static str> {
    include_str!("interposed.txt").split_ascii_whitespace()
}
