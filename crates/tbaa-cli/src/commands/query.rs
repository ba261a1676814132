//! `tbaa alias` and `tbaa generic`: questions about two tags.

use std::io::Write;

use tbaa::{Clause, Oracle, Rules, TagId};

use crate::args::{Alias, Generic, Pair};
use crate::input::Input;
use crate::report::{Failure, note};

/// A question about two tags of an input.
pub(super) struct Question {
    pub(super) input: Input,
    pub(super) rules: Rules,
    pub(super) a: TagId,
    pub(super) b: TagId,
}

impl Question {
    /// Reads the input and finds the tags; warns of those that LLVM rejects.
    pub(super) fn read(args: &Pair) -> Result<Question, Failure> {
        let mut input = Input::open(&args.input)?;
        let rules = input.rules(args.rules.rules);
        let (a, b) = input.pair(&args.a, &args.b)?;
        input.warn_rejected(rules, [a, b]);
        Ok(Question { input, rules, a, b })
    }
}

pub(super) fn alias(args: &Alias, out: &mut dyn Write) -> Result<(), Failure> {
    let Question { input, rules, a, b } = Question::read(&args.pair)?;
    let why = Oracle::new(input.graph(), rules).explain(a, b);
    if rules != Rules::Llvm && why.clause == Clause::Malformed {
        note(format!("{}, and rule {rules} answers MayAlias", why.clause));
    }
    writeln!(out, "{}", why.answer)?;
    Ok(())
}

pub(super) fn generic(args: &Generic, out: &mut dyn Write) -> Result<(), Failure> {
    let Question { input, rules, a, b } = Question::read(&args.pair)?;
    match Oracle::new(input.graph(), rules).most_generic(a, b) {
        Some(tag) => writeln!(out, "{}", input.tag_text(&tag))?,
        None => writeln!(out, "none")?,
    }
    Ok(())
}
