# clang 15 is the oldest that compiles with checks; one before 17 does not know all flags. The compilers here are the
# real one under other versions, which refuse what these do not know.
. "$HERE/common"
for version in 14 16; do
  cat > clang-$version <<END
#!/bin/sh
for flag; do
  case \$flag in
  --version) echo "clang version $version.0.6"; exit ;;
  -dumpdir) echo "clang: error: unknown argument '-dumpdir'" >&2; exit 1 ;;
  esac
done
exec clang-22 "\$@"
END
  chmod +x clang-$version
done
CLANG=./clang-16 quiet $cc -O1 main.c put.c -o older
reports older
# Before clang 15, modules have typed pointers.
cat > typed <<END
#!/bin/sh
[ "\$1" != --version ] || exec ./clang-14 --version
for it; do [ "\$last" != -o ] || to=\$it; last=\$it; done
printf 'define void @f(i32* %%p) {\n  store i32 0, i32* %%p, align 4, !tbaa !0\n  ret void\n}\n!0 = !{!1, !1, i64 0}\n!1 = !{!"int", !2, i64 0}\n!2 = !{!"root"}\n' > "\$to"
END
chmod +x typed
CLANG=./typed ends 2 $cc -c put.c
says 'error: this is clang 14, and checks at run time need clang 15 or newer: .*apt-get install clang-22'
[ ! -e put.o ]
[ -z "$(command -v clang-14)" ] || CLANG=clang-14 ends 2 "$TBAA" run main.c
says 'this is clang 14'
