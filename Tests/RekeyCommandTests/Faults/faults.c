// Loaded before the C library, this makes one call of the system fail, in whatever part of the process it is made.
//
// FAULT_CALL    the call: open, read, write, sync, truncate, rename, link or unlink
// FAULT_PREFIX  how the paths of the files begin that it is about
// FAULT_AFTER   how many of the calls go well before
// FAULT_ERRNO   the error number; 0 to read or write a part only
// FAULT_MET     a file that is made when the call was met

#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/types.h>
#include <unistd.h>

static atomic_int calls;

static int is_meant(const char *call, const char *path) {
    const char *meant = getenv("FAULT_CALL"), *prefix = getenv("FAULT_PREFIX");
    return meant && prefix && strcmp(meant, call) == 0 && strncmp(path, prefix, strlen(prefix)) == 0;
}

static int opening(const char *path, int flags, mode_t mode) {
    static int (*real)(const char *, int, ...);
    if (!real) real = dlsym(RTLD_NEXT, "open");
    return real(path, flags, mode);
}

// Whether this call is the one that fails.
static int is_due(const char *call, const char *path) {
    if (!is_meant(call, path)) return 0;
    if (atomic_fetch_add(&calls, 1) != atoi(getenv("FAULT_AFTER"))) return 0;
    int met = opening(getenv("FAULT_MET"), O_CREAT | O_WRONLY, 0600);
    if (met >= 0) close(met);
    return 1;
}

static int is_due_at(const char *call, int descriptor) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", descriptor);
    ssize_t length = readlink(link, path, sizeof path - 1);
    if (length < 0) return 0;
    path[length] = 0;
    return is_due(call, path);
}

static int code(void) { return atoi(getenv("FAULT_ERRNO")); }

static int failing(void) {
    errno = code();
    return -1;
}

// What has an error number fails; else a half of the bytes is dealt with.
#define PARTLY(name, call, buffer, offset)                                                                   \
    ssize_t name(int descriptor, buffer bytes, size_t count, offset at) {                                  \
        static ssize_t (*real)(int, buffer, size_t, offset);                                               \
        if (!real) real = dlsym(RTLD_NEXT, #name);                                                         \
        if (is_due_at(call, descriptor)) {                                                                 \
            if (code()) return failing();                                                                  \
            count = count > 1 ? count / 2 : count;                                                         \
        }                                                                                                  \
        return real(descriptor, bytes, count, at);                                                         \
    }

PARTLY(pread, "read", void *, off_t)
PARTLY(pread64, "read", void *, off64_t)
PARTLY(pwrite, "write", const void *, off_t)
PARTLY(pwrite64, "write", const void *, off64_t)

#define WITH_DESCRIPTOR(name, call, parameters, arguments)                                                   \
    int name parameters {                                                                                  \
        static int(*real) parameters;                                                                      \
        if (!real) real = dlsym(RTLD_NEXT, #name);                                                         \
        return is_due_at(call, descriptor) ? failing() : real arguments;                                   \
    }

WITH_DESCRIPTOR(fsync, "sync", (int descriptor), (descriptor))
WITH_DESCRIPTOR(fdatasync, "sync", (int descriptor), (descriptor))
WITH_DESCRIPTOR(ftruncate, "truncate", (int descriptor, off_t size), (descriptor, size))
WITH_DESCRIPTOR(ftruncate64, "truncate", (int descriptor, off64_t size), (descriptor, size))

#define WITH_PATH(name, parameters, arguments)                                                               \
    int name parameters {                                                                                  \
        static int(*real) parameters;                                                                      \
        if (!real) real = dlsym(RTLD_NEXT, #name);                                                         \
        return is_due(#name, path) ? failing() : real arguments;                                           \
    }

WITH_PATH(rename, (const char *path, const char *other), (path, other))
WITH_PATH(link, (const char *path, const char *other), (path, other))
WITH_PATH(unlink, (const char *path), (path))

#define OPENING(name)                                                                                        \
    int name(const char *path, int flags, ...) {                                                           \
        va_list list;                                                                                      \
        va_start(list, flags);                                                                             \
        mode_t mode = flags & O_CREAT ? va_arg(list, mode_t) : 0;                                          \
        va_end(list);                                                                                      \
        return is_due("open", path) ? failing() : opening(path, flags, mode);                              \
    }

OPENING(open)
OPENING(open64)
