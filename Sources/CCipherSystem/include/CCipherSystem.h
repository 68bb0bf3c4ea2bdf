#ifndef CSYSTEM_H
#define CSYSTEM_H

#include <stddef.h>
#include <stdint.h>

// System calls that do not reach Swift. No header of the system is included here: its types would become this module's.

// Starts a program, found by PATH and without a shell, whose standard output can be read from *output; its other streams and
// the environment are this process's, but for the variables in withheld. It gets no other descriptor. Both lists end with NULL. Its standard input is the file
// input, or this process's where that is NULL. Returns its number, or -1 with errno.
int csystem_spawn(char *const arguments[], char *const withheld[], const char *input, int *output);

// Keeps the memory of this process out of core dumps and from other processes of its user, for as long as it lives.
void csystem_forbid_dumps(void);

// Gives each of two files the name of the other, in one step. -1 with errno.
int csystem_exchange(const char *path, const char *other);

// A second descriptor of the file, by which nothing can be read or written: closing it drops no locks. -1 with errno. Linux only.
int csystem_pin(int descriptor);

// A file in memory that has no name, closed in children; -1 where the system has none.
int csystem_anonymous_file(void);

// Whether the process ignores this signal. What holds a handler has another name in each C library.
int csystem_ignores_signal(int signal);

// The keys that the Linux kernel keeps (keyrings(7)). -1 with errno.
long csystem_request_key(const char *type, const char *description);
long csystem_add_key(const char *type, const char *description, const void *bytes, size_t count);
long csystem_read_key(long key, void *buffer, size_t size);

// A number of the calling thread's own, which no other thread ever has.
uint64_t csystem_thread_count(void);
void csystem_count_in_thread(void);

// A number of the calling thread's own, which no other thread ever has: what the system has is that of another one later. Never 0.
extern _Thread_local uint64_t csystem_thread_number;
uint64_t csystem_number_thread(void);
static inline uint64_t csystem_thread(void) {
    uint64_t number = csystem_thread_number;
    return number ? number : csystem_number_thread();
}

// Two halves of a fence between two threads: the light one costs nothing and holds where the other thread makes the heavy one. 0 where
// the system has none.
static inline void csystem_light_fence(void) { __atomic_signal_fence(__ATOMIC_SEQ_CST); }
int csystem_heavy_fence(void);
int csystem_has_heavy_fence(void);

// A number of this process's own, which none of its ancestors and children has.
extern uint64_t *csystem_process_mark;
uint64_t csystem_count_process(void);
static inline uint64_t csystem_process(void) {
    uint64_t number = __atomic_load_n(csystem_process_mark, __ATOMIC_RELAXED);
    return number ? number : csystem_count_process();
}

#endif
