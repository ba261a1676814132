float last;
void put(float *p) { *p = last; last += *p; }
