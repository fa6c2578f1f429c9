#!/usr/bin/env python3
"""Check a penmark bundle with nothing but Python 3.11 or newer: `python3 verify.py [BUNDLE] [--json]`.

A second implementation of `docs/format.md`, numbers 1 and 2; it shares no line with penmark. All eight checks always run and
every fault is told; the last line counts what failed and what is not checked here (signatures of time stamps, YAML =
JSON, departures, pages). Exit code 0: nothing failed; 1: a check failed; 2: usage.

Take this file from a penmark release and compare its digest: the party that is checked should not supply the checker.

*Reads*: the plain files inside BUNDLE, trusting none: sizes, lines, nesting and gzip expansion are limited.
*Writes*: standard output, nothing else.
*Never*: follows a link, opens a path outside the folder, uses the network, starts a program, shows a traceback.
"""

from __future__ import annotations

import base64
import contextlib
import csv
import datetime
import decimal
import functools
import hashlib
import hmac
import html
import itertools
import json
import operator
import os
import re
import shlex
import stat
import sys
import unicodedata
import zlib
from bisect import bisect_left, bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

if sys.version_info < (3, 11):  # noqa: UP036  an older one reads times otherwise, and would call good seals forged
    sys.stderr.write(
        "verify.py needs Python 3.11 or newer; this is {}.{}: nothing was checked\n".format(*sys.version_info)
    )
    sys.exit(2)

NAMES = ("sums", "seals", "protocol", "manifest", "journals", "completeness", "tables", "pages")
REMEDIES = (
    "Get this file again from the publisher.",
    "Ask the publisher for the files as they were sealed.",
    "The promise must be published as it was sealed.",
    "Manifest, texts, salts and seed must be published as they were frozen.",
    "Journals and evidence must be published as they were written.",
    "Each scheduled pair needs exactly one state, and a reason where there is no call.",
    "Compute the table again from protocol, manifest and journals.",
)
CONVERTED = (
    "Nothing else is checked. With git: `git config core.autocrlf false`, a line `* -text` in .gitattributes, and check the"
    " files out again; else unpack the tar that was published."
)
FORMATS, KNOWN = (1, 2), "1 and 2"
SHOWN, DEPTH, FILES = 50, 128, 2_000_000  # faults told of a check; nesting of JSON; files of a bundle
MARKS, EDITED, VERSIONS = 100, 20_000, 100  # at most: marks in a row, words of what was edited, versions of a detector
RATIO = 200  # a packed file unpacks to SMALL and so many times its size, at most
SMALL, LINE, CHUNK, EXPANDED, FILE = 1 << 24, 1 << 26, 1 << 20, 1 << 33, 1 << 36  # bytes

DECIMAL = re.compile(r"-?[0-9]+(\.[0-9]+)?([eE][+-]?[0-9]+)?")
DIGEST = re.compile("[0-9a-f]{64}")
DATE = re.compile(r"[0-9]{4}-(0[1-9]|1[0-2])-(0[1-9]|[12][0-9]|3[01])")
TIME = re.compile(DATE.pattern + r"T([01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9](\.[0-9]{1,6})?Z")
TAG = re.compile(r"[A-Z][A-Z0-9]{0,15}-[0-9]{4}-Q[1-4]")
# Unicode White_Space; str.split and str.strip would take U+001C to U+001F for white space too
WHITE = "\t\n\v\f\r \x85\xa0\u1680" + "".join(map(chr, range(0x2000, 0x200B))) + "\u2028\u2029\u202f\u205f\u3000"
DIRECTIONS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")  # marks around numbers on screens
SIGNS = str.maketrans("\u2212\u066a\ufe6a\uff05\uff0e\uff0c\u066b", "-%%%.,\0")
REST = decimal.Context(prec=4000, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
CURLED = str.maketrans(dict.fromkeys("\u2018\u2019\u201a\u201b", "'") | dict.fromkeys("\u201c\u201d\u201e\u201f", '"'))
BREAK, ESCAPE = re.compile(r"(?i)<br[\t\n\f\r ]*/?>"), re.compile(r"""\\(?:u([0-9a-fA-F]{4})|([nrtbf"'\\/]))""")
ESCAPED = {"n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f"}
RUN, DASH = re.compile(f"[^{WHITE}]+"), re.compile("[\u2013\u2014]")
# Scripts in which no space stands between words, by their first and last characters: Thai and Lao, Burmese, Khmer, Chinese
# and Japanese.
LONE = (
    *((0xE00, 0xEFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x3005, 0x3007), (0x3021, 0x3029), (0x3031, 0x3035)),
    *((0x3038, 0x303C), (0x3040, 0x30FF), (0x3105, 0x312F), (0x31A0, 0x31BF), (0x31F0, 0x31FF), (0x3400, 0x4DBF)),
    *((0x4E00, 0x9FFF), (0xA9E0, 0xA9FF), (0xAA60, 0xAA7F), (0xF900, 0xFAFF), (0xFF66, 0xFF9F), (0x1AFF0, 0x1B16F)),
    (0x20000, 0x3FFFF),
)
ODD = re.compile(r"[^\w\s\0-\u02ff]+")  # what may be marks: they are no letters, digits or white space
REQUIRED = (
    *("format", "SHA256SUMS", "protocol.yaml", "protocol.json", "manifest.jsonl", "screening.csv", "seed.json"),
    *("seals/promise.json", "seals/corpus.json", "seals/evidence.json", "report/index.html", "README.md"),
    *("CHANGES.md", "LICENSE", "CITATION.cff", "datapackage.json", "croissant.json", "verify.py"),
    *("tables/agreement.csv", "tables/departures.csv", "tables/documents.csv", "tables/rates.csv"),
    *("tables/rates_lenient.csv", "tables/readings.csv", "tables/table1.csv", "tables/table2.csv", "tables/units.csv"),
)
NAMED = "[a-z0-9][a-z0-9.-]{0,62}"  # a detector
PATHS = re.compile(
    "|".join(re.escape(path) for path in REQUIRED)
    + rf"|detectors/{NAMED}\.json|seals/heads-[0-9]{{4}}\.json|journal/{NAMED}(\.[0-9]+of[0-9]+)?\.jsonl"
    r"|(seals/(promise|corpus|evidence|heads-[0-9]{4})|amendments/[0-9]{4})-[a-z0-9][a-z0-9-]{0,31}\.tsr"
    rf"|evidence/{NAMED}-[0-9]{{4,6}}\.jsonl\.gz|salts\.jsonl|texts/[0-9a-f]{{64}}\.txt|texts/[0-9]{{4,6}}\.jsonl\.gz"
    rf"|amendments/[0-9]{{4}}\.json|deviations\.jsonl|pool\.jsonl|withdrawn\.jsonl|tables/[a-z0-9_]+\.csv|replies/{NAMED}\.md"
    rf"|earlier/(promise|protocol|detector-{NAMED})\.json"
)
WORDS = ("README.md", "CHANGES.md", "LICENSE", "CITATION.cff", "datapackage.json", "croissant.json", "verify.py")
# Laid beside files by git, desktops and unpackers: no part of a bundle, never opened, and no fault of it.
BESIDE = re.compile(r"\.git|\.gitattributes|\.gitignore|\.DS_Store|Thumbs\.db|desktop\.ini|__MACOSX|\._[^/]*")
FOLDERS = ("detectors", "seals", "journal", "evidence", "texts", "amendments", "tables", "report", "replies", "earlier")
# Fields of records: s string, t time, d digest, i integer, o object, l list of strings, * anything; with ? also null.
SEAL = "announced:* digests:o edition:s format:i journals:o kind:s previous:d? sealed_at:t software:s study:s"
PROTOCOL = (
    "format:i study:s edition:s seed_sha256:d level:s attempts:i ask_again_in_doubt:* window:o arms:* detectors:*"
)
ARM = "name:s truth:s documents:i headline:* quotas:* evidence:o budget:o? unit:s"
DETECTOR = "name:s version:s? surface:s tier:s payer:s relation:s rule:o?"
CARD = "answer:o scale:o? verdicts:o boundary:o"
CANDIDATE = "address:d? arm:s cell:o document:s drawn:* eligible:* reason:s?"
AMENDMENT = "after:s announced_at:t before:s binds_from:s number:i what:s why:s"
HEADER = "arms:o documents:i edition:s kind:s study:s word_rule:s"
DOCUMENT = (
    "address:d arm:s author:s? canonical_sha256:d? characters:i? exposures:l id:s language:s? provenance:o register:s?"
    " source:s? subgroup:s? topic:s? withheld:s? words:i?"
)
PROVENANCE = {
    "archive": "grade:s source:s archive:s evidence_date:s evidence_sha256:d? licence:s",
    "attested": "grade:s",
    "generated": "grade:s provider:s model:s style:s?",
    "edited": "grade:s draft_sha256:d draft:o words_changed:i draft_words:i",
    "transformed": "grade:s parent:s attack:s",
}
SENTENCES = "because:s links:* splitters:l verdict:s"
ONE_SIDE = {"deleted": ("draft",), "added": ("text",)}
KINDS_OF_LINKS = ("kept", "replaced", "joined", "split", "moved", "deleted", "added")
PAIRS = 2_500  # sentences that went and that came are held against each other, so many pairs at most
BLANK = re.compile(r"\n[^\S\n]*\n\s*")
TRUE = {
    "human": ("archive", "attested"),
    "ai": ("generated", "transformed"),
    "mixed": ("edited", "transformed", "archive"),
}
JOURNAL = {
    "start": "at:t card_sha256:d detector:s kind:s plugin:o? prev:d shard:s software:s",
    "sent": "at:t attempt:i document:s kind:s prev:d",
    "retry": "at:t attempt:i document:s kind:s prev:d reason:s",
    "skipped": "at:t document:s kind:s prev:d reason:s",
    "reading": "address:d at:t attempt:i displayed:s? document:s evidence_sha256:d? got_at:t? kind:s label:s? origin:s"
    " prev:d read_by:s? reason:s? score:s? sent_at:t? state:s vendor_at:s? version:s? version_asked:s?",
    "stop": "at:t kind:s prev:d reason:s",
}
EVIDENCE = "attempt:i body:s detector:s document:s encoding:s sha256:d"
STATES = ("answered", "declined", "failed", "in_doubt", "not_scannable", "not_run")
OPERATORS = {">=": operator.ge, ">": operator.gt, "<=": operator.le, "<": operator.lt}
SLICES = ("register", "subgroup", "model", "style", "provider")
GROUPS = {
    "native volunteers": "false positives",
    "non-native volunteers": "false positives",
    "volunteers, group not stated": "false positives",
    "pre-2022 archive": "false positives",
    "archive, date stated only": "false positives",
    "archive, not shown to predate 2022": "false positives",
    "unedited AI": "detections",
    "unedited AI, marked": "detections",
    "unedited AI, not marked": "detections",
    "unedited AI, marking not known": "detections",
    "rewritten AI": "detections",
    "lightly edited AI": "flagged",
    "other mixed text": "flagged",
}
AI = "unedited AI"
MARKED = {"yes": "marked", "no": "not marked", "not known": "marking not known"}
DOCUMENTS = (
    "id,arm,truth,address,canonical_sha256,words,characters,language,register,subgroup,author,topic,source,exposures,"
    "withheld,kind,grade,evidence_date,provider,model,style,provenance"
)
RATES = (
    "detector,version,arm,slice_by,slice,documents,n,k,uncertain,no_result,not_scannable,not_run,rate,low,high,"
    "worst_low,worst_high"
)
READINGS = (
    "detector,version,version_state,document,arm,state,displayed,score,label,call,call_lenient,reason,boundary,operator,"
    "scanned_at,sent_at,origin,attempts,read_by,evidence_sha256,timing"
)
TABLE1 = (
    "detector,version,version_state,timing,surface,tier,payer,relation,boundary,boundary_source,boundary_date,"
    "first_scanned_at,last_scanned_at,human_documents,human_n,false_positives,fp_rate,fp_low,fp_high,human_mix,"
    "ai_documents,ai_n,detections,detection_rate,detection_low,detection_high,ai_mix,uncertain,declined,failed,in_doubt,"
    "not_scannable,not_run,status"
)
TABLE2 = "detector,version,timing,group,measure,documents,n,k,uncertain,no_result,not_scannable,not_run,rate,low,high"
UNITS = "detector,version,arm,unit,documents,n,k,units,deff,n_effective,low,high,reason"
KEYS = ("id", "detector", "version", "document", "group", "arm", "slice_by", "slice", "flagged_by")
AGREEMENT = "arm,detectors,documents,answered_by_all,flagged_by,count,timing"


# ---- what is found ---------------------------------------------------------------------------------------------------


class Fault(Exception):  # noqa: N818  (a fault of the bundle, not of this program)
    """Something that is not as it must be; whoever catches it knows the place."""

    def __init__(self, got: object, expected: object) -> None:
        super().__init__(got)
        self.got, self.expected = got, expected


class Report:
    """All that was found, each with the number of its check."""

    def __init__(self) -> None:
        self.found: list[dict[str, Any]] = []
        self.faults: Counter[int] = Counter()
        self.done: dict[int, str] = {}
        self.open: set[int] = set()  # checks of which the rest is not checked, since another one failed

    def add(self, number: int, state: str, subject: str, got: object, expected: object, remedy: str) -> None:
        record = {"number": number, "name": NAMES[number - 1], "state": state, "subject": plain(subject)}
        self.found.append(record | {"got": plain(got), "expected": plain(expected), "remedy": plain(remedy, most=400)})

    def fault(self, number: int, place: str, got: object, expected: object) -> None:
        if isinstance(got, str) and isinstance(expected, str) and got != expected and plain(got) == plain(expected):
            got, expected = around(got, expected)
        self.faults[number] += 1
        if self.faults[number] <= SHOWN:
            self.add(number, "failed", place, got, expected, REMEDIES[number - 1])

    def expect(self, number: int, place: str, got: object, expected: object) -> None:
        if got != expected:
            self.fault(number, place, got, expected)

    def unchecked(self, number: int, subject: str, why: str, instead: str = "") -> None:
        self.add(number, "not checked", subject, why, "", instead)

    @contextlib.contextmanager
    def guard(self, number: int, place: str) -> Iterator[None]:
        """Makes a fault at this place of whatever goes wrong inside, so that all the rest is still checked."""
        try:
            yield
        except Fault as fault:
            self.fault(number, place, fault.got, fault.expected)
        except Exception as error:
            self.fault(number, place, f"{type(error).__name__}: {error}", "what docs/format.md says")

    def checks(self) -> list[dict[str, Any]]:
        """Every record in the order of the checks; a check without a fault gets its own `ok`."""
        for number in range(1, len(NAMES)):
            if self.faults[number] == 0 and number not in self.open:
                self.add(number, "ok", self.done.get(number, ""), "", "", "")
            elif self.faults[number] > SHOWN:
                self.add(number, "failed", "and more", f"{self.faults[number] - SHOWN} more faults", "none", "")
        order = {"ok": 0, "failed": 1, "not checked": 2}
        return sorted(self.found, key=lambda check: (check["number"], order[check["state"]]))


def plain(value: object, most: int = 200) -> str:
    """A short text without control characters: what a bundle holds must not steer a terminal."""
    text = "nothing" if value is None else str(value)
    if isinstance(value, list | tuple):
        text = ", ".join("nothing" if item is None else str(item) for item in value) or "none"
    shown = "".join(char if char.isprintable() else repr(char)[1:-1] for char in text[:most])
    return shown if len(text) <= most else shown + "…"


def around(got: str, expected: str) -> tuple[str, str]:
    """Two long texts from shortly before the first character that differs."""
    at = next(at for at, pair in enumerate(itertools.zip_longest(got, expected)) if pair[0] != pair[1])
    start = max(0, at - 60)
    return ("…" if start else "") + got[start:], ("…" if start else "") + expected[start:]


# ---- bytes -----------------------------------------------------------------------------------------------------------


class Bundle:
    """The plain files of a folder: `files` maps each path to its size in bytes."""

    def __init__(self, root: Path, report: Report) -> None:
        self.root, self.report = root, report
        self.files: dict[str, int] = {}
        self.sums: dict[str, str] = {}
        folders, beside = [""], list[str]()
        while folders:
            folder = folders.pop()
            with report.guard(1, folder or "."), os.scandir(root / folder) as entries:
                empty = True
                for entry in entries:
                    if BESIDE.fullmatch(entry.name) and not entry.is_symlink() and (entry.is_file() or entry.is_dir()):
                        beside.append(folder + entry.name)
                        continue
                    empty = False
                    if folder == "" and entry.is_dir(follow_symlinks=False):
                        folders.append(entry.name + "/")
                        if entry.name not in FOLDERS:
                            report.fault(1, folders[-1], "a folder that the format does not know", "no other folders")
                    else:
                        self.look_at(folder + entry.name, entry)
                if empty and folder:
                    report.fault(1, folder, "a folder in which nothing stands", "a file in it, or no such folder")
        if beside:
            told = ", ".join(sorted(beside)[:5]) + (f" and {len(beside) - 5} more" if beside[5:] else "")
            report.unchecked(1, told, "no part of the bundle: other programs lay such beside files; not opened")

    def look_at(self, path: str, entry: os.DirEntry[str]) -> None:
        if not entry.is_file(follow_symlinks=False):
            self.report.fault(1, path, "a link, a device or a folder", "a plain file")
            return
        if len(self.files) >= FILES:
            raise Fault("too many files", f"at most {FILES}")
        self.files[path] = entry.stat(follow_symlinks=False).st_size
        if PATHS.fullmatch(path) is None or "\\" in path or not path.isprintable():
            self.report.fault(1, path, "a file that the format does not know", "no other files")

    def chunks(self, path: str) -> Iterator[bytes]:
        """The bytes of a file, piece by piece; Fault where it is missing, no plain file or too large."""
        size = self.files.get(path)
        if size is None or size > FILE:
            raise Fault(f"{path} is missing" if size is None else f"{path} has {size} bytes", f"{path} of the format")
        flags = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)
        handle = os.open(self.root / path, flags)
        try:
            if not stat.S_ISREG(os.fstat(handle).st_mode):
                raise Fault(f"{path} is no plain file", "a plain file")
            while chunk := os.read(handle, CHUNK):
                yield chunk
        finally:
            os.close(handle)

    def whole(self, path: str, most: int | None = None) -> bytes:
        most = SMALL if most is None else most
        if self.files.get(path, 0) > most:
            raise Fault(f"{path} has {self.files[path]} bytes", f"at most {most}")
        return b"".join(self.chunks(path))

    def digest(self, path: str) -> str:
        if path not in self.sums:
            made = hashlib.sha256()
            for chunk in self.chunks(path):
                made.update(chunk)
            self.sums[path] = made.hexdigest()
        return self.sums[path]

    def lines(self, path: str) -> Iterator[bytes]:
        """The lines of a file without their LF, unpacked where the name says .gz; Fault where the last has no LF."""
        parts, size, most = list[bytes](), 0, min(EXPANDED, SMALL + RATIO * self.files.get(path, 0))
        for chunk in inflated(self.chunks(path), path, most) if path.endswith(".gz") else self.chunks(path):
            first, *lines = chunk.split(b"\n")
            parts.append(first)
            size += len(first)
            if size > LINE:
                raise Fault(f"{path} has a line above {LINE} bytes", "shorter lines")
            if lines:
                yield b"".join(parts)
                yield from lines[:-1]
                parts, size = [lines[-1]], len(lines[-1])
        if size:
            raise Fault(f"{path} ends in the middle of a line", "LF at the end")

    def records(self, number: int, path: str, fields: str = "", most: int = FILE) -> Iterator[tuple[str, Any]]:
        """(place, object) of each canonical line; faults are told and left out; nothing where the file is absent."""
        if path not in self.files:
            return
        with self.report.guard(number, path):
            for count, line in enumerate(self.lines(path), 1):
                if count > most:
                    raise Fault(f"line {count}", f"at most {most} lines")
                with self.report.guard(number, f"{path}:{count}"):
                    yield f"{path}:{count}", fitting(canonical(line), fields, exact=fields != "")

    def record(self, path: str, fields: str, exact: bool = True) -> Any:
        """The one canonical value of a small file."""
        return fitting(canonical(self.whole(path)), fields, exact)

    def named(self, pattern: str) -> list[str]:
        return sorted(path for path in self.files if re.fullmatch(pattern, path))


