//! The reader against a second one that takes a byte at a time and knows no
//! shortcuts, on random damage to a function: they agree on every instruction.

use tbaa_ir::Opcode;

use super::{Rng, slow};

/// Lines that a damaged function is made of.
const LINES: &[&str] = &[
    "  %1 = load i32, ptr %p, align 4, !tbaa !0\n",
    "  %22 = load ptr, ptr @g\n",
    "  %v = load volatile <2 x i32>, ptr %p, !range !{i32 0, i32 2}, !tbaa !0, !dbg !1\n",
    "  %\"a b\" = load atomic i8 addrspace(1)*, i8 addrspace(1)** %p seq_cst, align 8\n",
    "  %c = load i32 addrspace(1)* bitcast (i8* @x to i32*), !tbaa !0\n",
    "  %d = load i8 addrspace(2)* addrspace( 11 )* %p, align 4\n",
    "  store i32 0, ptr %p, align 4, !tbaa !{!1, !1, i64 0}, !dbg !1\n",
    "  store ptr addrspace(2) null, ptr %p\n",
    "  store i8* %x, i8** @\"q, }r\", !tbaa ! 0\n",
    "  store [2 x { i8, ptr }] zeroinitializer, ptr %p, !tbaa.struct !2\n",
    "  store void (i32)* @f, ptr %p\n",
    "  store volatile %struct.S %x, ptr %p, !\\74baa !0\n",
    "  %3 = getelementptr inbounds { i32, ptr }, ptr %p, i64 0, i32 1, !dbg !1\n",
    "  %4 = icmp slt i32 %1, 0\n",
    "  %5 = select i1 %4, <2 x i8> <i8 1, i8 2>, <2 x i8> zeroinitializer\n",
    "  br i1 %4, label %6, label %a, !prof !1\n",
    "\n6:                                                ; preds = %0, \"x\n",
    "a.b:\n",
    "\"load i8, %p\": ; preds\n",
    "  %7 = phi i32 [ 0, %6 ], [ %1, %a ]\n",
    "  switch i32 %1, label %d [\n    i32 0, label %a\n    i32 1, label %b\n  ]\n",
    "  call void @llvm.memcpy.p0.p0.i64(ptr align 4 %p, ptr %q, i64 16, i1 true), !tbaa.struct !2\n",
    "  tail call void @llvm.memset.p0.i64(ptr %p, i8 0, i64 8, i1 false) #1\n",
    "  %8 = tail call noundef i32 @f(ptr nonnull %p, metadata !\"x, !tbaa !0\"), !tbaa !0\n",
    "  call void asm sideeffect \"; {\", \"~{memory}\"() #2, !srcloc !1\n",
    "  %r = invoke i32 @f(ptr %p)\n          to label %a unwind label %b, !tbaa !0\n",
    "  %l = landingpad { ptr, i32 }\n          cleanup\n          catch ptr null\n",
    "    #dbg_value(ptr %p, !1, !DIExpression(DW_OP_plus_uconst, 8), !1)\n",
    "  %o = atomicrmw volatile add ptr %p, i32 1 seq_cst, !tbaa !0\n",
    "  %e = cmpxchg weak ptr %p, i16 0, i16 1 monotonic monotonic, !tbaa !0\n",
    "  %w = va_arg ptr %p, double, !tbaa !0\n",
    "  fence seq_cst\n",
    "  %q = getelementptr i8, ptr %p, i64 4  %z = load i32, ptr %q, !tbaa !0\n",
    "  %q = freeze ptr %p %\"a b\" = load i32, ptr %q %z=load i8, ptr %q ; %c = load i8, ptr %q\n",
    "  unreachable\n",
    "  ret { i32, ptr } { i32 1, ptr null }\n",
];

