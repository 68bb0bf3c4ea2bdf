#ifndef CFORKING_H
#define CFORKING_H

// How a process comes to have a child. Swift has none of them.
enum cforking_way {
    cforking_fork,
    // By the system call alone: handlers of pthread_atfork do not run.
    cforking_clone,
    // The child of a child, whose parent has ended: daemon(3).
    cforking_daemon,
};

// Returns 0 in the child, which ends after 20 seconds at the latest, and its number in the parent; -1 with errno.
int cforking_child(enum cforking_way way);

// Starts `true` by posix_spawn, and returns its exit status; -1 where that fails.
int cforking_spawn(void);

#endif