def inflated(chunks: Iterator[bytes], path: str, most: int) -> Iterator[bytes]:
    """What one gzip member without name and time holds; nothing may follow it."""
    unpack, total, start = zlib.decompressobj(31), 0, b""
    for chunk in chunks:
        start = start or chunk[:8]
        if start != b"\x1f\x8b\x08\0\0\0\0\0":
            raise Fault(f"{path} starts with {start.hex()}", "gzip without a name, modification time 0")
        while chunk and not unpack.eof:
            piece = unpack.decompress(chunk, CHUNK)
            chunk, total = unpack.unconsumed_tail, total + len(piece)
            if total > most:
                raise Fault(f"{path} unpacks to more than {most} bytes", f"16 MiB and {RATIO} times its size at most")
            yield piece
        if chunk or unpack.unused_data:
            raise Fault(f"{path} goes on behind its end", "one gzip member")
    yield unpack.flush()
    if not unpack.eof:
        raise Fault(f"{path} is cut off", "a whole gzip member")


def small_integer(text: str) -> int:
    """An integer below 2^53; Fault for any other number."""
    if len(text) > 17 or not re.fullmatch("-?[0-9]+", text) or abs(int(text)) >= 1 << 53:
        raise Fault(f"the number {text[:40]}", "integers below 2^53; decimals travel as strings")
    return int(text)


# With ASCII keys and these integers, Python's writer is RFC 8785 to the byte: keys sorted, no spaces, and of all
# characters only ", \ and those below U+0020 escaped, in the same way (\b \t \n \f \r, else \u00xx in lower case).
ENCODER = json.JSONEncoder(sort_keys=True, separators=(",", ":"), ensure_ascii=False, allow_nan=False)
AS_IS = json.JSONEncoder(separators=(",", ":"), ensure_ascii=False, allow_nan=False)
DECODER = json.JSONDecoder(parse_float=small_integer, parse_int=small_integer, parse_constant=small_integer)


def canonical(line: bytes) -> Any:
    """The value of canonical JSON; Fault where these bytes are not the one way to write it."""
    try:
        value = DECODER.decode(line.decode())
        plain = line.isascii() or ascii_keys(value)
        if depth(value, line) > DEPTH or not (plain or worded(value)):
            raise ValueError("deep nesting, or a key outside ASCII")
        again = (ENCODER.encode(value) if plain else AS_IS.encode(in_order(value))).encode()
    except (ValueError, RecursionError) as error:
        raise Fault(f"no JSON that can be read: {error}", "canonical JSON") from None
    if again != line:
        at = next((at for at, (one, other) in enumerate(zip(again, line, strict=False)) if one != other), len(again))
        got = line[at : at + 40].decode(errors="replace")
        raise Fault(f"{got} at byte {at}", "canonical JSON (RFC 8785), each key once, nothing else")
    return value


def inner(value: Any) -> list[Any]:
    """What an object or an array holds."""
    return list(value.values()) if isinstance(value, dict) else value if isinstance(value, list) else []


def depth(value: Any, data: bytes) -> int:
    """How many objects and arrays stand in one another, at most; data: the bytes that the value was read from."""
    levels, layer = 0, [value]
    if data.count(b"[") + data.count(b"{") <= DEPTH:
        return 0
    while layer := [item for item in layer if isinstance(item, dict | list)]:
        levels, layer = levels + 1, [item for holder in layer for item in inner(holder)]
    return levels


def ascii_keys(value: Any) -> bool:
    """Whether all keys are ASCII; others RFC 8785 and Python would not sort alike."""
    keys = value if isinstance(value, dict) else ()
    return all(key.isascii() for key in keys) and all(map(ascii_keys, inner(value)))


def worded(value: Any, displayed: bool = False) -> bool:
    """Whether all keys are ASCII, but words that a screen displays (of a card's verdicts)."""
    if not isinstance(value, dict):
        return all(map(worded, inner(value)))
    return all((displayed or key.isascii()) and worded(item, key == "verdicts") for key, item in value.items())


def in_order(value: Any) -> Any:
    """The value with its keys by their UTF-16 code units, as RFC 8785 has them."""
    if isinstance(value, dict):
        return {key: in_order(value[key]) for key in sorted(value, key=lambda key: key.encode("utf-16-be"))}
    return [in_order(item) for item in value] if isinstance(value, list) else value


def of_kind(value: Any, kind: str) -> bool:
    """Whether a value is of a kind, as the records above name them."""
    if value is None or kind == "*":
        return kind == "*" or kind.endswith("?")
    if kind[0] in "std":
        pattern = {"t": TIME, "d": DIGEST}.get(kind[0])
        return isinstance(value, str) and (pattern is None or pattern.fullmatch(value) is not None)
    if kind[0] == "i":
        return type(value) is int and value >= 0
    strings = isinstance(value, list) and all(isinstance(item, str) for item in value)
    return isinstance(value, dict) if kind[0] == "o" else strings


@functools.cache
def fields_of(text: str) -> tuple[tuple[str, str], ...]:
    """(name, kind) of each field in the notation above."""
    return tuple((name, kind) for name, _, kind in (part.partition(":") for part in text.split()))


KINDS = {
    "s": "a text",
    "t": "a time (YYYY-MM-DDTHH:MM:SSZ)",
    "d": "a digest (SHA-256)",
    "i": "a whole number from 0 on",
    "o": "an object",
    "l": "a list of texts",
    "*": "a value",
}


def fitting(value: Any, fields: str, exact: bool = True) -> Any:
    """The value itself, where it is an object with these fields (and, if exact, no others)."""
    known = fields_of(fields)
    if not isinstance(value, dict):
        raise Fault("no object", "an object with " + ", ".join(name for name, _ in known))
    for name, kind in known:
        if name not in value or not of_kind(value[name], kind):
            got = f"{name}: {json.dumps(value[name])[:200]}" if name in value else f"no {name}"
            raise Fault(got, f"{name}: {KINDS[kind[0]]}{', or null' if kind.endswith('?') else ''}")
    if exact and len(value) != len(known):
        raise Fault(f"also {sorted(set(value) - {name for name, _ in known})}", "no other fields")
    return value


def sha256(data: bytes) -> str:
    """The digest in hexadecimal digits."""
    return hashlib.sha256(data).hexdigest()


# ---- time stamps -----------------------------------------------------------------------------------------------------

OBJECTS = ("2a864886f70d010702", "2a864886f70d0109100104", "608648016503040201")  # signed data, TSTInfo, SHA-256


def elements(data: bytes, *tags: int) -> list[bytes]:
    """The contents of the DER elements that stand side by side; the first of them must have these tags."""
    found: list[tuple[int, bytes]] = []
    while data:
        size, start = data[1], 2
        if size > 127:
            start = size - 126
            size = int.from_bytes(data[2:start], "big")
            if start > 6 or size < 128 or data[2] == 0:
                raise ValueError("a length that is not DER")
        if len(data) < start + size:
            raise ValueError("cut off")
        found.append((data[0], data[start : start + size]))
        data = data[start + size :]
    if [tag for tag, _ in found[: len(tags)]] != list(tags):
        raise ValueError("other elements")
    return [content for _, content in found]


def imprint_and_time(data: bytes) -> tuple[str, str]:
    """(SHA-256 that a .tsr file speaks of, its time). Says nothing about who signed it."""
    try:
        (response,) = elements(data, 0x30)
        status, token = elements(response, 0x30, 0x30)
        outer, content = elements(token, 0x06, 0xA0)
        inside = elements(elements(content, 0x30)[0], 0x02, 0x31, 0x30)[2]
        inner, octets = elements(inside, 0x06, 0xA0)
        (info,) = elements(elements(octets, 0x04)[0], 0x30)
        imprint, _, stamp = elements(info, 0x02, 0x06, 0x30, 0x02, 0x18)[2:5]
        algorithm, digest = elements(imprint, 0x30, 0x04)
        kinds = (outer.hex(), inner.hex(), elements(algorithm, 0x06)[0].hex())
        granted, time = elements(status, 0x02)[0] in (b"\0", b"\1"), stamp.decode("ascii")
    except (ValueError, IndexError) as error:
        raise Fault(f"no time stamp that can be read: {error}", "a time-stamp response (RFC 3161) in DER") from None
    match = re.fullmatch(r"([0-9]{4})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})([0-9]{2})(\.[0-9]{1,6})?[0-9]*Z", time)
    if kinds != OBJECTS or not granted or match is None:
        raise Fault(f"a refusal, another algorithm or the time {time}", "a granted token over SHA-256, in UTC")
    return digest.hex(), "{}-{}-{}T{}:{}:{}{}Z".format(*match.groups(""))


def moment(time: str) -> str:
    """A time as a text that sorts rightly, with or without a fraction."""
    return time[:19] + "." + time[20:-1].ljust(6, "0")


def early(one: str, other: str) -> bool:
    """Whether a moment is more than five minutes before another: so far clocks may differ."""
    first, second = map(datetime.datetime.fromisoformat, (one, other))
    return second - first > datetime.timedelta(minutes=5)


# ---- words, rates, calls ---------------------------------------------------------------------------------------------


def count_words(text: str, spaced: bool) -> int:
    """Words by the rule penmark-2, or if ``spaced`` by penmark-1."""
    return len(words_of(text, spaced))


def lone(char: str) -> bool:
    """Whether a character is a word by itself: a letter or digit of a script without spaces."""
    return char > "\u0dff" and LONE[bisect_right(LONE, (ord(char), 1 << 21)) - 1][1] >= ord(char) and char.isalnum()


def apart(run: str) -> Iterator[str]:
    """A run, with each such letter and what is neither letter nor digit behind it by itself."""
    start = alone = 0
    for at, char in enumerate(run):
        if (mine := lone(char)) or (alone and char.isalnum()):
            if at > start:
                yield run[start:at]
            start, alone = at, mine
    yield run[start:]


def words_of(text: str, spaced: bool) -> list[str]:
    """The words of a text by the rule penmark-2, or if ``spaced`` by penmark-1, with the punctuation in their runs."""
    pieces: list[str] = []
    for run in RUN.findall(text):
        start = 0
        for dash in DASH.finditer(run):
            at = dash.start()
            if run[at - 1 : at].isalpha() and run[at + 1 : at + 2].isalpha():
                pieces.append(run[start:at])
                start = at + 1
        pieces.append(run[start:])
    if not spaced and not text.isascii():
        pieces = [part for piece in pieces for part in apart(piece)]
    return [piece for piece in pieces if any(map(str.isalnum, piece))]


def bare(text: str, spaced: bool) -> list[str]:
    """The words of a sentence, case and punctuation at their ends apart."""
    found = []
    for word in words_of(text, spaced):
        held = [at for at, char in enumerate(word) if char.isalnum()]
        found.append(word[held[0] : held[-1] + 1].casefold())
    return found


def shared(before: list[str], after: list[str]) -> int:
    """How many words of one list stand in the other in the same order: the longest common subsequence."""
    at: defaultdict[str, int] = defaultdict(int)
    for bit, word in enumerate(before):
        at[word] |= 1 << bit
    full = left = (1 << len(before)) - 1
    for word in after:
        hit = left & at[word]
        left = (left + hit | left - hit) & full
    return len(before) - left.bit_count()


def piled(text: str) -> bool:
    """Whether more than MARKS combining marks stand in a row: to normalize these takes the square of their number."""
    for row in () if text.isascii() else ODD.findall(text):
        marks = 0
        for char in row if len(row) > MARKS else "":
            marks = marks + 1 if unicodedata.combining(char) or char in "\u0f73\u0f75\u0f81" else 0
            if marks > MARKS:
                return True
    return False


MILLIONTH = decimal.Decimal("0.000001")
CONTEXT = decimal.Context(prec=50, rounding=decimal.ROUND_HALF_EVEN)
Z = {"0.90": "1.644853626951473", "0.95": "1.959963984540054", "0.99": "2.575829303548901"}


def six(value: decimal.Decimal) -> str:
    """Six decimals, half to even; 0 and 1 only where the value is exactly so."""
    rounded = value.quantize(MILLIONTH, context=CONTEXT)
    if rounded == 0 and value != 0:
        return "0.000001"
    return "0.999999" if rounded == 1 and value != 1 else str(rounded)


@functools.cache
def wilson(k: int, n: int, level: str, deff: decimal.Decimal = decimal.Decimal(1)) -> tuple[str, str, str]:
    """(rate, low, high) of k of n, Wilson without continuity correction on n/deff, in 50 digits; blanks where n is 0."""
    if n == 0:
        return "", "", ""
    with decimal.localcontext(CONTEXT):
        z, share = decimal.Decimal(Z[level]), decimal.Decimal(k) / n
        square = z * z * deff / n
        half = (square * share * (1 - share) + square * square / 4).sqrt() / (1 + square)
        centre = (share + square / 2) / (1 + square)
        low, high = six(centre - half) if k else "0.000000", six(centre + half) if k < n else "1.000000"
        return six(share), low, high


def design_effect(units: Iterable[tuple[int, int]], k: int, n: int) -> decimal.Decimal:
    """How much wider chance among units is than among documents; units: (documents, called ai) of each."""
    parts = list(units)
    with decimal.localcontext(CONTEXT):
        if k in (0, n):
            return decimal.Decimal(n) / len(parts)
        spread = sum((flagged * n - size * k) ** 2 for size, flagged in parts)
        return max(decimal.Decimal(1), decimal.Decimal(spread) / (n * k * (n - k)))


class Number(str):
    """The exact characters of a number in an answer."""


def each_once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """An object of an answer; a key that stands twice would be read in two ways."""
    if len(found := dict(pairs)) != len(pairs):
        raise ValueError("a key stands twice")
    return found


ANSWERS = json.JSONDecoder(parse_float=Number, parse_int=Number, parse_constant=Number, object_pairs_hook=each_once)


def pointed(value: Any, pointer: str | None) -> str | None:
    """What an RFC 6901 pointer finds, as the format writes it."""
    for part in [] if pointer is None else pointer.split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        if isinstance(value, dict):
            value = value.get(part)
        elif isinstance(value, list) and re.fullmatch("0|[1-9][0-9]{0,8}", part) and int(part) < len(value):
            value = value[int(part)]
        else:
            return None
    if isinstance(value, bool):
        value = "true" if value else "false"
    return str(value) if isinstance(value, str) and pointer is not None else None


def folded(verdict: str) -> str:
    """A verdict as verdicts are compared."""
    line = " ".join(RUN.findall(verdict))
    return (line if line.isascii() or piled(line) else unicodedata.normalize("NFC", line)).casefold()


def exact(score: str) -> decimal.Decimal:
    """The value of a decimal number, to be compared; one with an exponent beyond Python's is put at that end of all others."""
    with contextlib.suppress(decimal.InvalidOperation):
        return decimal.Decimal(score)
    mantissa, _, exponent = score.lower().partition("e")
    way = -1 if exponent.startswith("-") else 1
    sign, digit = int(mantissa.startswith("-")), int(bool(decimal.Decimal(mantissa)))
    return decimal.Decimal((sign, (digit,), way * 10**8))


def in_ascii(shown: str, numerals: str) -> str:
    """A number with digits of any script, and with a decimal point or comma, as one of ASCII."""
    plain = DIRECTIONS.sub("", shown).translate(SIGNS)
    digits = ((c, "" if c > "\uffff" else unicodedata.decimal(c, "")) for c in plain)
    plain = "".join(c if digit == "" else str(digit) for c, digit in digits)
    if numerals == "comma":
        plain = "" if "." in plain else plain.replace(",", ".")
    return plain.replace("\0", ".").strip(WHITE)


def of_percent(shown: str, first: bool) -> str | None:
    """The number before the percent sign, or where it may come first after it."""
    number = shown[:-1].rstrip(WHITE) if shown.endswith("%") else None
    if first and shown.startswith("%") and number is None:
        number = shown[1:].lstrip(WHITE)
    return number if number is not None and DECIMAL.fullmatch(number) else None


