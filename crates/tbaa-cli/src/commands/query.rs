//! `tbaa alias` and `tbaa generic`: questions about two tags.

use std::io::Write;

use tbaa::Oracle;

use crate::args::{Alias, Generic};
use crate::input::Input;
use crate::report::Failure;

pub(super) fn alias(args: &Alias, out: &mut dyn Write) -> Result<(), Failure> {
    let mut input = Input::open(&args.input)?;
    let rules = input.rules(args.rules.rules)?;
    let (a, b) = input.pair(&args.a, &args.b)?;
    input.warn_rejected(rules, [a, b]);
    writeln!(out, "{}", Oracle::new(input.graph(), rules).alias(a, b))?;
    Ok(())
}

pub(super) fn generic(args: &Generic, out: &mut dyn Write) -> Result<(), Failure> {
    let mut input = Input::open(&args.input)?;
    let rules = input.rules(args.rules.rules)?;
    let (a, b) = input.pair(&args.a, &args.b)?;
    input.warn_rejected(rules, [a, b]);
    match Oracle::new(input.graph(), rules).most_generic(a, b) {
        Some(tag) => writeln!(out, "{}", input.tag_text(&tag))?,
        None => writeln!(out, "none")?,
    }
    Ok(())
}
