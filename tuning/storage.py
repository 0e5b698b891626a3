"""The trials of a study in a database, or behind optuna's proxy, so that several machines work on them.

Each machine has the study's plan in a directory of its own. The storage holds the plan too, and the runs that all
machines need: those of the defaults, and those on held-out pairs.
"""

from __future__ import annotations

import contextlib
import hashlib
import re
from collections.abc import Iterator, Mapping
from itertools import takewhile
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl, unquote, urlsplit

import optuna

from lns_support.errors import InputError
from lns_support.files import atomic_write, read_text
from lns_support.text import printable
from tuning.plan import BASE_FILE, JOURNAL_FILE, STUDY_FILE
from tuning.run_store import RunKey

if TYPE_CHECKING:
    from optuna.storages import BaseStorage

STORAGE_FILE = "storage.txt"  # in the directory: where the trials are, without the password
ANSWER_S = 10  # for the first answer of a storage
_DRIVERS = {"postgresql": "postgresql+psycopg", "mysql": "mysql+pymysql"}
_PIP_NAMES = {"psycopg": "'psycopg[binary]'", "pymysql": "'PyMySQL[rsa]'", "grpc": "grpcio"}  # by imported module
_PLAN, _RUN, _PART = (
    "file ",
    "run ",
    "part ",
)  # attributes of the study: files of the plan, finished runs, parts of texts
_LONGEST = 10_000  # characters of an attribute; an attribute in MySQL has 65,535 bytes at most


def connect(url: str) -> BaseStorage:
    """The storage at a URL.

    Parameters
    ----------
    url : str
        ``postgresql://USER@HOST/DATABASE``, ``mysql://...`` or ``grpc://HOST:PORT``.

    Raises
    ------
    InputError
        The URL is of another kind, its driver is not installed, or the storage refuses.
    """
    scheme = _scheme(url)
    with storage_errors(url):
        if scheme == "grpc":
            parts = urlsplit(url)
            proxy = optuna.storages.GrpcStorageProxy(host=parts.hostname or "", port=parts.port or 0)
            proxy.wait_server_ready(timeout=ANSWER_S)
            return proxy
        driver = _DRIVERS.get(scheme, scheme)
        engine = {"pool_pre_ping": True, "connect_args": {"connect_timeout": ANSWER_S}}
        try:
            return optuna.storages.RDBStorage(driver + url[len(scheme) :], engine_kwargs=engine)
        except Exception as error:
            if _is_of_the_storage(error) or _missing_package(error):
                raise
            raise _refusal(url, error, parameters=True) from None


def _scheme(url: str) -> str:
    """The scheme of a URL that can be one of a storage."""
    expected = "postgresql://USER@HOST/DATABASE, mysql://USER@HOST/DATABASE or grpc://HOST:PORT"
    written = "; before the @ of the host, / ? # @ are written %2F %3F %23 %40" if "@" in url else ""
    try:
        parts = urlsplit(url)
        has_place = bool(parts.hostname) and (bool(parts.port) or parts.scheme != "grpc")
    except ValueError:
        raise InputError(f"no URL of a storage: {shown(url)}; expected {expected}{written}") from None
    if parts.scheme.startswith("sqlite"):
        raise InputError(
            f"SQLite is no storage for several machines; expected {expected}, or none for the journal file"
        )
    if parts.scheme.partition("+")[0] not in (*_DRIVERS, "grpc") or not has_place:
        raise InputError(f"no URL of a storage: {shown(url)}; expected {expected}{written}")
    return parts.scheme


