#define _GNU_SOURCE

#include "CCipherSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <sys/mman.h>
#ifdef __linux__
#include <sys/prctl.h>
#elif defined(__APPLE__)
#include <mach/vm_inherit.h>
#endif
#include <sys/resource.h>
#include <sys/types.h>
#include <unistd.h>

extern char **environ;

// The environment without the variables in withheld; NULL where there is no memory. Its strings are not copies.
static char **environment_without(char *const withheld[]) {
    size_t count = 0;
    if (environ) while (environ[count]) count++;
    char **kept = calloc(count + 1, sizeof *kept);
    if (!kept) return NULL;
    size_t next = 0;
    for (size_t at = 0; at < count; at++) {
        int is_withheld = 0;
        for (size_t name = 0; withheld[name]; name++) {
            size_t length = strlen(withheld[name]);
            if (strncmp(environ[at], withheld[name], length) == 0 && environ[at][length] == '=') is_withheld = 1;
        }
        if (!is_withheld) kept[next++] = environ[at];
    }
    return kept;
}

// Has the program get the standard streams and no other descriptor: another may be on a secret. Returns an error number.
static int close_others(posix_spawn_file_actions_t *actions) {
#if defined(__GLIBC__)
    return posix_spawn_file_actions_addclosefrom_np(actions, 3);
#elif defined(__APPLE__)
    // See POSIX_SPAWN_CLOEXEC_DEFAULT, which closes these too.
    int code = 0;
    for (int stream = 0; stream <= 2 && code == 0; stream++) code = posix_spawn_file_actions_addinherit_np(actions, stream);
    return code;
#else
    // musl does not mind one that is not open.
    int code = 0;
    long end = sysconf(_SC_OPEN_MAX);
    for (int descriptor = 3; descriptor < end && code == 0; descriptor++) {
        int flags = fcntl(descriptor, F_GETFD);
        if (flags >= 0 && !(flags & FD_CLOEXEC)) code = posix_spawn_file_actions_addclose(actions, descriptor);
    }
    return code;
#endif
}

// What posix_spawn needs differs too much between systems to be said in Swift.
int csystem_spawn(char *const arguments[], char *const withheld[], const char *input, int *output) {
    int ends[2];
    char **environment = environment_without(withheld);
    if (!environment) return -1;
    if (pipe(ends) != 0) {
        free(environment);
        return -1;
    }
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    pid_t child = -1;
    int code = posix_spawn_file_actions_init(&actions);
    if (code == 0) {
        code = posix_spawnattr_init(&attributes);
        if (code == 0) {
            // The threads of a runtime hold signals back; the program must be possible to end.
            sigset_t none;
            sigemptyset(&none);
            posix_spawnattr_setsigmask(&attributes, &none);
            // This process may ignore it; a program of others expects what the system does.
            sigset_t standard;
            sigemptyset(&standard);
            sigaddset(&standard, SIGPIPE);
            posix_spawnattr_setsigdefault(&attributes, &standard);
            short flags = POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
#ifdef POSIX_SPAWN_CLOEXEC_DEFAULT
            flags |= POSIX_SPAWN_CLOEXEC_DEFAULT;
#endif
            posix_spawnattr_setflags(&attributes, flags);
            code = posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
            if (code == 0) code = close_others(&actions);
            if (code == 0 && input) code = posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0);
            if (code == 0) code = posix_spawnp(&child, arguments[0], &actions, &attributes, arguments, environment);
            posix_spawnattr_destroy(&attributes);
        }
        posix_spawn_file_actions_destroy(&actions);
    }
    close(ends[1]);
    free(environment);
    if (code != 0) {
        close(ends[0]);
        errno = code;
        return -1;
    }
    *output = ends[0];
    return child;
}

#if defined(__linux__)
#include <sys/syscall.h>

// The C library has no functions for the keys that the kernel keeps (keyrings(7)), and `syscall` does not reach Swift.
long csystem_request_key(const char *type, const char *description) {
    return syscall(SYS_request_key, type, description, (char *)0, 0);
}

