/* 2,000 keys in a mapped file, put in four transactions and read again: FOLDER. */
#include <stdio.h>
#include <string.h>
#include "lmdb.h"

#define TRY(call) if ((status = (call))) { printf("%s\n", mdb_strerror(status)); return 1; }

int main(int argc, char **argv) {
  MDB_env *env;
  MDB_txn *txn;
  MDB_dbi dbi;
  int status, found = 0;
  if (argc < 2) return 2;
  TRY(mdb_env_create(&env))
  TRY(mdb_env_set_mapsize(env, 1 << 24))
  TRY(mdb_env_open(env, argv[1], MDB_WRITEMAP | MDB_NOSYNC, 0600))
  for (int i = 0; i < 2000; i++) {
    char text[16];
    MDB_val key = {(size_t)sprintf(text, "key %d", i), text}, value = {sizeof i, &i};
    if (i % 500 == 0) {
      TRY(mdb_txn_begin(env, NULL, 0, &txn))
      TRY(mdb_dbi_open(txn, NULL, 0, &dbi))
    }
    TRY(mdb_put(txn, dbi, &key, &value, 0))
    if (i % 500 == 499) TRY(mdb_txn_commit(txn))
  }
  TRY(mdb_txn_begin(env, NULL, MDB_RDONLY, &txn))
  for (int i = 0; i < 2000; i++) {
    char text[16];
    int number = -1;
    MDB_val key = {(size_t)sprintf(text, "key %d", i), text}, value;
    TRY(mdb_get(txn, dbi, &key, &value))
    memcpy(&number, value.mv_data, sizeof number);
    found += number == i;
  }
  mdb_txn_abort(txn);
  mdb_env_close(env);
  printf("%d found\n", found);
  return 0;
}
