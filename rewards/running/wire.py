"""Frames between the parent and its worker processes.

Towards a worker (which trusts its parent): a pickled object. From a worker (which ran somebody's code and is
not trusted): JSON with the numbers of arrays beside it as raw bytes; nothing that comes back is ever
unpickled or executed.
"""

from __future__ import annotations

import json
import math
import pickle
import socket
import struct
from typing import Any

from rewards.writable import writable

_LENGTH = struct.Struct("!Q")
_DTYPES = ("float64", "uint8", "int64", "bool")
MAX_ANSWER = 1 << 31
"""Bytes an answer may have; a worker that announces more is taken for broken."""

MAX_DEPTH = 100
"""Levels of nesting that cross; what lies deeper, or contains itself, crosses as a text that says so."""

_LARGE = 1 << 1024
"""Integers from here on cross as hexadecimal: Python refuses to read very long decimal ones."""


def send_object(connection: socket.socket, value: Any, *, fds: list[int] | None = None) -> None:
    """Send a trusted object to a worker; to a template with open descriptors, none or some, before it."""
    payload = pickle.dumps(value, protocol=pickle.HIGHEST_PROTOCOL)  # may raise, and then nothing is sent
    if fds is not None:
        socket.send_fds(connection, [b"+"], fds)
    connection.sendall(_LENGTH.pack(len(payload)))
    connection.sendall(payload)


def receive_object(connection: socket.socket) -> Any:
    """What `send_object` sent; EOFError when the parent is gone."""
    return pickle.loads(receive_bytes(connection))  # noqa: S301  # a worker trusts its parent


def receive_bytes(connection: socket.socket) -> bytearray:
    """One frame; EOFError when the other side is gone, ValueError when it is too long."""
    (length,) = _LENGTH.unpack(_exactly(connection, _LENGTH.size))
    if length > MAX_ANSWER:
        raise ValueError(f"a frame of {length} bytes")
    return _exactly(connection, length)


def _exactly(connection: socket.socket, length: int) -> bytearray:
    data = bytearray(length)
    view = memoryview(data)
    done = 0
    while done < length:
        got = connection.recv_into(view[done:], min(length - done, 1 << 20))
        if got == 0:
            raise EOFError
        done += got
    return data


def encode_answer(value: Any) -> bytes:
    """A frame's payload for an untrusted answer: JSON values, infinities and NumPy arrays of plain numbers."""
    buffers: list[bytes] = []
    header = json.dumps(_pack(value, buffers), allow_nan=False, ensure_ascii=True).encode()
    return b"".join([_LENGTH.pack(len(header)), header, *buffers])


def send_answer(connection: socket.socket, value: Any) -> None:
    """Send an answer to the parent."""
    payload = encode_answer(value)
    connection.sendall(_LENGTH.pack(len(payload)))
    connection.sendall(payload)


def decode_answer(payload: bytearray) -> Any:
    """What `encode_answer` encoded; for anything else an error of the kinds in `BAD_ANSWER`."""
    (length,) = _LENGTH.unpack(payload[: _LENGTH.size])
    end = _LENGTH.size + length
    header = json.loads(bytes(payload[_LENGTH.size : end]))
    return _Unpacker(payload, end).unpack(header)


def _pack(value: Any, buffers: list[bytes], depth: int = 0) -> Any:
    """JSON for a value; it never raises: what a reward hands over may be anything."""
    kind = type(value)
    if value is None or kind is bool or kind is str:
        return value
    if kind is int:
        return value if -_LARGE < value < _LARGE else {"__integer__": hex(value)}
    if kind is float:
        return value if math.isfinite(value) else {"__float__": repr(value)}
    if depth > MAX_DEPTH:
        return {"__text__": f"{kind.__name__}: nested too deeply"}
    if kind is dict:
        return {"__dict__": [[_key(key), _pack(item, buffers, depth + 1)] for key, item in value.items()]}
    if kind is list or kind is tuple:
        return [_pack(item, buffers, depth + 1) for item in value]
    try:
        return _pack_other(value, buffers, depth)
    except Exception:  # noqa: BLE001  # a user's object and its own methods
        return {"__text__": f"{kind.__name__}: it cannot be shown"}


def _pack_other(value: Any, buffers: list[bytes], depth: int) -> Any:
    plain: Any
    for plain in (bool, int, float, str):
        if isinstance(value, plain):
            return _pack(plain(value), buffers, depth)
    for plain in (dict, list, tuple):
        if isinstance(value, plain):
            return _pack(dict(value) if plain is dict else list(value), buffers, depth)
    if kind_of_array := str(getattr(value, "dtype", "")):
        if not getattr(value, "shape", ()):
            return _pack(value.item(), buffers, depth + 1)
        if type(value).__module__ == "numpy" and kind_of_array in _DTYPES:
            buffers.append(value.tobytes())
            return {"__array__": [kind_of_array, list(value.shape)]}
        return _pack(value.tolist(), buffers, depth + 1)
    return {"__text__": writable(f"{type(value).__name__}: {value!r}"[:2000])}


def _key(key: Any) -> Any:
    """A key that is one on the other side too: plain values stay, others become text."""
    kind = type(key)
    if key is None or kind is bool or kind is str or (kind is int and -_LARGE < key < _LARGE):
        return key
    if kind is float:
        return key if math.isfinite(key) else repr(key)
    try:
        return writable(str(key)[:2000])
    except Exception:  # noqa: BLE001  # a user's object
        return f"a key of type {kind.__name__}"


BAD_ANSWER = (EOFError, OSError, ValueError, TypeError, LookupError, ArithmeticError, struct.error,
              RecursionError, MemoryError)  # fmt: skip
"""What reading an answer raises where it is none: it was written in a process that ran somebody's code."""


class _Unpacker:
    def __init__(self, payload: bytearray, offset: int) -> None:
        self.payload = payload
        self.offset = offset

    def unpack(self, value: Any) -> Any:
        if isinstance(value, list):
            return [self.unpack(item) for item in value]
        if not isinstance(value, dict):
            return value
        ((key, item),) = value.items()
        if key == "__integer__":
            return int(item, 16)
        if key == "__dict__":
            return {self.unpack(name): self.unpack(content) for name, content in item}
        if key == "__float__":
            return float(item)
        if key == "__text__":
            return str(item)
        if key == "__array__":
            return self.array(*item)
        raise ValueError(f"unknown mark {key!r} in an answer")

    def array(self, dtype: str, shape: list[int]) -> Any:
        import numpy as np

        if dtype not in _DTYPES:
            raise ValueError(f"an array of {dtype}")
        count = math.prod(shape)
        size = count * np.dtype(dtype).itemsize
        if size < 0 or self.offset + size > len(self.payload):
            raise ValueError("an array longer than its frame")
        array = np.frombuffer(self.payload, dtype=dtype, count=count, offset=self.offset).reshape(shape)
        self.offset += size
        return array
