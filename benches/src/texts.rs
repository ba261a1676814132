//! Measures reading and writing `.ll`.

use crate::llvm::Llvm;
use crate::sample::{Contender, Race, Sampler, time};

/// Measures the time to read a text, per byte. `ended` is the text and a zero byte, for LLVM.
pub(crate) fn race_read(
    sampler: &mut Sampler,
    llvm: Option<&Llvm>,
    id: &str,
    ended: &[u8],
) -> Race {
    let text = &ended[..ended.len() - 1];
    // The result is freed after the clock has stopped.
    let ours = || time(|| tbaa_ir::read(text).expect("a text that was read before")).0;
    let mut contenders = vec![Contender::new("tbaa", text.len(), ours)];
    if let Some(llvm) = llvm {
        let parse = || time(|| llvm.parse(ended).expect("a text that was read before")).0;
        contenders.push(Contender::new("LLVM", text.len(), parse));
    }
    let lines = || time(|| text.iter().filter(|&&byte| byte == b'\n').count()).0;
    contenders.push(Contender::new("count lines", text.len(), lines));
    sampler.race("read", id, contenders)
}

/// Measures the time to write metadata (LLVM writes the module), per byte. `ended` ends in a 0.
pub(crate) fn race_write(
    sampler: &mut Sampler,
    llvm: Option<&Llvm>,
    id: &str,
    ended: &[u8],
) -> Race {
    let text = &ended[..ended.len() - 1];
    let module = tbaa_ir::read(text).expect("a text that was read before");
    let written = tbaa_ir::write(module.graph()).len();
    let ours = || time(|| tbaa_ir::write(module.graph())).0;
    let mut contenders = vec![Contender::new("tbaa", written, ours)];
    if let Some(parsed) = llvm.and_then(|llvm| llvm.parse(ended)) {
        let printed = parsed.print();
        contenders.push(Contender::new("LLVM", printed, move || time(|| parsed.print()).0));
    }
    let copy = || time(|| text.to_vec()).0;
    contenders.push(Contender::new("copy", text.len(), copy));
    sampler.race("write", id, contenders)
}
