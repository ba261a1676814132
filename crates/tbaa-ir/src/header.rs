//! The target and the named types, which come before the functions.

use super::scan::Scan;
use crate::{Result, TypeDefinition};
use tbaa_lex::{lexer::Lexer, source::unescape};

impl<'t> Scan<'t> {
    /// Reads `target datalayout = "..."` or `target triple = "..."`, from after `target`. Other
    /// lines are left for the caller.
    pub(super) fn target(&mut self, lexer: &mut Lexer<'t>) -> Result<()> {
        lexer.skip_space()?;
        let into = if lexer.eat_word(b"datalayout") {
            &mut self.module.data_layout
        } else if lexer.eat_word(b"triple") {
            &mut self.module.triple
        } else {
            return Ok(());
        };
        lexer.skip_space()?;
        if lexer.eat(b"=") {
            lexer.skip_space()?;
            if lexer.peek() == Some(b'"') {
                let offset = lexer.at + 1;
                *into = Some((unescape(lexer.quoted()?).into(), offset));
            }
        }
        Ok(())
    }

    /// Reads `%struct.S = type { i32, ptr }`. Other text is left for the caller.
    pub(super) fn type_definition(&mut self, lexer: &mut Lexer<'t>) -> Result<()> {
        let mut ahead = *lexer;
        ahead.at += 1;
        if !ahead.at_name() {
            return Ok(());
        }
        let name = ahead.name()?;
        ahead.skip_space()?;
        if !ahead.eat(b"=") {
            return Ok(());
        }
        ahead.skip_space()?;
        if !ahead.eat_word(b"type") {
            return Ok(());
        }
        ahead.skip_space()?;
        if !ahead.at_type() {
            return Ok(());
        }
        let offset = ahead.at as u32;
        let body = ahead.ty()?.into();
        self.module.type_definitions.push(TypeDefinition { name: name.into(), body, offset });
        *lexer = ahead;
        Ok(())
    }
}
