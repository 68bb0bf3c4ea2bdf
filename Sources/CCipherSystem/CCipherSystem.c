#define _GNU_SOURCE
// For memset_s.
#define __STDC_WANT_LIB_EXT1__ 1

#include "CCipherSystem.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdatomic.h>
#include <poll.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <pthread.h>
#include <sys/mman.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif
#ifdef __linux__
#include <sys/prctl.h>
#elif defined(__APPLE__)
#include <TargetConditionals.h>
#include <dlfcn.h>
#include <sys/select.h>
#endif
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#if defined(__APPLE__) && TARGET_OS_IPHONE && !TARGET_OS_MACCATALYST
// Their sandbox starts no programs.
int csystem_spawn(char *const arguments[], const char *input, int streams[2]) {
    errno = ENOTSUP;
    return -1;
}
#else
extern char **environ;

// Two ends of a pipe that no child gets, also not one that another thread forks meanwhile.
static int private_pipe(int ends[2]) {
#if defined(__APPLE__)
    // It has no pipe2; what this library starts gets no descriptor by chance (POSIX_SPAWN_CLOEXEC_DEFAULT).
    if (pipe(ends) != 0) return -1;
    fcntl(ends[0], F_SETFD, FD_CLOEXEC);
    fcntl(ends[1], F_SETFD, FD_CLOEXEC);
    return 0;
#else
    return pipe2(ends, O_CLOEXEC);
#endif
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

static void close_ends(int ends[2], int which) {
    if (ends[which] >= 0) close(ends[which]);
}

// What posix_spawn needs differs too much between systems to be said in Swift.
int csystem_spawn(char *const arguments[], const char *input, int streams[2]) {
    int ends[2][2] = {{-1, -1}, {-1, -1}};
    posix_spawn_file_actions_t actions;
    posix_spawnattr_t attributes;
    pid_t child = -1;
    int code = 0;
    for (int stream = 0; stream < 2 && code == 0; stream++) {
        if (streams[stream] == csystem_piped && private_pipe(ends[stream]) != 0) code = errno;
    }
    if (code == 0) code = posix_spawn_file_actions_init(&actions);
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
            for (int stream = 0; stream < 2 && code == 0; stream++) {
                int target = streams[stream] == csystem_piped ? ends[stream][1] : streams[stream];
                if (target >= 0) code = posix_spawn_file_actions_adddup2(&actions, target, stream + 1);
            }
            if (code == 0) code = close_others(&actions);
            if (code == 0 && input) code = posix_spawn_file_actions_addopen(&actions, 0, input, O_RDONLY, 0);
            if (code == 0) code = posix_spawnp(&child, arguments[0], &actions, &attributes, arguments, environ);
            posix_spawnattr_destroy(&attributes);
        }
        posix_spawn_file_actions_destroy(&actions);
    }
    for (int stream = 0; stream < 2; stream++) {
        close_ends(ends[stream], 1);
        if (code != 0) close_ends(ends[stream], 0);
        else streams[stream] = ends[stream][0];
    }
    if (code == 0) return child;
    errno = code;
    return -1;
}
#endif

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
void csystem_give_memory_back(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}

void csystem_forbid_dumps(void) {
#ifdef __linux__
    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0);
#endif
    struct rlimit none = {0, 0};
    setrlimit(RLIMIT_CORE, &none);
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

#if defined(__linux__)
#include <sys/xattr.h>

// What the kernel computes from the content of a file.
static int is_of_content(const char *name) {
    return strcmp(name, "security.ima") == 0 || strcmp(name, "security.evm") == 0;
}

// The names of all attributes, to be freed; NULL with errno, which is 0 where there are none.
static char *attribute_names(int descriptor, ssize_t *size) {
    char *names = NULL;
    do {
        free(names);
        *size = flistxattr(descriptor, NULL, 0);
        if (*size < 0 && errno == ENOTSUP) *size = 0;
        if (*size <= 0) {
            if (*size == 0) errno = 0;
            return NULL;
        }
        names = malloc((size_t)*size);
        if (!names) return NULL;
        *size = flistxattr(descriptor, names, (size_t)*size);
        // Another process adds one meanwhile.
    } while (*size < 0 && errno == ERANGE);
    if (*size > 0) return names;
    int code = *size < 0 ? errno : 0;
    free(names);
    errno = code;
    return NULL;
}

