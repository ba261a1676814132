//! `tbaa alias` and `tbaa generic`: questions about two tags.

use std::io::Write;

use tbaa::{Clause, Oracle, Rules};

use crate::args::{Alias, Generic};
use crate::input::Input;
use crate::report::{Failure, note};

pub(super) fn alias(args: &Alias, out: &mut dyn Write) -> Result<(), Failure> {
    let mut input = Input::open(&args.input)?;
    let rules = input.rules(args.rules.rules);
    let (a, b) = input.pair(&args.a, &args.b)?;
    input.warn_rejected(rules, [a, b]);
    let why = Oracle::new(input.graph(), rules).explain(a, b);
    if rules != Rules::Llvm && why.clause == Clause::Malformed {
        note(format!("{}, and rule {rules} answers MayAlias", why.clause));
    }
    writeln!(out, "{}", why.answer)?;
    Ok(())
}

pub(super) fn generic(args: &Generic, out: &mut dyn Write) -> Result<(), Failure> {
    let mut input = Input::open(&args.input)?;
    let rules = input.rules(args.rules.rules);
    let (a, b) = input.pair(&args.a, &args.b)?;
    input.warn_rejected(rules, [a, b]);
    match Oracle::new(input.graph(), rules).most_generic(a, b) {
        Some(tag) => writeln!(out, "{}", input.tag_text(&tag))?,
        None => writeln!(out, "none")?,
    }
    Ok(())
}