def short(number: str) -> bool:
    """Whether what is left of a scale can be written out."""
    match = re.fullmatch(r"-?([0-9]+)(?:\.([0-9]+))?(?:[eE][+-]?([0-9]+))?", number)
    most = (400, 400, 3)
    return match is not None and all(len(part or "") <= room for part, room in zip(match.groups(), most, strict=True))


def plain_form(text: str) -> str:
    """A text without white space and its mark at the beginning, composed (NFC), with straight quotes."""
    composed = text if piled(text) else unicodedata.normalize("NFC", text)
    return "".join(composed.translate(CURLED).removeprefix("\ufeff").split())


def forms(echo: str) -> Iterator[str]:
    """What an echo may stand for: itself, or what comes of undoing escapes of HTML, of JSON, or of both."""
    for form in (echo, html.unescape(BREAK.sub(" ", echo))):
        yield form
        turned = ESCAPE.sub(lambda m: chr(int(m[1], 16)) if m[1] else ESCAPED.get(m[2], m[2]), form)
        yield turned.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "replace")


def numbered(number: str) -> int | None:
    """The place in the scan order, from 1, that a number of a work sheet stands for."""
    match = re.fullmatch(r"0*([1-9][0-9]{0,8})", number.strip())
    return int(match[1]) if match else None


def instant(given: str) -> datetime.datetime | str:
    """A time, or a date as its first moment; what is neither stays as it is."""
    with contextlib.suppress(ValueError):
        at = datetime.datetime.fromisoformat(given)
        return at.replace(tzinfo=datetime.UTC) if at.tzinfo is None else at
    return given


def counting(rows: list[dict[str, str]], settled: dict[str, str]) -> tuple[str, str]:
    """(displayed, version) of what was typed, by one or alike by two, or else of what somebody settled."""
    versions = [row["version"] for row in rows if row["version"]]
    held = [row["displayed"] for row in rows], versions
    differs = any(len({each.strip() for each in cells}) > 1 for cells in held)
    first = versions[0] if versions else ""
    if not any(settled.values()):
        if differs:
            raise Fault(f"{held}, and nothing settled", "what counts, by whom and why")
        return rows[0]["displayed"], first
    if (len(rows) > 1 and not differs) or not (settled["displayed"] and settled["by"] and settled["why"]):
        raise Fault(f"settled: {settled}", "a difference, what counts, by whom and why")
    return settled["displayed"], settled["version"] or first


class Judge:
    """What a sealed card and the rule in force make of an answer."""

    def __init__(self, card: dict[str, Any], rule: dict[str, Any] | None) -> None:
        scale = fitting(card, CARD, exact=False)["scale"] or {}
        self.pointers, self.unmeasured = card["answer"], card["answer"].get("unmeasured", [])
        self.of_screens = all(self.pointers.get(name) is None for name in ("displayed", "score", "label"))
        self.percent, self.numerals = scale.get("unit") == "percent", scale.get("numerals")
        self.of_label, self.direction = card["answer"].get("score_of") == "label", scale.get("direction")
        ends = (scale.get("low"), scale.get("high"))
        self.low, self.high = (None if end is None else decimal.Decimal(end) for end in ends)
        self.bands = [
            (decimal.Decimal(band["low"]), decimal.Decimal(band["high"]), band["verdict"], band["shown"])
            for band in card.get("bands", [])
        ]
        self.classes = {folded(verdict): name for verdict, name in card["verdicts"].items()}
        self.rule = fitting(card["boundary"] if rule is None else rule, "kind:s source:* date:*", exact=False)
        self.bounded = self.rule["kind"] == "boundary"
        if self.bounded:
            self.holds, self.value = OPERATORS[self.rule["operator"]], decimal.Decimal(self.rule["value"])
        elif self.rule["kind"] != "verdict":
            raise Fault(f"a rule of kind {self.rule['kind']}", "boundary or verdict")

    def extract(self, body: bytes, typed: bool = False) -> dict[str, str | None]:
        """displayed, score, label, version and text of a raw answer, or of what was typed; nothing from what is no JSON."""
        names = ("displayed", "score", "label", "version", "text")
        pointers = {name: f"/{name}" for name in ("displayed", "version", "text")} if typed else self.pointers
        try:
            answer = ANSWERS.decode(body.decode())
            found = {name: pointed(answer, pointers.get(name)) for name in names}
            signs = [] if typed else [(pointed(answer, sign["at"]), sign["among"]) for sign in self.unmeasured]
            "".join(filter(None, [*found.values(), *(value for value, _ in signs)])).encode()  # no unpaired surrogates
            if any(value in among for value, among in signs):
                found |= dict.fromkeys(names[:3])
        except (ValueError, RecursionError):
            answer, found = None, dict.fromkeys(names)
        if depth(answer, body) > DEPTH:
            found = dict.fromkeys(names)
        found["displayed"] = next((found[name] for name in names[:3] if found[name] is not None), None)
        if typed:
            shown = found["displayed"] is not None and (found["text"] or "").strip() != ""
            return found | self.from_display(found["displayed"]) | {"text": found["text"] if shown else None}
        return found | {"score": self.reckoned(found["score"], found["label"])}

    def reckoned(self, number: str | None, label: str | None) -> str | None:
        """The score of the number and the verdict in a raw answer, by the rules that the card states."""
        if number is not None and self.numerals is not None:
            plain = in_ascii(number.strip(WHITE), self.numerals)
            shown = of_percent(plain, True) if self.percent else None
            number = shown or (plain if DECIMAL.fullmatch(plain) else number)
        if number is None or not self.of_label:
            return number
        name = None if label is None else self.classes.get(folded(label))
        if self.low is None or self.high is None or name not in ("ai", "human"):
            return None
        if name == self.direction or DECIMAL.fullmatch(number) is None:
            return number
        return (
            format(REST.subtract(REST.add(self.low, self.high), decimal.Decimal(number)), "f")
            if short(number)
            else None
        )

    def from_display(self, displayed: str | None) -> dict[str, str | None]:
        """score and label of what somebody copied from a screen."""
        if displayed is None:
            return {"score": None, "label": None}
        shown = displayed.strip(WHITE)
        plain = shown if self.numerals is None else in_ascii(shown, self.numerals)
        number = of_percent(plain, self.numerals is not None) if self.percent else plain
        if folded(shown) not in self.classes and not self.of_label and DECIMAL.fullmatch(number or ""):
            return {"score": number, "label": None}
        return {"score": None, "label": shown}

    def call(self, score: str | None, label: str | None) -> tuple[str, bool, bool, bool]:
        """(why there is no call, strict, lenient, uncertain) of an answered reading."""
        name = None if label is None else self.classes.get(folded(label))
        if label is not None and name is None and self.classes and not (self.bounded and score is not None):
            return f"verdict not in the card: {label}", False, False, False
        if self.bounded:
            why, strict, name = self.bounded_call(score, label, name)
        else:
            why, strict = "no verdict in the answer" if label is None else "", name == "ai"
        lenient = strict or name in ("mixed", "assisted")
        return (why, False, False, False) if why else ("", strict, lenient, not strict and name == "uncertain")

    def bounded_call(self, score: str | None, label: str | None, name: str | None) -> tuple[str, bool, str | None]:
        """(why there is no call, whether the score lies on the side of AI, class)"""
        if score is None:
            return *self.banded_call(label), name
        if DECIMAL.fullmatch(score) is None:
            return f"score is not a decimal number: {score}", False, name
        number = exact(score)
        if (self.low is not None and number < self.low) or (self.high is not None and number > self.high):
            return f"score outside the declared scale: {score}", False, name
        if label is None:
            name = next((verdict for low, high, verdict, _ in self.bands if low <= number <= high), None)
        return "", bool(self.holds(number, self.value)), name

    def banded_call(self, label: str | None) -> tuple[str, bool]:
        """The same for a verdict that is displayed in place of numbers."""
        for low, high, _, shown in self.bands:
            if label is not None and shown is not None and folded(shown) == folded(label):
                sides = bool(self.holds(low, self.value)), bool(self.holds(high, self.value))
                inside = f"the boundary lies inside the numbers that the verdict stands for: {label}"
                return "" if sides[0] == sides[1] else inside, sides[0]
        return "no score in the answer", False


# ---- 1 sums, 2 seals, 3 protocol -------------------------------------------------------------------------------------


class Doc:
    """What the checks need of one document."""

    __slots__ = (
        *(
            "address",
            "arm",
            "attested",
            "buckets",
            "id",
            "number",
            "place",
            "position",
            "salt",
            "sent",
            "plain",
            "stated",
            "unit",
            "withheld",
        ),
    )

    def __init__(self, record: dict[str, Any], unit: str, number: int, place: str, salt: bytes | None) -> None:
        self.id, self.arm, self.address, self.withheld = (record[at] for at in ("id", "arm", "address", "withheld"))
        self.stated = {at: record[at] for at in ("canonical_sha256", "words", "characters")}
        self.number, self.place, self.salt, self.position = number, place, salt, -1
        # The author, source or topic, or what it was made of, where the arm says so.
        self.unit = record["provenance"].get("parent") if unit == "parent" else record.get(unit)
        self.attested = record["provenance"].get("kind") == "attested"
        self.buckets: tuple[int, ...] = ()
        self.sent = self.plain = ""  # SHA-256 of the text and of its plain form, once it was read

    def addressed(self, data: bytes) -> str:
        return sha256(data) if self.salt is None else hmac.digest(self.salt, data, "sha256").hex()


class Study:
    """What the checks tell one another."""

    def __init__(self, bundle: Bundle, report: Report) -> None:
        self.bundle, self.report = bundle, report
        said = format_of(bundle.root)
        self.format = said if said in FORMATS else FORMATS[-1]
        self.spaced = self.format == 1  # words are made by spaces alone
        self.seals: dict[str, dict[str, Any]] = {}
        self.protocol: dict[str, Any] = {}
        self.arms: dict[str, dict[str, Any]] = {}
        self.detectors: dict[str, dict[str, Any]] = {}
        self.plugins: dict[str, Any] = {}
        self.judges: dict[str, Judge] = {}
        self.asked_by: dict[str, Any] = {}  # people, a plugin or HTTP
        self.stamped: dict[str, str] = {}  # the earliest moment of the tokens over a seal or an amendment
        self.documents: dict[str, Doc] = {}
        self.withdrawn: dict[str, str] = {}  # when, by document
        self.buckets: dict[tuple[str, str, str], int] = {}  # (arm, slice_by, slice), or ("", "group", group of table2)
        self.sizes: list[int] = []  # documents of each bucket
        self.shared: dict[tuple[int, ...], tuple[int, ...]] = {}
        self.retrospective = False

    @property
    def ruled(self) -> str:
        """A field of seals and start lines since format 2: by which rules of a release they were written."""
        return " rules:i" * (self.format > 1)

    def bucket(self, keys: Iterable[tuple[str, str, str | None]]) -> tuple[int, ...]:
        """The numbers of these buckets, each of which has one document more."""
        buckets = self.buckets
        found = tuple(buckets.setdefault((arm, by, at), len(buckets)) for arm, by, at in keys if at is not None)
        self.sizes += [0] * (len(self.buckets) - len(self.sizes))
        for number in found:
            self.sizes[number] += 1
        return self.shared.setdefault(found, found)

    def files_of(self, name: str, folder: str) -> list[str]:
        ends = {"journal": r"(\.[0-9]+of[0-9]+)?\.jsonl", "evidence": r"-[0-9]{4,}\.jsonl\.gz"}
        return self.bundle.named(f"{folder}/{re.escape(name)}{ends[folder]}")


def turned(bundle: Bundle, report: Report) -> bool:
    """1: whether some program gave the text files other line ends, SHA256SUMS among them: one line, as no digest can fit."""
    with contextlib.suppress(Fault, OSError):
        if not next(bundle.chunks("SHA256SUMS"), b"").partition(b"\n")[0].endswith(b"\r"):
            return False
        count, lines = 1, bundle.whole("SHA256SUMS", most=1 << 28).decode(errors="replace").split("\r\n")
        for digest, _, path in (line.partition("  ") for line in lines):
            with report.guard(1, path):
                if path in bundle.files and bundle.digest(path) != digest:
                    plain = bundle.whole(path).replace(b"\r\n", b"\n") if bundle.files[path] <= SMALL else b""
                    if digest in (sha256(plain), sha256(plain.replace(b"\n", b"\r\n"))):
                        count += 1
                    else:
                        report.fault(1, path, f"{bundle.digest(path)}, and not by its line ends alone", digest)
        also = f", as in {count - 1} more files" if count > 1 else ""
        got = f"has CRLF line ends, to which git or another program converted them{also}"
        report.add(1, "failed", "SHA256SUMS", got, "the bytes that were published", CONVERTED)
        report.faults[1] += 1
        for number in range(2, len(NAMES) + 1):
            report.open.add(number)
            report.unchecked(number, "the bundle", "line ends were converted, so no digest fits: see check 1")
        return True
    return False


def check_sums(study: Study) -> None:
    """1: every file has its sum, none is missing, none is extra."""
    report, bundle = study.report, study.bundle
    listed: dict[str, str] = {}
    with report.guard(1, "SHA256SUMS"):
        for number, line in enumerate(bundle.lines("SHA256SUMS"), 1):
            with report.guard(1, f"SHA256SUMS:{number}"):
                match = re.fullmatch(r"([0-9a-f]{64})  (.+)", line.decode())
                if match is None or (listed and match[2] <= next(reversed(listed))):
                    raise Fault(line[:200], "digest, two spaces, path; sorted by path, each once")
                listed[match[2]] = match[1]
    for path in listed:
        with report.guard(1, path):
            report.expect(1, path, bundle.digest(path), listed[path])
    for path in sorted(set(bundle.files) - set(listed) - {"SHA256SUMS"}):
        report.fault(1, path, "a file without a sum", "a line in SHA256SUMS")
    for path in sorted(set(REQUIRED) - set(bundle.files)):
        report.fault(1, path, "no such file", "one of the files of the format")
    with report.guard(1, "format"):
        if (said := bundle.whole("format")) not in [f"{number}\n".encode() for number in FORMATS]:
            report.fault(1, "format", said.decode(errors="replace"), f"{KNOWN} and a line end")
    report.done[1] = f"{len(bundle.files)} files, {sum(bundle.files.values())} bytes"


def check_seals(study: Study) -> None:
    """2: the seals are one chain in the order of time, and what they cover is here."""
    report, bundle = study.report, study.bundle
    heads = [path[6:-5] for path in bundle.named(r"seals/heads-[0-9]{4}\.json")]
    report.expect(2, "seals/heads-*.json", heads, [f"heads-{number:04}" for number in range(1, len(heads) + 1)])
    names = ["promise", "corpus", *heads, "evidence"]
    covered = {
        "promise": ["protocol.json", "protocol.yaml", *bundle.named("detectors/.*")],
        "corpus": ["manifest.jsonl", "screening.csv", *bundle.named("pool.jsonl")],
        "evidence": bundle.named("tables/.*"),
    }
    previous, last = promised_before(study)
    for name in names:
        path = f"seals/{name}.json"
        with report.guard(2, path):
            seal = bundle.record(path, SEAL + study.ruled)
            if TAG.fullmatch(seal["edition"]) is None:
                raise Fault(f"edition {seal['edition']}", "the tag of an edition")
            study.seals[name] = seal
            first = study.seals.get("promise", seal)
            expected: dict[str, Any] = {"previous": previous, "kind": name.partition("-")[0]}
            expected |= {"format": study.format}
            expected |= {} if name == "corpus" else {"announced": None}
            expected |= {"journals": {}} if name in ("promise", "corpus") else {}
            for field, value in (expected | {at: first[at] for at in ("study", "edition")}).items():
                report.expect(2, f"{path} {field}", seal[field], value)
            if moment(seal["sealed_at"]) < last:
                report.fault(2, f"{path} sealed_at", seal["sealed_at"], f"not before {last}")
            last = moment(seal["sealed_at"])
            report.expect(2, f"{path} digests", sorted(seal["digests"]), sorted(covered.get(name, ())))
            if name == "evidence":
                report.expect(2, f"{path} journals", sorted(seal["journals"]), sorted(bundle.named("journal/.*")))
            for file, digest in seal["digests"].items():
                with report.guard(2, f"{file} (sealed by {path})"):
                    report.expect(2, f"{file} (sealed by {path})", bundle.digest(file), digest)
        with report.guard(2, path):
            previous = bundle.digest(path)
    with report.guard(2, "seals/corpus.json announced"):
        corpus = study.seals.get("corpus", {"announced": {}})
        if corpus["announced"] is None:
            report.unchecked(2, "seals/corpus.json", "no announcement: not publicly pre-registered")
        elif corpus["announced"]:
            at = fitting(corpus["announced"], "capture:s captured_at:t url:s")["captured_at"]
            if moment(at) > moment(corpus["sealed_at"]):
                report.fault(2, "seals/corpus.json announced", f"captured at {at}", f"before {corpus['sealed_at']}")
            promised = study.seals.get("promise", corpus)["sealed_at"]
            if "promise" in study.seals and early(moment(at), moment(promised)):
                report.fault(2, "seals/corpus.json announced", f"captured at {at}", f"after the promise, {promised}")
    check_tokens(study, names)
    report.done[2] = f"{len(names)} seals in one chain"


def promised_before(study: Study) -> tuple[str | None, str]:
    """Digest and time of the promise before this one; none for the first of a study."""
    bundle = study.bundle
    with study.report.guard(2, "earlier/promise.json"):
        if bundle.named("earlier/promise.json"):
            seal = bundle.record("earlier/promise.json", SEAL, exact=False)
            return bundle.digest("earlier/promise.json"), moment(seal["sealed_at"])
    return None, ""