// An attribute's value, to be freed; NULL with errno.
static char *attribute(int descriptor, const char *name, ssize_t *size) {
    char *value = NULL;
    do {
        free(value);
        *size = fgetxattr(descriptor, name, NULL, 0);
        if (*size < 0) return NULL;
        value = malloc((size_t)*size + 1);
        if (!value) return NULL;
        *size = fgetxattr(descriptor, name, value, (size_t)*size);
    } while (*size < 0 && errno == ERANGE);
    if (*size >= 0) return value;
    int code = errno;
    free(value);
    errno = code;
    return NULL;
}

static int copy_attribute(int from, int to, const char *name) {
    ssize_t size, present_size;
    char *value = attribute(from, name, &size);
    // Another process has removed it.
    if (!value) return errno == ENODATA ? 0 : -1;
    // Giving what it has may need a right that this process has not, as with the labels of SELinux.
    char *present = attribute(to, name, &present_size);
    int is_there = present && present_size == size && memcmp(present, value, (size_t)size) == 0;
    free(present);
    int code = is_there ? 0 : fsetxattr(to, name, value, (size_t)size, 0);
    int error = errno;
    free(value);
    errno = error;
    return code;
}

int csystem_copy_attributes(int from, int to, char name[256]) {
    static const char *const access_list = "system.posix_acl_access";
    int has_list = 0, code = 0, error = 0;
    ssize_t size;
    name[0] = 0;
    char *names = attribute_names(from, &size);
    if (!names && errno != 0) return -1;
    for (char *next = names; names && next < names + size && code == 0; next += strlen(next) + 1) {
        if (is_of_content(next)) continue;
        has_list = has_list || strcmp(next, access_list) == 0;
        code = copy_attribute(from, to, next);
        error = errno;
        if (code != 0) snprintf(name, 256, "%s", next);
    }
    free(names);
    // A directory may give what is made in it a list, by which others could read the file.
    if (code == 0 && !has_list && fremovexattr(to, access_list) != 0 && errno != ENODATA && errno != ENOTSUP) {
        code = -1;
        error = errno;
        snprintf(name, 256, "%s", access_list);
    }
    errno = error;
    return code;
}
#elif defined(__APPLE__)
#include <copyfile.h>

int csystem_copy_attributes(int from, int to, char name[256]) {
    name[0] = 0;
    return fcopyfile(from, to, NULL, COPYFILE_ACL | COPYFILE_XATTR);
}
#endif

int csystem_lock_holder(int descriptor, int64_t offset, int64_t count, int reading) {
    // A lock for writing would be kept out by readers, too.
    struct flock lock = {.l_type = reading ? F_WRLCK : F_RDLCK, .l_whence = SEEK_SET, .l_start = offset, .l_len = count};
    if (fcntl(descriptor, F_GETLK, &lock) != 0 || lock.l_type == F_UNLCK) return 0;
    return lock.l_pid > 0 ? lock.l_pid : -1;
}

int csystem_anonymous_file(void) {
#ifdef __linux__
    return memfd_create("trial", MFD_CLOEXEC);
#else
    return -1;
#endif
}

int csystem_is_readable(int descriptor, int milliseconds) {
#if defined(__APPLE__)
    // There poll does not know devices.
    if (descriptor < FD_SETSIZE) {
        fd_set descriptors;
        FD_ZERO(&descriptors);
        FD_SET(descriptor, &descriptors);
        struct timeval limit = {milliseconds / 1000, milliseconds % 1000 * 1000};
        return select(descriptor + 1, &descriptors, NULL, NULL, &limit) > 0;
    }
#endif
    struct pollfd wanted = {.fd = descriptor, .events = POLLIN};
    return poll(&wanted, 1, milliseconds) > 0;
}

#if defined(__APPLE__)
void csystem_wipe(void *bytes, size_t count) { memset_s(bytes, count, 0, count); }
#endif

int csystem_ignores_signal(int signal) {
    struct sigaction present;
    return sigaction(signal, NULL, &present) == 0 && present.sa_handler == SIG_IGN;
}

