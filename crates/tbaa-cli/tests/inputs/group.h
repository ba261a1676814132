// A macro makes two unnamed structs in one place.
#ifdef ALIKE
#define MORE
#else
#define MORE short more;
#endif

#define GROUP(NAME, MEMBERS...) \
  union {                       \
    struct {                    \
      MEMBERS                   \
    };                          \
    struct {                    \
      MEMBERS MORE              \
    } NAME;                     \
  }

struct Packet {
  int before;
  GROUP(both, int from; float to;);
  double after;
};