def shown(url: str) -> str:
    """The URL without its password and its query, which may hold one: as it is shown and saved.

    Of a URL that can be read in two ways, of which one puts a part of the password elsewhere, only the scheme.
    """
    scheme, mark, rest = url.partition("://")
    if not mark or not re.fullmatch(r"[a-z0-9+.]+", scheme):
        return printable(url, 200) if re.fullmatch(r"[\w./-]*", url) else "…"
    user, at, place = rest.rpartition("@")
    place = re.split(r"[?#]", place, maxsplit=1)[0]
    of_place = r"(:[0-9]+)?" if scheme == "grpc" else r"((:[0-9]+)?/.*)?"  # a lone number may be a password
    known = r"[\w.,:/%\[\]-]*" if at else rf"(\[[0-9a-f:]+\]|[\w.,%-]*){of_place}"
    if re.search(r"[?#]", user) or not re.fullmatch(known, place):
        return f"{scheme}://…"
    return printable(f"{scheme}://{user.partition(':')[0]}{at}{place}", 200)


def _parameters(url: str) -> dict[str, str]:
    """The parameters of a URL; none from one with a password on, which may go on behind an ampersand."""
    query = "" if shown(url).endswith("…") else url.rpartition("@")[2].partition("?")[2]
    found = parse_qsl(query, keep_blank_values=True)
    return dict(takewhile(lambda one: not re.search("pass|pwd", one[0], re.IGNORECASE), found))


def _without_secrets(text: str, url: str) -> str:
    """The text without what of the URL is not shown, whole or in parts: any of it may be of a password."""
    rest = url.partition("://")[2] or url
    wholes = [rest, rest.rpartition("@")[0], rest.rpartition("@")[0].partition(":")[2], rest.partition(":")[2]]
    wholes += re.split("[?&=]", url)
    words = {word for whole in (url, unquote(url)) for word in re.findall(r"\w+", whole)}
    public = {*re.findall(r"\w+", f"{shown(url)} {_parameters(url)}")}
    secrets = {*wholes, *map(unquote, wholes), *words} - public - {""}
    for secret in sorted(secrets, key=len, reverse=True):
        own = re.escape(secret)
        text = re.sub(rf"(?<!\w){own}(?!\w)" if re.fullmatch(r"\w+", secret) else own, "***", text)
    return text


def _refusal(url: str, error: Exception, *, parameters: bool = False) -> InputError:
    """What a storage, or the reading of its URL with its parameters, refuses, in one sentence without the password."""
    reason = str(error.__cause__ or error).strip().partition("\n")[0]
    if isinstance(error, UnicodeError):  # its message tells a character of the password
        reason = "a character of its URL cannot be sent"
    elif isinstance(error, AttributeError | KeyError):
        reason = "the driver does not know the value of a parameter"
    reason = _without_secrets(reason or type(error).__name__, url)
    names = ", ".join(_parameters(url)) if parameters else ""
    wrong = f", with {names} in its URL" if names else ""
    return InputError(f"the storage {shown(url)} refuses: {printable(reason + wrong, 300)}")


@contextlib.contextmanager
def storage_errors(url: str | None) -> Iterator[None]:
    """An error of the storage at ``url`` becomes one sentence without the password."""
    if url is None:
        yield
        return
    try:
        yield
    except InputError:
        raise
    except Exception as error:
        if package := _missing_package(error):
            raise InputError(
                f"the storage {shown(url)} needs {package}, which is not installed (extra 'storage'): "
                f"pip install {_PIP_NAMES.get(package, package)}, or make install in a checkout"
            ) from None
        if not _is_of_the_storage(error):
            raise
        raise _refusal(url, error) from None


def _missing_package(error: Exception) -> str | None:
    """The package that a driver did not find; None for other errors."""
    if isinstance(error, ImportError):
        return error.name
    is_of_pymysql = isinstance(error, RuntimeError) and "'cryptography' package is required" in str(error)
    return "cryptography" if is_of_pymysql else None  # for the passwords of MySQL 8


def _is_of_the_storage(error: Exception) -> bool:
    modules = ("sqlalchemy", "psycopg", "pymysql", "grpc", "alembic")
    kinds = [kind.__module__.partition(".")[0] for kind in type(error).__mro__]
    return isinstance(error, ConnectionError | optuna.exceptions.StorageInternalError) or any(
        module in kinds for module in modules
    )


# -- the plan ---------------------------------------------------------------------------------------------------------


