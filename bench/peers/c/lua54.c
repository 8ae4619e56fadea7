/* Lua 5.4 in C with nothing limited: the floor the sandboxes are measured against.
   Usage: lua54 WORK_FOLDER WORK. Prints one line of JSON: the value in the work's unit, the answer. */

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <lauxlib.h>
#include <lua.h>
#include <lualib.h>

enum { SAMPLES_MAX = 1 << 20, IDLE = 1000 };
static const double MEASURE_SECONDS = 0.4;

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static int by_size(const void *left, const void *right) {
  double a = *(const double *)left, b = *(const double *)right;
  return (a > b) - (a < b);
}

static void fail(lua_State *lua) {
  fprintf(stderr, "%s\n", lua_tostring(lua, -1));
  exit(1);
}

/* The libraries a plan may have, as in the other peers. */
static lua_State *new_vm(void) {
  static const luaL_Reg libraries[] = {
      {LUA_GNAME, luaopen_base},         {LUA_COLIBNAME, luaopen_coroutine}, {LUA_TABLIBNAME, luaopen_table},
      {LUA_STRLIBNAME, luaopen_string},  {LUA_MATHLIBNAME, luaopen_math},    {LUA_UTF8LIBNAME, luaopen_utf8},
  };
  lua_State *lua = luaL_newstate();
  if (lua == NULL) exit(1);
  for (size_t place = 0; place < sizeof libraries / sizeof *libraries; place++) {
    luaL_requiref(lua, libraries[place].name, libraries[place].func, 1);
    lua_pop(lua, 1);
  }
  return lua;
}

/* For callgrind: do each work so many times and no more. 0 where that was not asked for. */
static int times(void) {
  const char *text = getenv("PEER_TIMES");
  return text == NULL ? 0 : atoi(text);
}

static double forty_two(int is_warm) {
  lua_State *lua = NULL;
  double started = 0;
  if (is_warm) lua = new_vm();
  started = now();
  if (!is_warm) lua = new_vm();
  if (luaL_dostring(lua, "return 42") != LUA_OK || lua_tointeger(lua, -1) != 42) fail(lua);
  lua_close(lua);
  return now() - started;
}

static void repeated(int is_warm) {
  for (int left = times(); left > 0; left--) forty_two(is_warm);
  if (times() > 0) return;
  double *samples = malloc(SAMPLES_MAX * sizeof *samples);
  int count = 0;
  double began = now();
  while (now() - began < MEASURE_SECONDS && count < SAMPLES_MAX) {
    double spent = forty_two(is_warm);
    if (now() - began > MEASURE_SECONDS / 10) samples[count++] = spent;
  }
  qsort(samples, (size_t)count, sizeof *samples, by_size);
  printf("{\"value\": %.3f, \"answer\": 42}\n", samples[count / 2] * 1e6);
}

static double resident_kib(void) {
  FILE *file = fopen("/proc/self/smaps_rollup", "r");
  char line[256];
  double kib = 0;
  while (file != NULL && fgets(line, sizeof line, file) != NULL) {
    if (sscanf(line, "Rss: %lf kB", &kib) == 1) break;
  }
  if (file != NULL) fclose(file);
  return kib;
}

static void idle(void) {
  static lua_State *held[IDLE];
  lua_close(new_vm());
  double before = resident_kib();
  for (int place = 0; place < IDLE; place++) held[place] = new_vm();
  printf("{\"value\": %.3f}\n", (resident_kib() - before) / IDLE);
  for (int place = 0; place < IDLE; place++) lua_close(held[place]);
}

static void once(const char *folder, const char *work) {
  char path[4096];
  snprintf(path, sizeof path, "%s/%s.lua", folder, work);
  lua_State *lua = new_vm();
  double started = now();
  if (luaL_dofile(lua, path) != LUA_OK) fail(lua);
  lua_getglobal(lua, "run");
  if (lua_pcall(lua, 0, 1, 0) != LUA_OK) fail(lua);
  double spent = now() - started;
  const char *quote = lua_type(lua, -1) == LUA_TSTRING ? "\"" : "";
  printf("{\"value\": %.4f, \"answer\": %s%s%s}\n", spent * 1e3, quote, lua_tostring(lua, -1), quote);
  lua_close(lua);
}

int main(int count, char **arguments) {
  if (count < 3) {
    fprintf(stderr, "usage: lua54 WORK_FOLDER WORK\n");
    return 2;
  }
  const char *work = arguments[2];
  if (strcmp(work, "w1") == 0) repeated(0);
  else if (strcmp(work, "w1_warm") == 0) repeated(1);
  else if (strcmp(work, "w6") == 0) idle();
  else if (strncmp(work, "w4_", 3) == 0) {
    for (int left = times(); left > 1; left--) once(arguments[1], work);
    once(arguments[1], work);
  }
  else printf("{\"absent\": \"no tools, no JSON and no limit in plain Lua\"}\n");
  return 0;
}
