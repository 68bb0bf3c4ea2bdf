#define _GNU_SOURCE

#include "CForking.h"

#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/syscall.h>
#endif

extern char **environ;

static int clone_process(void) {
#ifdef __linux__
    return (int)syscall(SYS_clone, SIGCHLD, 0, 0, 0, 0);
#else
    return fork();
#endif
}

// Its own child of the child has its streams too: a reader of them waits for both.
static int daemonize(void) {
#if defined(__APPLE__)
    int child = fork();
    if (child != 0) _exit(0);
    return 0;
#else
    return daemon(1, 1);
#endif
}

int cforking_child(enum cforking_way way) {
    int child = way == cforking_clone ? clone_process() : fork();
    if (child != 0) return child;
    if (way == cforking_daemon && daemonize() != 0) _exit(1);
    alarm(20);
    return 0;
}

int cforking_spawn(void) {
    char *arguments[] = {"true", 0};
    pid_t child;
    int status;
    if (posix_spawnp(&child, "true", 0, 0, arguments, environ) != 0) return -1;
    if (waitpid(child, &status, 0) != child) return -1;
    return WEXITSTATUS(status);
}
