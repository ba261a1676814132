// Enums without a name within records.

struct Control {
    enum { ADD, REMOVE } func;
    int irq;
};

struct Ways {
    const enum { LEFT } sides[2][3];
    enum { ON = 1 } flag : 2;
    enum { UP } *way;
    enum { IN } (*port)(void);
    union {
        enum { JOINT } joint;
        float force;
    };
};

// Other integers than most.
struct Wide {
    enum { FAR = 1ULL << 40 } far;
};

struct Narrow {
    enum __attribute__((packed)) { NEAR } near;
    char next;
};
