// Templates, member pointers, references, lambdas, scoped enums.

template <class T, int N> struct Array {
  T items[N];
  int used;
  T &operator[](int i) { return items[i]; }
};

template <class K, class V> struct Pair {
  K key;
  V value;
};

template <class T> struct Link {
  Link *next;
  T item;
};

enum class Level : unsigned char { Low, High };
enum class Code : short { None, Some };
enum Plain { First, Second };

struct Task {
  Level level;
  Code code;
  Plain plain;
  int &counter;
  int Task::*field;
  void (Task::*action)(int);
  int first, second;
  void act(int n);
};

using Grid = Array<Array<short, 4>, 3>;

template <class T> T sum(const Link<T> *l) {
  T total{};
  for (; l; l = l->next)
    total += l->item;
  return total;
}

template float sum(const Link<float> *);
template long sum(const Link<long> *);
template double sum(const Link<double> *);

float put(Array<float, 8> &a, Array<int, 8> &b, int i) {
  a[i] = 1.5f;
  b[i] = 3;
  a.used = b.used;
  return a[i];
}

short grid(Grid &g, short &edge, int &n) {
  g[1][2] = edge;
  g[0].used = n;
  g.used = g[2].used;
  edge = g[0][3];
  return edge;
}

double pairs(Pair<int, double> &a, Pair<double, int> &b, Pair<int, float> &c) {
  a.key = b.value;
  a.value = b.key;
  c.key = a.key;
  c.value = static_cast<float>(a.value);
  return b.key;
}

void Task::act(int n) {
  this->*field += n;
  counter = first;
}

int schedule(Task &t, Level &l, unsigned char &raw, Code &c, short &s) {
  l = Level::High;
  raw = 3;
  c = Code::Some;
  s = 4;
  t.level = l;
  t.code = c;
  t.plain = Second;
  t.field = raw ? &Task::first : &Task::second;
  t.action = &Task::act;
  (t.*t.action)(t.*t.field);
  return t.second + static_cast<int>(c);
}

template <class F> void each(int *items, int n, F f) {
  for (int i = 0; i < n; i++)
    f(items[i]);
}

int captured(int *items, int n, float *scale, short offset) {
  int total = 0;
  long calls = 0;
  auto visit = [&total, &calls, scale, offset](int &item) {
    item += offset;
    total += item;
    *scale *= 2;
    ++calls;
  };
  each(items, n, visit);
  return total + static_cast<int>(calls);
}

void exchange(int &a, int &b, int *&p, int *&q) {
  int t = a;
  a = b;
  b = t;
  int *r = p;
  p = q;
  q = r;
}

float move(Link<float> &&from, Link<float> &to) {
  to.item = from.item;
  to.next = from.next;
  from.next = nullptr;
  return to.item;
}