def check_tokens(study: Study, names: list[str]) -> None:
    """Each token speaks of its file; their times follow the order of the seals."""
    report, bundle, times = study.report, study.bundle, study.stamped
    every: defaultdict[str, list[str]] = defaultdict(list)
    for path in bundle.named(r".*\.tsr"):
        with report.guard(3 if path.startswith("amendments/") else 2, path):
            match = re.fullmatch(r"(.*/(promise|corpus|heads-[0-9]{4}|evidence|[0-9]{4}))-([^/]+)\.tsr", path)
            if match is None:
                raise Fault("a token of nothing", "<file without .json>-<authority>.tsr")
            imprint, time = imprint_and_time(bundle.whole(path, most=1 << 16))
            number = 3 if path.startswith("amendments/") else 2
            report.expect(number, f"{path} imprint", imprint, bundle.digest(f"{match[1]}.json"))
            every[match[1]].append(moment(time))
            times[match[2]] = min(every[match[1]])
            words = ["openssl", "ts", "-verify", "-data", f"{match[1]}.json", "-in", path, "-CAfile", "ROOTS.pem"]
            words += ["-attime", str(int(datetime.datetime.fromisoformat(time).timestamp()))]
            report.unchecked(number, path, f"the signature over the time {time}", shlex.join(words))
    for stem, found in every.items():
        if early(min(found), max(found)):
            why = f"its tokens disagree: {', '.join(sorted(found))}; only those count whose authority you trust"
            report.unchecked(3 if stem.startswith("amendments/") else 2, f"{stem}.json", why)
    for before, name in itertools.pairwise(name for name in names if name in times):
        if times[name] < times[before]:
            report.fault(2, f"seals/{name}.json", f"stamped {times[name]}", f"not before {before}, {times[before]}")
    for name, following in itertools.zip_longest(names, names[1:], fillvalue=""):
        with report.guard(2, f"seals/{name}.json"):
            said = study.seals[name]["sealed_at"] if name in times else ""
            if name in times and early(times[name], moment(said)):
                report.fault(2, f"seals/{name}.json", said, f"stamped {times[name]}")
            if name in times and early(moment(said), times[name]):
                why = f"sealed {said}, stamped {times[name]}: until then only its maker says so"
                report.unchecked(2, f"seals/{name}.json", why)
            if name in times and following in study.seals:
                made, latest = moment(study.seals[following]["sealed_at"]), max(every[f"seals/{name}"])
                if early(made, latest):
                    report.fault(2, f"seals/{name}.json", f"stamped {latest}", f"before {following}, {made}")
    for name in ("promise", "corpus", "evidence"):
        if name not in times:
            report.unchecked(2, f"seals/{name}.json", "no time stamp: only its maker says when it was made")


def check_protocol(study: Study) -> None:
    """3: the protocol and the cards are those that were promised, and can be applied."""
    report, bundle = study.report, study.bundle
    promise = study.seals.get("promise")
    if promise is None:
        report.unchecked(3, "seals/promise.json", "what was promised: there is no seal that can be read")
    with report.guard(3, "protocol.json"):
        protocol = study.protocol = bundle.record("protocol.json", PROTOCOL, exact=False)
        report.expect(3, "protocol.json format", protocol["format"], study.format)
        for field in ("study", "edition"):
            report.expect(3, f"protocol.json {field}", protocol[field], (promise or protocol)[field])
        for arm in protocol["arms"]:
            name = fitting(arm, ARM, exact=False)["name"]
            if name in study.arms or arm["truth"] not in ("human", "ai", "mixed"):
                raise Fault(f"arm {name}, truth {arm['truth']}", "each arm once, with one truth")
            study.arms[name] = arm
        for detector in protocol["detectors"]:
            if fitting(detector, DETECTOR, exact=False)["name"] in study.detectors:
                raise Fault(f"{detector['name']} twice", "each detector once")
            study.detectors[detector["name"]] = detector
        for name in study.detectors:
            if re.search(r"\.[0-9]+of[0-9]+$", name):
                raise Fault(f"the detector {name}, which reads like a shard", "names that cannot be confused")
        if protocol["level"] not in Z:
            report.fault(3, "protocol.json level", protocol["level"], ", ".join(Z))
    known = {f"detectors/{name}.json": name for name in study.detectors}
    for path in sorted({"protocol.json", "protocol.yaml", *known, *bundle.named("detectors/.*")}):
        with report.guard(3, path):
            if promise:
                report.expect(3, f"{path} (promised)", bundle.digest(path), promise["digests"].get(path))
            if path in known:
                sealed = bundle.record(path, "card:o plugin:o?")
                study.judges[known[path]] = Judge(sealed["card"], study.detectors[known[path]]["rule"])
                study.plugins[known[path]] = sealed["plugin"]
                asks = sealed["card"].get("ask", {})
                study.asked_by[known[path]] = asks.get("by")
                code = None if sealed["plugin"] is None else sealed["plugin"].get("name")
                report.expect(3, f"{path} plugin", f"code of {code}", f"code of {asks.get('plugin')}")
            elif path.startswith("detectors/"):
                raise Fault("a card that the protocol does not name", "committed detectors only")
    for number, path in enumerate(bundle.named(r"amendments/.*\.json"), 1):
        with report.guard(3, path):
            check_amendment(study, path, number)
    with report.guard(3, "earlier/promise.json"):
        check_earlier(study)
    list(bundle.records(3, "deviations.jsonl", "at:t detector:s? what:s"))
    report.unchecked(3, "protocol.yaml", "that it says what protocol.json says", "penmark verify")
    report.unchecked(3, "tables/departures.csv", "the departures from the template", "penmark verify")
    report.done[3] = f"{len(study.arms)} arms, {len(study.detectors)} detectors, as promised"


def check_amendment(study: Study, path: str, number: int) -> None:
    """3: amendments have their numbers, and those that bind this edition were announced before its promise."""
    amendment, report = study.bundle.record(path, AMENDMENT, exact=False), study.report
    if odd := sorted(amendment.keys() - {each.partition(":")[0] for each in AMENDMENT.split()} - {"covers"}):
        raise Fault(f"the fields {', '.join(odd)}", "an amendment")
    report.expect(3, path, (path[11:-5], amendment["number"]), (f"{number:04}", number))
    tag, stamped = amendment["binds_from"], study.stamped.get(path[11:-5])
    if TAG.fullmatch(tag) is None:
        raise Fault(f"binds from {tag}", "the tag of an edition")
    if tag.rsplit("-", 2)[1:] <= study.protocol["edition"].rsplit("-", 2)[1:] and "promise" in study.seals:
        said, promised = moment(amendment["announced_at"]), moment(study.seals["promise"]["sealed_at"])
        if said > promised or (stamped and early(promised, stamped)):
            at = said if said > promised else stamped
            report.fault(3, path, f"announced {at}", f"before the promise, {promised}")


OWN = ("edition", "format", "seed_sha256", "window", "beacon")
TOLD = re.compile(
    r"/(title|people|payer|signing_key|authorities|nominations|template/sha256|arms/[^/]+/title|arms/[^/]+/source/options/path"
    r"|arms/[^/]+/generation/models/[^/]+(?!/settings(/|$))|detectors/[^/]+/(version|payer|relation)"
    r"|detectors/[^/]+/rule/(source|date|confidence)|cards/[^/]+/(plugin/(version|distribution|sha256)"
    r"|title|homepage|display|terms|facts_as_of|confidence|notes|boundary/(source|date|confidence)"
    r"|ask/request/(price|pace|timeout|keys)))(/.*)?"
)  # places of a promise whose changes need no amendment
CALLED = {"models": "provider model", "comparisons": "first second", "nominations": "detector by", "quotas": "where"}
CALLED |= dict.fromkeys(("arms", "detectors", "people", "authorities", "styles"), "name")


def check_earlier(study: Study) -> None:
    """3: what changed since the promise before was announced, and what was announced is promised."""
    report, bundle = study.report, study.bundle
    amendments = [bundle.record(path, AMENDMENT, exact=False) for path in bundle.named(r"amendments/.*\.json")]
    if not bundle.named("earlier/.*"):
        for each in amendments if study.format > 1 else ():
            if quarter(each["binds_from"]) <= quarter(study.protocol["edition"]):
                got = "binds this edition, whose promise names none before it"
                report.fault(3, f"amendments/{each['number']:04}.json", got, "the promise before, in earlier/")
        return
    seal = bundle.record("earlier/promise.json", SEAL, exact=False)
    was, now = promise_as_tree(bundle, "earlier/detector-"), promise_as_tree(bundle, "detectors/")
    names = {f"earlier/detector-{name}.json": f"detectors/{name}.json" for name in was["detectors"]}
    names["earlier/protocol.json"] = "protocol.json"
    report.expect(3, "earlier/", bundle.named("earlier/.*"), sorted([*names, "earlier/promise.json"]))
    for path, said in names.items():
        report.expect(3, path, bundle.digest(path), seal["digests"].get(said))
    first, last = quarter(seal["edition"]), quarter(study.protocol["edition"])
    if first > last or study.format == 1:
        report.fault(
            3, "earlier/promise.json", f"of {seal['edition']}", f"an edition before {study.protocol['edition']}"
        )
    shared = was["detectors"].keys() & now["detectors"].keys()
    for tree in (was, now):
        tree["cards"] = {name: card for name, card in tree["cards"].items() if name in shared}
    changed: dict[str, tuple[int, Any]] = {}
    for each in amendments:
        if first < quarter(each["binds_from"]) <= last:
            for change in each.get("covers", []):
                at = fitting(change, "at:s becomes:s? was:s?")["at"]
                before = changed[at][1] if at in changed else written(said_at(was, at))
                report.expect(3, f"amendments/{each['number']:04}.json {at}", change["was"], before)
                changed[at] = each["number"], change["becomes"]
    for at, (number, becomes) in changed.items():
        others = (n for other, (n, _) in changed.items() if other.startswith(f"{at}/") or at.startswith(f"{other}/"))
        if max(others, default=0) <= number:
            report.expect(3, f"protocol.json {at} (amendment {number})", written(said_at(now, at)), becomes)
    for at in differing(was, now):
        announced = any(at == one or at.startswith(f"{one}/") for one in changed)
        if at.split("/")[1] not in OWN and not TOLD.fullmatch(at) and not announced:
            report.fault(3, f"protocol.json {at}", f"changed since {seal['edition']}", "an amendment that says so")


def promise_as_tree(bundle: Bundle, cards: str) -> dict[str, Any]:
    """The protocol and the sealed cards beside it, with lists of named things as objects."""
    folder = cards.rpartition("/")[0].replace("detectors", "").replace("earlier", "earlier/")
    tree: dict[str, Any] = by_names(bundle.record(f"{folder}protocol.json", PROTOCOL, exact=False))
    sealed = {name: bundle.record(f"{cards}{name}.json", "card:o plugin:o?") for name in tree["detectors"]}
    return tree | {"cards": {name: each["card"] | {"plugin": each["plugin"]} for name, each in sealed.items()}}


def by_names(value: Any) -> Any:
    """An object whose lists of named things are objects by these names."""
    if not isinstance(value, dict):
        return value
    tree: dict[str, Any] = {}
    for key, held in value.items():
        tree[key] = by_names(held)
        if key in CALLED and isinstance(held, list):
            tree[key] = {}
            for each in held:
                parts = [each[field] for field in CALLED[key].split()]
                parts = [",".join(f"{k}={p[k]}" for k in sorted(p)) if isinstance(p, dict) else str(p) for p in parts]
                name, same = ":".join(parts), 1
                while name in tree[key]:
                    same += 1
                    name = f"{':'.join(parts)}#{same}"
                tree[key][name] = by_names(each)
    return tree


def said_at(tree: Any, at: str) -> Any:
    """What a promise says at a place; null where it says nothing."""
    for part in at.split("/")[1:]:
        tree = tree.get(part.replace("~1", "/").replace("~0", "~")) if isinstance(tree, dict) else None
    return tree


def differing(was: Any, now: Any, at: str = "") -> Iterator[str]:
    """The places at which two promises differ."""
    if isinstance(was, dict) and isinstance(now, dict):
        for key in sorted(was.keys() | now.keys()):
            part = key.replace("~", "~0").replace("/", "~1")
            yield from differing(was.get(key), now.get(key), f"{at}/{part}")
    elif was != now:
        yield at


def written(value: Any) -> str | None:
    """A value as amendments write it."""
    return None if value is None else json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":"))


def quarter(tag: str) -> list[str]:
    """Year and quarter of an edition, which sort as editions do."""
    if TAG.fullmatch(tag) is None:
        raise Fault(tag, "the tag of an edition")
    return tag.rsplit("-", 2)[1:]


# ---- 4 manifest ------------------------------------------------------------------------------------------------------


def real(digest: Any) -> bool:
    """Whether a digest may be one: not absent, not that of nothing, and not a few digits over and over."""
    return isinstance(digest, str) and digest != sha256(b"") and not re.fullmatch(r"(.{1,16}?)\1+", digest)


def unrecorded(made: dict[str, Any], source: str | None) -> str | None:
    """What a generated text of grade recorded does not have."""
    if made.get("grade") == "stated":
        return None
    if not (real(made.get("request_sha256")) and real(made.get("response_sha256"))):
        return "recorded, and no digests say what was sent and what came back"
    return None if source == "generation" else "recorded, and the exchange is not kept"


def ungraded(kind: str, origin: dict[str, Any], source: str | None) -> str | None:
    """What a grade claims and the record does not hold; None where nothing is missing."""
    grade, stated = origin["grade"], origin["grade"] == "stated"
    if kind == "archive":
        locator = origin.get("locator", {})
        if grade == "archived" and not (locator.get("by") and any(locator.get(n) for n in ("url", "file", "commit"))):
            return "archived, and no locator says where the capture is kept"
        return None if stated or real(origin["evidence_sha256"]) else f"{grade}, and no digest says what was kept"
    if kind == "attested" and not stated:
        session = origin.get("session") or {}
        kept = real(session.get("history_sha256")) and session.get("operations") != 0
        return None if source == "sessions" and kept else "witnessed, and in no signed export with its history"
    if kind == "edited" and not stated and not real(origin.get("history_sha256")):
        return "witnessed, and no digest says which editing history was kept"
    if kind == "transformed" and not stated and not real(origin.get("parent_sha256")):
        return "recorded, and no digest says what was transformed"
    made = origin["draft"] if kind == "edited" else origin
    return unrecorded(made, source) if kind in ("generated", "edited") else None


