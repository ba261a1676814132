; Title: each blamed store is what keeps the load, LLVM says
; $ tbaa blocks ../inputs/blocks.ll @no_tag --prove
; says: with tags that separate the blamed stores: it is gone
; never: it stays
; $ tbaa blocks ../inputs/blocks.ll @no_tag_on_the_load --prove
; says: with tags that separate the blamed stores: it is gone
; never: it stays
; $ tbaa blocks ../inputs/blocks.ll @union_member --prove
; says: with tags that separate the blamed stores: it is gone
; never: it stays
; $ tbaa blocks ../inputs/blocks.ll @chars --prove
; says: with tags that separate the blamed stores: it is gone
; never: it stays
; $ tbaa blocks ../inputs/blocks.ll @same_type --prove
; says: with tags that separate the blamed stores: it is gone
; never: it stays
; $ tbaa blocks ../inputs/blocks.ll @pointer --prove
; says: with tags that separate the blamed stores: it is gone
; never: it stays
; $ tbaa blocks ../inputs/blocks.ll @one_way --prove
; says: LLVM removes or moves it even with the tags as they are
; $ tbaa blocks ../inputs/blocks.ll @same_place --prove
; says: LLVM was not asked: tags alone cannot free this load
; $ tbaa blocks ../inputs/blocks.ll @order --prove
; says: LLVM was not asked: tags alone cannot free this load
; $ tbaa blocks ../inputs/blocks.ll @calls --prove
; says: LLVM was not asked: tags alone cannot free this load
