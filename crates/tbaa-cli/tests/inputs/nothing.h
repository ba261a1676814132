// Arrays and structs of nothing.

struct Tail {
    unsigned char kind;
    unsigned char len;
    unsigned char data[0];
};

// The tail's elements are bytes of `next`.
struct Within {
    struct Tail tail;
    unsigned short next;
};

struct None {};

struct Holder {
    int a;
    struct None none;
};