class Corpus:
    """4: the manifest says of every document what its text, its provenance and the promise say."""

    def __init__(self, study: Study) -> None:
        self.study, self.report, self.bundle = study, study.report, study.bundle
        self.order = {name: at for at, name in enumerate(study.arms)}
        self.last = (-1, "")
        self.counts: Counter[tuple[str, ...]] = Counter()  # documents of (arm,), and of (arm, number of a quota)
        self.wanted: defaultdict[str, list[tuple[Doc, int | None]]] = defaultdict(list)  # a number: words of a draft
        salts = self.bundle.records(4, "salts.jsonl", "document:s salt:d")
        self.salts = [(salt["document"], bytes.fromhex(salt["salt"])) for _, salt in salts]
        self.salt_of = dict(self.salts)
        self.told: set[tuple[str, str]] = set()  # (rule, document) of each finding of screening.csv
        self.about: dict[tuple[str | None, str], str] = {}  # (arm, document) that findings are about, and the place
        gone = [line for _, line in self.bundle.records(4, "withdrawn.jsonl", "at:t document:s")]
        self.withdrawn = [line["document"] for line in gone]
        study.withdrawn = {line["document"]: line["at"] for line in gone}
        self.pool = Pool(study)
        self.children: list[tuple[Doc, str, str | None]] = []  # made of another text: of which, and its digest
        self.edits: list[tuple[Doc, str, dict[str, Any]]] = []  # published: its draft, what is said of its sentences
        self.linked: dict[str, str] = {}  # texts and drafts of those, by address

    def check(self) -> None:
        with self.report.guard(4, "screening.csv"):
            head = next(self.bundle.lines("screening.csv"), b"").decode().split(",")
            if not {"rule", "document"} <= set(head) or len(set(head)) < len(head):
                raise Fault(",".join(head), "a table with the columns rule and document, each column once")
            found = list(rows_of(self.study, "screening.csv"))
            rows = [row for _, row in found]
            self.told.update((row["rule"], row["document"]) for row in rows)
            for place, row in found:  # what was taken back before the freeze is in no manifest
                name = "" if row["rule"] == "withdrawn" else row["document"]
                self.about.setdefault((row.get("arm"), name), place)
            written = [list(row) for row in rows[:1]] + [list(row.values()) for row in rows]
            form = "".join(",".join(map(cell, row)) + "\n" for row in written).encode()
            if rows and self.bundle.whole("screening.csv", most=1 << 28) != form:
                raise Fault("cells or line ends written otherwise", "the one form of a table")
        with self.report.guard(4, "manifest.jsonl"):
            self.manifest()
            self.findings()
        salted = [doc.id for doc in self.study.documents.values() if doc.salt is not None]
        self.report.expect(4, "salts.jsonl", [name for name, _ in self.salts], salted)
        self.report.expect(4, "salts.jsonl (present)", "salts.jsonl" in self.bundle.files, bool(salted))
        for place, address, raw in self.texts():
            with self.report.guard(4, place):
                if address not in self.wanted:
                    raise Fault("a text that no published document names", "no other texts")
                for doc, draft_words in self.wanted.pop(address):
                    self.text(doc, draft_words, place, address, raw)
        for address, uses in self.wanted.items():
            self.report.fault(4, uses[0][0].place, f"no text {address}", f"the text of {uses[0][0].id}, or its draft")
        for doc, draft, told in self.edits:
            with self.report.guard(4, f"{doc.place} sentences"):
                before, after = self.linked[draft], self.linked[doc.address]
                counts = [count_words(each or "", self.study.spaced) for each in (before, after)]
                if before and after and max(counts) <= EDITED:
                    Links(told, before, after, self.study.spaced).check()
        known = [name for name in self.study.documents if name in self.study.withdrawn]
        self.report.expect(4, "withdrawn.jsonl", self.withdrawn, known)
        for name in known:
            self.report.unchecked(4, f"the text of {name}", "withdrawn by its author")
        self.unsealed()
        self.quotas()
        self.twins()
        self.parents()
        self.seed()
        self.report.done[4] = f"{len(self.study.documents)} documents"

    def unsealed(self) -> None:
        """Files that stand only where there is something to tell; no author took a text back before it was frozen."""
        for path in ("withdrawn.jsonl", "pool.jsonl"):
            if self.bundle.files.get(path) == 0:
                self.report.fault(4, path, "an empty file", "no file where there is nothing to tell")
        frozen = self.study.seals.get("corpus", {}).get("sealed_at")
        for name, at in list(self.study.withdrawn.items()):
            self.study.withdrawn[name] = ""  # until it is known that this is a time
            with self.report.guard(4, f"withdrawn.jsonl, {name}"):
                if early(moment(at), moment(frozen or at)):
                    raise Fault(f"{name} at {at}", f"after the freeze, {frozen}")
                self.study.withdrawn[name] = at

    def findings(self) -> None:
        """What screening.csv tells is about arms and documents that are here, but for texts that were taken back before."""
        arms = {None, "", *map(safe, self.study.arms)}
        documents = {safe(doc.id): safe(doc.arm) for doc in self.study.documents.values()}
        for (arm, name), place in self.about.items():
            if arm not in arms:
                self.report.fault(4, place, f"a finding about the arm {arm}", "an arm of the protocol, or none")
            elif name != "" and (name not in documents or arm not in (None, documents[name])):
                self.report.fault(4, place, f"a finding about {name}", "a document of the manifest, in its arm")

    def manifest(self) -> None:
        study, lines = self.study, self.bundle.records(4, "manifest.jsonl")
        if self.bundle.files.get("manifest.jsonl") == 0:
            raise Fault("an empty file", "a head, and a line for each frozen document")
        header = fitting(next(lines, ("", None))[1], HEADER)
        table = Table(study, "documents", DOCUMENTS)
        for place, record in lines:
            with self.report.guard(4, place):
                source = record.pop("gathered_by", None) if self.study.format > 1 and isinstance(record, dict) else None
                if source is not None and not (isinstance(source, str) and 0 < len(source) <= 64):
                    raise Fault(f"gathered_by: {json.dumps(source)[:200]}", "the name of a source, or none")
                self.document(fitting(record, DOCUMENT), place, source)
                table.row(*documents_row(study, record))
                arm, values = record["arm"], slices(record)
                self.pool.see(record)
                keys = [(arm, "", ""), *((arm, by, values[by]) for by in SLICES), ("", "group", group(study, record))]
                if keys[-1][-1] == AI:
                    keys.append(("", "group", f"{AI}, {MARKED[record['provenance'].get('marked', 'not known')]}"))
                study.documents[record["id"]].buckets = study.bucket(keys)
                self.counts[arm,] += 1
                for number, quota in enumerate(study.arms[arm]["quotas"]):
                    met = all((record | values).get(field) == value for field, value in quota["where"].items())
                    self.counts[arm, str(number)] += met
        table.end()
        expected = {"arms": {arm: self.counts[arm,] for arm in self.order}, "documents": len(study.documents)}
        expected |= {field: study.protocol.get(field) for field in ("study", "edition")}
        rule = "penmark-1" if study.spaced else "penmark-2"
        self.report.expect(4, "protocol.json word_rule", study.protocol.get("word_rule", rule), rule)
        for field, value in (expected | {"kind": "manifest", "word_rule": rule}).items():
            self.report.expect(4, f"manifest.jsonl:1 {field}", header[field], value)

    def document(self, record: dict[str, Any], place: str, source: str | None) -> None:
        """One line: its place in the order, its facts, its provenance; its texts go on the list of wanted texts."""
        arm, name, origin = record["arm"], record["id"], record["provenance"]
        published = record["withheld"] is None and name not in self.study.withdrawn
        if re.match("'[=+@-]", name):
            self.report.fault(4, place, f"the id {name}", "no apostrophe before = + - @: a cell that is another's")
        if arm not in self.order or name in self.study.documents:
            raise Fault(f"{name} of arm {arm}", "an arm of the protocol, and each id once")
        if (self.order[arm], name) <= self.last:
            self.report.fault(4, place, f"{name} of arm {arm} here", "the order of arms, then of ids")
        self.last = (self.order[arm], name)
        kind, attested = origin.get("kind"), origin.get("kind") == "attested"
        salt = self.salt_of.get(name) if attested and published else None
        number, unit = len(self.study.documents), self.study.arms[arm]["unit"]
        doc = self.study.documents[name] = Doc(record, unit, number, place, salt)
        if name in self.study.withdrawn:
            doc.withheld = "withdrawn"
            if not attested:
                self.report.fault(4, place, f"{name} is withdrawn", "attested texts only")
        if record["withheld"] is not None and not record["withheld"].strip():
            self.report.fault(4, place, "withheld without a reason", "why the text is not published")
        if published:
            self.wanted[doc.address].append((doc, None))
        if published and attested and salt is None:
            self.report.fault(4, place, f"no salt of {name}", "a line in salts.jsonl")
        if record["withheld"] is not None and attested and any(value is not None for value in doc.stated.values()):
            self.report.fault(4, place, "facts of a withheld attested text", "null digest, words and characters")
        if kind not in PROVENANCE:
            raise Fault(f"provenance of kind {kind}", ", ".join(PROVENANCE))
        fitting(origin, PROVENANCE[kind], exact=False)
        if self.study.format > 1 and (lack := ungraded(kind, origin, source)) is not None:
            self.report.fault(4, place, lack, "what a stranger can ask again, or the grade stated")
        truth = self.study.arms[arm]["truth"]
        if kind not in TRUE[truth]:
            self.report.fault(4, place, f"{name} of kind {kind}", f"for truth {truth} one of {TRUE[truth]}")
        for held in (origin, origin["draft"]) if kind == "edited" else (origin,):
            self.dates(held, place)
        if attested and record["withheld"] is None and origin.get("consent", {}).get("publish") is False:
            self.report.fault(4, place, f"{name} is published", "a withheld text: its author did not agree")
        if kind == "transformed":
            self.children.append((doc, origin["parent"], origin.get("parent_sha256")))
        if kind == "edited" and published:
            self.wanted[origin["draft_sha256"]].append((doc, origin["draft_words"]))
            if (told := origin.get("sentences")) is not None:
                self.edits.append((doc, origin["draft_sha256"], told))
                self.linked |= {origin["draft_sha256"]: "", doc.address: ""}
            if max(origin["draft_words"], record["words"] or 0) > EDITED:
                self.report.fault(4, place, "an edited text, or its draft, of more words", f"{EDITED} words at most")
        self.promises(self.study.arms[arm], origin, place, safe(name))

    def dates(self, origin: dict[str, Any], place: str) -> None:
        """Dates are of the calendar, and not after the day on which the corpus was sealed (or the next, somewhere else)."""
        corpus = self.study.seals.get("corpus")
        for field in ("evidence_date", "written_on", "generated_on"):
            with self.report.guard(4, f"{place} {field}"):
                if (date := origin.get(field)) is not None and corpus is not None:
                    day, frozen = map(datetime.date.fromisoformat, (date, corpus["sealed_at"][:10]))
                    if (day - frozen).days > 1:
                        raise Fault(date, f"before the freeze, {corpus['sealed_at']}")

    def promises(self, arm: dict[str, Any], origin: dict[str, Any], place: str, name: str) -> None:
        """Dates and budgets, as the arm promises them, or as screening.csv tells that they are not."""
        made, wanted = {"generated": origin, "edited": origin.get("draft")}.get(origin["kind"]), arm.get("generation")
        if made is not None and wanted is not None:
            if {"provider": made.get("provider"), "model": made.get("model")} not in [
                {field: model[field] for field in ("provider", "model")} for model in wanted["models"]
            ]:
                got = f"written by {made.get('model')} of {made.get('provider')}"
                self.report.fault(4, place, got, "one of the models of the arm")
            styles = [style["name"] for style in wanted["styles"]]
            if styles and made.get("style") not in styles:
                self.report.fault(4, place, f"written in the style {made.get('style')}", f"one of {styles}")
        before = None if ("after-cutoff", name) in self.told else arm["evidence"]["before"]
        if origin["kind"] == "archive":
            date = origin["evidence_date"]
            if DATE.fullmatch(date) is None or (before is not None and date >= before):
                self.report.fault(4, f"{place} evidence_date", date, f"a date before {before}" if before else "a date")
        elif origin["kind"] == "edited" and arm["budget"] is not None and ("over-budget", name) not in self.told:
            percent = arm["budget"]["words_percent"]
            most = CONTEXT.multiply(decimal.Decimal(percent), origin["draft_words"])
            if origin["words_changed"] * 100 > most:
                got = f"{origin['words_changed']} of {origin['draft_words']}"
                self.report.fault(4, f"{place} words_changed", got, f"{percent} % at most")

    def texts(self) -> Iterator[tuple[str, str, bytes]]:
        """(place, address, bytes) of every text that is published."""
        loose, shards = self.bundle.named(r"texts/.*\.txt"), self.bundle.named(r"texts/.*\.gz")
        for path in loose:
            with self.report.guard(4, path):
                yield path, path[6:-4], self.bundle.whole(path)
        last, total = "", 0
        for number, path in enumerate(shards, 1):
            self.report.expect(4, path, path, f"texts/{number:04}.jsonl.gz")
            before = total
            for place, record in self.bundle.records(4, path, "address:d text:s", most=10_000):
                if record["address"] <= last:
                    self.report.fault(4, place, record["address"], "sorted by address, each once")
                last, total = record["address"], total + 1
                yield place, last, record["text"].encode()
            if total == before or (total - before < 10_000 and path != shards[-1]):
                got = f"{total - before} texts"
                self.report.fault(4, path, got, "10000 where another shard follows, else at least one")
        if (loose and shards) or len(loose) >= 1000 or (shards and total < 1000):
            self.report.fault(4, "texts", f"{len(loose)} loose, {total} in shards", "loose below 1,000, else shards")

    def text(self, doc: Doc, draft_words: int | None, place: str, address: str, raw: bytes) -> None:
        text = raw.decode()
        if piled(text):
            raise Fault(f"more than {MARKS} combining marks in a row", f"{MARKS} at most")
        if address in self.linked:
            self.linked[address] = text
        clean = unicodedata.normalize("NFC", text.removeprefix("\ufeff").replace("\r\n", "\n").replace("\r", "\n"))
        if draft_words is not None:
            self.report.expect(4, f"{place} (draft of {doc.id})", sha256(raw), address)
            self.report.expect(4, f"{doc.place} draft_words", draft_words, count_words(text, self.study.spaced))
            return
        if doc.addressed(raw) == doc.address:
            doc.sent, doc.plain = sha256(raw), sha256(plain_form(text).encode())
        self.report.expect(4, f"{place} (text of {doc.id})", doc.addressed(raw), doc.address)
        count = count_words(text, self.study.spaced)
        made = {"canonical_sha256": sha256(clean.encode()), "words": count, "characters": len(text)}
        for field, value in made.items():
            self.report.expect(4, f"{doc.place} {field}", doc.stated[field], value)
        if self.study.format > 1 and concealing(text) != (("hidden-marks", safe(doc.id)) in self.told):
            got = "hidden marks" if concealing(text) else "no hidden marks"
            self.report.fault(
                4, f"screening.csv, {doc.id}", got, "a finding where a text holds hidden marks, and only there"
            )

    def quotas(self) -> None:
        for name, arm in self.study.arms.items():
            self.report.expect(4, f"manifest.jsonl, arm {name}", self.counts[name,], arm["documents"])
            with self.report.guard(4, f"protocol.json, quotas of arm {name}"):
                for number, quota in enumerate(arm["quotas"]):
                    if (got := self.counts[name, str(number)]) < quota["documents"]:
                        place = f"manifest.jsonl, arm {name}, {quota['where']}"
                        self.report.fault(4, place, got, f"{quota['documents']}")

    def twins(self) -> None:
        """Of documents whose texts are the same, all but one are told in screening.csv."""
        same: defaultdict[str, list[str]] = defaultdict(list)
        for doc in self.study.documents.values():
            if doc.stated["canonical_sha256"] is not None:
                same[doc.stated["canonical_sha256"]].append(doc.id)
        for names in filter(lambda names: len(names) > 1, same.values()):
            told = [name for name in names if {("duplicate-bytes", name), ("duplicate-text", name)} & self.told]
            if len(told) < len(names) - 1:
                self.report.fault(4, "screening.csv", f"nothing of {names}", "a finding for all but one of them")

    def parents(self) -> None:
        """A text that was made of another text of the manifest was made of that one, and has its truth."""
        truths = {name: arm["truth"] for name, arm in self.study.arms.items()}
        for doc, name, digest in self.children:
            parent = self.study.documents.get(name)
            if parent is None:
                continue
            if parent is doc or (truths[doc.arm] == "ai" and truths[parent.arm] != "ai"):
                got = f"made of {name}, of truth {truths[parent.arm]}"
                self.report.fault(4, doc.place, got, f"another parent, of truth {truths[doc.arm]}")
            told = ("contradictory-provenance", safe(doc.id)) in self.told
            if digest is not None and not parent.attested and not told:
                self.report.expect(4, f"{doc.place} parent_sha256", digest, parent.address)

    def seed(self) -> None:
        """The seed is the promised one; every document gets its position in the order of the scan."""
        with self.report.guard(4, "seed.json"):
            revealed = self.bundle.record("seed.json", "beacon:s? seed:d")
            self.report.expect(4, "seed.json beacon", revealed["beacon"], self.study.protocol.get("beacon"))
            seed = bytes.fromhex(revealed["seed"])
            self.report.expect(4, "seed.json", sha256(seed), self.study.protocol.get("seed_sha256"))
            documents = self.study.documents.values()
            drawn = sorted(documents, key=lambda doc: hmac.digest(seed, b"scan\0" + doc.id.encode(), "sha256"))
            for position, doc in enumerate(drawn):
                doc.position = position
            self.pool.replay(seed)


EMOJI = "\u2190-\u2bff\u3030\u303d\u3297\u3299\u00a9\u00ae\U0001f000-\U0001faff"
HAN = "\u3400-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
JOINED = (
    "\u0600-\u109f\u1700-\u180a\u180f-\u1cff\ua800-\ua8ff\ua900-\uaadf\uabc0-\uabff\ufb50-\ufdcf\ufdf0-\ufdff"
    "\ufe70-\ufefc\U00010a00-\U00011fff\U0001e900-\U0001e95f"
)
UNSPACED = f"\u0e00-\u0fff\u1000-\u109f\u1780-\u17ff\u1950-\u1aaf\u3000-\u30ff{HAN}"
TURNED = re.compile(
    "[\u0590-\u061b\u061d-\u08ff\ufb1d-\ufdcf\ufdf0-\ufdff\ufe70-\ufefc\U00010800-\U00010fff\U0001e800-\U0001efff]"
)
TURNS = re.compile("[\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]")
CONCEALED = re.compile(
    "[\x01-\x08\x0e-\x1f\x7f-\x84\x86-\x9f\u00ad\u034f\u061c\u115f\u1160\u1680\u17b4\u17b5\u180b-\u180f"
    "\u2000-\u2006\u2008\u200b-\u200f\u202a-\u202e\u205f-\u206f\u2800\u3164\ufdd0-\ufdef\ufe00-\ufe0f\ufeff\uffa0"
    "\ufff0-\ufffb\ufffe\uffff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a\U000e0000-\U000e0fff"
    + "".join(chr(plane << 16 | end) for plane in range(1, 17) for end in (0xFFFE, 0xFFFF)) + "]"
)  # fmt: skip
NEEDED = [  # a character that no reader sees, what stands before it, and what behind it, where a script or emoji needs it
    tuple(re.compile(f"[{each}]") if each else None for each in row)
    for row in (
        ("\ufe0e\ufe0f", EMOJI + "0-9#*", ""),
        (
            "\ufe00-\ufe0d",
            f"\u2200-\u22ff\u2a00-\u2aff\u1000-\u109f\uaa60-\uaa7f\ua840-\ua877\u3000-\u30ff\uff00-\uffef{HAN}",
            "",
        ),
        ("\U000e0100-\U000e01ef", HAN, ""),
        ("\u200d", EMOJI + "\ufe0f", EMOJI),
        ("\u200c\u200d", JOINED, ""),
        ("\u200b", UNSPACED, ""),
        ("\u200b", "", UNSPACED),
        ("\u034f", "\u0300-\u036f\u0590-\u05ff", ""),
        ("\u115f\u1160", "\u1100-\u11ff", ""),
        ("\u115f\u1160", "", "\u1100-\u11ff"),
        ("\u17b4\u17b5", "\u1780-\u17ff", ""),
        ("\u180b-\u180f", "\u1800-\u18af", ""),
        ("\u2800", "\u2801-\u28ff", ""),
        ("\u2800", "", "\u2801-\u28ff"),
        ("\u1680", "\u1681-\u169c", ""),
        ("\U0001bca0-\U0001bca3", "\U0001bc00-\U0001bc9f", ""),
        ("\U0001d173-\U0001d17a", "\U0001d100-\U0001d1ff", ""),
    )
]
FLAG = re.compile(
    "(?<=\U0001f3f4)(?:\U000e0067\U000e0062(?:\U000e0065\U000e006e\U000e0067|\U000e0073\U000e0063\U000e0074"
    "|\U000e0077\U000e006c\U000e0073)|[\U000e0061-\U000e007a]{2}[\U000e0030-\U000e0039\U000e0061-\U000e007a]{1,3})"
    "\U000e007f"
)
INDENT = re.compile("(?:(?<=\n)|\\A)[\u2000-\u2006\u3000]+")
ENDS = re.compile("(?<![ \t])[ \t]+(?=\r?\n|\\Z)")


