// Classes as members: no_unique_address, empty members, anonymous unions,
// tagged unions with constructors, references, small strings.

struct Empty {};
struct Deleter {};

template <class T, class D> struct Owner {
  T *pointer;
  [[no_unique_address]] D deleter;
};

class Text {
  union {
    char local[16];
    struct {
      char *begin;
      unsigned long capacity;
    } heap;
  };
  unsigned length : 31;
  unsigned big : 1;

public:
  char &at(unsigned i);
  unsigned long grow(unsigned long by);
  unsigned size() const { return length; }
};

struct Tight {
  Empty empty;
  [[no_unique_address]] Empty overlapping;
  int value;
  [[no_unique_address]] Deleter also;
  float weight;
};

struct Person {
  Text name;
  Owner<int, Deleter> ages;
  Owner<Text, Empty> alias;
  const int &limit;
  bool active;
};

struct Value {
  enum Kind { Int, Real, String } kind;
  union {
    int i;
    double r;
    Text t;
  };
  Value(int n) : kind(Int), i(n) {}
  Value(double d) : kind(Real), r(d) {}
  ~Value() {}
};

struct Registry {
  Person *people[4];
  Value *values;
  static int live;
  mutable long reads;
  const float factor;
};

int Registry::live;

char &Text::at(unsigned i) {
  if (i >= length)
    length = i + 1;
  return big ? heap.begin[i] : local[i];
}

unsigned long Text::grow(unsigned long by) {
  if (!big) {
    big = 1;
    heap.capacity = sizeof local;
  }
  heap.capacity += by;
  return heap.capacity;
}

float tight(Tight *t, Empty *e, int *n) {
  t->empty = *e;
  t->value = *n;
  t->weight += static_cast<float>(t->value);
  return t->weight;
}

int rename(Person &p, char c, unsigned i, int *age) {
  p.name.at(i) = c;
  *p.ages.pointer = p.limit;
  p.ages.pointer = age;
  p.active = p.alias.pointer->size() > 2;
  return *age;
}

double number(Value &v, double *d, int *i) {
  switch (v.kind) {
  case Value::Int:
    *i = v.i;
    return v.i;
  case Value::Real:
    *d = v.r;
    return v.r;
  case Value::String:
    return v.t.size();
  }
  return 0;
}

void make(Value **out, void *spare, int n) {
  *out = static_cast<Value *>(spare);
  (*out)->kind = Value::Int;
  (*out)->i = n;
  Value temporary(n * 2.0);
  (*out)->r = temporary.r;
}

long visit(const Registry &r, int which, float *scale) {
  r.reads++;
  Registry::live++;
  *scale *= r.factor;
  if (r.people[which]->active)
    r.values[which].i = Registry::live;
  return r.reads;
}
