//! What `tbaa blocks` advises works: each kind of advice is followed, and clang's -O2
//! loads less.

mod tools;

use std::fs;
use std::path::Path;
use std::process::Command;

struct Case {
    name: &'static str,
    /// With `BEFORE` or `AFTER` defined; the function is `f`.
    program: &'static str,
    /// What the help says.
    says: &'static str,
    /// What it does not say.
    never: &'static str,
    flags: &'static [&'static str],
    flags_after: &'static [&'static str],
}

const PLAIN: Case =
    Case { name: "", program: "", says: "", never: "noalias", flags: &[], flags_after: &[] };

const CASES: [Case; 11] = [
    Case {
        name: "a char store, and a parameter",
        program: "
struct vec { float *data; long len; };
#ifdef AFTER
void f(struct vec *restrict v, char *seen) {
#else
void f(struct vec *v, char *seen) {
#endif
  for (long i = 0; i < v->len; i++) seen[i] = 1;
}",
        says: "declare parameter v restrict",
        ..PLAIN
    },
    Case {
        name: "a store of the same type, and a parameter",
        program: "
#ifdef AFTER
void f(int *a, int *restrict n) {
#else
void f(int *a, int *n) {
#endif
  for (int i = 0; i < *n; i++) a[i] = 0;
}",
        says: "declare parameter n restrict",
        ..PLAIN
    },
    Case {
        name: "the same, by the local variable",
        program: "
void f(int *a, int *n) {
#ifdef AFTER
  int m = *n;
#else
#define m *n
#endif
  for (int i = 0; i < m; i++) a[i] = 0;
}",
        says: "or copy the value into a local variable",
        ..PLAIN
    },
    Case {
        name: "the parameter holds the pointer that is stored through",
        program: "
struct s { int *a; int n; };
#ifdef AFTER
void f(struct s *restrict s) {
#else
void f(struct s *s) {
#endif
  for (int i = 0; i < s->n; i++) s->a[i] = 0;
}",
        says: "declare parameter s restrict",
        ..PLAIN
    },
    Case {
        name: "a pointer that is loaded: restrict on a local is not heeded",
        program: "
struct s { int *a; int *n; } *g;
void f(void) {
  int *n = g->n, *a = g->a;
#ifdef AFTER
  int m = *n;
#else
#define m *n
#endif
  for (int i = 0; i < m; i++) a[i] = 0;
}",
        says: "copy the value into a local variable",
        never: "restrict",
        ..PLAIN
    },
    Case {
        name: "C++",
        program: "
#ifdef AFTER
extern \"C\" void f(int *a, int *__restrict n) {
#else
extern \"C\" void f(int *a, int *n) {
#endif
  for (int i = 0; i < *n; i++) a[i] = 0;
}",
        says: "declare parameter n __restrict",
        flags: &["-x", "c++"],
        flags_after: &["-x", "c++"],
        ..PLAIN
    },
    Case {
        name: "a member of a union",
        program: "
union u { int i; float f; };
struct s { union u u; int n; };
int f(union u **p, int *q) {
  int a = (*p)->i;
#ifdef AFTER
  int b = a;
  *q = 1;
#else
  *q = 1;
  int b = (*p)->i;
#endif
  return a + b;
}",
        says: "copy the value into a local variable",
        ..PLAIN
    },
    Case {
        name: "a function that only reads",
        program: "
#ifdef AFTER
__attribute__((pure))
#endif
int get(int);
int f(int *n) {
  int s = 0;
  for (int i = 0; i < *n; i++) s += get(i);
  return s;
}",
        says: "declare get __attribute__((pure)) if it only reads memory",
        ..PLAIN
    },
    Case {
        name: "a function without a result is not pure",
        program: "
void put(int);
void f(int *n) {
#ifdef AFTER
  int m = *n;
#else
#define m *n
#endif
  for (int i = 0; i < m; i++) put(i);
}",
        says: "copy the value into a local variable",
        never: "pure",
        ..PLAIN
    },
    Case {
        name: "a function that has results through pointers is not pure",
        program: "
int count(const int *a, int *max);
int f(const int *a, const int *n, int *max) {
#ifdef AFTER
  int m = *n;
#else
#define m *n
#endif
  int s = 0;
  for (int i = 0; i < m; i++) s += count(a, max);
  return s;
}",
        says: "copy the value into a local variable",
        never: "pure",
        ..PLAIN
    },
    Case {
        name: "errno",
        program: "
double sqrt(double);
double f(int *n, double x) {
  double s = 0;
  for (int i = 0; i < *n; i++) s += sqrt(x + i);
  return s;
}",
        says: "compile with -fno-math-errno",
        flags_after: &["-fno-math-errno"],
        ..PLAIN
    },
];

fn printed(command: &mut Command) -> String {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// How many times `f` loads in clang's output, without unrolling and vectors, which copy
/// loads.
fn loads(file: &Path, define: &str, flags: &[&str]) -> usize {
    let mut clang = Command::new("clang-22");
    clang.args(["-O2", "-fno-unroll-loops", "-fno-vectorize", "-fno-slp-vectorize", "-S"]);
    clang.args(["-emit-llvm", "-o", "-", define]).args(flags).arg(file);
    let text = printed(&mut clang);
    let body = &text[text.find(" @f(").unwrap()..];
    body[..body.find("\n}").unwrap()].matches(" = load ").count()
}

#[test]
fn advice_that_is_followed_frees_the_load() {
    if !tools::are_there(&["clang-22"]) {
        return;
    }
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("advice");
    fs::create_dir_all(&folder).unwrap();
    for (at, case) in CASES.iter().enumerate() {
        let file = folder.join(format!("{at}.c"));
        fs::write(&file, case.program).unwrap();
        let mut tbaa = Command::new(env!("CARGO_BIN_EXE_tbaa"));
        tbaa.arg("blocks").arg(&file).args(["@f", "--"]).args(case.flags);
        let text = printed(tbaa.env("CLANG", "clang-22"));
        let help: Vec<_> = text.lines().filter(|line| line.starts_with("    help: ")).collect();
        let name = case.name;
        assert!(help.iter().any(|line| line.contains(case.says)), "{name}: {text}");
        assert!(!help.iter().any(|line| line.contains(case.never)), "{name}: {text}");
        let before = loads(&file, "-DBEFORE", case.flags);
        let after = loads(&file, "-DAFTER", &[case.flags, case.flags_after].concat());
        println!("{name}: {} | {before} | {after}", case.says);
        assert!(after < before, "{name}: {before} loads before, {after} after");
    }
}

#[test]
fn library_functions_have_their_names_in_c() {
    if !tools::are_there(&["clang-22"]) {
        return;
    }
    let file = Path::new(env!("CARGO_TARGET_TMPDIR")).join("memset.c");
    let program = "
void *memset(void *, int, unsigned long);
int f(int *n, char *p) { int a = *n; memset(p, 0, 100); return a + *n; }
";
    fs::write(&file, program).unwrap();
    let mut tbaa = Command::new(env!("CARGO_BIN_EXE_tbaa"));
    let text = printed(tbaa.arg("blocks").arg(&file).env("CLANG", "clang-22"));
    assert!(text.contains("memset") && !text.contains("@llvm.memset"), "{text}");
}