def concealing(text: str) -> bool:
    """Whether a text holds what no reader sees, where no script and no emoji needs it."""
    ends = ENDS.findall(text)
    if sum(map(len, ends)) >= 8 and any(len(set(end)) == 2 for end in ends):
        return True
    if CONCEALED.search(text) is None:
        return False
    text = FLAG.sub(lambda flag: "\0" * len(flag[0]), text)
    indented = {at for indent in INDENT.finditer(text) for at in range(*indent.span())}
    turned = TURNED.search(text) is not None
    for mark in CONCEALED.finditer(text):
        at = mark.start()
        before, behind = text[at - 1 : at], text[at + 1 : at + 2]
        if at in indented or (at == 0 and mark[0] == "\ufeff") or (turned and TURNS.match(mark[0])):
            continue
        if not any(
            own.match(mark[0]) and (one is None or one.match(before)) and (other is None or other.match(behind))
            for own, one, other in NEEDED
            if own is not None
        ):
            return True
    return False


class Links:
    """4: what became of the sentences of a draft, as its record says it, held against draft and text."""

    def __init__(self, told: dict[str, Any], draft: str, text: str, spaced: bool) -> None:
        self.told, self.sides, self.spaced = told, {"draft": draft, "text": text}, spaced
        self.links = [fitting(link, "draft:* kind:s text:*") for link in fitting(told, SENTENCES)["links"]]
        self.words: list[dict[str, list[str]]] = []  # of each link, by side

    def check(self) -> None:
        for side, whole in self.sides.items():
            self.covered(side, whole)
        for number, link in enumerate(self.links, 1):
            held = {side: whole[slice(*link[side])] for side, whole in self.sides.items() if link[side] is not None}
            words = {side: bare(part, self.spaced) for side, part in held.items()}
            if not self.fits(link["kind"], held, words):
                raise Fault(f"link {number} is called {link['kind']}", "a kind that follows from the words")
            self.words.append(words)
        self.moved()
        self.verdict()

    def covered(self, side: str, whole: str) -> None:
        """Spans stand in order, and between them no letter and no digit."""
        at, spans = 0, [link[side] for link in self.links if link[side] is not None]
        for span in [*spans, [len(whole), len(whole)]]:
            if not (isinstance(span, list) and len(span) == 2 and {type(span[0]), type(span[1])} == {int}):
                raise Fault(f"{side}: {span}", "from where to where, or null")
            if not (at <= span[0] < span[1] <= len(whole) or at <= span[0] == len(whole) == span[1]):
                raise Fault(f"{side}: {span} of {len(whole)}", "links in the order of the text, within it")
            if any(map(str.isalnum, whole[at : span[0]])):
                raise Fault(f"{side}: nothing about {at} to {span[0]}", "every word in a link")
            at = span[1]

    def fits(self, kind: str, held: dict[str, str], words: dict[str, list[str]]) -> bool:
        """Whether a link of that kind may hold these parts of draft and text."""
        sides, double = tuple(held), {"joined": "draft", "split": "text"}.get(kind)
        wanted = [("draft",), ("text",)] if kind == "moved" else [ONE_SIDE.get(kind, ("draft", "text"))]
        if kind not in KINDS_OF_LINKS or sides not in wanted or not all(words.values()):
            return False
        for side, part in held.items():  # no sentence runs across a blank line
            paragraphs = sum(any(map(str.isalnum, each)) for each in BLANK.split(part))
            if paragraphs > (2 if side == double else 1):
                return False
        if len(sides) == 1:
            return True
        same = shared(words["draft"], words["text"])
        if double is not None:  # of each of two sentences half of the words, at least, stand in the one
            return len(words[double]) >= 2 and 4 * same >= len(words[double])
        return (3 * same >= max(map(len, words.values()))) == (kind == "kept")

    def moved(self) -> None:
        """A sentence that went and one that came are one that moved, where half of their words are the same."""
        gone, come = ([at for at, link in enumerate(self.links) if link[side] is None] for side in ("text", "draft"))
        pairs: set[int] = set()
        for one, other in itertools.islice(itertools.product(gone, come), PAIRS):
            before, after = self.words[one]["draft"], self.words[other]["text"]
            if not pairs & {one, other} and 2 * shared(before, after) >= max(len(before), len(after)):
                pairs |= {one, other}
        every = len(gone) * len(come) <= PAIRS
        for at in sorted({*gone, *come} if every else pairs):
            if (self.links[at]["kind"] == "moved") != (at in pairs):
                raise Fault(f"link {at + 1} is called {self.links[at]['kind']}", "moved where the words say so")

    def verdict(self) -> None:
        """Verdict and reason follow from the links; or two splitters disagree, and it is unclear."""
        counts = Counter(link["kind"] for link in self.links if link["kind"] != "kept")
        verdict = "changed" if counts["added"] + counts["deleted"] else "unclear" if any(counts.values()) else "kept"
        counts["moved"] //= 2
        because = " and ".join(f"{number} {kind}" for kind, number in sorted(counts.items()) if number)
        first = "".join(self.told["splitters"][:1]).split(" ")[0]
        got = (self.told["verdict"], self.told["because"])
        disagree = f"the splitters disagree: {first} {because or 'all kept'}, "
        if got != (verdict, because) and not (got[0] == "unclear" and got[1].startswith(disagree)):
            raise Fault(f"{got[0]} ({got[1]})", f"{verdict} ({because})")


class Pool:
    """4: arms that were drawn hold what the seed and the quotas draw from the sealed pool."""

    def __init__(self, study: Study) -> None:
        self.study, self.report = study, study.report
        self.lines: defaultdict[str, dict[str, dict[str, Any]]] = defaultdict(dict)
        self.here: defaultdict[str, dict[str, tuple[str, dict[str, Any], bool]]] = defaultdict(dict)
        order = {name: at for at, name in enumerate(study.arms)}
        last = (-1, "")
        for place, line in study.bundle.records(4, "pool.jsonl", CANDIDATE):
            with self.report.guard(4, place):
                if line["arm"] not in order or (order[line["arm"]], line["document"]) <= last:
                    raise Fault(f"{line['document']} here", "candidates of the arms, sorted by arm and id")
                if not {line["drawn"], line["eligible"]} <= {True, False} or sorted(line["cell"]) != self.fields(
                    line["arm"]
                ):
                    raise Fault("other fields", "drawn and eligible true or false; a cell of what the quotas ask for")
                last = (order[line["arm"]], line["document"])
                self.lines[line["arm"]][line["document"]] = line

    def fields(self, arm: str) -> list[str]:
        return sorted({field for quota in self.study.arms[arm]["quotas"] for field in quota["where"]})

    def see(self, record: dict[str, Any]) -> None:
        if record["arm"] in self.lines:
            values = record | slices(record)
            cell = {field: values.get(field) for field in self.fields(record["arm"])}
            self.here[record["arm"]][record["id"]] = (record["address"], cell, record["exposures"] != [])

    def replay(self, seed: bytes) -> None:
        for arm, lines in self.lines.items():
            here = self.here[arm]
            for name in sorted(here.keys() - lines.keys()):
                if not here[name][2]:
                    self.report.fault(4, "pool.jsonl", f"{name} is in arm {arm}", "candidates, or texts that persist")
            for name, line in lines.items():
                self.compare(arm, name, line, here.get(name))
            self.draw(arm, seed, lines, [cell for name, (_, cell, _) in here.items() if name not in lines])

    def compare(
        self, arm: str, name: str, line: dict[str, Any], found: tuple[str, dict[str, Any], bool] | None
    ) -> None:
        place = f"pool.jsonl, {name}"
        self.report.expect(4, f"{place} drawn", line["drawn"], found is not None)
        if found is not None:
            self.report.expect(4, f"{place} cell", line["cell"], found[1])
            self.report.expect(4, f"{place} address", line["address"] or found[0], found[0])
        quotas = [quota["where"] for quota in self.study.arms[arm]["quotas"]]
        for fields in {tuple(sorted(where)) for where in quotas}:
            if line["eligible"] and not any(
                under(line["cell"], where) for where in quotas if tuple(sorted(where)) == fields
            ):
                self.report.fault(4, place, "eligible", "not eligible: no quota asks for it")
        if not line["eligible"] and (line["drawn"] or line["reason"] is None):
            self.report.fault(4, place, "not eligible, and drawn or without a reason", "a reason")

    def draw(self, arm: str, seed: bytes, lines: dict[str, dict[str, Any]], kept: list[dict[str, Any]]) -> None:
        quotas = self.study.arms[arm]["quotas"]
        rooms = [quota["documents"] - sum(under(cell, quota["where"]) for cell in kept) for quota in quotas]
        left, purpose = self.study.arms[arm]["documents"] - len(kept), f"draw/{arm}".encode() + b"\0"
        eligible = [name for name, line in lines.items() if line["eligible"]]
        for name in sorted(eligible, key=lambda name: hmac.digest(seed, purpose + name.encode(), "sha256")):
            mine = [at for at, quota in enumerate(quotas) if under(lines[name]["cell"], quota["where"])]
            full = next((at for at in mine if rooms[at] <= 0), None)
            reason = "the arm is full" if left <= 0 else None
            if reason is None and full is not None:
                told = ", ".join(f"{field} {value}" for field, value in sorted(quotas[full]["where"].items()))
                reason = f"the quota {told} is full"
            if reason is None:
                left -= 1
                for at in mine:
                    rooms[at] -= 1
            got = (lines[name]["drawn"], lines[name]["reason"])
            self.report.expect(4, f"pool.jsonl, {name}", got, (reason is None, reason))


def under(cell: dict[str, Any], where: dict[str, Any]) -> bool:
    """Whether a candidate falls under a quota."""
    return all(cell.get(field) == value for field, value in where.items())


def slices(record: dict[str, Any]) -> dict[str, str | None]:
    """The values by which a document is sliced; null where it has none."""
    origin = record["provenance"]
    made = {"generated": origin, "edited": origin.get("draft")}.get(origin["kind"]) or {}
    return {by: record[by] if by in record else made.get(by) for by in SLICES}


def group(study: Study, record: dict[str, Any]) -> str | None:
    """The group of table2 that a document belongs to."""
    truth, origin = study.arms[record["arm"]]["truth"], record["provenance"]
    if truth != "human":
        mixed = "lightly edited AI" if origin["kind"] == "edited" else "other mixed text"
        unmixed = "rewritten AI" if origin["kind"] == "transformed" else "unedited AI"
        return mixed if truth == "mixed" else unmixed
    if origin["kind"] == "attested":
        known = {"native": "native volunteers", "non-native": "non-native volunteers"}
        return known.get(record["subgroup"], "volunteers, group not stated")
    if origin["kind"] != "archive":
        return None
    early = (origin["evidence_date"] or "9999") < "2022-01-01"
    known = {"archived": "pre-2022 archive", "released": "pre-2022 archive", "stated": "archive, date stated only"}
    return (known.get(origin["grade"]) if early else None) or "archive, not shown to predate 2022"


def documents_row(study: Study, record: dict[str, Any]) -> list[object]:
    """The row of documents.csv."""
    origin = record["provenance"]
    row = record | slices(record) | {at: origin.get(at) for at in ("kind", "grade", "evidence_date")}
    row |= {"truth": study.arms[record["arm"]]["truth"], "exposures": "; ".join(record["exposures"])}
    row["provenance"] = ENCODER.encode(origin)
    return [row[column] for column in DOCUMENTS.split(",")]


# ---- 5 journals ------------------------------------------------------------------------------------------------------


class Asked:
    """What the journals of one detector hold about one document."""

    __slots__ = ("file", "next", "open", "readings", "sents", "skipped")

    def __init__(self) -> None:
        self.sents, self.next, self.file = 0, 1, ""  # questions; the number of the next; where the last stands
        self.skipped: str | None = None
        self.open: dict[int, str] = {}  # attempts that nothing answers, and when they were sent
        self.readings: dict[tuple[bool, str | None], dict[str, Any]] = {}  # by (failed, version)


