; Title: two workers of Dask merge what one process merges, and find what it finds
; $ python3 -c 'import dask.distributed' 2>/dev/null || { echo skipped; exit 0; };
;   mkdir -p $OUT/dask; for i in 0 1; do for m in fill shapes suspicious link_a link_b blocks
;   sized types; do cp ../inputs/$m.ll $OUT/dask/$m$i.ll; done; done; cd $OUT/dask;
;   TBAA=tbaa python3 "$OLDPWD/../../../../examples/dask/summaries.py" all.json *.ll > found.txt &&
;   tbaa link --format summary *.ll 2>/dev/null | cmp - all.json &&
;   test $(wc -l < found.txt) = $(tbaa lint --format json *.ll 2>/dev/null | grep -o '"code"' | wc -l)
; exit: 0
