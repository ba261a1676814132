//! Writes the part of a check that is compiled into the program, as LLVM functions.
//!
//! A granule is 4 aligned bytes of memory. Its shadow is a *cell* of 32 bits, at the granule's
//! address with one bit flipped ([`FLIP`]), plus a page. A cell's value (its *number*) has a
//! *class* in the low bits, and an index above. The class says with which tags the bytes were
//! written or, if reads are remembered, read. See `shadow.rs` and `states.rs` in `tbaa-witness`.
//!
//! Most accesses find the same class every time. So each *site* (an access in the module) has a
//! *row* of four values, which the runtime fills in: see [`ROW`]. A read of a cell with the
//! row's class needs no more tests. A row also selects the site's *entries* in the runtime: more
//! classes that a read may find, or numbers that a write may find, each with the new number. If
//! neither row nor entries match, the check searches the table of all *changes* (old number, site,
//! bytes accessed), and calls the runtime if the table has no match. Rows and entries have the
//! inverted bits of the values that are compared, so that zeros match none.
//!
//! Functions that code in [`assembly`](super::assembly) calls without LLVM's knowledge preserve
//! their callers' registers, and do not use vector registers.

use std::collections::BTreeSet;

use super::layout::*;
use super::{Check, Direction, Form, assembly};

/// Writes the table of rows and the functions of the checks. `tag` is the text of a tag for the
/// runtime's memory, which does not alias the program's.
pub(super) fn write(sites: u32, form: Form, checks: &BTreeSet<Check>, tag: &str, out: &mut String) {
    *out += &format!(
        "@__tbaa_witness.rows = internal global [{sites} x [{ROW} x i64]] zeroinitializer, align 16\n"
    );
    if checks.is_empty() {
        return;
    }
    *out += &format!(
        "@__tbaa_witness_changes = external global [{} x i64]
@__tbaa_witness_changes_shift = external global i64
@__tbaa_witness_threaded = external global i8
define internal preserve_mostcc void @__tbaa_witness.call(ptr %p, ptr %row) noinline noimplicitfloat cold nounwind uwtable {{
{}  call void @__tbaa_witness_check(ptr %p, i32 %site, ptr @__tbaa_witness.module){tag}
  ret void
}}
",
        2_u64 << CHANGES_BITS,
        site(),
    );
    by_change(tag, out);
    for &check in checks {
        by_row(check, tag, out);
        if form == Form::Assembly {
            assembly::functions(check, out);
        }
    }
}

/// Returns code that computes `%site`, the index of the row `%row`.
fn site() -> String {
    format!(
        "  %row.at = ptrtoint ptr %row to i64
  %row.bytes = sub i64 %row.at, ptrtoint (ptr @__tbaa_witness.rows to i64)
  %row.number = udiv exact i64 %row.bytes, {}
  %site = trunc i64 %row.number to i32
",
        ROW * size_of::<u64>()
    )
}

/// Returns code that computes `%flipped`, the shadow address of `%address`.
fn flipped() -> String {
    format!(
        "  %bit = xor i64 %address, {}
  %flipped = add i64 %bit, {CELL_OFFSET}
",
        1_u64 << FLIP
    )
}

/// Returns the first code of a check. It computes `%cell`, the address of the first cell, and goes
/// to the label that `odd` names if the access is not aligned, else to the label `look`.
fn look(size: u64, odd: &str) -> String {
    format!(
        "  %address = ptrtoint ptr %p to i64
  %low = trunc i64 %address to i32
  %offset = and i32 %low, {}
{}  %granule = and i64 %flipped, -4
  %cell = inttoptr i64 %granule to ptr
  %aligned = icmp eq i32 %offset, 0
  br i1 %aligned, label %look, label %{odd}
look:
",
        size - 1,
        flipped(),
    )
}

/// Returns code that reads a cell as `%old`, and inverts its bits as `%not`.
fn old(tag: &str) -> String {
    format!(
        "  %old = load atomic i32, ptr %cell unordered, align 4{tag}
  %not = xor i32 %old, -1
"
    )
}

