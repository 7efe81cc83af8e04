"""A stub of an OpenAI-compatible server on this machine."""

from __future__ import annotations

import json
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Endpoint:
    """A stub of a chat/completions server: `status` of its answers; after the first they wait at the `gate`."""

    def __init__(self) -> None:
        self.status = 200
        self.asked: list[dict[str, Any]] = []
        self.keys: list[str | None] = []
        self.gate = threading.Event()
        self.gate.set()
        endpoint = self

        class Handler(BaseHTTPRequestHandler):
            def do_POST(self) -> None:
                endpoint.asked.append(json.loads(self.rfile.read(int(self.headers["content-length"]))))
                endpoint.keys.append(self.headers["authorization"])
                if len(endpoint.asked) > 1:
                    endpoint.gate.wait(20)
                said = {"choices": [{"message": {"content": "<answer>2"}, "finish_reason": "length"}]}
                body = json.dumps(
                    said if endpoint.status == 200 else {"error": {"message": "no such key"}}
                ).encode()
                self.send_response(endpoint.status)
                self.send_header("content-length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/v1"
        self.thread = threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.02})
        self.thread.start()

    def close(self) -> None:
        self.gate.set()
        self.server.shutdown()
        self.server.server_close()
        self.thread.join()
