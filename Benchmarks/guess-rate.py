#!/usr/bin/env python3
"""Measures how many passphrases a machine can try in a second, and says how long passphrases of a given strength last.

usage: Benchmarks/guess-rate.py [--seconds N]

One guess is one derivation: an attacker checks it by decrypting one block, so page MACs cost nothing.
All processors are used. The table is Markdown; SECURITY.md has most of its rows.
"""
import argparse, hashlib, math, multiprocessing, os, time

DERIVATIONS = [
    ("keyrings: scrypt, N=2^14 r=8 p=5", lambda: scrypt(14, 8, 5)),
    ("scrypt, N=2^16 r=8 p=2", lambda: scrypt(16, 8, 2)),
    ("PBKDF2-SHA-256, 600,000", lambda: pbkdf2("sha256", 600_000)),
    ("format 4: PBKDF2-SHA-512, 256,000", lambda: pbkdf2("sha512", 256_000)),
    ("format 3: PBKDF2-SHA-1, 64,000", lambda: pbkdf2("sha1", 64_000)),
    ("formats 1 and 2: PBKDF2-SHA-1, 4,000", lambda: pbkdf2("sha1", 4_000)),
]
# What was published of graphics cards, brought to our parameters. RX 6800 XT, hashcat 6.1.1: mode 8900 (scrypt with N=2^14, r=8, p=1),
# 7100 with 1,023 iterations, 6800 with 499, and 24600, which is SQLCipher's format 3. RTX 5070 Ti, hashcat 6.2.6: 7100 and 6800; it has
# no figure of scrypt. Of Argon2id hashcat 6 has none: each pass but the first reads and writes the memory again, three times its size in
# all, so the 512 GB/s of the RX 6800 XT's memory are the bound.
PUBLISHED = [
    ("keyrings: scrypt, N=2^14 r=8 p=5, one RX 6800 XT", 2_447 / 5),
    ("scrypt, N=2^16 r=8 p=2, one RX 6800 XT, at most", 2_447 / 8),
    ("Argon2id, 19 MiB, 2 passes, one RX 6800 XT, at most", 512e9 / (1024 * 19 * 1024 * (3 * 2 - 1))),
    ("PBKDF2-SHA-256, 600,000, one RX 6800 XT", 7_087_400 * 499 / 600_000),
    ("PBKDF2-SHA-256, 600,000, one RTX 5070 Ti", 8_860_700 * 499 / 600_000),
    ("format 4: PBKDF2-SHA-512, 256,000, one RX 6800 XT", 1_012_200 * 1023 / 256_000),
    ("format 4, one RTX 5070 Ti", 1_652_700 * 1023 / 256_000),
    ("format 3, one RX 6800 XT", 67_785),
    ("formats 1 and 2, one RX 6800 XT", 67_785 * 16),
]
# Bits of a secret that was chosen at random.
SECRETS = [
    ("6 digits", 6 * math.log2(10)), ("8 lower-case letters", 8 * math.log2(26)), ("3 diceware words", 3 * math.log2(7776)),
    ("4 diceware words", 4 * math.log2(7776)), ("5 diceware words", 5 * math.log2(7776)),
    ("6 diceware words", 6 * math.log2(7776)),
]


def pbkdf2(digest, iterations):
    hashlib.pbkdf2_hmac(digest, os.urandom(16), bytes(16), iterations, 32)


def scrypt(log_cost, block_size, parallelism):
    hashlib.scrypt(os.urandom(16), salt=bytes(16), n=1 << log_cost, r=block_size, p=parallelism, maxmem=1 << 28, dklen=32)


def count(number, seconds):
    guess, guesses, began = DERIVATIONS[number][1], 0, time.monotonic()
    while time.monotonic() - began < seconds:
        guess()
        guesses += 1
    return guesses / (time.monotonic() - began)


def duration(seconds):
    for name, size in [("years", 365.25 * 86400), ("days", 86400), ("hours", 3600), ("minutes", 60)]:
        if seconds >= size:
            number = seconds / size
            text = "{:,.0f}".format(number) if number < 1e6 else "%.0e" % number
            return "%s %s" % (text, name[:-1] if text == "1" else name)
    return "%.0f s" % seconds


def main():
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--seconds", type=float, default=5)
    seconds = options.parse_args().seconds
    processors = os.cpu_count()
    with multiprocessing.Pool(processors) as pool:
        rates = [sum(pool.starmap(count, [(number, seconds)] * processors)) for number in range(len(DERIVATIONS))]
    print("| derivation | guesses in a second | " + " | ".join(name for name, _ in SECRETS) + " |")
    print("|---|" + "---|" * (len(SECRETS) + 1))
    measured = [("%s, %d processors here" % (name, processors), rate) for (name, _), rate in zip(DERIVATIONS, rates)]
    for name, rate in measured + PUBLISHED:
        print("| %s | %s | %s |" % (name, "{:,.0f}".format(rate), " | ".join(duration(2**bits / rate) for _, bits in SECRETS)))


if __name__ == "__main__":
    main()
