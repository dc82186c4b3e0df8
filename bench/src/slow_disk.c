/* Makes each flush of a file take longer by BENCH_FLUSH_EXTRA_MICROSECONDS, so that a machine with a
 * fast disk shows what a slower one would do. Loaded into the measured programs by LD_PRELOAD. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdlib.h>
#include <time.h>

static void take_longer(void) {
    const char *text = getenv("BENCH_FLUSH_EXTRA_MICROSECONDS");
    long extra = text ? atol(text) : 0;
    struct timespec pause = {extra / 1000000, extra % 1000000 * 1000};
    nanosleep(&pause, NULL);
}

static int flush(const char *name, int file) {
    int (*original)(int) = (int (*)(int))dlsym(RTLD_NEXT, name);
    take_longer();
    return original(file);
}

int fsync(int file) { return flush("fsync", file); }
int fdatasync(int file) { return flush("fdatasync", file); }
