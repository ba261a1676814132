// Title: a coroutine's variables are in its frame, which is no parameter of the program
// $ tbaa blocks FILE -- -std=c++20
// says: LLVM puts a coroutine's variables into a frame, and tags no access to it before LLVM 23: copy the value
// never: __restrict
#include <coroutine>
struct Task {
  struct promise_type {
    Task get_return_object() { return {}; }
    std::suspend_never initial_suspend() { return {}; }
    std::suspend_never final_suspend() noexcept { return {}; }
    void return_void() {}
    void unhandled_exception() {}
  };
};
Task f(int *to, long n) {
  for (long i = 0; i < n; i++) {
    for (long j = 0; j < n; j++) to[j] += n;
    co_await std::suspend_always();
  }
}
