// Coroutine frames, one after the other in the same memory.
#include <coroutine>
#include <exception>

template <class T> struct Generator {
  struct promise_type {
    T value;
    Generator get_return_object() { return {std::coroutine_handle<promise_type>::from_promise(*this)}; }
    std::suspend_always initial_suspend() { return {}; }
    std::suspend_always final_suspend() noexcept { return {}; }
    std::suspend_always yield_value(T it) { value = it; return {}; }
    void return_void() {}
    void unhandled_exception() { std::terminate(); }
  };
  std::coroutine_handle<promise_type> handle;
  ~Generator() { handle.destroy(); }
};

double sum;
__attribute__((noinline)) void add(const int *p) { sum += *p; }
__attribute__((noinline)) void add(const float *p) { sum += *p; }

template <class T> Generator<T> numbers(int n) {
  T local[4] = {};
  for (int i = 0; i < n; i++) {
    local[i % 4] += i;
    add(&local[i % 4]);
    co_yield local[i % 4];
  }
}

template <class T> void all(int n) {
  auto generator = numbers<T>(n);
  while (generator.handle.resume(), !generator.handle.done()) sum += generator.handle.promise().value;
}

int main() {
  for (int i = 0; i < 20; i++) {
    all<int>(i);
    all<float>(i);
  }
  return 0;
}
