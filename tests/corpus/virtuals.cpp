// Virtual calls: vtable pointers, thunks, destructors, dynamic types.

using size_type = decltype(sizeof(0));
void operator delete(void *) noexcept;
void operator delete(void *, size_type) noexcept;

struct Node {
  virtual ~Node();
  virtual int eval(int *steps) = 0;
  Node *parent;
  int line;
};

struct Constant : Node {
  int value;
  int eval(int *steps) override;
};

struct Sum final : Node {
  Node *left, *right;
  float weight;
  int eval(int *steps) override;
};

struct Logger {
  virtual void log(const char *text);
  virtual Logger *self();
  long lines;
};

struct Traced : Constant, Logger {
  Traced(int value, long lines);
  void log(const char *text) override;
  Traced *self() override;
  const char *last;
};

struct Shared : virtual Logger {
  explicit Shared(int count);
  ~Shared();
  virtual void drop();
  int count;
};

Node::~Node() { parent = nullptr; }

int Constant::eval(int *steps) {
  ++*steps;
  return value;
}

int Sum::eval(int *steps) {
  int l = left->eval(steps);
  int r = right->eval(steps);
  weight += static_cast<float>(l);
  line = *steps;
  return l + r;
}

void Logger::log(const char *) { lines++; }
Logger *Logger::self() { return this; }

Traced::Traced(int v, long l) {
  value = v;
  lines = l;
  last = nullptr;
  parent = this;
}

void Traced::log(const char *text) {
  last = text;
  lines += value;
}

Traced *Traced::self() { return this; }

Shared::Shared(int c) : count(c) { lines = 0; }
Shared::~Shared() { lines = -1; }
void Shared::drop() {
  if (--count == 0)
    log("dropped");
}

int run(Node **nodes, int n, int *steps, long *total) {
  int sum = 0;
  for (int i = 0; i < n; i++) {
    sum += nodes[i]->eval(steps);
    nodes[i]->line++;
    *total += sum;
  }
  return sum;
}

Logger *relay(Logger *l, Shared *s, const char **text) {
  l->log(*text);
  s->log(*text);
  s->count = static_cast<int>(l->lines);
  s->drop();
  return l->self();
}

void release(Node *n) { delete n; }
