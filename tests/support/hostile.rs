//! Writes hostile files of any size.

use std::io::{Result, Write};

/// Writes a file of `n` items: bytes, brackets, or types with a tag each.
pub type Kind = fn(usize, &mut dyn Write) -> Result<()>;

/// All kinds, each with its name.
pub const KINDS: [(&str, Kind); 16] = [
    ("zeros", |n, out| fill(n, "", b"\0", "", out)),
    ("open", |n, out| fill(n, "!0 = ", b"!{", "", out)),
    ("half", |n, out| fill(n, NAME, b"\xC3", "\", !0, i64 0}\n", out)),
    ("nul", |n, out| fill(n, NAME, b"\0", "\", !0, i64 0}\n", out)),
    ("truncated", truncated),
    ("line", |n, out| types(n, ' ', |i| whole(i, "!1"), out)),
    ("nodes", |n, out| types(n, '\n', |i| whole(i, "!1"), out)),
    // Each scalar's parent is the previous scalar.
    ("parents", |n, out| types(n, '\n', |i| whole(i, &before(i)), out)),
    ("cycle", |n, out| types(n, '\n', move |i| cycle(i, n), out)),
    ("endless", |n, out| types(n, '\n', endless, out)),
    ("fields", |n, out| types(n, '\n', |i| nested(i, 4 * (i as u64 + 1)), out)),
    ("offsets", |n, out| types(n, '\n', |i| nested(i, u64::MAX), out)),
    ("sized", |n, out| types(n, '\n', sized, out)),
    ("members", |n, out| wide(n, 4, out)),
    ("overlap", |n, out| wide(n, 0, out)),
    ("far", |n, out| wide(n, u64::MAX / n as u64, out)),
];

const NAME: &str = "define void @f(ptr %p) {\n  store i32 0, ptr %p, !tbaa !2\n  ret void\n}\n\
                    !0 = !{!\"R\"}\n!2 = !{!1, !1, i64 0}\n!1 = !{!\"";

/// The root, and a scalar of each format.
const PRELUDE: &str = "!0 = !{!\"R\"}\n!1 = !{!\"int\", !0, i64 0}\n!2 = !{!0, i64 4, !\"int\"}\n";

/// The number of the first type; each tag follows its type.
const FIRST: usize = 4;

fn number(i: usize) -> String {
    format!("!{}", FIRST + 2 * i)
}

/// Returns the reference to the previous type, or to a scalar for the first type.
fn before(i: usize) -> String {
    i.checked_sub(1).map_or("!1".to_owned(), number)
}

fn fill(n: usize, start: &str, item: &[u8], end: &str, out: &mut dyn Write) -> Result<()> {
    out.write_all(start.as_bytes())?;
    (0..n).try_for_each(|_| out.write_all(item))?;
    out.write_all(end.as_bytes())
}

/// Writes types, each with its tag. If `separator` is a newline, a function that stores with each
/// tag comes first. `item` returns the operands of a type and of its tag.
fn types(
    n: usize,
    separator: char,
    item: impl Fn(usize) -> [String; 2],
    out: &mut dyn Write,
) -> Result<()> {
    if separator == '\n' {
        stores(n, out)?;
    }
    out.write_all(PRELUDE.as_bytes())?;
    for i in 0..n {
        let ([ty, tag], number) = (item(i), FIRST + 2 * i);
        write!(out, "!{number} = !{{{ty}}}{separator}!{} = !{{{tag}}}{separator}", number + 1)?;
    }
    Ok(())
}

fn stores(n: usize, out: &mut dyn Write) -> Result<()> {
    writeln!(out, "define void @f(ptr %p) {{")?;
    for i in 0..n {
        writeln!(out, "  store i32 0, ptr %p, !tbaa !{}", FIRST + 2 * i + 1)?;
    }
    writeln!(out, "  ret void\n}}")
}

/// Returns a type whose second operand is `above`, and a tag for the whole type.
fn whole(i: usize, above: &str) -> [String; 2] {
    [format!("!\"t{i}\", {above}, i64 0"), format!("{0}, {0}, i64 0", number(i))]
}

/// Returns a struct that contains the next one (the last contains the first), and a tag.
fn cycle(i: usize, n: usize) -> [String; 2] {
    let ty = format!("!\"t{i}\", {}, i64 0", number((i + 1) % n));
    [ty, format!("{}, !1, i64 0", number(i))]
}

/// Returns a struct whose only field is the struct itself, and a tag that accesses a scalar.
fn endless(i: usize) -> [String; 2] {
    let own = number(i);
    [format!("!0, i64 8, !\"S{i}\", {own}, i64 0, i64 8"), format!("{own}, !2, i64 0, i64 4")]
}

/// Returns a struct of the previous struct and a scalar at `offset`, and a tag for the scalar.
fn nested(i: usize, offset: u64) -> [String; 2] {
    let (offset, inner) = (offset as i64, before(i));
    let ty = format!("!\"S{i}\", {inner}, i64 0, !1, i64 {offset}");
    [ty, format!("{}, !1, i64 {offset}", number(i))]
}

/// Like [`nested`], but in the size-aware format, with both fields at one offset.
fn sized(i: usize) -> [String; 2] {
    let inner = i.checked_sub(1).map_or("!2".to_owned(), number);
    let ty = format!("!0, i64 -1, !\"S{i}\", {inner}, i64 -1, i64 -1, !2, i64 -1, i64 -1");
    [ty, format!("{}, !2, i64 -1, i64 -1", number(i))]
}

fn wide(n: usize, step: u64, out: &mut dyn Write) -> Result<()> {
    stores(n, out)?;
    write!(out, "{PRELUDE}!3 = !{{!\"S\"")?;
    let place = |i: usize| (number(i), (step * i as u64) as i64);
    for (ty, offset) in (0..n).map(place) {
        write!(out, ", {ty}, i64 {offset}")?;
    }
    writeln!(out, "}}")?;
    for i in 0..n {
        let (ty, offset) = place(i);
        writeln!(out, "{ty} = !{{!\"t{i}\", !1, i64 0}}")?;
        writeln!(out, "!{} = !{{!3, {ty}, i64 {offset}}}", FIRST + 2 * i + 1)?;
    }
    Ok(())
}

/// Writes the first two thirds of a text.
fn truncated(n: usize, out: &mut dyn Write) -> Result<()> {
    let mut text = Vec::new();
    types(n, '\n', |i| whole(i, "!1"), &mut text)?;
    out.write_all(&text[..text.len() * 2 / 3])
}
