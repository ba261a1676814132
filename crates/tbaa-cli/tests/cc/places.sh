# A launcher of compilers, a compiler of several words, and one word for a compiler.
. "$HERE/common"
clang=$(command -v clang-22)
# By the compiler that is named, also where the environment names another.
for compiler in "$clang" clang-22; do
  CLANG=/none quiet "$TBAA" $compiler -O1 main.c put.c -o launched
  reports launched
done
quiet "$TBAA" /usr/bin/c++ -x c++ -fsyntax-only put.h
printf '#!/bin/sh\necho >> calls\nexec "$@"\n' > wrap
CLANG="sh ./wrap clang-22" quiet $cc -O1 main.c put.c -o wrapped
reports wrapped
[ $(wc -l < calls) = 5 ]
cp "$HERE"/../../bin/tbaa-c* .
ln -s "$TBAA" tbaa
quiet ./tbaa-cc -O1 main.c put.c -o one_word
reports one_word
quiet ./tbaa-c++ -O1 -x c++ put.c -c
if command -v cmake > /dev/null; then
  printf 'cmake_minimum_required(VERSION 3.21)\nproject(p C)\nadd_executable(prog main.c put.c)\n' > CMakeLists.txt
  cmake -S . -B build -DCMAKE_C_COMPILER=$clang -DCMAKE_C_COMPILER_LAUNCHER="$TBAA" -DCMAKE_C_LINKER_LAUNCHER="$TBAA"
  cmake --build build
  reports build/prog
fi
