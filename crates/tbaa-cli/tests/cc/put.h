void put(float *p);
