#ifndef CSYSTEM_H
#define CSYSTEM_H

#include <stddef.h>
#include <stdint.h>

// Into Swift's calls, too, whatever their size: most are of one instruction.
#define csystem_inline static inline __attribute__((always_inline))

// System calls that do not reach Swift. No header of the system is included here: its types would become this module's.

// Starts a program, found by PATH and without a shell, with the environment of this process; the list of its arguments ends with NULL.
// Its standard input is the file `input`, or this process's where that is NULL. `streams` has its standard output and its standard
// error: descriptors, or one of the two values below; what is piped is replaced by the end to read from. It gets no other descriptor.
// Returns its number, or -1 with errno: ENOTSUP on iOS and its kin.
int csystem_spawn(char *const arguments[], const char *input, int streams[2]);
// As the stream of this process.
static const int csystem_inherited = -1;
// By a pipe.
static const int csystem_piped = -2;

// Gives a file the extended attributes of another one, but for those that the kernel computes from the content, and no access control
// list that the other has not. -1 with errno; `name` has the name of the attribute then, or is empty.
int csystem_copy_attributes(int from, int to, char name[256]);

// Removes a variable from the environment of this process.
void csystem_forget_variable(const char *name);

// Gives the system back what this process has freed, which the C library of Linux keeps otherwise.
void csystem_give_memory_back(void);

// Keeps the memory of this process out of core dumps and from other processes of its user, for as long as it lives.
void csystem_forbid_dumps(void);

// Gives each of two files the name of the other, in one step. -1 with errno.
int csystem_exchange(const char *path, const char *other);

// A second descriptor of the file, by which nothing can be read or written: closing it drops no locks. -1 with errno. Linux only.
int csystem_pin(int descriptor);

// The number of a process, other than this one, that has a part of the file locked: for writing, or also for reading. 0 for none, -1 for one
// whose number the system does not tell.
int csystem_lock_holder(int descriptor, int64_t offset, int64_t count, int reading);

// A file in memory that has no name, closed in children; -1 where the system has none.
int csystem_anonymous_file(void);

// Whether something can be read, waiting so long for it; also from a terminal.
int csystem_is_readable(int descriptor, int milliseconds);

// Overwrites bytes with zeros in a way that the optimiser may not remove. Apple's systems only; OpenSSL has that elsewhere.
void csystem_wipe(void *bytes, size_t count);

// Whether the process ignores this signal. What holds a handler has another name in each C library.
int csystem_ignores_signal(int signal);

// The keys that the Linux kernel keeps (keyrings(7)). -1 with errno.
long csystem_request_key(const char *type, const char *description);
long csystem_add_key(const char *type, const char *description, const void *bytes, size_t count);
long csystem_read_key(long key, void *buffer, size_t size);

// A thing that one thread at a time works with, until the process ends: a connection of the engine.
struct csystem_work {
    // Marks the thread that works with it now; 0 for none.
    uintptr_t thread;
    // What an end of the process interrupts; NULL for nothing.
    void *handle;
    struct csystem_work *next, *previous;
};

// Whether the process ends: work does not begin any more.
extern int csystem_is_ending;
extern _Thread_local char csystem_here;

// Registers it. NULL where there is no memory.
struct csystem_work *csystem_register_work(void);
void csystem_set_handle(struct csystem_work *work, void *handle);
void csystem_remove_work(struct csystem_work *work);

// From here on an end of the process, by exit or by returning from main, first waits until no other thread works, and interrupts those
// that do; the handlers that were registered before run after that. Done once.
void csystem_hold_work_at_exit(void (*interrupt)(void *handle));

// Whether another thread may be held so, and give nothing back that it has.
int csystem_process_is_ending(void);

// Does not return while the process ends: this thread is to do nothing more.
void csystem_stay(void);

// Marks the beginning of a piece of work, and returns what is to be given to csystem_end.
csystem_inline uintptr_t csystem_begin(struct csystem_work *work) {
    uintptr_t outer = __atomic_load_n(&work->thread, __ATOMIC_RELAXED);
    // Not ordered before the next line by the processor: who sets the other variable waits for that.
    __atomic_store_n(&work->thread, (uintptr_t)&csystem_here, __ATOMIC_RELAXED);
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
    if (__builtin_expect(__atomic_load_n(&csystem_is_ending, __ATOMIC_RELAXED), 0)) csystem_stay();
    return outer;
}

csystem_inline void csystem_end(struct csystem_work *work, uintptr_t outer) {
    __atomic_store_n(&work->thread, outer, __ATOMIC_RELEASE);
}

// A number that atomic operations touch only.
struct csystem_atomic {
    uint64_t value;
};
csystem_inline uint64_t csystem_load(const struct csystem_atomic *number) { return __atomic_load_n(&number->value, __ATOMIC_RELAXED); }
csystem_inline uint64_t csystem_load_acquiring(const struct csystem_atomic *number) {
    return __atomic_load_n(&number->value, __ATOMIC_ACQUIRE);
}
csystem_inline void csystem_store(struct csystem_atomic *number, uint64_t value) {
    __atomic_store_n(&number->value, value, __ATOMIC_RELAXED);
}
csystem_inline void csystem_store_releasing(struct csystem_atomic *number, uint64_t value) {
    __atomic_store_n(&number->value, value, __ATOMIC_RELEASE);
}
csystem_inline uint64_t csystem_swap(struct csystem_atomic *number, uint64_t value) {
    return __atomic_exchange_n(&number->value, value, __ATOMIC_SEQ_CST);
}
csystem_inline int csystem_swap_if(struct csystem_atomic *number, uint64_t expected, uint64_t value) {
    return __atomic_compare_exchange_n(&number->value, &expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_RELAXED);
}
csystem_inline uint64_t csystem_add(struct csystem_atomic *number, uint64_t value) {
    return __atomic_add_fetch(&number->value, value, __ATOMIC_RELAXED);
}

// A number of the calling thread's own, which no other thread ever has.
extern _Thread_local uint64_t csystem_counted;
uint64_t csystem_begin_count(void);
csystem_inline uint64_t csystem_thread_count(void) { return csystem_counted ? csystem_counted : csystem_begin_count(); }
void csystem_count_in_thread(void);

// Two halves of a fence between two threads: the light one costs nothing and holds where the other thread makes the heavy one. 0 where
// the system has none.
csystem_inline void csystem_light_fence(void) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
int csystem_heavy_fence(void);
int csystem_has_heavy_fence(void);

// The name of the dispatch queue that the calling thread works for; empty or NULL where it works for none.
const char *csystem_queue_label(void);

// A number of this process's own, which none of its ancestors and children has.
extern uint64_t *csystem_process_mark;
uint64_t csystem_count_process(void);
csystem_inline uint64_t csystem_process(void) {
    uint64_t number = __atomic_load_n(csystem_process_mark, __ATOMIC_RELAXED);
    return number ? number : csystem_count_process();
}

// Writes the message to the standard error, and ends this process with status 70 without anything that runs at exit.
_Noreturn void csystem_end_child(const char *message);

// Whether this process was forked by one with several threads: it has none of those of Swift's tasks and of libdispatch.
int csystem_lacks_threads(void);

// A number of the calling thread's own, which no other thread ever has, nor one of an ancestor or child of this process: what the system
// has is that of another one later. The fast one is that of no thread, and not 0, where this one was not asked for before.
extern _Thread_local uint64_t csystem_thread_number;
uint64_t csystem_thread(void);
csystem_inline uint64_t csystem_fast_thread(void) {
    return __atomic_load_n(csystem_process_mark, __ATOMIC_RELAXED) + csystem_thread_number;
}

#endif