class Scan:
    """One detector: its journals and its evidence side by side, then the state of each of its pairs."""

    def __init__(self, study: Study, name: str) -> None:
        if name not in study.judges:
            raise Fault(f"no card of {name} that can be read", f"detectors/{name}.json as promised")
        self.study, self.name, self.report, self.judge = study, name, study.report, study.judges[name]
        self.asked: defaultdict[str, Asked] = defaultdict(Asked)
        self.versions: dict[str | None, str] = {}  # each version, in order of its first answer, and its state
        self.asked_for: dict[str | None, str | None] = {}  # the version asked for, by the first that came back
        self.unseen, self.elsewhere, self.position, self.shard = 0, 0, -1, (1, 1)
        self.broken = ""  # the line at which a journal stops being one
        self.window = [study.protocol["window"][end] for end in ("opens", "closes")]
        self.again = study.protocol["ask_again_in_doubt"] is True
        self.evidence = self.evidence_lines()
        self.peeked = next(self.evidence, None)
        for path in study.files_of(name, "journal"):
            self.broken = path  # until it is known that it is not
            with self.report.guard(5, path):
                self.broken = self.journal(path)
            if self.broken:
                self.report.unchecked(5, self.broken, f"the lines behind it, and what follows from them for {name}")
                return
        if len(self.versions) > VERSIONS or len({safe(version) for version in self.versions}) < len(self.versions):
            raise Fault(f"{len(self.versions)} versions", f"at most {VERSIONS}, no two of which are written alike")
        while self.peeked is not None:
            self.report.fault(5, self.peeked[0], "evidence without its reading", "lines in the order of the readings")
            self.peeked = next(self.evidence, None)
        most = study.protocol["attempts"]
        if often := [f"{at} ({asked.sents})" for at, asked in self.asked.items() if asked.sents > most]:
            why = f"asked about more often than {most} times, since it was stopped: {', '.join(often)}"
            self.report.unchecked(5, f"journal/{name}", why)
        if self.elsewhere and study.asked_by.get(name) != "people":
            self.report.unchecked(5, f"journal/{name}", f"{self.elsewhere} answers from elsewhere: a program could ask")
        if self.unseen:
            self.report.unchecked(5, f"journal/{name}", f"{self.unseen} readings of withheld texts: no evidence here")
        self.versions = self.versions or {None: ""}
        self.first = next(iter(self.versions))
        for version in self.versions:
            asked = "as_asked" if version == self.asked_for.get(version) else "floating"
            later = "changed" if version != self.first else asked
            self.versions[version] = "not_reported" if version is None else later

    def evidence_lines(self) -> Iterator[tuple[str, dict[str, Any]]]:
        paths = self.study.files_of(self.name, "evidence")
        for number, path in enumerate(paths, 1):
            self.report.expect(5, path, path, f"evidence/{self.name}-{number:04}.jsonl.gz")
            count = 0
            for line in self.study.bundle.records(5, path, EVIDENCE, most=100_000):
                count += 1
                yield line
            if count == 0 or (count < 100_000 and path != paths[-1]):
                self.report.fault(5, path, f"{count} lines", "100000 where another file follows, else at least one")

    def journal(self, path: str) -> str:
        """One file: canonical, chained, as its heads were sealed; the line that ends the chain too early, or nothing."""
        marks: defaultdict[int, list[tuple[str, str]]] = defaultdict(list)
        for seal, record in self.study.seals.items():
            if path in record["journals"]:
                mark = fitting(record["journals"][path], "head:d lines:i")
                marks[mark["lines"]].append((seal, mark["head"]))
        shard = re.fullmatch(r"\.([0-9]+)of([0-9]+)\.jsonl", path.removeprefix(f"journal/{self.name}"))
        self.file, self.changed, self.scanned = path, "", set[str]()
        self.started: list[tuple[str, Any]] = []  # start lines, and their code, before the first question
        self.position, self.shard = -1, (int(shard[1]), int(shard[2])) if shard else (1, 1)
        if shard and (not 1 <= self.shard[0] <= self.shard[1] > 1 or "0" in (shard[1][0], shard[2][0])):
            raise Fault("the name of no shard", "<i>of<W>, W above 1, without leading zeros")
        heads = sorted(at for at, seals in marks.items() if seals[0][0] != "evidence")
        runs, fresh = list[list[int]](), True  # the first and the last question after each start
        previous, count, newest = self.study.bundle.digest("seals/corpus.json"), 0, ""
        for count, line in enumerate(self.study.bundle.lines(path), 1):
            place = f"{path}:{count}"
            whole = False
            with self.report.guard(5, place):
                entry = canonical(line)
                kind = entry.get("kind") if isinstance(entry, dict) else None
                if kind not in JOURNAL or (count == 1 and kind != "start"):
                    raise Fault(f"a line of kind {kind}", "start first; then one of " + ", ".join(JOURNAL))
                if fitting(entry, JOURNAL[kind] + self.study.ruled * (kind == "start"))["prev"] != previous:
                    self.report.fault(5, f"{place} prev", entry["prev"], f"{previous}, the digest of the line before")
                    return place
                newest = max(newest, moment(entry["at"]))
                if kind == "sent":
                    runs += [[count, count]] * fresh
                    runs[-1][1] = count
                fresh = kind == "start" or (fresh and kind != "sent")
                getattr(self, kind)(entry, place)
                whole = True
            if not whole:
                return place
            previous = sha256(line)
            for seal, head in marks.pop(count, ()):
                self.report.expect(5, f"{place} (head sealed by seals/{seal}.json)", previous, head)
                if newest and early(made := moment(self.study.seals[seal]["sealed_at"]), newest):
                    self.report.fault(5, place, f"lines of {newest}", f"before {made}, when {seal} was sealed")
        self.stops(path, runs, heads, count)
        for lines, seals in marks.items():
            self.report.fault(5, path, f"{count} lines", f"{lines} lines, sealed by seals/{seals[0][0]}.json")
        final = self.study.seals.get("evidence", {"journals": {}})["journals"].get(path, {"lines": "no head"})
        self.report.expect(5, f"{path}, lines, as sealed by seals/evidence.json", count, final["lines"])
        return ""

    def stops(self, path: str, runs: list[list[int]], heads: list[int], count: int) -> None:
        """Whether a seal saw the journal between the last question after each start and the next question."""
        ends = zip(runs, [*(first for first, _ in runs[1:]), count + 1], strict=False)
        bare = sum(bisect_left(heads, last) == bisect_left(heads, following) for (_, last), following in ends)
        if bare:
            why = f"{bare} of {len(runs)} scans ended without a seal: starts and stops are its maker's word"
            self.report.unchecked(5, path, why)

    def about(self, entry: dict[str, Any]) -> tuple[Doc, Asked]:
        if entry["document"] not in self.study.documents:
            raise Fault(f"document {entry['document']}", "a document of the manifest")
        return self.study.documents[entry["document"]], self.asked[entry["document"]]

    def start(self, entry: dict[str, Any], place: str) -> None:
        card, plugin = self.study.bundle.digest(f"detectors/{self.name}.json"), self.study.plugins[self.name]
        expected = {"detector": self.name, "card_sha256": card, "shard": "{}/{}".format(*self.shard)}
        self.started.append((place, entry["plugin"]))
        for field, value in (expected | {"plugin": None if entry["plugin"] is None else plugin}).items():
            self.report.expect(5, f"{place} {field}", entry[field], value)

    def stop(self, entry: dict[str, Any], place: str) -> None:
        """Nothing follows from it."""

    def sent(self, entry: dict[str, Any], place: str) -> None:
        (doc, asked), attempt, attempts = self.about(entry), entry["attempt"], self.study.protocol["attempts"]
        if asked.sents == 0:
            if doc.position <= self.position or doc.position % self.shard[1] != self.shard[0] - 1:
                self.report.fault(4, place, f"{doc.id} sent here", "the order that follows from seed.json")
            self.position = doc.position
        self.when(entry["at"], place)
        self.known(entry["at"], doc, place)
        for where, code in self.started:
            if code is None and self.study.plugins[self.name] is not None:
                self.report.fault(5, f"{where} plugin", "nothing", "the promised code, since it asks")
        self.started = []
        asked.sents += 1
        if asked.readings or asked.skipped is not None:
            self.report.fault(5, place, f"{doc.id} sent again", "nothing sent after a reading or a skip")
        if attempt in asked.open or (asked.open and not self.again):
            self.report.fault(5, place, f"{doc.id} sent again, the attempt before not answered", "left in doubt")
        if attempt > attempts:
            self.report.fault(5, place, f"attempt {attempt}", f"{attempts} at most")
        elif attempt != asked.next and asked.file in ("", self.file):  # which of two shards came first is not known
            self.report.fault(
                5, place, f"attempt {attempt}", f"attempt {asked.next}, unless the one before was stopped"
            )
        if self.changed:
            self.report.fault(5, place, f"{doc.id} sent after {self.changed}", "nothing: the promise says stop")
        asked.open[attempt], asked.next, asked.file = entry["at"], attempt + 1, self.file

    def known(self, at: str, doc: Doc, place: str) -> None:
        """Others had promise and corpus before a question, and no author took the text back before it."""
        time, gone = moment(at), self.study.withdrawn.get(doc.id)
        for name in ("promise", "corpus"):
            stamped = self.study.stamped.get(name, "")
            if time < stamped and early(time, stamped):
                self.report.fault(5, place, f"asked {at}", f"after seals/{name}.json, stamped {stamped}")
        if gone and early(moment(gone), time):
            self.report.fault(5, place, f"{doc.id} asked about {at}", f"nothing: it was withdrawn {gone}")

    def retry(self, entry: dict[str, Any], place: str) -> None:
        asked = self.about(entry)[1]
        if asked.open.pop(entry["attempt"], None) is None:
            self.report.fault(5, place, "a retry of what was not sent", "a sent line before it")
        if entry["reason"].startswith("stopped: "):
            asked.next = entry["attempt"]

    def skipped(self, entry: dict[str, Any], place: str) -> None:
        doc, asked = self.about(entry)
        if asked.sents or asked.readings or asked.skipped is not None:
            self.report.fault(5, place, f"{doc.id} skipped after it was sent, read or skipped", "skipped once, alone")
        gone = self.study.withdrawn.get(doc.id) if entry["reason"] == "its author withdrew the text" else None
        if gone and early(moment(entry["at"]), moment(gone)):
            self.report.fault(5, place, f"left out at {entry['at']}", f"after {doc.id} was withdrawn, {gone}")
        asked.skipped = entry["reason"]

    def reading(self, entry: dict[str, Any], place: str) -> None:
        doc, asked = self.about(entry)
        state, version, scanned = entry["state"], entry["version"] or None, entry["origin"] == "scan"
        self.report.expect(5, f"{place} address", entry["address"], doc.address)
        if state not in STATES[:3] or entry["origin"] not in ("scan", "typed", "recorded"):
            raise Fault(f"state {state}, origin {entry['origin']}", "a final state and an origin of the format")
        if entry["reason"] is None and state != "answered":
            self.report.fault(5, place, f"{state} without a reason", "a reason")
        if asked.skipped is not None:
            self.report.fault(5, place, f"{doc.id} read after it was skipped", "a reading or a skip")
        sent_at = asked.open.pop(entry["attempt"], None) if scanned else entry["sent_at"]
        if scanned and sent_at is None:
            self.report.fault(5, place, f"no sent line for attempt {entry['attempt']} of {doc.id}", "one before it")
        elif entry["sent_at"] != sent_at:
            self.report.fault(5, place, f"sent at {entry['sent_at']}", f"{sent_at}, as its sent line says")
        self.report.expect(
            5, f"{place} version_asked", entry["version_asked"], self.study.detectors[self.name]["version"]
        )
        self.report.expect(5, f"{place} vendor_at", entry["vendor_at"], None)
        for time in (entry["sent_at"], entry["got_at"]):
            if scanned and time is not None:
                self.when(time, place)
        self.follows(entry, place)
        body = self.body(entry, doc, place)
        self.extraction(entry, doc, body, place)
        key = (state == "failed", None if state == "failed" else version)
        if asked.readings.setdefault(key, entry) is not entry:
            self.report.fault(5, place, f"a second final reading of {doc.id}", "one for each version and document")
        if state != "failed":
            self.asked_for.setdefault(version, entry["version_asked"])
        if state == "answered":
            self.elsewhere += not scanned
            self.change(entry)
            self.versions[version] = ""  # known when all are read
        said = entry["reason"] or ""
        if (
            state == "answered"
            or entry["displayed"] is not None
            or said.startswith(("other text scanned", "the answer "))
        ):
            promise, got_at = self.study.seals.get("promise"), entry["got_at"]
            late = got_at is None or (promise is not None and moment(got_at) < moment(promise["sealed_at"]))
            stamped = self.study.stamped.get("promise")
            if not late and stamped and early(moment(got_at), stamped):
                self.report.fault(5, place, f"answered {got_at}", f"after the promise, stamped {stamped}")
            self.study.retrospective |= late

    def follows(self, entry: dict[str, Any], place: str) -> None:
        """Answers come after their questions and before their lines, give or take what clocks and typed dates are off."""
        scanned, got_at = entry["origin"] == "scan", entry["got_at"]
        if entry["read_by" if scanned else "sent_at"] is not None:
            said = f"{entry['origin']}, read by {entry['read_by']}, sent at {entry['sent_at']}"
            self.report.fault(5, place, said, "readers of typed and recorded answers only, sendings of a scan only")
        if got_at is None:
            return
        if scanned and entry["sent_at"] is not None and early(moment(got_at), moment(entry["sent_at"])):
            self.report.fault(5, place, f"got {got_at}", f"after it was sent, {entry['sent_at']}")
        written, got = (datetime.datetime.fromisoformat(moment(time)) for time in (entry["at"], got_at))
        if got - written > datetime.timedelta(minutes=5 if scanned else 24 * 60):
            self.report.fault(5, place, f"got {got_at}", f"before its line was written, {entry['at']}")

    def change(self, entry: dict[str, Any]) -> None:
        """Note the answer of a scan that shows another version, where the promise is to stop there."""
        stops = self.study.protocol.get("on_version_change") == "stop"
        if not stops or entry["origin"] != "scan" or entry["version"] is None:
            return
        self.scanned = self.scanned or {entry["version"], entry["version_asked"]}
        if entry["version"] not in self.scanned:
            self.changed = self.changed or f"version {entry['version']} of {entry['document']}"

    def when(self, time: str, place: str) -> None:
        """A scan happens in the promised days, after the freeze and before the evidence is sealed."""
        seals = self.study.seals
        if not self.window[0] <= time[:10] <= self.window[1]:
            self.report.fault(5, place, f"scanned {time}", "a day from {} to {}".format(*self.window))
        if "corpus" in seals and moment(time) < moment(seals["corpus"]["sealed_at"]):
            self.report.fault(5, place, f"scanned {time}", f"after the freeze, {seals['corpus']['sealed_at']}")
        if "evidence" in seals and moment(time) > moment(seals["evidence"]["sealed_at"]):
            self.report.fault(
                5, place, f"scanned {time}", f"before the evidence seal, {seals['evidence']['sealed_at']}"
            )

    def body(self, entry: dict[str, Any], doc: Doc, place: str) -> bytes | None:
        """The raw answer of a reading; None where there is none to look at."""
        if entry["evidence_sha256"] is None or doc.withheld is not None:
            self.unseen += entry["evidence_sha256"] is not None
            return None
        where, found = self.peeked or ("", {})
        if any(found.get(field) != entry[field] for field in ("document", "attempt")):
            self.report.fault(5, place, f"no evidence of {doc.id} in its place", f"evidence/{self.name}-….jsonl.gz")
            return None
        self.peeked = next(self.evidence, None)
        body: bytes = found["body"].encode()
        if found["encoding"] == "base64":
            body = base64.b64decode(body, validate=True)
            self.report.expect(5, f"{where} body", base64.b64encode(body).decode(), found["body"])
        encoding = "base64" if found["encoding"] == "base64" else "utf-8"
        expected = {"encoding": encoding, "detector": self.name, "sha256": doc.addressed(body)}
        for field, value in expected.items():
            self.report.expect(5, f"{where} {field}", found[field], value)
        self.report.expect(5, f"{place} evidence_sha256", entry["evidence_sha256"], found["sha256"])
        return body

    def extraction(self, entry: dict[str, Any], doc: Doc, body: bytes | None, place: str) -> None:
        """The reading says what its evidence, or the copied display, says."""
        state, found = entry["state"], dict[str, str | None]()
        if body is not None:
            found = self.judge.extract(body, entry["origin"] == "typed" and self.judge.of_screens)
        elif entry["evidence_sha256"] is None:
            found = self.judge.from_display(entry["displayed"])
            if state == "answered" and entry["origin"] != "typed":
                self.report.fault(
                    5, place, "an answer without evidence", "the raw answer; only a copied screen has none"
                )
            if state != "answered" and entry["displayed"] is not None:
                self.report.fault(
                    5, place, f"{state}, and displayed {entry['displayed']}", "an answer, or nothing shown"
                )
        if state == "answered" and entry["reason"] is not None and (entry["evidence_sha256"] is None or doc.attested):
            self.report.fault(
                5, place, entry["reason"], "no remark on answers about attested texts, or without evidence"
            )
        for field in found.keys() - {"text"}:
            self.report.expect(5, f"{place} {field}, from the answer", entry[field], found[field])
        if body is None:
            return
        other = (state, entry["reason"]) == ("declined", "other text scanned")
        echo = found["text"]
        same = echo is None or sha256(echo.encode()) == doc.sent
        if not same and self.study.format > 1:
            same = any(sha256(plain_form(form).encode()) == doc.plain for form in forms(echo or ""))
        if doc.sent and other == same:
            got = "the text that was sent" if other else "another text"
            self.report.fault(5, place, f"{state}, the answer echoes {got}", "declined where the echo differs")
        if state != "answered" and not other and found["displayed"] is not None:
            self.report.fault(5, place, f"{state}, but the evidence shows an answer", "a shown answer is final")
        if entry["origin"] == "typed" and found["displayed"] is not None:
            with self.report.guard(5, place):
                self.typed(entry, doc, body, place)

    def typed(self, entry: dict[str, Any], doc: Doc, body: bytes, place: str) -> None:
        """What people typed is about its document, of its reader and date; what counts follows from the rows, where the
        card is one of screens."""
        answer = ANSWERS.decode(body.decode())

        def cells(at: str, *names: str) -> dict[str, str]:
            held = {name: pointed(answer, f"{at}/{name}") or "" for name in names}
            "".join(held.values()).encode()  # no unpaired surrogates
            return {name: cell if cell.strip() else "" for name, cell in held.items()}

        told = cells("", "document", "number", "date", "read_by", "operator", "displayed", "version", "text")
        columns = ("displayed", "version", "date", "operator", "document", "number", "text")
        rows = [row for at in range(3) if any((row := cells(f"/readings/{at}", *columns)).values())]
        screens = self.judge.of_screens
        wanted = {
            "document": (told["document"], doc.id),
            "read_by": (told["read_by" if screens else "operator"], entry["read_by"]),
            "date": (instant(told["date"]), entry["got_at"] and instant(entry["got_at"])),
        }
        for field, (got, expected) in wanted.items():
            if got != (expected or "") and (got or (screens and field != "document")):
                self.report.fault(5, f"{place} {field}, as typed", expected, got or "what the reading says")
        if not screens:
            return
        if not told["document"] and numbered(told["number"]) != doc.position + 1:
            self.report.fault(5, f"{place} number, as typed", told["number"], f"{doc.position + 1}, which is {doc.id}")
        if not 1 <= len(rows) <= 2 or not all(row["displayed"] for row in rows):
            raise Fault(f"{len(rows)} rows, or nothing displayed", "one row or two, as they were typed")
        readers = "; ".join(dict.fromkeys(row["operator"] for row in rows))
        for row in rows:
            for field, read in (("document", str), ("number", numbered)):
                if told[field] and row[field] and read(row[field]) != read(told[field]):
                    self.report.fault(5, f"{place} readings", f"about {row[field]}", f"about {told[field]}")
        if told["date"] not in ("", rows[0]["date"]):
            self.report.fault(5, f"{place} readings", f"of {rows[0]['date']}", f"of {told['date']}")
        if all(row["operator"] for row in rows) and told["read_by"] != readers:
            self.report.fault(5, f"{place} readings", f"typed by {readers}", f"typed by {told['read_by']}")
        if (scanned := next((row["text"] for row in rows if row["text"] not in ("", told["text"])), None)) is not None:
            self.report.fault(5, f"{place} readings", f"of the text {scanned[:60]!r}", f"of {told['text'][:60]!r}")
        counts = counting(rows, cells("/settled", "displayed", "version", "by", "why"))
        self.report.expect(5, f"{place} what counts", (told["displayed"], told["version"]), counts)

    def belongs(self, key: tuple[bool, str | None]) -> str | None:
        """The version to which a reading belongs; key: (failed, its own version)."""
        return key[1] if not key[0] and key[1] in self.versions else self.first

    def pair(self, doc: Doc, version: str | None) -> tuple[str, str, dict[str, Any], int]:
        """(state in the journals, reason, the reading or {}, attempts) of a pair."""
        asked, first = self.asked.get(doc.id) or Asked(), version == self.first
        belonging = [entry for key, entry in asked.readings.items() if self.belongs(key) == version]
        own = belonging[0] if belonging else None
        if len(belonging) > 1:
            self.report.fault(5, f"journal/{self.name}", f"{doc.id} has two readings under {version}", "one reading")
        scanned = any(entry["origin"] == "scan" for entry in ([own] if own else asked.readings.values()))
        attempts = asked.sents if (scanned if own else first and not scanned) else 0
        if own:
            return own["state"], own["reason"] or "", own, attempts
        if first and asked.skipped is not None:
            return "not_scannable", asked.skipped, {}, attempts
        if first and asked.open:
            return "in_doubt", f"sent at {list(asked.open.values())[-1]}, no answer on record", {}, attempts
        for other in self.versions:
            if any(not key[0] and self.belongs(key) == other for key in asked.readings):
                return "not_run", f"answered under version {'' if other is None else other}", {}, attempts
        return "not_run", "not asked", {}, attempts


# ---- 7 tables --------------------------------------------------------------------------------------------------------


def safe(value: object) -> str:
    """The text of a cell: what a spreadsheet would run gets an apostrophe."""
    text = "" if value is None else str(value)
    return "'" + text if text[:1] in tuple("=+-@\t\r\n") and DECIMAL.fullmatch(text) is None else text


def cell(value: object) -> str:
    """A cell as it is written."""
    text = safe(value)
    return '"' + text.replace('"', '""') + '"' if any(mark in text for mark in ',"\r\n') else text


class Table:
    """A table of the bundle, held line by line against the rows that it must have."""

    def __init__(self, study: Study, name: str, columns: str) -> None:
        self.report, self.path, self.columns = study.report, f"tables/{name}.csv", columns.split(",")
        self.lines, self.number, self.over = study.bundle.lines(self.path), 0, False
        self.row(*self.columns)

    def next(self) -> bytes | None:
        self.number += 1
        with self.report.guard(7, self.path):
            return next(self.lines, None)
        return None

    def row(self, *values: object) -> None:
        if 7 in self.report.open:
            return
        for line in ",".join(map(cell, values)).encode().split(b"\n"):
            got = self.next()
            if got is None and not self.over:
                self.report.fault(7, f"{self.path}:{self.number}", "the end of the table", line.decode())
            elif got is not None and got != line:
                self.differ(got.decode(errors="replace"), line.decode())
            self.over = got is None

    def differ(self, got: str, expected: str) -> None:
        one, other = parted(got), parted(expected)
        at = [at for at, pair in enumerate(itertools.zip_longest(one, other)) if pair[0] != pair[1]]
        if len(one) == len(other) == len(self.columns) and at:
            row = dict(zip(self.columns, other, strict=True))
            about = ", ".join(row[key] for key in KEYS if row.get(key))
            place = f"{self.path}:{self.number} {self.columns[at[0]]}"
            self.report.fault(
                7, f"{place} ({about})", *(each or "an empty cell" for each in (one[at[0]], other[at[0]]))
            )
        else:
            self.report.fault(7, f"{self.path}:{self.number}", got, expected)

    def end(self) -> None:
        if 7 not in self.report.open and self.next() is not None:
            self.report.fault(7, f"{self.path}:{self.number}", "more rows", "the end of the table")


def parted(line: str) -> list[str]:
    """The cells of a row; none where it is no row that stands by itself."""
    try:
        return next(csv.reader([line]), [])
    except csv.Error:
        return []


