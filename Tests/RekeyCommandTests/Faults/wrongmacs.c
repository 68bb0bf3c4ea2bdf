// A libipsec-mb that computes wrong MACs: the one of REAL_LIBRARY, with a bit of each flipped.
//
// WRONG_MET  a file that is made when such a MAC was computed

#include <dlfcn.h>
#include <fcntl.h>
#include <intel-ipsec-mb.h>
#include <stdlib.h>
#include <unistd.h>

static void *real(const char *name) {
    void *library = dlopen(getenv("REAL_LIBRARY"), RTLD_NOW | RTLD_LOCAL);
    if (!library) abort();
    return dlsym(library, name);
}

static submit_hash_burst_t run;

static uint32_t run_wrongly(IMB_MGR *manager, IMB_JOB *jobs, const uint32_t count, const IMB_HASH_ALG algorithm) {
    uint32_t done = run(manager, jobs, count, algorithm);
    for (uint32_t index = 0; index < done; index++) jobs[index].auth_tag_output[0] ^= 1;
    int met = open(getenv("WRONG_MET"), O_CREAT | O_WRONLY, 0600);
    if (met >= 0) close(met);
    return done;
}

unsigned imb_get_version(void) { return ((unsigned (*)(void))real("imb_get_version"))(); }

size_t imb_get_mb_mgr_size(void) { return ((size_t (*)(void))real("imb_get_mb_mgr_size"))(); }

int imb_get_errno(IMB_MGR *manager) { return ((int (*)(IMB_MGR *))real("imb_get_errno"))(manager); }

IMB_MGR *imb_set_pointers_mb_mgr(void *memory, const uint64_t flags, const unsigned reset) {
    return ((IMB_MGR * (*)(void *, uint64_t, unsigned)) real("imb_set_pointers_mb_mgr"))(memory, flags, reset);
}

void init_mb_mgr_auto(IMB_MGR *manager, IMB_ARCH *architecture) {
    ((void (*)(IMB_MGR *, IMB_ARCH *))real("init_mb_mgr_auto"))(manager, architecture);
    run = manager->submit_hash_burst;
    manager->submit_hash_burst = run_wrongly;
}
