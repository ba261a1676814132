//! From text to tokens.
//!
//! Annotations are written as Ravi writes them, `local x: integer`, or so that
//! they are comments to other Luas: `local x --[[: integer]]`. The second form
//! gives the same tokens as the first.

use std::rc::Rc;

use super::SyntaxError;

#[derive(Clone, PartialEq, Debug)]
pub(super) enum Token {
    Name(Rc<str>),
    Keyword(&'static str),
    Symbol(&'static str),
    Integer(i64),
    Number(f64),
    String(Rc<str>),
    End,
}

impl Token {
    pub(super) fn describe(&self) -> String {
        match self {
            Token::Name(name) => format!("`{name}`"),
            Token::Keyword(word) | Token::Symbol(word) => format!("`{word}`"),
            Token::Integer(i) => format!("`{i}`"),
            Token::Number(n) => format!("`{n}`"),
            Token::String(_) => "a string".to_owned(),
            Token::End => "the end of the program".to_owned(),
        }
    }
}

const KEYWORDS: [&str; 22] = [
    "and", "break", "do", "else", "elseif", "end", "false", "for", "function", "goto", "if", "in",
    "local", "nil", "not", "or", "repeat", "return", "then", "true", "until", "while",
];

/// Longer ones first.
const SYMBOLS: [&str; 33] = [
    "...", "==", "~=", "<=", ">=", "//", "::", "<<", ">>", "..", "+", "-", "*", "/", "%", "^", "#",
    "&", "~", "|", "<", ">", "=", "(", ")", "{", "}", "[", "]", ";", ":", ",", ".",
];

/// A token, where it starts, and its line.
#[derive(Clone, Debug)]
pub(super) struct Spanned {
    pub(super) token: Token,
    pub(super) offset: usize,
    pub(super) line: u32,
}

/// Splits a program into tokens; the last one is [`Token::End`].
pub(super) fn lex(source: &str) -> Result<Vec<Spanned>, SyntaxError> {
    let mut lexer = Lexer { source, at: 0, line: 1, annotation: None, tokens: Vec::new() };
    if source.starts_with("#!") {
        lexer.skip_line();
    }
    while lexer.next()? {}
    if let Some(start) = lexer.annotation {
        return Err(SyntaxError::new(start, "this annotation does not end: close it by `]]`"));
    }
    lexer.push(lexer.at, Token::End);
    Ok(lexer.tokens)
}

struct Lexer<'s> {
    source: &'s str,
    at: usize,
    line: u32,
    /// Where the annotation in a comment began that is being read.
    annotation: Option<usize>,
    tokens: Vec<Spanned>,
}

impl Lexer<'_> {
    fn rest(&self) -> &str {
        &self.source[self.at..]
    }

    fn push(&mut self, offset: usize, token: Token) {
        self.tokens.push(Spanned { token, offset, line: self.line });
    }

    fn skip_line(&mut self) {
        self.at += self.rest().find('\n').unwrap_or(self.rest().len());
    }

    /// Skips to behind `bytes` more, and counts their lines.
    fn skip(&mut self, bytes: usize) {
        self.line += self.rest()[..bytes].matches('\n').count() as u32;
        self.at += bytes;
    }

