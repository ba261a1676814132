//! Puts mutants into source files: each a branch that is taken when
//! `crate::mutant::on` says that its number was chosen.

use proc_macro2::{Literal, Span};
use quote::ToTokens;
use std::collections::HashSet;
use syn::spanned::Spanned;
use syn::visit_mut::{self, VisitMut};
use syn::*;

/// What makes mutants. A mutant's number is its position, from 1.
#[derive(Default)]
pub struct Rewriter {
    /// File, line and column, function, and change, between tabulators.
    pub mutants: Vec<String>,
    /// Mutants that do not compile.
    pub left_out: HashSet<String>,
    file: String,
    function: String,
}

impl Rewriter {
    /// The text with mutants in it.
    pub fn file(&mut self, name: &str, text: &str) -> Result<String> {
        let mut tree = parse_file(text)?;
        name.clone_into(&mut self.file);
        self.visit_file_mut(&mut tree);
        Ok(prettyplease::unparse(&tree))
    }

    fn mutant(&mut self, span: Span, change: &str) -> Option<Literal> {
        let (at, file, function) = (span.start(), &self.file, &self.function);
        let mutant = format!("{file}:{}:{}\t{function}\t{change}", at.line, at.column + 1);
        if self.left_out.contains(&mutant) {
            return None;
        }
        self.mutants.push(mutant);
        Some(Literal::usize_unsuffixed(self.mutants.len()))
    }

