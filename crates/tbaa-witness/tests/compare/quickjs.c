/* 300,000 puts and gets by names. */
#include <stdio.h>
#include <string.h>
#include "quickjs.h"

static const char code[] =
    "var o = {}, n = 0;"
    "for (var i = 0; i < 300000; i++) { o['k' + i % 5000] = i; n += o['k' + i % 3000] | 0; }"
    "n";

int main(void) {
  JSRuntime *runtime = JS_NewRuntime();
  JSContext *context = JS_NewContext(runtime);
  JSValue value = JS_Eval(context, code, strlen(code), "puts.js", 0);
  double number = 0;
  if (JS_IsException(value) || JS_ToFloat64(context, &number, value)) return 1;
  printf("%.0f\n", number);
  JS_FreeValue(context, value);
  JS_FreeContext(context);
  JS_FreeRuntime(runtime);
  return 0;
}
