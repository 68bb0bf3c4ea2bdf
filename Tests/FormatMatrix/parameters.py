"""The parameters of a SQLCipher file, named after SQLCipher's pragmas, and what follows from them."""
from dataclasses import asdict, dataclass, replace

DIGEST = {"sha1": 20, "sha256": 32, "sha512": 64, None: 0}
PAGE_SIZES = [512 << power for power in range(8)]


@dataclass(frozen=True)
class Parameters:
    version: int
    page_size: int
    kdf_algorithm: str
    kdf_iter: int
    # None: cipher_use_hmac = OFF.
    hmac_algorithm: str | None
    # little- or big-endian, or the machine's own order.
    hmac_pgno: str = "le"
    hmac_salt_mask: int = 0x3A
    fast_kdf_iter: int = 2
    # None: the KDF's, as SQLCipher has it. SQLite3 Multiple Ciphers can take the MAC's (hmac_algorithm_compat = 0).
    mac_key_algorithm: str | None = None
    plaintext_header: int = 0

    def having(self, **values):
        return replace(self, **values)

    @property
    def reserve(self):
        """Bytes at the end of a page for IV and MAC: where they lie. SQLite may have more reserved bytes, never fewer."""
        return (16 + DIGEST[self.hmac_algorithm] + 15) // 16 * 16

    @property
    def first_page_is_plaintext(self):
        return self.plaintext_header == self.page_size - self.reserve

    @property
    def is_possible(self):
        # SQLite needs 480 usable bytes, and makes 1,024 of 512 where more than 32 are reserved.
        return (self.page_size > 512 or self.hmac_algorithm is None) and self.plaintext_header <= self.page_size - self.reserve

    def as_json(self):
        return asdict(self)


STANDARD = {
    1: Parameters(1, 1024, "sha1", 4000, None),
    2: Parameters(2, 1024, "sha1", 4000, "sha1"),
    3: Parameters(3, 1024, "sha1", 64000, "sha1"),
    4: Parameters(4, 4096, "sha512", 256000, "sha512"),
}