void csystem_forget_variable(const char *name) { unsetenv(name); }

// Swift has no variables of a thread. No number of one thread is ever one of another: each has its own two to the 32 of them.
_Thread_local uint64_t csystem_counted;

uint64_t csystem_begin_count(void) {
    static _Atomic uint64_t threads;
    return csystem_counted = (atomic_fetch_add(&threads, 1) + 1) << 32;
}

void csystem_count_in_thread(void) { csystem_counted = csystem_thread_count() + 1; }

_Thread_local uint64_t csystem_thread_number = 1;

uint64_t csystem_thread(void) {
    static _Atomic uint64_t threads = 1;
    if (csystem_thread_number == 1) csystem_thread_number = atomic_fetch_add(&threads, 1) + 1;
    return csystem_process() + csystem_thread_number;
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

#ifdef __APPLE__
#include <dispatch/dispatch.h>
const char *csystem_queue_label(void) { return dispatch_queue_get_label(DISPATCH_CURRENT_QUEUE_LABEL); }
#else
// Of libdispatch, whose headers come with Swift and are not in the path of C here.
extern const char *dispatch_queue_get_label(void *queue);
const char *csystem_queue_label(void) { return dispatch_queue_get_label(NULL); }
#endif

// A child finds the page zero, however it was forked, and counts itself; the count of its ancestors is in ordinary memory.
static uint64_t spare_mark;
uint64_t *csystem_process_mark = &spare_mark;
static uint64_t processes;

static void clear_mark(void) { __atomic_store_n(csystem_process_mark, 0, __ATOMIC_RELAXED); }

// Of the process that began with this program, and whether it or a child had several threads when it forked.
static uint64_t first_process;
static int had_threads;

static void note_threads(void) {
#if defined(__APPLE__)
    had_threads |= pthread_is_threaded_np();
#elif defined(__linux__)
    // A directory has a link for each of its own: one of a thread, beside two.
    struct stat threads;
    had_threads |= stat("/proc/self/task", &threads) == 0 && threads.st_nlink > 3;
#endif
}

void csystem_end_child(const char *message) {
    ssize_t written = write(STDERR_FILENO, message, strlen(message));
    (void)written;
    _exit(70);
}

int csystem_lacks_threads(void) { return had_threads && csystem_process() != first_process; }

__attribute__((constructor)) static void map_process_mark(void) {
    size_t size = (size_t)sysconf(_SC_PAGESIZE);
    // Linux before 4.14, and Apple's systems: what forks without the C library is not seen.
    void (*clear)(void) = clear_mark;
    void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANON, -1, 0);
    if (page != MAP_FAILED) {
#if defined(__linux__)
        int is_wiped = madvise(page, size, MADV_WIPEONFORK) == 0;
#else
        int is_wiped = 0;
#endif
        csystem_process_mark = page;
        clear = is_wiped ? NULL : clear_mark;
    }
    first_process = csystem_process();
    pthread_atfork(note_threads, NULL, clear);
}

// Above all numbers of threads, to which it is added.
uint64_t csystem_count_process(void) {
    uint64_t none = 0, number = __atomic_add_fetch(&processes, 1ULL << 40, __ATOMIC_RELAXED);
    int is_first =
        __atomic_compare_exchange_n(csystem_process_mark, &none, number, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED);
    return is_first ? number : none;
}

// OpenSSL would free what all threads use as soon as the process begins to end, while some still work. Before anything else uses
// OpenSSL it is told to leave that to the system. Weak: not every program that has this file has OpenSSL.
#if !defined(__APPLE__)
extern int OPENSSL_init_crypto(uint64_t options, const void *settings) __attribute__((weak));
#endif

__attribute__((constructor)) static void keep_openssl_until_end(void) {
#if defined(__APPLE__)
    // Its linker refuses a symbol that no library has, also a weak one.
    int (*OPENSSL_init_crypto)(uint64_t, const void *) = dlsym(RTLD_DEFAULT, "OPENSSL_init_crypto");
#endif
    // OPENSSL_INIT_NO_ATEXIT
    if (OPENSSL_init_crypto) OPENSSL_init_crypto(0x00080000, NULL);
}

