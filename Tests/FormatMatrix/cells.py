"""The cells of the matrix: which file each writer writes, with which parameters, under which key, in which journal mode."""
import hashlib
import itertools
from dataclasses import dataclass

from parameters import PAGE_SIZES, STANDARD, Parameters

KEY_KINDS = ["passphrase", "raw64", "raw96"]
JOURNALS = ["delete", "wal"]
MULTIPLE_CIPHERS = "SQLite3MC"


@dataclass(frozen=True)
class Cell:
    writer: str
    parameters: Parameters
    key_kind: str
    journal: str
    # A pragma given before the key: SQLite's reserved bytes are then those of the parameters, in SQLCipher 4 too.
    by_default: bool = False
    # SQLCipher 3: PRAGMA cipher. SQLite3 Multiple Ciphers: PRAGMA legacy = 0.
    cipher: str | None = None
    legacy: int | None = None

    @property
    def name(self):
        """The parameters that are not those of the version, and the rest."""
        standard = STANDARD[self.parameters.version].as_json()
        changed = ["%s=%s" % (name, value) for name, value in self.parameters.as_json().items() if value != standard[name]]
        changed += ["cipher=" + self.cipher] if self.cipher else []
        changed += ["legacy=0"] if self.legacy == 0 else []
        changed += ["default"] if self.by_default else []
        return "-".join([self.writer, "v%d" % self.parameters.version, *changed, self.key_kind, self.journal])

    @property
    def content(self):
        """opens: this is a file of SQLCipher's format. Else what it is: another cipher, or another layout."""
        return "another cipher" if self.cipher else "another layout" if self.legacy == 0 else "opens"

    @property
    def reserved(self):
        """SQLite's reserved bytes, which stand in byte 20 of the database header."""
        if self.writer.startswith("4.") and not self.by_default:
            # SQLite lets them grow, and not shrink; a key gives the 80 of the default format.
            return max(80, self.parameters.reserve)
        return self.parameters.reserve

    @property
    def key(self):
        """The same in each run: a passphrase, or digits."""
        digits = hashlib.sha512(self.name.encode()).hexdigest()
        return {
            "passphrase": "naïve 'key' of " + digits[:8],
            "raw64": digits[:64],
            "raw96": digits[:96],
            "raw160": digits + digits[:32],
        }[self.key_kind]

    @property
    def salt(self):
        """None where the engine makes it, and it stands in the file."""
        if self.key_kind in ("raw96", "raw160"):
            return self.key[-32:]
        return hashlib.sha256(self.name.encode()).hexdigest()[:32] if self.parameters.plaintext_header else None


def singles(base, **values):
    """Parameters of which one is not the base's."""
    return [base] + [base.having(**{name: value}) for name, choices in values.items() for value in choices]


def pairwise(base, choices):
    """Few combinations in which each two values of two parameters meet, each combination as (parameters, key kind, journal)."""
    names = list(choices)
    wanted = {((a, x), (b, y)) for a, b in itertools.combinations(names, 2) for x in choices[a] for y in choices[b]}

    def combination(values):
        return base.having(**{name: value for name, value in values.items() if name not in ("key_kind", "journal")})

    def possible(values):
        whole = {name: values.get(name, choices[name][0]) for name in names}
        return combination(resolved(whole)).is_possible

    # "page" is what the page size and the MAC make of it.
    def resolved(values):
        if values.get("plaintext_header") == "page":
            header = combination(values | {"plaintext_header": 0})
            return values | {"plaintext_header": header.page_size - header.reserve - 16}
        return values

    found = []
    while wanted:
        values = {}
        first = min(wanted, key=str)
        values.update(dict(first))
        if not possible(values):
            wanted.discard(first)
            continue
        for name in names:
            if name in values:
                continue
            fitting = [value for value in choices[name] if possible(values | {name: value})]
            gain = {value: sum((pair in wanted) or (pair[::-1] in wanted)
                               for other in values for pair in [((other, values[other]), (name, value))]) for value in fitting}
            values[name] = max(fitting, key=lambda value: gain[value])
        met = {pair for pair in wanted if values[pair[0][0]] == pair[0][1] and values[pair[1][0]] == pair[1][1]}
        wanted -= met
        whole = resolved(values)
        found.append((combination(whole), whole["key_kind"], whole["journal"]))
    return found


def crossed(writer, parameters, **more):
    """Each with each kind of key; every other one with a write-ahead log."""
    return [Cell(writer, each, kind, JOURNALS[(number + column) % 2], **more)
            for number, each in enumerate(parameters) for column, kind in enumerate(KEY_KINDS)]