def study_name(path: Path) -> str:
    """Name of the study in ``path`` inside a storage: that of its directory."""
    return f"lns {path.resolve().name}"


def check_place(path: Path, url: str | None) -> None:
    """Raise InputError if the trials of the study in ``path`` are elsewhere than at ``url``."""
    marker = path / STORAGE_FILE
    if url is None and marker.exists():
        raise InputError(
            f"the trials are in {printable(read_text(marker).strip(), 300)}; expected --storage with its URL", path
        )
    if url is not None and not marker.exists() and (path / JOURNAL_FILE).exists():
        raise InputError("this file has the trials of the study; expected no --storage", path / JOURNAL_FILE)


def fetch_plan(storage: BaseStorage, path: Path) -> bool:
    """Write the plan that the storage has of this study into ``path``; False if there is none."""
    try:
        study = optuna.load_study(storage=storage, study_name=study_name(path))
    except KeyError:
        return False
    files = dict(_texts(study.user_attrs, _PLAN))
    if STUDY_FILE not in files:
        return False
    path.mkdir(parents=True, exist_ok=True)
    for name in sorted(files, key=lambda name: name == STUDY_FILE):  # the file that makes it a study comes last
        if not re.fullmatch(rf"{STUDY_FILE}|{BASE_FILE}|instance-[0-9]{{1,4}}\.json", name):
            raise InputError(f"the storage has a file {printable(name, 60)} of the study; expected only its plan")
        atomic_write(path / name, files[name])
    return True


def share_plan(study: optuna.Study, path: Path, url: str) -> None:
    """Put the plan in ``path`` into the storage; InputError if the storage has another one under this name."""
    names = [*sorted(file.name for file in path.glob("instance-*.json")), BASE_FILE, STUDY_FILE]
    known = dict(_texts(study.user_attrs, _PLAN))
    for name in names:
        text = read_text(path / name)
        if STUDY_FILE not in known:
            _put(study, _PLAN + name, text)
        elif known.get(name) != text:
            raise InputError(
                f"the storage {shown(url)} has another study named '{path.resolve().name}'; expected a directory of "
                "another name, or a new one for that study",
                path,
            )
    atomic_write(path / STORAGE_FILE, shown(url) + "\n")


class SharedRuns:
    """The runs in a storage that several machines need, as lines of `tuning.run_store`.

    Parameters
    ----------
    study : optuna.Study
        The trials.
    base : str
        Digest of the defaults.
    first_held_out : int
        Seed of the first held-out pair.
    """

    def __init__(self, study: optuna.Study, base: str, first_held_out: int) -> None:
        self._study, self._base, self._first_held_out = study, base, first_held_out

    def put(self, key: RunKey, line: str) -> None:
        """Add a run, if others need it."""
        if key[0].partition(":")[0] == self._base or key[2] >= self._first_held_out:
            _put(self._study, _RUN + " ".join(map(str, key)), line)

    def lines(self) -> list[str]:
        """All runs."""
        return [line for _, line in _texts(self._study.user_attrs, _RUN)]


# -- texts ------------------------------------------------------------------------------------------------------------


def _put(study: optuna.Study, name: str, text: str) -> None:
    """Set an attribute to a text. The parts of a long one are stored before, so that who reads the name finds them."""
    if len(text) <= _LONGEST:
        study.set_user_attr(name, text)
        return
    digest = hashlib.sha256(text.encode()).hexdigest()[:32]
    parts = {f"{_PART}{digest} {at}": text[at : at + _LONGEST] for at in range(0, len(text), _LONGEST)}
    for part, content in parts.items():
        study.set_user_attr(part, content)
    study.set_user_attr(name, list(parts))


def _texts(attributes: Mapping[str, Any], kind: str) -> Iterator[tuple[str, str]]:
    """Names and texts of the attributes of a kind."""
    for name, value in attributes.items():
        if name.startswith(kind):
            parts = [attributes.get(str(part), "") for part in value] if isinstance(value, list) else [value]
            yield name.removeprefix(kind), "".join(map(str, parts))
