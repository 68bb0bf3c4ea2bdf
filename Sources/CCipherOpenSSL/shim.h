#ifndef COPENSSL_SHIM_H
#define COPENSSL_SHIM_H

#include <openssl/core_names.h>
#include <openssl/crypto.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/kdf.h>
#include <openssl/params.h>
#include <openssl/rand.h>

// Function-like macros do not reach Swift.
static inline const char *copenssl_mac_digest_parameter(void) { return OSSL_MAC_PARAM_DIGEST; }

#endif