int csystem_is_ending;
_Thread_local char csystem_here;
static pthread_mutex_t work_mutex = PTHREAD_MUTEX_INITIALIZER;
static struct csystem_work *all_work;
static void (*interrupt_work)(void *handle);
// The thread that ends the process may go on: the handlers of programs may use their databases.
static uintptr_t ending_thread;
// A forked child has not the threads of its parent, which would be waited for.
static uint64_t working_process;

struct csystem_work *csystem_register_work(void) {
    struct csystem_work *work = calloc(1, sizeof *work);
    if (!work) return NULL;
    pthread_mutex_lock(&work_mutex);
    work->next = all_work;
    if (all_work) all_work->previous = work;
    all_work = work;
    pthread_mutex_unlock(&work_mutex);
    return work;
}

// In a forked child that opens a database of its own: the threads that were marked are the parent's, as is its end.
static void own_process(void) {
    if (working_process == csystem_process()) return;
    working_process = csystem_process();
    __atomic_store_n(&csystem_is_ending, 0, __ATOMIC_RELAXED);
    for (struct csystem_work *work = all_work; work; work = work->next) __atomic_store_n(&work->thread, 0, __ATOMIC_RELAXED);
}

void csystem_set_handle(struct csystem_work *work, void *handle) {
    pthread_mutex_lock(&work_mutex);
    if (handle) own_process();
    work->handle = handle;
    pthread_mutex_unlock(&work_mutex);
}

void csystem_remove_work(struct csystem_work *work) {
    pthread_mutex_lock(&work_mutex);
    if (work->previous) work->previous->next = work->next;
    else all_work = work->next;
    if (work->next) work->next->previous = work->previous;
    pthread_mutex_unlock(&work_mutex);
    free(work);
}

void csystem_stay(void) {
    uintptr_t here = (uintptr_t)&csystem_here;
    if (here == __atomic_load_n(&ending_thread, __ATOMIC_RELAXED) || !csystem_process_is_ending()) return;
    pthread_mutex_lock(&work_mutex);
    for (struct csystem_work *work = all_work; work; work = work->next) {
        if (__atomic_load_n(&work->thread, __ATOMIC_RELAXED) == here) __atomic_store_n(&work->thread, 0, __ATOMIC_RELEASE);
    }
    pthread_mutex_unlock(&work_mutex);
    while (1) pause();
}

int csystem_process_is_ending(void) {
    return __atomic_load_n(&csystem_is_ending, __ATOMIC_RELAXED) && working_process == csystem_process();
}

// Whether another thread works; it is interrupted.
static int others_work(uintptr_t here) {
    int is_busy = 0;
    pthread_mutex_lock(&work_mutex);
    for (struct csystem_work *work = all_work; work; work = work->next) {
        uintptr_t thread = __atomic_load_n(&work->thread, __ATOMIC_ACQUIRE);
        if (thread == 0 || thread == here) continue;
        is_busy = 1;
        if (work->handle) interrupt_work(work->handle);
    }
    pthread_mutex_unlock(&work_mutex);
    return is_busy;
}

static void hold_work(void) {
    if (csystem_process() != working_process) return;
    uintptr_t here = (uintptr_t)&csystem_here;
    __atomic_store_n(&ending_thread, here, __ATOMIC_RELAXED);
    __atomic_store_n(&csystem_is_ending, 1, __ATOMIC_SEQ_CST);
    // What a thread marked before it saw that is seen after a moment: processors keep nothing back for so long. Then until the work ends,
    // or five seconds: what waits for something else must not keep the process.
    for (int turn = 0; turn < 5000; turn++) {
        usleep(1000);
        if (!others_work(here)) return;
    }
}

// A thread that is registering while another forks would leave the mutex locked in the child.
static void lock_work(void) { pthread_mutex_lock(&work_mutex); }
static void unlock_work(void) { pthread_mutex_unlock(&work_mutex); }
__attribute__((constructor)) static void lock_work_at_fork(void) { pthread_atfork(lock_work, unlock_work, unlock_work); }

void csystem_hold_work_at_exit(void (*interrupt)(void *handle)) {
    interrupt_work = interrupt;
    pthread_mutex_lock(&work_mutex);
    own_process();
    pthread_mutex_unlock(&work_mutex);
    atexit(hold_work);
}
