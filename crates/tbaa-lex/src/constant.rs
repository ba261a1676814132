//! Decides whether LLVM accepts a constant, such as `i64 0`, as an operand of metadata.

use crate::lexer::{Lexer, is_word};

/// The characters that LLVM counts as white space, except the null character.
pub const SPACE: [char; 4] = [' ', '\t', '\r', '\n'];

/// The largest width of an integer type: LLVM's `IntegerType::MAX_INT_BITS`.
const MAX_INT_BITS: u32 = 1 << 23;

/// Rare types whose values [`is_constant`] does not examine.
const OTHERS: [&str; 9] =
    ["half", "bfloat", "x86_fp80", "fp128", "ppc_fp128", "x86_mmx", "x86_amx", "token", "target"];

/// Returns the width of an integer type such as `i64`, or `None` if LLVM has no such type.
pub fn int_bits(ty: &str) -> Option<u32> {
    let digits = ty.strip_prefix('i').filter(|digits| is_digits(digits))?;
    digits.parse().ok().filter(|bits| (1..=MAX_INT_BITS).contains(bits))
}

fn is_digits(text: &str) -> bool {
    text.bytes().all(|byte| byte.is_ascii_digit())
}

/// Splits an integer literal such as `-8` or `u0xFF` into the text before its digits, the digits,
/// and their base. LLVM: `LLLexer::LexDigitOrNegative`, `LLLexer::LexIdentifier`.
pub fn int_literal(text: &str) -> Option<(&str, &str, u32)> {
    let (start, radix) = match text.as_bytes() {
        [b'u' | b's', b'0', b'x', ..] => (3, 16),
        [b'-', ..] => (1, 10),
        _ => (0, 10),
    };
    let (prefix, digits) = text.split_at(start);
    let is_number = !digits.is_empty() && digits.chars().all(|c| c.is_digit(radix));
    is_number.then_some((prefix, digits, radix))
}

/// Returns whether LLVM accepts a text as a constant operand of a metadata node: `Some(true)` if
/// every module may contain it, `Some(false)` if none may. Returns `None` if undecided, such as
/// for addresses of globals, expressions, aggregates, types with a name or a pointee, rare types
/// such as `half`, and specialised nodes.
/// LLVM: `LLParser::parseMetadata`, `LLParser::parseValueAsMetadata`.
pub fn is_constant(text: &str) -> Option<bool> {
    if let Some(node) = text.strip_prefix('!') {
        let is_known = node.starts_with("DI") || node.starts_with("GenericDINode");
        return (!is_known || !node.contains('(')).then_some(false);
    }
    let mut lexer = Lexer::new(text.as_bytes(), 0);
    let Ok(ty) = lexer.ty() else { return Some(false) };
    let (ty, value) = (text.get(..ty.len())?, text.get(lexer.at..)?.trim_matches(SPACE));
    let word = &ty[..ty.bytes().take_while(|&byte| is_word(byte)).count()];
    let is_pointer = word == "ptr" && !ty.ends_with(['*', ')']) || ty.starts_with("ptr addrspace(");
    let (is_int, is_float) = (int_bits(ty).is_some(), ["float", "double"].contains(&ty));
    let is_scalar = is_pointer || is_int || is_float;
    let is_type = is_scalar || word != ty || OTHERS.contains(&word);
    // A function's values, such as `%x`, are not allowed outside it.
    if value.is_empty() || value.starts_with('%') || !is_type {
        return Some(false);
    }
    // For instance, `ptrtoint (ptr @g to i64)` and `dso_local_equivalent @f` are expressions.
    let is_expression =
        value.starts_with(|byte: char| byte.is_ascii_alphabetic()) && value.contains(['(', '@']);
    match value {
        _ if !is_scalar || is_expression => None,
        "undef" | "poison" | "zeroinitializer" => Some(true),
        "true" | "false" => Some(ty == "i1"),
        _ if is_pointer => (!value.starts_with('@')).then_some(value == "null"),
        _ if is_int => Some(int_literal(value).is_some()),
        _ => Some(float(value).is_some_and(|value| {
            ty == "double" || f64::from(value as f32).to_bits() == value.to_bits()
        })),
    }
}

/// Reads a floating-point literal as a `double`, as LLVM does. Returns `None` for other text.
/// LLVM: `LLLexer::LexDigitOrNegative`, `LLLexer::Lex0x`.
fn float(literal: &str) -> Option<f64> {
    if let Some(hex) = literal.strip_prefix("0x") {
        let digits = hex.bytes().all(|byte| byte.is_ascii_hexdigit()).then_some(hex)?;
        return u64::from_str_radix(digits, 16).ok().map(f64::from_bits);
    }
    let (whole, rest) = literal.strip_prefix(['-', '+']).unwrap_or(literal).split_once('.')?;
    let (fraction, exponent) = rest.split_once(['e', 'E']).unwrap_or((rest, "0"));
    let exponent = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
    let is_number = !whole.is_empty() && !exponent.is_empty();
    (is_number && [whole, fraction, exponent].into_iter().all(is_digits)).then_some(())?;
    literal.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::is_constant;

    /// `llvm-as-22` accepts the first list, and rejects the second. The third has both kinds.
    #[test]
    fn operands_are_judged_as_llvm_judges_them() {
        let expected = [
            (
                Some(true),
                "i64 00|i064 0|i1 true|i8 -300|i64 u0x10|i64 s0x8|i8388608 0|i32 undef|\
                 float 2.5|double 0.1|double 1.|double +1.0e5|double 0x3FF|ptr null|\
                 ptr addrspace(1) null|i128 36893488147419103232|i32 zeroinitializer",
            ),
            (
                Some(false),
                "|0|true|undef|i64|i64 true|i64 +5|i64 0x10|i0 0|i8388609 0|i64 u0x|\
                 i64 0 i64 4|i32 - 1|i32 null|i32 %x|float 0.1|double 1|double .1|double 1e5|\
                 double inf|float 0x3FF0000000000001|float 1.0e40|null null|void|label %x|\
                 metadata !0|distinct !{}|!DIFoo|!x()|ptr 0|ptr %p|@g|i32 @g",
            ),
            (
                None,
                "ptr @g|i64 ptrtoint (ptr @g to i64)|[2 x i8] c\"ab\"|%T undef|i32* null|\
                 <{ i8 }> zeroinitializer|!DIFile(filename: \"a\")|half 0xH3C00|void ()* @f",
            ),
        ];
        for (expected, texts) in expected {
            for text in texts.split('|') {
                assert_eq!(is_constant(text), expected, "{text}");
            }
        }
    }
}