/// Returns code for an unaligned read. It goes to `done` if all cells that are read have the row's
/// class, else to `call`.
fn odd(size: u64, tag: &str) -> String {
    let mut text = String::from("odd:\n");
    let mut all = "true".to_owned();
    for byte in (0..size).step_by(4).chain([size - 1]) {
        text += &format!(
            "  %byte.{byte} = add i64 %flipped, {byte}
  %granule.{byte} = and i64 %byte.{byte}, -4
  %cell.{byte} = inttoptr i64 %granule.{byte} to ptr
  %old.{byte} = load atomic i32, ptr %cell.{byte} unordered, align 4{tag}
  %not.{byte} = xor i32 %old.{byte}, -1
  %class.{byte} = and i32 %not.{byte}, {CLASS}
  %mine.{byte} = icmp eq i32 %class.{byte}, %own
  %all.{byte} = and i1 {all}, %mine.{byte}
"
        );
        all = format!("%all.{byte}");
    }
    text + &format!("  br i1 {all}, label %done, label %call\n")
}

/// Returns code that replaces a cell's value `%old` by `%new`. With one thread, the code goes to
/// `store`. With several, it replaces the value atomically, and goes to the label that `done`
/// names, or to `call` if the value is no longer `%old`.
fn exchange(done: &str, tag: &str) -> String {
    format!(
        "  %threaded = load atomic i8, ptr @__tbaa_witness_threaded unordered, align 1{tag}
  %alone = icmp eq i8 %threaded, 0
  br i1 %alone, label %store, label %exchange
exchange:
  %exchanged = cmpxchg ptr %cell, i32 %old, i32 %new monotonic monotonic, align 4{tag}
  %succeeds = extractvalue {{ i32, i1 }} %exchanged, 1
  br i1 %succeeds, label %{done}, label %call
"
    )
}

