//! From text to the tree of `full_moon`, and to the types that Ravi's annotations give.

use std::collections::HashMap;

use full_moon::LuaVersion;
use full_moon::ast::Ast;
use full_moon::tokenizer::{
    Lexer, LexerResult, Position, StringLiteralQuoteType, Symbol, Token, TokenType,
};

use super::{Operand, Type};

pub(super) type Result<T> = std::result::Result<T, Mistake>;

/// A mistake in a program, and where it stands.
#[derive(Debug)]
pub(crate) struct Mistake {
    at: Position,
    message: String,
}

pub(super) fn mistake<T>(at: Position, message: impl Into<String>) -> Result<T> {
    Err(Mistake { at, message: message.into() })
}

impl Mistake {
    /// The mistake with its line, and a caret below the place.
    pub(crate) fn render(&self, file: &str, source: &str) -> String {
        let (number, column) = (self.at.line(), self.at.character());
        let line = source.lines().nth(number.saturating_sub(1)).unwrap_or("");
        let margin = number.to_string().len();
        let message = &self.message;
        format!(
            "{file}:{number}:{column}: {message}\n{number} | {line}\n{:margin$} | {:>column$}",
            "", "^"
        )
    }
}

/// Types of variables, by the byte at which the annotated name starts.
pub(super) type Types = HashMap<usize, Type>;

/// Reads a program.
///
/// `full_moon` knows no `x: integer`, so annotations are collected first and replaced by spaces, which
/// leaves all positions as they are. Annotations in comments, `x --[[: integer]]`, may stay.
pub(super) fn read(source: &str) -> Result<(Ast, Types)> {
    let (mut text, mut types) = (source.as_bytes().to_vec(), Types::new());
    let tokens = match Lexer::new(source, LuaVersion::lua54()).collect() {
        LexerResult::Ok(tokens) => tokens,
        LexerResult::Fatal(errors) | LexerResult::Recovered(_, errors) => {
            let Some(error) = errors.first() else { return mistake(Position::default(), "no Lua") };
            return mistake(error.position(), error.error().to_string());
        }
    };
    let tokens: Vec<&Token> = tokens
        .iter()
        .filter(|token| match token.token_type() {
            TokenType::MultiLineComment { comment, .. } => comment.starts_with(':'),
            token => !token.is_trivia(),
        })
        .collect();
    let token = |at: usize| tokens.get(at).map_or(&TokenType::Eof, |token| token.token_type());
    let is = |at, wanted| matches!(token(at), TokenType::Symbol { symbol } if *symbol == wanted);
    for (at, name) in tokens.iter().enumerate() {
        if !matches!(name.token_type(), TokenType::Identifier { .. }) {
            continue;
        }
        let (place, written) = if let TokenType::MultiLineComment { comment, .. } = token(at + 1) {
            (tokens[at + 1].start_position(), comment[1..].to_owned())
        } else if is(at + 1, Symbol::Colon) {
            let array = is(at + 3, Symbol::LeftBracket) && is(at + 4, Symbol::RightBracket);
            let end = if array { at + 5 } else { at + 3 };
            let string = matches!(token(end), TokenType::StringLiteral { .. });
            if string || is(end, Symbol::LeftParen) || is(end, Symbol::LeftBrace) {
                // A method call, which the compiler refuses.
                continue;
            }
            let place = tokens[at + 2].start_position();
            let end = tokens[end - 1].end_position().bytes();
            text[tokens[at + 1].start_position().bytes()..end].fill(b' ');
            (place, source[place.bytes()..end].to_owned())
        } else {
            continue;
        };
        let ty = match &*written.replace(char::is_whitespace, "") {
            "integer" => Type::Integer,
            "number" => Type::Number,
            "integer[]" => Type::IntegerArray,
            "number[]" => Type::NumberArray,
            _ => {
                let types = "integer, number, integer[] and number[]";
                return mistake(place, format!("no such type: there are {types}"));
            }
        };
        types.insert(name.start_position().bytes(), ty);
    }
    let text = String::from_utf8_lossy(&text);
    match full_moon::parse_fallible(&text, LuaVersion::lua54()).into_result() {
        Ok(tree) => Ok((tree, types)),
        Err(errors) => {
            let first = errors.first().map(|error| (error.range().0, error.error_message()));
            let (at, message) = first.unwrap_or_default();
            mistake(at, message)
        }
    }
}

/// The value of a number as it is written.
pub(super) fn number(text: &str, at: Position) -> Result<Operand> {
    let hex = text.strip_prefix("0x").or(text.strip_prefix("0X"));
    let operand = if let Some(digits) = hex {
        // Hexadecimal integers wrap around, as in Lua.
        let digits = &digits[digits.len().saturating_sub(16)..];
        u64::from_str_radix(digits, 16).ok().map(|value| Operand::Integer(value as i64))
    } else if let Ok(integer) = text.parse() {
        Some(Operand::Integer(integer))
    } else {
        text.parse().ok().map(Operand::Number)
    };
    operand.map_or_else(|| mistake(at, format!("the number `{text}` is not supported")), Ok)
}

/// The text of a string literal.
pub(super) fn string(token: &Token) -> Result<String> {
    let TokenType::StringLiteral { literal, quote_type, .. } = token.token_type() else {
        return mistake(token.start_position(), "expected a string");
    };
    if *quote_type == StringLiteralQuoteType::Brackets {
        return Ok(literal.strip_prefix('\n').unwrap_or(literal).to_owned());
    }
    let (mut text, mut characters) = (String::new(), literal.chars());
    while let Some(character) = characters.next() {
        text.push(match character {
            '\\' => match characters.next() {
                Some('n') => '\n',
                Some('t') => '\t',
                Some(same @ ('\\' | '"' | '\'')) => same,
                _ => {
                    let message = r#"only the escapes \n, \t, \\, \" and \' are supported"#;
                    return mistake(token.start_position(), message);
                }
            },
            other => other,
        });
    }
    Ok(text)
}
