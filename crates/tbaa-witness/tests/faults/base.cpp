// The vtable pointer, read as a long.
struct Base {
  virtual int number() { return 1; }
  virtual ~Base() {}
};
struct Derived : Base {
  int number() override { return 2; }
  __attribute__((noinline)) Derived() { // first
  }
};
long sink;
__attribute__((noinline)) long get(long *p) {
  return *p; // second
}
int main() {
  Base *p = new Derived;
  sink = get(reinterpret_cast<long *>(p));
  delete p;
  return 0;
}