/// Writes the functions `shared` and `change` of a check. `shared` tests the row, and then the
/// entries. A `shared` that uses the row's class loads it first, because the runtime writes the
/// class last.
fn by_row(check: Check, tag: &str, out: &mut String) {
    let size = check.size;
    let own = format!("  %own = load atomic i32, ptr %row acquire, align 4{tag}\n");
    let decide = match check.direction {
        Direction::Read => {
            let odd = if size > 1 { odd(size, tag) } else { String::new() };
            let second = format!(
                "  %next = getelementptr i32, ptr %cell, i64 1
  %old.next = load atomic i32, ptr %next unordered, align 4{tag}
  %differs = xor i32 %old, %old.next
  %class.differs = and i32 %differs, {CLASS}
  %is.alike = icmp eq i32 %class.differs, 0
  br i1 %is.alike, label %alike, label %call
alike:
"
            );
            format!(
                "{own}{}{}{}  %class = and i32 %not, {CLASS}
  %mine = icmp eq i32 %class, %own
  br i1 %mine, label %done, label %others
others:
{}  %is.met = icmp eq i32 %key, %class
  br i1 %is.met, label %done, label %call
{odd}",
                look(size, if size > 1 { "odd" } else { "call" }),
                old(tag),
                if size == 8 { &second } else { "" },
                entry("%class", tag),
            )
        }
        Direction::Write if size < 4 => format!(
            "{own}{}{}  %class = and i32 %not, {CLASS}
  %mine = icmp eq i32 %class, %own
  br i1 %mine, label %text, label %others
text:
  %number.at = getelementptr i32, ptr %row, i64 1
  %number = load atomic i32, ptr %number.at unordered, align 4{tag}
  %its = xor i32 %number, -1
  br label %change
others:
  %index = lshr i32 %not, {CLASS_BITS}
{}  %is.met = icmp eq i32 %key, %not
  br i1 %is.met, label %met, label %call
met:
  %top = lshr i64 %both, 32
  %led = trunc i64 %top to i32
  br label %change
change:
  %new = phi i32 [ %its, %text ], [ %led, %met ]
{}store:
  store atomic i32 %new, ptr %cell unordered, align 4{tag}
  br label %done
",
            look(size, "call"),
            old(tag),
            entry("%index", tag),
            exchange("done", tag)
        ),
        Direction::Write => {
            let next = "  %next = getelementptr i32, ptr %cell, i64 1\n";
            let both = |to: &str| match size {
                8 => format!("  store atomic i32 %{to}, ptr %next unordered, align 4{tag}\n"),
                _ => String::new(),
            };
            let alike = format!(
                "  %old.next = load atomic i32, ptr %next unordered, align 4{tag}
  %is.alike = icmp eq i32 %old, %old.next
  br i1 %is.alike, label %alike, label %call
alike:
"
            );
            // A write of 8 bytes has two cells, and must be aligned to 4. If the runtime also
            // checks writes, the new number depends on the old one: the entries have both.
            format!(
                "{}{}  %always.at = getelementptr i32, ptr %row, i64 2
  %always = load atomic i32, ptr %always.at acquire, align 4{tag}
  %known = icmp ne i32 %always, 0
  br i1 %known, label %store, label %others
store:
  store atomic i32 %always, ptr %cell unordered, align 4{tag}
{}  br label %done
others:
{}{}  %index = lshr i32 %not, {CLASS_BITS}
{}  %is.met = icmp eq i32 %key, %not
  br i1 %is.met, label %change, label %call
change:
  %top = lshr i64 %both, 32
  %new = trunc i64 %top to i32
  store atomic i32 %new, ptr %cell unordered, align 4{tag}
{}  br label %done
",
                look(size.min(4), "call"),
                if size == 8 { next } else { "" },
                both("always"),
                old(tag),
                if size == 8 { &alike } else { "" },
                entry("%index", tag),
                both("new"),
            )
        }
    };
    *out += &format!(
        "define internal preserve_mostcc void @__tbaa_witness.{check}.shared(ptr %p, ptr %row) noinline noimplicitfloat nounwind uwtable {{
{decide}call:
  tail call preserve_mostcc void @__tbaa_witness.{check}.change(ptr %p, ptr %row){tag}
  ret void
done:
  ret void
}}
define internal preserve_mostcc void @__tbaa_witness.{check}.change(ptr %p, ptr %row) noinline noimplicitfloat nounwind uwtable {{
  call preserve_mostcc void @__tbaa_witness.change(ptr %p, ptr %row, i32 {}, i32 {}, i32 {}){tag}
  ret void
}}
",
        (1_u32 << size) - 1,
        size - 1,
        // The flag that marks a write is a bit that no class has.
        if check.direction == Direction::Read { 0 } else { CLASS + 1 },
    );
}

/// Returns code that computes `%first`, the address of the first entry of a site.
fn entries(tag: &str) -> String {
    format!(
        "  %entries.at = getelementptr i32, ptr %row, i64 3
  %entries = load atomic i32, ptr %entries.at acquire, align 4{tag}
  %entries.wide = zext i32 %entries to i64
  %entries.all = inttoptr i64 {ENTRIES_AT} to ptr
  %first = getelementptr [{ENTRIES} x i64], ptr %entries.all, i64 %entries.wide
"
    )
}

/// Returns code that reads the entry for a value: `%both` is the entry, and `%key` its lower half.
/// For one value, accesses at different bytes of a granule use different entries.
fn entry(value: &str, tag: &str) -> String {
    format!(
        "{}{}  %entry = getelementptr i64, ptr %first, i32 %place
  %both = load atomic i64, ptr %entry unordered, align 8{tag}
  %key = trunc i64 %both to i32
",
        place(value),
        entries(tag),
    )
}

/// Returns code that computes `%place`, the index of the entry for a value.
fn place(value: &str) -> String {
    format!(
        "  %part = and i32 %low, 3
  %twice = shl i32 %part, 1
  %sum = add i32 {value}, %twice
  %place = and i32 %sum, {}
",
        ENTRIES - 1
    )
}