def of_version_4(writer):
    base = STANDARD[4]
    whole = [base.page_size - base.reserve] if writer != "4.6.1" else []
    one_off = singles(
        base,
        page_size=[size for size in PAGE_SIZES if size not in (512, base.page_size)],
        kdf_algorithm=["sha1", "sha256"],
        kdf_iter=[1000, 4000, 64000, 300001],
        hmac_algorithm=["sha1", "sha256", None],
        hmac_pgno=["be", "native"],
        hmac_salt_mask=[0x00, 0x55],
        fast_kdf_iter=[1, 4000],
        plaintext_header=[16, 32, 48, 64, 96, 112, 1024, base.page_size - base.reserve - 16] + whole,
    ) + [STANDARD[version] for version in (1, 2, 3)]
    many_off = pairwise(base, {
        "page_size": [1024, 4096, 65536], "kdf_algorithm": ["sha1", "sha256", "sha512"], "kdf_iter": [1000, 4000, 64000],
        "hmac_algorithm": ["sha1", "sha256", "sha512", None], "hmac_pgno": ["le", "be"], "hmac_salt_mask": [0x3A, 0x00],
        "fast_kdf_iter": [2, 4000], "plaintext_header": [0, 16, 32, 96, "page"], "key_kind": KEY_KINDS, "journal": JOURNALS,
    })
    by_default = [STANDARD[1], STANDARD[1].having(page_size=512), STANDARD[2], STANDARD[3],
                  base.having(hmac_algorithm=None), base.having(hmac_algorithm="sha1")]
    cells = crossed(writer, one_off) + [Cell(writer, *each) for each in many_off]
    cells += [Cell(writer, each, KEY_KINDS[number % 2], JOURNALS[number % 2], by_default=True)
              for number, each in enumerate(by_default)]
    if writer != "4.6.1":
        cells += [Cell(writer, each, "raw160", JOURNALS[number % 2])
                  for number, each in enumerate([base, base.having(plaintext_header=32), base.having(hmac_algorithm="sha256")])]
    return cells


def of_version_3(writer):
    base = STANDARD[3]
    one_off = singles(
        base,
        page_size=[size for size in PAGE_SIZES if size not in (512, base.page_size)],
        kdf_iter=[1000, 100000],
        hmac_pgno=["be", "native"],
        hmac_salt_mask=[0x00, 0x55],
        fast_kdf_iter=[1, 4000],
    )
    # The format of 2.0-beta, and of 2.0 on a big-endian machine.
    old = [STANDARD[1], STANDARD[1].having(page_size=512), STANDARD[1].having(page_size=4096), STANDARD[2],
           STANDARD[2].having(hmac_salt_mask=0, fast_kdf_iter=4000), STANDARD[2].having(hmac_pgno="be"), base.having(hmac_algorithm=None)]
    many_off = pairwise(base, {
        "page_size": [1024, 4096, 65536], "kdf_iter": [1000, 4000, 64000], "hmac_algorithm": ["sha1", None], "hmac_pgno": ["le", "be"],
        "hmac_salt_mask": [0x3A, 0x00], "fast_kdf_iter": [2, 4000], "key_kind": KEY_KINDS, "journal": JOURNALS,
    })
    cells = crossed(writer, one_off + old) + [Cell(writer, *each) for each in many_off]
    # The first has a shorter key; the others have the MACs of AES-256-CBC, and only their content says that they are not.
    return cells + [Cell(writer, base, "passphrase", "delete", cipher=cipher)
                    for cipher in ("aes-128-cbc", "aes-256-cfb", "aes-256-ctr", "camellia-256-cbc")]


def of_multiple_ciphers():
    base = STANDARD[4]
    # Each combination of algorithms, and where they differ with the MAC key by the MAC's.
    algorithms = [base.having(kdf_iter=4000, kdf_algorithm=kdf, hmac_algorithm=mac, mac_key_algorithm=mac if by_mac else None)
                  for kdf in ("sha1", "sha256", "sha512") for mac in ("sha1", "sha256", "sha512")
                  for by_mac in (False, True) if kdf != mac]
    one_off = singles(
        base,
        page_size=[1024, 8192, 65536],
        hmac_algorithm=[None],
        hmac_pgno=["be", "native"],
        hmac_salt_mask=[0x00, 0x55],
        fast_kdf_iter=[4000],
        kdf_iter=[4000],
        plaintext_header=[16, 32, 64, 96],
    ) + [STANDARD[version] for version in (1, 2, 3)] + [STANDARD[1].having(page_size=512)]
    many_off = pairwise(base, {
        "page_size": [1024, 4096, 65536], "kdf_algorithm": ["sha1", "sha256", "sha512"], "kdf_iter": [1000, 4000],
        "hmac_algorithm": ["sha1", "sha256", "sha512", None], "hmac_pgno": ["le", "be"], "hmac_salt_mask": [0x3A, 0x00],
        "fast_kdf_iter": [2, 4000], "plaintext_header": [0, 16, 32, 96], "key_kind": KEY_KINDS, "journal": JOURNALS,
    })
    cells = crossed(MULTIPLE_CIPHERS, one_off) + [Cell(MULTIPLE_CIPHERS, *each) for each in many_off]
    cells += [Cell(MULTIPLE_CIPHERS, each, KEY_KINDS[number % 3], JOURNALS[number % 2]) for number, each in enumerate(algorithms)]
    return cells + [Cell(MULTIPLE_CIPHERS, base, kind, journal, legacy=0) for kind in KEY_KINDS[:2] for journal in JOURNALS]


def of(writer):
    """The cells of a writer, which is the version of a shell, or `SQLite3MC`."""
    if writer == MULTIPLE_CIPHERS:
        cells = of_multiple_ciphers()
    else:
        cells = of_version_3(writer) if writer.startswith("3.") else of_version_4(writer)
    # A combination that several ways lead to counts once.
    return list({cell.name: cell for cell in cells}.values())
