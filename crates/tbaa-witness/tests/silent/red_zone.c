/* A function without checks, which keeps its locals below the stack, gets a check from one that is
 * compiled into it. */
static int get(int *at) { return *at; }

__attribute__((disable_sanitizer_instrumentation, noinline)) static long sum(int *at) {
  volatile long numbers[8];
  for (int i = 0; i < 8; i++)
    numbers[i] = i + 1;
  long sum = get(at);
  for (int i = 0; i < 8; i++)
    sum += numbers[i];
  return sum;
}

int main(void) {
  int number = 5;
  return sum(&number) != 41;
}
