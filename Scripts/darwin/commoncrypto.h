#include <CommonCrypto/CommonCrypto.h>
#include <CommonCrypto/CommonRandom.h>