long csystem_add_key(const char *type, const char *description, const void *bytes, size_t count) {
    // KEY_SPEC_PROCESS_KEYRING
    return syscall(SYS_add_key, type, description, bytes, count, -2);
}

long csystem_read_key(long key, void *buffer, size_t size) {
    // KEYCTL_READ
    return syscall(SYS_keyctl, 11, key, buffer, size);
}
#endif

// Keeps the memory of this process out of core dumps and from other processes of its user, for as long as it lives. prctl has a
// variable number of arguments, which Swift cannot call.
void csystem_forbid_dumps(void) {
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
#ifdef __linux__
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
}

// Neither C library declares it for Swift.
int csystem_exchange(const char *path, const char *other) {
#if defined(__APPLE__)
    return renamex_np(path, other, RENAME_SWAP);
#else
    // RENAME_EXCHANGE
    return (int)syscall(SYS_renameat2, AT_FDCWD, path, AT_FDCWD, other, 2);
#endif
}

#ifdef O_PATH
int csystem_pin(int descriptor) {
    char path[64];
    snprintf(path, sizeof path, "/proc/self/fd/%d", descriptor);
    return open(path, O_PATH | O_CLOEXEC);
}
#endif

int csystem_anonymous_file(void) {
#ifdef __linux__
    return memfd_create("trial", MFD_CLOEXEC);
#else
    return -1;
#endif
}

int csystem_ignores_signal(int signal) {
    struct sigaction present;
    return sigaction(signal, NULL, &present) == 0 && present.sa_handler == SIG_IGN;
}

// Swift has no variables of a thread. No number of one thread is ever one of another: each has its own two to the 32 of them.
static _Thread_local uint64_t thread_count;

uint64_t csystem_thread_count(void) {
    static _Atomic uint64_t threads;
    if (thread_count == 0) thread_count = (atomic_fetch_add(&threads, 1) + 1) << 32;
    return thread_count;
}

void csystem_count_in_thread(void) { thread_count = csystem_thread_count() + 1; }

_Thread_local uint64_t csystem_thread_number;

uint64_t csystem_number_thread(void) {
    static _Atomic uint64_t threads;
    return csystem_thread_number = atomic_fetch_add(&threads, 1) + 1;
}

// membarrier(2): MEMBARRIER_CMD_PRIVATE_EXPEDITED and, once in a process, its registration.
int csystem_heavy_fence(void) {
#if defined(__linux__) && defined(SYS_membarrier)
    if (syscall(SYS_membarrier, 8, 0, 0) == 0) return 1;
    return syscall(SYS_membarrier, 16, 0, 0) == 0 && syscall(SYS_membarrier, 8, 0, 0) == 0;
#else
    return 0;
#endif
}

int csystem_has_heavy_fence(void) {
#if defined(__linux__) && defined(SYS_membarrier)
    long commands = syscall(SYS_membarrier, 0, 0, 0);
    return commands > 0 && (commands & 24) == 24;
#else
    return 0;
#endif
}

// A child finds the page zero, however it was forked, and counts itself; the count of its ancestors is in ordinary memory.
static uint64_t spare_mark;
uint64_t *csystem_process_mark = &spare_mark;
static uint64_t processes;

static void clear_mark(void) { __atomic_store_n(csystem_process_mark, 0, __ATOMIC_RELAXED); }

__attribute__((constructor)) static void map_process_mark(void) {
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (page != MAP_FAILED) {
#if defined(__linux__)
        int is_wiped = madvise(page, size, MADV_WIPEONFORK) == 0;
#elif defined(__APPLE__)
        int is_wiped = minherit(page, size, VM_INHERIT_ZERO) == 0;
#else
        int is_wiped = 0;
#endif
        csystem_process_mark = page;
        if (is_wiped) return;
    }
    // Linux before 4.14: what forks without the C library is not seen.
    pthread_atfork(NULL, NULL, clear_mark);
}

uint64_t csystem_count_process(void) {
    uint64_t none = 0, number = __atomic_add_fetch(&processes, 1, __ATOMIC_RELAXED);
    int is_first =
        __atomic_compare_exchange_n(csystem_process_mark, &none, number, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return is_first ? number : none;
}