/// Pieces that mean something, and some that do not.
const PIECES: &[&str] = &[
    "\n",
    "\r\n",
    " ",
    "\t",
    "        ",
    ";",
    "; c\n",
    "/*",
    "*/",
    "/* x */",
    "/*\n*/",
    "/",
    "\"",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "<",
    ">",
    "!",
    "!tbaa !0",
    "!tbaa",
    "!tbaa.struct !2",
    "!{}",
    "!1",
    "%",
    "%x = ",
    "%y\t=\n",
    "@",
    "=",
    ":",
    ",",
    "*",
    "\\",
    "+",
    "?",
    "-",
    "load ",
    "store ",
    "call ",
    "tail ",
    "volatile ",
    "atomic ",
    "weak ",
    "void ",
    "i32",
    "true",
    "addrspace(1)",
    "1:",
    "metadata",
    "\0",
    "\u{80}",
];

fn damaged(rng: &mut Rng) -> Vec<u8> {
    let mut body: String = (0..1 + rng.below(30)).map(|_| *rng.pick(LINES)).collect();
    let near = |body: &str, at: usize| (at..).find(|&at| body.is_char_boundary(at)).unwrap_or(0);
    for _ in 0..rng.below(6) {
        let at = near(&body, rng.below(body.len()));
        let end = near(&body, body.len().min(at + 1 + rng.below(8)));
        match rng.below(5) {
            0 => drop(body.drain(at..end)),
            1 => {
                let copy = body[at..end].to_owned();
                body.insert_str(near(&body, rng.below(body.len())), &copy);
            }
            _ => body.insert_str(at, rng.pick::<&str>(PIECES)),
        }
        body.push('\n');
    }
    // The end of what damage may have opened, so that fewer texts are refused.
    let close = ["", "", "\n\"", "\n*/", "\n)", "\n]}"];
    format!(
        "define void @f(ptr %p) {{\n{body}{}\n}}\n!0 = !{{!1, !1, i64 0}}\n!1 = !{{!\"int\", !{{}}}}\n\
         !2 = !{{i64 0, i64 4, !0}}\n",
        rng.pick(&close)
    )
    .into_bytes()
}

#[test]
fn a_reader_without_shortcuts_agrees() {
    let (mut read, mut instructions, mut tagged) = (0, 0, 0);
    for seed in 0..30_000 {
        let text = damaged(&mut Rng(seed));
        let Ok(module) = tbaa_ir::read(&text) else { continue };
        let show = || String::from_utf8_lossy(&text).into_owned();
        let expected = slow::instructions(&text)
            .unwrap_or_else(|| panic!("seed {seed}: only one of the two reads\n{}", show()));
        let first = module.instructions().iter().take_while(|i| i.function == 0);
        let seen: Vec<_> = first
            .map(|i| slow::Row {
                index: i.index,
                opcode: i.opcode,
                offset: i.offset as usize,
                volatile: i.volatile,
                atomic: i.atomic,
                ty: module.access_type(i).to_owned(),
                tag: i.tag_span(&text).map(|span| text[span].to_owned()),
                copy: i.copy.is_some(),
            })
            .collect();
        assert!(seen == expected, "seed {seed}:\n{}\n{seen:#?}\n{expected:#?}", show());
        let span = module.function_span(0);
        assert_eq!((text[span.start - 1], text[span.end]), (b'{', b'}'));
        // A body read on demand has the same accesses, but for an attachment that no
        // instruction stands before.
        let body = module.body(&text, 0);
        let listed = body.statements.iter().filter_map(|statement| statement.access);
        let is_within = |at: &usize| module.instructions()[*at].offset as usize >= span.start;
        let expected = module.accesses_of(0).filter(is_within);
        assert!(listed.eq(expected), "seed {seed}:\n{}", show());
        for statement in &body.statements {
            _ = (statement.call(), statement.element(), statement.stored());
            _ = statement.values().count();
        }
        _ = body.successors();
        read += 1;
        instructions += seen.len();
        tagged += seen.iter().filter(|row| row.tag.is_some()).count();
        assert!(
            seen.iter().all(|row| row.opcode != Opcode::Other || row.tag.is_some() || row.copy)
        );
    }
    // Enough is read for the comparison to mean something.
    assert!(
        read > 8_000 && instructions > 40_000 && tagged > 20_000,
        "{read} {instructions} {tagged}"
    );
}
