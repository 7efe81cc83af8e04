"""The first lines a sandboxed interpreter runs: it gets the texts of the other modules and starts the server.

Read as text and given to `python -c`; it imports nothing of this project.
"""

import json
import socket
import struct
import sys
import types


def _main() -> None:
    control = socket.socket(fileno=int(sys.argv[1]))
    data = b""
    while len(data) < 8 or len(data) < 8 + struct.unpack("!Q", data[:8])[0]:
        part = control.recv(1 << 16)
        if not part:
            return
        data += part
    told = json.loads(data[8:])
    for name, text in told["modules"]:
        module = sys.modules[name] = types.ModuleType(name)
        module.__path__ = []
        exec(compile(text, name, "exec"), module.__dict__)  # noqa: S102
        parent, _, last = name.rpartition(".")
        if parent:
            setattr(sys.modules[parent], last, module)
    sys.modules["rewards.sandbox.inside.template"].serve(control, told["settings"])


_main()
