# A launcher of compilers, a compiler of several words, and one word for a compiler.
. "$HERE/common"
clang=$(command -v clang-22)
# By the compiler that is named, also where the environment names another.
for compiler in "$clang" clang-22; do
  CLANG=/none quiet "$TBAA" $compiler -O1 main.c put.c -o launched
  reports launched
done
# By clang in place of a compiler that is none, for the machine that is in its name.
for compiler in gcc /usr/bin/gcc-12 /usr/bin/cc x86_64-linux-gnu-gcc-12; do
  quiet "$TBAA" $compiler -O1 main.c put.c -o replaced
  reports replaced
done
printf '#include <string>\nint main(int n, char **v) { return std::string(v[0]).size() == 0; }\n' > text.cpp
for compiler in c++ /usr/bin/c++ g++-12 clang++-22; do quiet "$TBAA" $compiler text.cpp -o text; done
echo 'int f(int *p) { return *p; }' > alone.c
ends 0 "$TBAA" aarch64-linux-gnu-gcc -c alone.c
says 'alone.c is compiled without checks: expected x86_64'
printf '#!/bin/sh\necho >> calls\nexec "$@"\n' > wrap
CLANG="sh ./wrap clang-22" quiet $cc -O1 main.c put.c -o wrapped
reports wrapped
# Its version, and two calls a source.
[ $(wc -l < calls) = 6 ]
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
