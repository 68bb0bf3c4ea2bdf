#define _GNU_SOURCE

#include "CCipherLanes.h"

#if defined(__linux__) && __has_include(<intel-ipsec-mb.h>)
#include <dlfcn.h>
#include <intel-ipsec-mb.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

// Loaded while it runs, because not every machine that the program is copied to has it.
static struct {
    size_t (*size)(void);
    IMB_MGR *(*place)(void *memory, uint64_t flags, unsigned reset);
    void (*begin)(IMB_MGR *manager, IMB_ARCH *architecture);
    int (*error)(IMB_MGR *manager);
} library;

static void *symbol(void *handle, const char *name) { return handle ? dlsym(handle, name) : NULL; }

static void load(void) {
    // What the header describes, and nothing of another layout.
    char name[32];
    snprintf(name, sizeof name, "libIPSec_MB.so.%d", IMB_VERSION_NUM >> 16);
    void *handle = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    unsigned (*version)(void) = symbol(handle, "imb_get_version");
    // The jobs of 1.4 are longer than those of 1.3, under one name of the library.
    if (!version || version() >> 8 != IMB_VERSION_NUM >> 8) return;
    library.place = symbol(handle, "imb_set_pointers_mb_mgr");
    library.begin = symbol(handle, "init_mb_mgr_auto");
    library.error = symbol(handle, "imb_get_errno");
    if (library.place && library.begin && library.error) library.size = symbol(handle, "imb_get_mb_mgr_size");
}

// The library's own state stands behind it.
struct lanes {
    _Alignas(64) IMB_JOB jobs[clanes_most_messages];
    IMB_MGR *manager;
};

size_t clanes_memory_size(void) {
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, load);
    return library.size ? sizeof(struct lanes) + library.size() : 0;
}

bool clanes_begin(void *memory) {
    if (clanes_memory_size() == 0) return false;
    struct lanes *lanes = memory;
    memset(lanes, 0, sizeof *lanes);
    lanes->manager = library.place(lanes + 1, 0, 1);
    if (!lanes->manager) return false;
    IMB_ARCH architecture = IMB_ARCH_NONE;
    library.begin(lanes->manager, &architecture);
    // Without vectors of 256 bits OpenSSL's one lane is as fast.
    return library.error(lanes->manager) == 0 && architecture >= IMB_ARCH_AVX2;
}

void clanes_key(void *memory, const unsigned char *inner, const unsigned char *outer, unsigned char *key) {
    struct lanes *lanes = memory;
    lanes->manager->sha512_one_block(inner, key);
    lanes->manager->sha512_one_block(outer, key + clanes_code_size);
}

bool clanes_run(
    void *memory, const unsigned char *key, const unsigned char *messages, size_t stride, size_t length, unsigned count,
    unsigned char *codes
) {
    struct lanes *lanes = memory;
    if (count > clanes_most_messages) return false;
    memset(codes, 0, count * clanes_code_size);
    memset(lanes->jobs, 0, count * sizeof *lanes->jobs);
    for (unsigned index = 0; index < count; index++) {
        IMB_JOB *job = &lanes->jobs[index];
        job->src = messages + index * stride;
        job->msg_len_to_hash_in_bytes = length;
        job->hash_alg = IMB_AUTH_HMAC_SHA_512;
        job->auth_tag_output = codes + index * clanes_code_size;
        job->auth_tag_output_len_in_bytes = clanes_code_size;
        job->u.HMAC._hashed_auth_key_xor_ipad = key;
        job->u.HMAC._hashed_auth_key_xor_opad = key + clanes_code_size;
    }
    if (IMB_SUBMIT_HASH_BURST(lanes->manager, lanes->jobs, count, IMB_AUTH_HMAC_SHA_512) != count) return false;
    for (unsigned index = 0; index < count; index++) {
        if (lanes->jobs[index].status != IMB_STATUS_COMPLETED) return false;
    }
    return true;
}
#else
size_t clanes_memory_size(void) { return 0; }

bool clanes_begin(void *memory) { return false; }

void clanes_key(void *memory, const unsigned char *inner, const unsigned char *outer, unsigned char *key) {}

bool clanes_run(
    void *memory, const unsigned char *key, const unsigned char *messages, size_t stride, size_t length, unsigned count,
    unsigned char *codes
) {
    return false;
}
#endif
