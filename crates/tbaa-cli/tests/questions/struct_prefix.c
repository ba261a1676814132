// Title: a struct's prefix read through another struct
// Asked: Two structs begin alike. May I write through one and read through the other?
// Source: https://stackoverflow.com/questions/98650
// Answer: No: `packet.size` and `header.size` exclude each other. Use one type, or memcpy.
// $ tbaa lint FILE
// says: struct_prefix.c:20:13
// says: a value stored as header.size (long at 8 of header) is read as packet.size
// says: copy the bytes with memcpy
// says: `tbaa run struct_prefix.c` checks a program while it runs
// never: as assembly
// exit: 1
// $ tbaa lint FILE --format sarif
// says: "uri": "struct_prefix.c"
// exit: 1
struct header { int kind; long size; };
struct packet { int kind; long size; char data[8]; };
long total(void *p) {
  struct packet *q = p; struct header *h = p;
  q->size = 5; h->size = 6;
  return q->size;
}
