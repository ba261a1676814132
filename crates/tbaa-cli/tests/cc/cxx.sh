# Exceptions and threads stay as they are.
. "$HERE/common"
quiet "$TBAA" c++ -O2 -std=c++17 -pthread "$HERE/threads.cpp" -o program
quiet ./program
# Functions that are not checked are named as the source names them; `harmless` takes either name.
echo 'struct Box { void fill(int *); }; void Box::fill(int *p) { *p = 1; }' > box.cpp
clang++-22 -c box.cpp
echo 'struct Box { void fill(int *); }; int main() { int *volatile p = new int(0); Box().fill(p); return *p != 1; }' > fills.cpp
for flag in -O1 -rdynamic; do
  quiet "$TBAA" c++ -O1 $flag fills.cpp box.o -o fills
  TBAA_WITNESS=calls=1 ends 0 ./fills
  says '2 times, .* bytes: Box::fill(int\*)$'
  echo 'Box::fill*' > harmless
  TBAA_WITNESS=calls=1:harmless=harmless quiet ./fills
done
# Where it is exported.
echo '_ZN3Box4fill*' > harmless
TBAA_WITNESS=calls=1:harmless=harmless quiet ./fills