/// Writes the function that searches the table of all changes for each granule of an access, which
/// may be unaligned. `%bits` has one bit for each byte of the access, and `%last` is the access's
/// size less 1. `%writes` is 0 for a read, else a bit that is in no class. For an aligned write at
/// a site with entries, the function stores each change that it finds as an entry.
fn by_change(tag: &str, out: &mut String) {
    *out += &format!(
        "define internal preserve_mostcc void @__tbaa_witness.change(ptr %p, ptr %row, i32 %bits, i32 %last, i32 %writes) noinline noimplicitfloat nounwind uwtable {{
{}  %numbered = zext i32 %site to i64
  %placed = shl i64 %numbered, {SITE_SHIFT}
  %base = load atomic i64, ptr @__tbaa_witness.module unordered, align 8{tag}
  %global = add i64 %base, %placed
  %address = ptrtoint ptr %p to i64
  %low = trunc i64 %address to i32
  %offset = and i32 %low, %last
  %aligned = icmp eq i32 %offset, 0
  %shift = and i32 %low, 3
  %mask = shl i32 %bits, %shift
{}  %granule = and i64 %flipped, -4
  br label %look
look:
  %left = phi i32 [ %mask, %0 ], [ %rest, %after ]
  %at = phi i64 [ %granule, %0 ], [ %beyond, %after ]
  %cell = inttoptr i64 %at to ptr
  %old = load atomic i32, ptr %cell unordered, align 4{tag}
  %not = xor i32 %old, -1
  %class = and i32 %not, {CLASS}
  %marked = or i32 %class, %writes
  %own = load atomic i32, ptr %row acquire, align 4{tag}
  %mine = icmp eq i32 %marked, %own
  br i1 %mine, label %after, label %look.up
look.up:
  %here = and i32 %left, 15
  %here.wide = zext i32 %here to i64
  %here.placed = shl i64 %here.wide, {MASK_SHIFT}
  %event = or i64 %global, %here.placed
  %old.wide = zext i32 %old to i64
  %upper = shl i64 %old.wide, 32
  %change = or i64 %upper, %event
  %mixed = mul i64 %change, {MIX}
  %change.shift = load atomic i64, ptr @__tbaa_witness_changes_shift unordered, align 8{tag}
  %change.place = lshr i64 %mixed, %change.shift
  %check.at = getelementptr [2 x i64], ptr @__tbaa_witness_changes, i64 %change.place
  %check = load atomic i64, ptr %check.at unordered, align 8{tag}
  %led.at = getelementptr i64, ptr %check.at, i64 1
  %led = load atomic i64, ptr %led.at unordered, align 8{tag}
  %both = xor i64 %check, %led
  %known = icmp eq i64 %both, %change
  br i1 %known, label %found, label %call
found:
  %new = trunc i64 %led to i32
  %is.write = icmp ne i32 %writes, 0
{}  %has.entries = icmp ne i32 %entries, 0
  %keeps.aligned = and i1 %is.write, %aligned
  %keeps = and i1 %keeps.aligned, %has.entries
  br i1 %keeps, label %keep, label %kept
keep:
  %index = lshr i32 %not, {CLASS_BITS}
{}  %number.entry = getelementptr i64, ptr %first, i32 %place
  %top = shl i64 %led, 32
  %key = zext i32 %not to i64
  %entry = or i64 %top, %key
  store atomic i64 %entry, ptr %number.entry unordered, align 8{tag}
  br label %kept
kept:
  %stays = icmp eq i32 %new, %old
  br i1 %stays, label %after, label %changes
changes:
  %whole = icmp eq i32 %here, 15
  br i1 %whole, label %store, label %partly
partly:
{}store:
  store atomic i32 %new, ptr %cell unordered, align 4{tag}
  br label %after
after:
  %rest = lshr i32 %left, 4
  %beyond = add i64 %at, 4
  %more = icmp ne i32 %rest, 0
  br i1 %more, label %look, label %done
call:
  call preserve_mostcc void @__tbaa_witness.call(ptr %p, ptr %row) cold{tag}
  br label %done
done:
  ret void
}}
",
        site(),
        flipped(),
        entries(tag),
        place("%index"),
        exchange("after", tag),
    );
}

/// The largest number of bytes whose cells a function of the module clears.
pub(super) const MOST_CLEARED: u64 = 64;

