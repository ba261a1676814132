struct Packed {
    char tag;
    int value;
} __attribute__((packed));

_Static_assert(sizeof(struct Packed) == 5, "as in a file");

#ifdef WRONG
_Static_assert(sizeof(struct Packed) == 8, "as in memory");
#endif
