//! Checks which accesses get a tag, and the reasons why others get none.

use tbaa::{Tag, spec::Spec};
use tbaa_tag::{Options, tag, tag_declared};
use tbaa_tests::cases;

/// The declarations before a test case's function body. A case with `define` has its own instead.
const AROUND: &str = "target datalayout = \"e-i64:64\"
%P = type { i32, float }
%Q = type { i32, float, [4 x i32], %P, ptr }
%R = type { %P, [3 x %P], [4 x i8], i1, <2 x i32>, %union.U, i64 }
%P.7 = type { i32, float }
%union.U = type { %P }
@q = global %Q zeroinitializer
@u = external global %union.U
@a = internal constant [4 x i32] zeroinitializer
";

/// Parses options that are written as on a command line: `--elements --nominal NAME`.
pub(crate) fn options(words: &str) -> Options {
    let mut words = words.split_whitespace();
    let mut options = Options::new();
    while let Some(word) = words.next() {
        let mut name = || words.next().unwrap();
        options = match word {
            "--elements" => options.elements(),
            "--nominal" => options.nominal(name()),
            "--opaque" => options.opaque(name()),
            "--union" => options.union(name().split(',')),
            _ => panic!("{word} is no option"),
        };
    }
    options
}

/// Returns a line for each access, then one for each unmatched name in the options, or the error.
fn listed(words: &str, body: &str) -> String {
    let text = match body.contains("define") {
        true => body.to_owned(),
        false => format!(
            "{AROUND}define void @f(ptr %p, ptr %r, ptr %s, i64 %i, i1 %c) {{\n{body}ret void\n}}\n"
        ),
    };
    let module = tbaa_ir::read(text.as_bytes()).unwrap();
    let tags = match words.strip_prefix("--declare ") {
        Some(declared) => {
            let (policy, types) = declared.split_once('\n').unwrap();
            let declare = format!("(target: \"x86-64\", policy: {policy}, types: [{types}])");
            let built = Spec::load(&format!("Spec(name: \"\", declare: {declare})")).unwrap();
            let types = built.tagged().unwrap();
            tag_declared(&module, types.types().clone().into_tagged(types.policy()))
        }
        None => tag(&module, &options(words)),
    };
    let tags = match tags {
        Ok(tags) => tags,
        Err(error) => return error.to_string(),
    };
    let place = |tag| {
        let Tag { base, access, offset, .. } = tags.graph.tag(tag).unwrap();
        let name = |ty| String::from_utf8_lossy(tags.graph.ty(ty).name().unwrap());
        format!("{} at {offset} of {}", name(access), name(base))
    };
    let tagged = tags.tags.iter().map(|tag| (tag.instruction, place(tag.tag)));
    let untagged = tags.untagged.iter().map(|one| (one.instruction, format!("- {}", one.why)));
    let mut lines: Vec<_> = tagged.chain(untagged).collect();
    lines.sort();
    let unknown = tags.unknown.iter().map(|name| format!("no type {name}\n"));
    lines.into_iter().map(|line| line.1 + "\n").chain(unknown).collect()
}

#[test]
fn accesses_are_at_their_places() {
    cases::check("tag.txt", |_, parts| match parts {
        [body] => listed("", body),
        [words, body] => listed(words, body),
        _ => panic!("{parts:?}"),
    });
}
