; Title: each blamed store is what keeps the load, LLVM says
; $ tbaa blocks ../inputs/blocks.ll @no_tag --prove
; says: if what is blamed is to other memory: it is gone
; never: it stays
; $ tbaa blocks ../inputs/blocks.ll @no_tag_on_the_load --prove
; says: if what is blamed is to other memory: it is gone
; never: it stays
; $ tbaa blocks ../inputs/blocks.ll @union_member --prove
; says: if what is blamed is to other memory: it is gone
; never: it stays
; $ tbaa blocks ../inputs/blocks.ll @chars --prove
; says: if what is blamed is to other memory: it is gone
; never: it stays
; $ tbaa blocks ../inputs/blocks.ll @same_type --prove
; says: if what is blamed is to other memory: it is gone
; never: it stays
; $ tbaa blocks ../inputs/blocks.ll @pointer --prove
; says: if what is blamed is to other memory: it is gone
; never: it stays
; $ tbaa blocks ../inputs/blocks.ll @one_way --prove
; says: it stays in the block to which LLVM moves it in this module as it is
; $ tbaa blocks ../inputs/blocks.ll @same_place --prove
; says: LLVM was not asked: other memory alone does not free this load
; $ tbaa blocks ../inputs/blocks.ll @order --prove
; says: LLVM was not asked: other memory alone does not free this load
; $ tbaa blocks ../inputs/blocks.ll @calls --prove
; says: if what is blamed is to other memory: it is gone
