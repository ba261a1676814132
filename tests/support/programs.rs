//! Programs that are optimised by LLVM and run: `@{path}` stands behind each access.

use tbaa::declare::{Declarations, Policy, Record, TaggedTypes as Declared, Target};
use tbaa::{Graph, TagId};

use super::random::numbers;

/// Puts tags where a program says `@{path}`: `, !tbaa !N`, or nothing.
pub fn with_tags(program: &str, graph: &Graph, tag: impl Fn(&str) -> Option<TagId>) -> String {
    let metadata = tbaa_ir::write(graph);
    let numbers = numbers(&metadata);
    let with = |path: &str| Some(format!(", !tbaa {}", numbers[tag(path)?.index()]));
    attached(program, with) + "\n" + &metadata
}

/// Puts a text, or nothing, where a program says `@{path}`.
pub fn attached(program: &str, with: impl Fn(&str) -> Option<String>) -> String {
    let mut out = String::new();
    let mut rest = program;
    while let Some((before, after)) = rest.split_once("@{") {
        let (path, after) = after.split_once('}').unwrap();
        out.push_str(before);
        out.extend(with(path));
        rest = after;
    }
    out + rest
}

/// A union that is read as another member than was written through a pointer,
/// and a loop that asks for a field that no store in it can change.
pub const PUN: &str = r#"
@format = private constant [12 x i8] c"%08x %d %d\0A\00"
declare i32 @printf(ptr, ...)

; float f(union { int i; float f; } *u, int *p) { u->f = 1; *p = 5; return u->f; }
define float @f(ptr %u, ptr %p) noinline {
  store float 1.0, ptr %u@{U.f}
  store i32 5, ptr %p@{*int}
  %f = load float, ptr %u@{U.f}
  ret float %f
}

; The count is asked for in each round.
define i32 @sum(ptr %t, ptr %u, i32 %rounds) noinline {
entry:
  br label %loop
loop:
  %i = phi i32 [ 0, %entry ], [ %next, %loop ]
  %s = phi i32 [ 0, %entry ], [ %more, %loop ]
  %at = getelementptr i8, ptr %t, i64 8
  %n = load i32, ptr %at@{T.count}
  %more = add i32 %s, %n
  %f = sitofp i32 %i to float
  %slot = getelementptr float, ptr %u, i32 %i
  store float %f, ptr %slot@{U.f}
  %next = add i32 %i, 1
  %again = icmp slt i32 %next, %rounds
  br i1 %again, label %loop, label %exit
exit:
  ret i32 %more
}

; struct T { int *p; int count; } *t, with t->p = &t->count.
define i32 @g(ptr %t) noinline {
  %at = getelementptr i8, ptr %t, i64 8
  store i32 7, ptr %at@{T.count}
  %p = load ptr, ptr %t@{T.p}
  store i32 8, ptr %p@{*int}
  %n = load i32, ptr %at@{T.count}
  ret i32 %n
}

define i32 @main() {
  %u = alloca [8 x i32], align 8
  %t = alloca [16 x i8], align 8
  %f = call float @f(ptr %u, ptr %u)
  %bits = bitcast float %f to i32
  %at = getelementptr i8, ptr %t, i64 8
  store ptr %at, ptr %t@{T.p}
  %g = call i32 @g(ptr %t)
  store i32 3, ptr %at@{T.count}
  %s = call i32 @sum(ptr %t, ptr %u, i32 5)
  call i32 (ptr, ...) @printf(ptr @format, i32 %bits, i32 %g, i32 %s)
  ret i32 0
}
"#;

pub const PATHS: [&str; 5] = ["U.f", "U.i", "*int", "T.count", "T.p"];

/// The types of the programs, and their tags by policy `Rfc`.
pub fn types() -> (Declared, Graph) {
    let mut types = Declarations::new(Target::x86_64());
    types.define(Record::union("U").field("i", "int").field("f", "float")).unwrap();
    types.define(Record::structure("T").field("p", "int *").field("count", "int")).unwrap();
    let (mut declared, mut graph) = (types.into_tagged(Policy::Rfc), Graph::new());
    for path in PATHS {
        declared.tag(&mut graph, path).unwrap();
    }
    (declared, graph)
}

/// One function in each of two modules; linked, one is inlined into the other.
pub const HERE: &str = r#"
@format = private constant [6 x i8] c"%08x\0A\00"
declare i32 @printf(ptr, ...)
declare void @put(ptr)

define i32 @main() {
  %u = alloca [2 x i32], align 8
  %bits = call i32 @f(ptr %u, ptr %u)
  call i32 (ptr, ...) @printf(ptr @format, i32 %bits)
  ret i32 0
}

define i32 @f(ptr %u, ptr %p) noinline {
  store float 1.0, ptr %u@{U.f}
  call void @put(ptr %p)
  %f = load float, ptr %u@{U.f}
  %bits = bitcast float %f to i32
  ret i32 %bits
}
"#;
pub const THERE: &str = "
define void @put(ptr %p) {
  store i32 5, ptr %p@{*int}
  ret void
}
";

/// `s->n[0]` is written here, and in a function of another module.
pub const FIELD_HERE: &str = r#"
@format = private constant [4 x i8] c"%d\0A\00"
declare i32 @printf(ptr, ...)
declare void @put(ptr)

define i32 @main() {
  %s = alloca [3 x i32], align 8
  %n = call i32 @f(ptr %s)
  call i32 (ptr, ...) @printf(ptr @format, i32 %n)
  ret i32 0
}

define i32 @f(ptr %s) noinline {
  %at = getelementptr i8, ptr %s, i64 4
  store i32 1, ptr %at@{S.n[*]}
  call void @put(ptr %s)
  %n = load i32, ptr %at@{S.n[*]}
  ret i32 %n
}
"#;
pub const FIELD_THERE: &str = "
define void @put(ptr %s) {
  %at = getelementptr i8, ptr %s, i64 4
  store i32 2, ptr %at@{S.n[*]}
  ret void
}
";