    /// Reads one token, or passes over a space or comment; `false` at the end.
    fn next(&mut self) -> Result<bool, SyntaxError> {
        let rest = self.rest();
        let Some(first) = rest.chars().next() else { return Ok(false) };
        if first.is_ascii_whitespace() {
            self.skip(1);
        } else if rest.starts_with("--[[:") {
            self.annotation = Some(self.at);
            self.at += "--[[".len();
        } else if self.annotation.is_some() && rest.starts_with("]]") {
            self.annotation = None;
            self.at += 2;
        } else if rest.starts_with("--") {
            self.comment()?;
        } else if first.is_ascii_alphabetic() || first == '_' {
            let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && c != '_');
            let word = &rest[..end.unwrap_or(rest.len())];
            let token = match KEYWORDS.iter().find(|&&keyword| keyword == word) {
                Some(keyword) => Token::Keyword(keyword),
                None => Token::Name(word.into()),
            };
            let start = self.at;
            self.at += word.len();
            self.push(start, token);
        } else if first.is_ascii_digit()
            || first == '.' && rest[1..].starts_with(|c: char| c.is_ascii_digit())
        {
            self.number()?;
        } else if first == '"' || first == '\'' {
            self.string(first)?;
        } else if let Some(symbol) = SYMBOLS.iter().find(|symbol| rest.starts_with(**symbol)) {
            let start = self.at;
            self.at += symbol.len();
            self.push(start, Token::Symbol(symbol));
        } else {
            let message = format!("`{}` begins nothing in Lua", first.escape_default());
            return Err(SyntaxError::new(self.at, message));
        }
        Ok(true)
    }

    fn comment(&mut self) -> Result<(), SyntaxError> {
        let after = self.rest()[2..].strip_prefix('[');
        let level = after.map(|after| after.len() - after.trim_start_matches('=').len());
        match level {
            Some(level) if self.rest()[3 + level..].starts_with('[') => {
                let close = format!("]{}]", "=".repeat(level));
                let Some(end) = self.rest().find(&close) else {
                    let message = format!("this comment does not end: close it by `{close}`");
                    return Err(SyntaxError::new(self.at, message));
                };
                self.skip(end + close.len());
            }
            _ => self.skip_line(),
        }
        Ok(())
    }

    fn number(&mut self) -> Result<(), SyntaxError> {
        let (start, bytes) = (self.at, self.rest().as_bytes());
        let hex = bytes.len() > 2 && bytes[0] == b'0' && bytes[1] | 32 == b'x';
        let exponent = |byte: u8| byte | 32 == if hex { b'p' } else { b'e' };
        let mut len = 0;
        while len < bytes.len() {
            let sign = matches!(bytes[len], b'+' | b'-') && len > 0 && exponent(bytes[len - 1]);
            if !sign && !bytes[len].is_ascii_alphanumeric() && bytes[len] != b'.' {
                break;
            }
            len += 1;
        }
        let text = self.rest()[..len].to_owned();
        let token = match text.get(2..).filter(|_| hex) {
            // Hexadecimal integers wrap around, as in Lua.
            Some(digits) => {
                let digits = digits.trim_start_matches('0');
                let digits = &digits[digits.len().saturating_sub(16)..];
                let valid = text[2..].bytes().all(|byte| byte.is_ascii_hexdigit());
                let value = u64::from_str_radix(if digits.is_empty() { "0" } else { digits }, 16);
                value.ok().filter(|_| valid).map(|value| Token::Integer(value as i64))
            }
            None => {
                // `inf` and the like are numbers to Rust alone.
                let valid = text.bytes().all(|b| b.is_ascii_digit() || b".eE+-".contains(&b));
                let integer = text.parse().ok().map(Token::Integer);
                integer.or_else(|| text.parse().ok().map(Token::Number)).filter(|_| valid)
            }
        };
        let Some(token) = token else {
            let message = format!("`{text}` is no number; hexadecimal floats are not read");
            return Err(SyntaxError::new(start, message));
        };
        self.at += len;
        self.push(start, token);
        Ok(())
    }

    fn string(&mut self, quote: char) -> Result<(), SyntaxError> {
        let start = self.at;
        let mut value = String::new();
        let mut chars = self.rest().char_indices().skip(1);
        let end = loop {
            match chars.next() {
                Some((at, c)) if c == quote => break at + 1,
                Some((at, '\\')) => match chars.next() {
                    Some((_, 'n')) => value.push('\n'),
                    Some((_, 't')) => value.push('\t'),
                    Some((_, c @ ('\\' | '"' | '\''))) => value.push(c),
                    _ => {
                        let message = r#"the escapes read are \n, \t, \\, \" and \'"#;
                        return Err(SyntaxError::new(start + at, message));
                    }
                },
                Some((_, '\n')) | None => {
                    return Err(SyntaxError::new(start, "this string does not end in its line"));
                }
                Some((_, c)) => value.push(c),
            }
        };
        self.at += end;
        self.push(start, Token::String(value.into()));
        Ok(())
    }
}