class Result:
    """The counts of one version of one detector, by bucket."""

    def __init__(self, study: Study, scan: Scan, version: str | None) -> None:
        self.study, self.detector, self.version, self.judge = study, scan.name, version, scan.judge
        self.state, self.first = scan.versions[version], version == scan.first
        self.counts = [Counter[str]() for _ in study.sizes]
        self.times: list[str] = []
        self.flags: dict[int, bool] = {}  # number of an answered document: called ai

    def count(self, doc: Doc, state: str, strict: bool, lenient: bool, uncertain: bool) -> None:
        what = [state, *["k"] * strict, *["k_lenient"] * lenient, *["uncertain"] * uncertain]
        for bucket in doc.buckets:
            self.counts[bucket].update(what)
        if state == "answered":
            self.flags[doc.number] = strict

    def total(self, *keys: tuple[str, str, str]) -> Counter[str]:
        """Sums over buckets, with `documents`, `n` and `no_result`."""
        made: Counter[str] = Counter()
        for bucket in (self.study.buckets[key] for key in keys if key in self.study.buckets):
            made.update(self.counts[bucket])
            made["documents"] += self.study.sizes[bucket]
        made["n"] = made["answered"]
        made["no_result"] = made["declined"] + made["failed"] + made["in_doubt"]
        return made

    def cells(self, key: tuple[str, str, str], k_field: str, worst: bool = True) -> list[object]:
        """documents … worst_high of a bucket, or … high; from format 2 on with what has no answer."""
        made, level = self.total(key), self.study.protocol["level"]
        n, k, lost = made["n"], made[k_field], made["no_result"]
        states = [made[field] for field in ("uncertain", "no_result", "not_scannable", "not_run")]
        ends = (wilson(k, n + lost, level)[1], wilson(k + lost, n + lost, level)[2]) if worst else ()
        return [made["documents"], n, k, *states, *wilson(k, n, level), *ends, *self.unanswered(key)]

    def unanswered(self, *keys: tuple[str, str, str]) -> list[str]:
        """What is said beside a rate over these buckets of what has no answer; nothing at all in format 1."""
        if self.study.format == 1:
            return []
        parts = [(made["documents"] - made["n"], key[0]) for key in keys for made in [self.total(key)]]
        missing, documents = sum(count for count, _ in parts), self.total(*keys)["documents"]
        if missing == 0 or (missing * 20 <= documents and not self.uneven):
            return [""]
        each = " + ".join(f"{count} {arm}" for count, arm in parts)
        return [f"no answer to {missing} of {documents}" + (f": {each}" if len(parts) > 1 else "")]

    @functools.cached_property
    def uneven(self) -> bool:
        """Whether two arms differ in what has no answer by more than chance: their intervals do not meet."""
        made = [self.total((arm, "", "")) for arm in self.study.arms]
        held = [(each["documents"] - each["n"], each["documents"]) for each in made if each["documents"]]
        ends = [wilson(missing, of, self.study.protocol["level"]) for missing, of in held]
        return bool(ends) and max(low for _, low, _ in ends) > min(high for _, _, high in ends)

    def readings(self, scan: Scan, table: Table, timing: str) -> None:
        """Counts every pair, and holds its row of readings.csv against the table."""
        judge = self.judge
        bound = (judge.rule["value"], judge.rule["operator"]) if judge.bounded else ("verdict", "")
        for doc in self.study.documents.values():
            state, reason, entry, attempts = scan.pair(doc, self.version)
            calls, seen = (False, False, False), entry.get
            if state == "answered":
                why, *found = judge.call(entry["score"], entry["label"])
                state, reason, calls = "declined" if why else state, why or reason, (found[0], found[1], found[2])
                self.times += [entry["got_at"]] if entry["got_at"] is not None else []
            self.count(doc, state, *calls)
            said = ["ai" if call else "not-ai" if state == "answered" else "" for call in calls[:2]]
            table.row(
                *(self.detector, self.version, self.state, doc.id, doc.arm, state),
                *(seen("displayed"), seen("score"), seen("label"), *said, reason, *bound),
                *(seen("got_at"), seen("sent_at"), seen("origin"), attempts, seen("read_by")),
                *(seen("evidence_sha256"), timing),
            )

    def rates(self, table: Table, k_field: str) -> None:
        for arm in self.study.arms:
            sliced = sorted((SLICES.index(by), at) for of, by, at in self.study.buckets if of == arm and by)
            for by, at in [("", ""), *((SLICES[index], at) for index, at in sliced)]:
                table.row(self.detector, self.version, arm, by, at, *self.cells((arm, by, at), k_field))

    def units(self, table: Table) -> None:
        for name, arm in self.study.arms.items():
            if arm["unit"] != "document":
                documents = [doc for doc in self.study.documents.values() if doc.arm == name]
                row = self.units_row([doc for doc in documents if doc.number in self.flags], arm["unit"])
                table.row(self.detector, self.version, name, arm["unit"], len(documents), *row)

    def units_row(self, answered: list[Doc], unit: str) -> list[object]:
        """n … reason of an arm."""
        sizes = Counter(doc.unit for doc in answered)
        flagged = Counter(doc.unit for doc in answered if self.flags[doc.number])
        n, k, missing = len(answered), sum(flagged.values()), sizes.pop(None, 0)
        if n == 0 or missing:
            return [n, k, len(sizes), "", "", "", "", f"{missing} without {unit}" if missing else "no answers"]
        deff = design_effect(((size, flagged[at]) for at, size in sizes.items()), k, n)
        head = [n, k, len(sizes), deff.quantize(MILLIONTH, context=CONTEXT)]
        head.append(CONTEXT.divide(decimal.Decimal(n), deff).quantize(MILLIONTH, context=CONTEXT))
        if len(sizes) < 15:
            return [*head, "", "", "fewer than 15 units"]
        return [*head, *wilson(k, n, self.study.protocol["level"], deff)[1:], ""]

    def table1(self, timing: str) -> list[object]:
        rule, arms, detector = self.judge.rule, self.study.arms, self.study.detectors[self.detector]
        parts: list[object] = []
        gaps: list[str] = []
        pooled: list[tuple[str, str, str]] = []
        for truth in ("human", "ai"):
            keys = [(name, "", "") for name, arm in arms.items() if arm["truth"] == truth and arm["headline"] is True]
            made, pooled = self.total(*keys), pooled + keys
            rates = wilson(made["k"], made["n"], self.study.protocol["level"])
            mix = " + ".join(f"{self.total(key)['n']} {key[0]}" for key in keys)
            parts += [made["documents"], made["n"], made["k"], *rates, mix]
            gaps += self.unanswered(*keys)
        made, every = self.total(*pooled), self.total(*((arm, "", "") for arm in arms))
        run, times = every["documents"] - every["not_run"], sorted(self.times, key=moment) or [""]
        return [
            *(self.detector, self.version, self.state, timing),
            *(detector[field] for field in ("surface", "tier", "payer", "relation")),
            f"{rule['operator']} {rule['value']}" if self.judge.bounded else "verdict",
            *(rule["source"], rule["date"], times[0], times[-1], *parts),
            *(made[field] for field in ("uncertain", "declined", "failed", "in_doubt", "not_scannable", "not_run")),
            "COMPLETE" if every["not_run"] == 0 else f"INCOMPLETE {run} of {every['documents']}",
            *gaps,
        ]


def check_scans(study: Study) -> None:
    """5 and 7 in one walk, a detector at a time."""
    report, results = study.report, list[Result]()
    for folder in ("journal", "evidence"):
        known = {path for name in study.detectors for path in study.files_of(name, folder)}
        for path in sorted(set(study.bundle.named(f"{folder}/.*")) - known):
            report.fault(5, path, "a file of no detector of the protocol", "committed detectors only")
    for seal, record in study.seals.items():
        for path in sorted(set(record["journals"]) - set(study.bundle.files)):
            report.fault(5, f"seals/{seal}.json", f"the head of {path}", "a journal that is here")
    timing = said_timing(study)
    readings = Table(study, "readings", READINGS)
    head = RATES + ",unanswered" * (study.format > 1)
    rates = {"k": Table(study, "rates", head), "k_lenient": Table(study, "rates_lenient", head)}
    units = Table(study, "units", UNITS)
    for name in sorted(study.detectors):
        scan = None
        with report.guard(5, f"journal/{name}"):
            scan = Scan(study, name)
        if scan is None or scan.broken:
            report.open.add(7)
            continue
        with report.guard(5, f"journal/{name}"):
            for version in scan.versions:
                results.append(result := Result(study, scan, version))
                result.readings(scan, readings, timing)
                for k_field, table in rates.items():
                    result.rates(table, k_field)
                result.units(units)
    for table in (readings, units, *rates.values()):
        table.end()
    true = "retrospective" if study.retrospective else "prospective"
    if 7 in report.open:
        report.unchecked(7, "tables", "they follow from journals that are broken: see check 5")
    else:
        report.expect(7, "tables/readings.csv timing", timing, true)
        last_tables(study, results, true)
    if study.retrospective:
        report.unchecked(6, "the edition", "retrospective: the rules were written after the answers existed")
    report.unchecked(5, "journal", "the remarks on answers", "penmark verify")
    report.done[5] = f"{len(study.bundle.named('journal/.*'))} journals, as sealed"
    for path in sorted({*study.bundle.named(r"tables/.*"), "tables/warnings.csv"} - set(REQUIRED)):
        here = path in study.bundle.files
        report.unchecked(7, path, "its rows" if here else "that there is nothing to warn of", "penmark verify")
    report.done[7] = f"{len(results)} detector versions, recomputed to the byte"


def said_timing(study: Study) -> str:
    """What the first row of readings.csv says of the timing; whether it is true is known when all are read."""
    with contextlib.suppress(Fault, OSError, ValueError):
        _, line = itertools.islice(study.bundle.lines("tables/readings.csv"), 2)
        if line.endswith(b",retrospective"):
            return "retrospective"
    return "prospective"


def last_tables(study: Study, results: list[Result], timing: str) -> None:
    """table1, table2 and agreement, which speak of everything."""
    later = study.format > 1
    table1 = Table(study, "table1", TABLE1 + ",fp_unanswered,detection_unanswered" * later)
    table2 = Table(study, "table2", TABLE2 + ",unanswered" * later)
    for result in results:
        table1.row(*result.table1(timing))
        parted = all(("", "group", f"{AI}, {mark}") in study.buckets for mark in ("marked", "not marked"))
        for name, measure in GROUPS.items():
            if ("", "group", name) in study.buckets and (parted or not name.startswith(f"{AI}, ")):
                row = result.cells(("", "group", name), "k", worst=False)
                table2.row(result.detector, result.version, timing, name, measure, *row)
    agreement = Table(study, "agreement", AGREEMENT)
    for arm in study.arms:
        numbers = [doc.number for doc in study.documents.values() if doc.arm == arm]
        flags = [result.flags for result in results if result.first and result.total((arm, "", ""))["n"]]
        by_all = [number for number in numbers if all(number in flag for flag in flags)]
        times = Counter(sum(flag[number] for flag in flags) for number in by_all)
        for flagged in range(len(flags) + 1) if flags else ():
            agreement.row(arm, len(flags), len(numbers), len(by_all), flagged, times[flagged], timing)
    for table in (table1, table2, agreement):
        table.end()


# ---- 6 completeness --------------------------------------------------------------------------------------------------


def rows_of(study: Study, path: str) -> Iterator[tuple[str, dict[str, str]]]:
    """(place, row) of a table, the cells by column."""
    csv.field_size_limit(LINE)
    rows = csv.reader((line.decode() + "\n" for line in study.bundle.lines(path)), strict=True)
    header = next(rows, [])
    for number, row in enumerate(rows, 2):
        if len(row) != len(header):
            raise Fault(f"{path}:{number} has {len(row)} cells", f"{len(header)}, as its header")
        yield f"{path}:{number}", dict(zip(header, row, strict=True))


def check_complete(study: Study) -> None:
    """6: by the published tables alone, each scheduled pair has one state, and the counts add up."""
    report, path = study.report, "tables/readings.csv"
    arms = {safe(doc.id): safe(doc.arm) for doc in study.documents.values()}
    sums: defaultdict[tuple[str, ...], Counter[str]] = defaultdict(Counter)
    seen: defaultdict[tuple[str, str], set[str]] = defaultdict(set)
    with report.guard(6, path):
        for place, row in rows_of(study, path):
            pair, name, answered = (row["detector"], row["version"]), row["document"], row["state"] == "answered"
            if arms.get(name) != row["arm"] or name in seen[pair]:
                report.fault(6, place, f"{name} of {row['arm']}", "each document once, in its arm")
            seen[pair].add(name)
            sums[(*pair, row["arm"])].update([row["state"], row["call"]])
            if row["state"] not in STATES or (row["call"] != "") != answered or (row["reason"] == "" and not answered):
                got = f"{row['state']}, call {row['call']!r}, reason {row['reason']!r}"
                report.fault(6, place, got, "a state with a call, or else with a reason")
    for detector in sorted({safe(name) for name in study.detectors} ^ {name for name, _ in seen}):
        report.fault(6, path, f"rows of {detector}, or none", "rows of each detector of the protocol, no others")
    for pair, names in seen.items():
        for name in sorted(set(arms) - names):
            report.fault(6, path, f"no row of {name} under {' '.join(pair)}", "each document of the manifest")
    for path in ("tables/rates.csv", "tables/rates_lenient.csv"):
        with report.guard(6, path):
            for place, row in rows_of(study, path):
                parts = [int(row[field]) for field in ("n", "no_result", "not_scannable", "not_run")]
                report.expect(6, f"{place} documents", int(row["documents"]), sum(parts))
                made = sums[row["detector"], row["version"], row["arm"]]
                lost = made["declined"] + made["failed"] + made["in_doubt"]
                if row["slice_by"] == "":
                    counted = [made["answered"], lost, made["not_scannable"], made["not_run"]]
                    report.expect(6, f"{place} states, by readings.csv", parts, counted)
                    if path == "tables/rates.csv":
                        report.expect(6, f"{place} k, by readings.csv", int(row["k"]), made["ai"])
    report.done[6] = f"{sum(map(len, seen.values()))} pairs"


# ---- the command -----------------------------------------------------------------------------------------------------


def verify(root: Path) -> list[dict[str, Any]]:
    """All checks of the bundle in this folder, as records; nothing that the bundle holds makes this raise."""
    report = Report()
    study = Study(Bundle(root, report), report)
    if turned(study.bundle, report):
        return report.checks()
    with report.guard(1, "SHA256SUMS"):
        check_sums(study)
    with report.guard(2, "seals"):
        check_seals(study)
    with report.guard(3, "protocol.json"):
        check_protocol(study)
    with report.guard(4, "manifest.jsonl"):
        Corpus(study).check()
    with report.guard(5, "journal"):
        check_scans(study)
    with report.guard(6, "tables/readings.csv"):
        check_complete(study)
    report.unchecked(8, "report/index.html", "that every number in the page stands in a table", "penmark verify")
    held = [path for path in (*WORDS, *study.bundle.named("replies/.*")) if path in study.bundle.files]
    report.unchecked(8, ", ".join(held), "what they say: anyone can change them, and their sums", "penmark verify")
    return report.checks()


def told(check: dict[str, Any]) -> str:
    """One line for people."""
    line = f"{check['number']} {check['name']:<14}{check['state']:<13}{check['subject']}"
    if check["state"] == "failed":
        line += f": {check['got']}; expected {check['expected']}"
    elif check["state"] == "not checked":
        line += f": {check['got']}"
    return f"{line}. {check['remedy']}\n" if check["remedy"] else f"{line}\n"


def format_of(root: Path) -> int | None:
    """The number in the file `format`; None where there is none, which check 1 tells."""
    with contextlib.suppress(OSError):
        if stat.S_ISREG((root / "format").lstat().st_mode):  # a named pipe would never answer
            match = re.fullmatch(rb"([1-9][0-9]{0,8})\n", (root / "format").read_bytes()[:16])
            return int(match[1]) if match else None
    return None


def elsewhere(root: Path) -> str:
    """Where a bundle is, for somebody who named a folder that is none; "" where it is one."""
    marks = ("format", "SHA256SUMS")
    if any(os.path.lexists(root / mark) for mark in marks):
        return ""
    near = [up for up in list(root.resolve().parents)[:2] if all((up / mark).is_file() for mark in marks)]
    for pattern in ("*", "*/*", "*/*/*"):
        with contextlib.suppress(OSError):
            near += [
                mark.parent for mark in sorted(root.glob(f"{pattern}/SHA256SUMS")) if (mark.parent / "format").is_file()
            ]
    here = "".join(f"\n    {plain(each)}" for each in near[:5])
    return f"{plain(root)} is no bundle: it has neither {marks[0]} nor {marks[1]}" + (
        f"; near it:{here}" if near else ""
    )


def main(arguments: list[str]) -> int:
    """Prints what was found; the exit code."""
    folders = [argument for argument in arguments if argument != "--json"]
    root = Path(folders[0] if folders else ".")
    if len(folders) > 1 or root.name.startswith("-") or not root.is_dir():
        sys.stderr.write("usage: python3 verify.py [BUNDLE] [--json]   (BUNDLE: the folder of a bundle)\n")
        return 2
    if other := elsewhere(root):
        sys.stderr.write(f"{other}\n")
        return 2
    if (number := format_of(root)) is not None and number > FORMATS[-1]:
        known = f"this verify.py knows {KNOWN}"
        sys.stderr.write(f"{plain(root)}: is of format {number}; {known}: use a newer release\n")
        return 2
    checks = verify(root)
    failed = {check["number"] for check in checks if check["state"] == "failed"}
    if "--json" in arguments:
        out = json.dumps({"ok": not failed, "checks": checks}, indent=1) + "\n"
    else:
        unchecked = sum(check["state"] == "not checked" for check in checks)
        last = f"{len(failed)} of {len(NAMES)} checks failed; {unchecked} questions not checked here\n"
        out = "".join(map(told, checks)) + last
    sys.stdout.buffer.write(out.encode(sys.stdout.encoding or "utf-8", "backslashreplace"))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