/// Writes the function that clears the cells of `size` bytes, unless they are clear already.
pub(super) fn clear(size: u64, tag: &str, out: &mut String) {
    // The size of each store that clears cells. If the pointer is not aligned to it, call instead.
    let unit = [8, 4].into_iter().find(|unit| size.is_multiple_of(*unit));
    // The size of a load that tests cells. A load that spans two recent stores stalls the
    // processor, so the cells of up to 8 bytes are tested one by one.
    let word = if size <= 8 { 4 } else { 8 };
    let ty = format!("i{}", 8 * word);
    *out += &format!(
        "define internal preserve_mostcc void @__tbaa_witness.clear{size}.shared(ptr %p) noinline nounwind {{
  %address = ptrtoint ptr %p to i64
{}  %end = add i64 %flipped, {}
  %end.word = and i64 %end, -{word}
  %end.cells = inttoptr i64 %end.word to ptr
  %known.0 = load atomic {ty}, ptr %end.cells unordered, align {word}{tag}
  %word = and i64 %flipped, -{word}
  %cells = inttoptr i64 %word to ptr
",
        flipped(),
        size - 1,
    );
    // The last word may extend past the last cell.
    let words = size.div_ceil(word);
    for at in 0..words {
        *out += &format!(
            "  %cells.{at} = getelementptr {ty}, ptr %cells, i64 {at}
  %both.{at} = load atomic {ty}, ptr %cells.{at} unordered, align {word}{tag}
  %known.{} = or {ty} %known.{at}, %both.{at}
",
            at + 1,
        );
    }
    *out += &format!(
        "  %nothing = icmp eq {ty} %known.{words}, 0
  br i1 %nothing, label %done, label %some
some:
"
    );
    match unit {
        None => out.push_str("  br label %call\n"),
        Some(unit) => {
            *out += &format!(
                "  %offset = and i64 %address, {}
  %aligned = icmp eq i64 %offset, 0
  br i1 %aligned, label %whole, label %call
whole:
  %start = inttoptr i64 %flipped to ptr
",
                unit - 1
            );
            for at in 0..size / unit {
                let ty = 8 * unit;
                *out += &format!(
                    "  %place.{at} = getelementptr i{ty}, ptr %start, i64 {at}
  store atomic i{ty} 0, ptr %place.{at} unordered, align {unit}{tag}
"
                );
            }
            out.push_str("  br label %done\n");
        }
    }
    *out += &format!(
        "call:
  call preserve_mostcc void @__tbaa_witness.clear{size}.call(ptr %p) cold{tag}
  br label %done
done:
  ret void
}}
define internal preserve_mostcc void @__tbaa_witness.clear{size}.call(ptr %p) noinline cold nounwind {{
  call void @__tbaa_witness_clear(ptr %p, i64 {size}){tag}
  ret void
}}
",
    );
}

/// Writes a function that tells the runtime of a call with `pointers` pointers, unless [`CHECKED`]
/// is before the callee's code. If the code begins a page, the function does not read before it.
pub(super) fn out(pointers: usize, tag: &str, out: &mut String) {
    let list: String = (0..pointers).map(|at| format!(", ptr %p{at}, i64 %s{at}")).collect();
    *out += &format!(
        "define internal void @__tbaa_witness.out{pointers}(ptr %f{list}) noinline nounwind {{
  %address = ptrtoint ptr %f to i64
  %page = and i64 %address, 4088
  %inside = icmp ne i64 %page, 0
  br i1 %inside, label %look, label %call
look:
  %before = getelementptr i8, ptr %f, i64 -8
  %mark = load i64, ptr %before, align 1{tag}
  %checked = icmp eq i64 %mark, {CHECKED}
  br i1 %checked, label %done, label %call
call:
"
    );
    for at in 0..pointers {
        *out += &format!("  call void @__tbaa_witness_out(ptr %f, ptr %p{at}, i64 %s{at}){tag}\n");
    }
    out.push_str("  br label %done\ndone:\n  ret void\n}\n");
}