    fn function(&mut self, signature: &Signature, block: &mut Block) {
        if signature.constness.is_some() {
            return;
        }
        let outer = std::mem::replace(&mut self.function, signature.ident.to_string());
        visit_mut::visit_block_mut(self, block);
        for value in values(&signature.output) {
            if let Some(n) = self.mutant(signature.span(), &format!("return {value}")) {
                let value: Expr = parse_str(value).expect("the values are expressions");
                let early: Stmt = parse_quote! { if crate::mutant::on(#n) { return #value; } };
                block.stmts.insert(0, early);
            }
        }
        self.function = outer;
    }

    fn binary(&mut self, e: &ExprBinary) -> Option<Expr> {
        let (l, r, op, at) = (&e.left, &e.right, e.op, e.op.span());
        let name = op.to_token_stream().to_string();
        if matches!(**r, Expr::Reference(_)) {
            // Texts and sets have no other operator.
            return None;
        }
        let other: BinOp = match op {
            BinOp::Eq(_) | BinOp::Ne(_) => {
                let n = self.mutant(at, &format!("{name} negated"))?;
                return Some(parse_quote! { ((#l #op #r) != crate::mutant::on(#n)) });
            }
            BinOp::And(_) | BinOp::Or(_) => {
                let other: BinOp = if name == "&&" { parse_quote!(||) } else { parse_quote!(&&) };
                let n = self.mutant(at, &format!("{name} to {}", other.to_token_stream()))?;
                return Some(parse_quote! {
                    ({ let l = #l; if crate::mutant::on(#n) { l #other #r } else { l #op #r } })
                });
            }
            BinOp::AddAssign(_)
            | BinOp::SubAssign(_)
            | BinOp::MulAssign(_)
            | BinOp::BitOrAssign(_)
            | BinOp::BitAndAssign(_) => {
                let n = self.mutant(at, &format!("{name} deleted"))?;
                return Some(
                    parse_quote! { { let r = #r; if !crate::mutant::on(#n) { #l #op r } } },
                );
            }
            BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => {
                return self.order(e, &name);
            }
            BinOp::Add(_) | BinOp::Mul(_) | BinOp::Div(_) => parse_quote!(-),
            BinOp::Sub(_) => parse_quote!(+),
            BinOp::Rem(_) => parse_quote!(/),
            BinOp::BitAnd(_) => parse_quote!(|),
            BinOp::BitOr(_) | BinOp::BitXor(_) => parse_quote!(&),
            BinOp::Shl(_) => parse_quote!(>>),
            BinOp::Shr(_) => parse_quote!(<<),
            _ => return None,
        };
        let n = self.mutant(at, &format!("{name} to {}", other.to_token_stream()))?;
        Some(parse_quote! {
            match (#l, #r) { (l, r) => if crate::mutant::on(#n) { l #other r } else { l #op r } }
        })
    }

    /// Two mutants of a comparison: its border case, and its negation.
    fn order(&mut self, e: &ExprBinary, name: &str) -> Option<Expr> {
        let (l, r, op, at) = (&e.left, &e.right, e.op, e.op.span());
        let border: BinOp = match op {
            BinOp::Lt(_) => parse_quote!(<=),
            BinOp::Le(_) => parse_quote!(<),
            BinOp::Gt(_) => parse_quote!(>=),
            _ => parse_quote!(>),
        };
        let n = self.mutant(at, &format!("{name} to {}", border.to_token_stream()))?;
        let negated = self.mutant(at, &format!("{name} negated"))?;
        Some(parse_quote! {
            (match (&(#l), &(#r)) {
                (l, r) => if crate::mutant::on(#n) { l #border r } else { l #op r }
            } != crate::mutant::on(#negated))
        })
    }
}

/// What a function may return at once instead.
fn values(output: &ReturnType) -> &'static [&'static str] {
    let ReturnType::Type(_, ty) = output else { return &["()"] };
    match ty.to_token_stream().to_string().as_str() {
        "bool" => &["true", "false"],
        "u8" | "u16" | "u32" | "u64" | "usize" | "i64" => &["0", "1"],
        "String" => &["String::new()"],
        ty if ty.starts_with("Option <") => &["None"],
        ty if ty.starts_with("Result < ()") => &["Ok(())"],
        ty if ty.starts_with("Vec <") => &["Vec::new()"],
        _ => &[],
    }
}

/// Whether an expression is a condition with `let` in it, which has no value.
fn has_let(e: &Expr) -> bool {
    match e {
        Expr::Let(_) => true,
        Expr::Binary(e) => has_let(&e.left) || has_let(&e.right),
        Expr::Paren(e) => has_let(&e.expr),
        _ => false,
    }
}

fn for_tests(attributes: &[Attribute]) -> bool {
    attributes.iter().any(|it| it.to_token_stream().to_string().contains("test"))
}

impl VisitMut for Rewriter {
    // What must be constant stays.
    fn visit_item_const_mut(&mut self, _: &mut ItemConst) {}
    fn visit_item_static_mut(&mut self, _: &mut ItemStatic) {}
    fn visit_impl_item_const_mut(&mut self, _: &mut ImplItemConst) {}
    fn visit_trait_item_const_mut(&mut self, _: &mut TraitItemConst) {}
    fn visit_item_enum_mut(&mut self, _: &mut ItemEnum) {}
    fn visit_type_mut(&mut self, _: &mut Type) {}
    fn visit_pat_mut(&mut self, _: &mut Pat) {}
    fn visit_expr_const_mut(&mut self, _: &mut ExprConst) {}
    fn visit_expr_repeat_mut(&mut self, e: &mut ExprRepeat) {
        self.visit_expr_mut(&mut e.expr);
    }

    fn visit_item_mod_mut(&mut self, item: &mut ItemMod) {
        if !for_tests(&item.attrs) {
            visit_mut::visit_item_mod_mut(self, item);
        }
    }
    fn visit_item_fn_mut(&mut self, item: &mut ItemFn) {
        if !for_tests(&item.attrs) {
            self.function(&item.sig, &mut item.block);
        }
    }
    fn visit_impl_item_fn_mut(&mut self, item: &mut ImplItemFn) {
        self.function(&item.sig, &mut item.block);
    }
    fn visit_trait_item_fn_mut(&mut self, item: &mut TraitItemFn) {
        if let Some(block) = &mut item.default {
            self.function(&item.sig, block);
        }
    }

    fn visit_arm_mut(&mut self, arm: &mut Arm) {
        let at = arm.guard.as_ref().map(|(_, guard)| guard.span());
        visit_mut::visit_arm_mut(self, arm);
        let (Some((_, guard)), Some(at)) = (&mut arm.guard, at) else { return };
        if has_let(guard) {
            return;
        }
        for change in ["guard true", "guard false"] {
            if let Some(n) = self.mutant(at, change) {
                **guard = match change {
                    "guard true" => parse_quote! { (crate::mutant::on(#n) || (#guard)) },
                    _ => parse_quote! { (!crate::mutant::on(#n) && (#guard)) },
                };
            }
        }
    }

    fn visit_expr_mut(&mut self, e: &mut Expr) {
        visit_mut::visit_expr_mut(self, e);
        if has_let(e) {
            return;
        }
        let changed = match e {
            Expr::Unary(u) if matches!(u.op, UnOp::Not(_)) => {
                let inner = &u.expr;
                self.mutant(u.op.span(), "! deleted").map(|n| {
                    parse_quote! { match #inner { it => if crate::mutant::on(#n) { it } else { !it } } }
                })
            }
            Expr::Binary(binary) => self.binary(binary),
            _ => None,
        };
        if let Some(changed) = changed {
            *e = changed;
        }
    }
}
