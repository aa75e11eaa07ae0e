#!/usr/bin/env python3
"""A proxy between an HTTP client and its server that breaks some of the exchanges.

usage: fault_proxy.py --port P --upstream P --seed N [--rate 0.2] [--stall SECONDS]
                      [--without FAULT] [--report FILE]

What happens to request number n follows from the seed and n alone. Requests go on byte for byte,
Host included, so that signatures hold. The report is a line for each fault: number, fault, method,
path without its query.
"""

import argparse
import random
import socket
import struct
import sys
import threading
import time

import fault_http
from fault_http import Broken

# What is done to a request. "late" acts after the client was told nothing: only requests that carry
# a condition get it, because nothing but a condition can make a late plain write harmless.
FAULTS = ("reset-before", "reset-in-request", "unavailable", "lost-answer", "truncated-answer",
          "stall", "flip-answer", "flip-request", "late")
STORM_REQUESTS = 6  # so many in a row are answered 503
STORM_SHARE = 0.02
FLIP_BYTES_MIN = 512  # smaller bodies are orders, not data; no checksum guards those but TLS
FRAME_BYTES_MAX = 128  # of what stands behind the data in a body of several parts


class Decisions:
    """Pure: the fault for request n."""

    def __init__(self, seed, rate, without):
        self._seed, self._rate = seed, rate
        self._faults = [fault for fault in FAULTS if fault != without]

    def fault(self, number):
        storm = random.Random(f"{self._seed}/storm/{number // STORM_REQUESTS}")
        if storm.random() < STORM_SHARE * (self._rate > 0):
            return "unavailable"
        draw = random.Random(f"{self._seed}/{number}")
        return draw.choice(self._faults) if draw.random() < self._rate else "pass"

    def draw(self, number):
        return random.Random(f"{self._seed}/how/{number}")


class Report:
    def __init__(self, path):
        self._lock = threading.Lock()
        self._out = open(path, "w", encoding="utf-8") if path else None
        self._count = 0

    def next_number(self):
        with self._lock:
            self._count += 1
            return self._count - 1

    def note(self, number, fault, request):
        if fault == "pass" or not self._out:
            return
        with self._lock:
            path = request.target.split("?")[0]
            self._out.write(f"{number} {fault} {request.method} {path}\n")
            self._out.flush()


def reset(connection):
    """Closes with RST: the other side sees "connection reset", not an orderly end."""
    try:
        connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    except OSError:
        pass
    connection.close()


def flipped(data, draw, first, end):
    at = draw.randrange(first, end)
    return data[:at] + bytes([data[at] ^ (1 << draw.randrange(8))]) + data[at + 1:]


class Conversation:
    """One client connection, with its own connection to the server."""

    def __init__(self, client, upstream_port, decisions, report, stall_seconds):
        self._client = fault_http.Reader(client)
        self._upstream_port = upstream_port
        self._decisions, self._report, self._stall = decisions, report, stall_seconds
        self._upstream = None

    def run(self):
        try:
            while self._serve_one():
                pass
        except (Broken, OSError):
            reset(self._client.socket)
        finally:
            self._client.socket.close()
            self._drop_upstream()

    def _drop_upstream(self):
        if self._upstream:
            self._upstream.socket.close()
            self._upstream = None

    def _forward(self, request, body):
        """The whole answer. A kept connection may have ended meanwhile: then a fresh one, once."""
        for fresh in (False, True):
            if fresh or not self._upstream:
                self._drop_upstream()
                self._upstream = fault_http.connect(self._upstream_port)
                fresh = True
            try:
                self._upstream.socket.sendall(request.head + body)
                return self._upstream.read_answer(request.method)
            except Broken:
                if fresh:
                    raise
        raise Broken

    def _serve_one(self):
        request = self._client.read_request()
        if request is None:
            return False
        number = self._report.next_number()
        fault = self._decisions.fault(number)
        draw = self._decisions.draw(number)
        if fault == "late" and not request.has_condition():
            fault = "lost-answer"
        if fault == "reset-before":
            self._report.note(number, fault, request)
            raise Broken
        if fault == "reset-in-request" and request.body_bytes() > 1:
            self._report.note(number, fault, request)
            half = self._client.read_body(request, request.body_bytes() // 2)
            self._drop_upstream()
            upstream = fault_http.connect(self._upstream_port)
            upstream.socket.sendall(request.head + half)
            reset(upstream.socket)
            raise Broken
        body = self._client.read_body(request)
        if fault == "flip-request":
            # In the middle: an order may stand before the data, and its end after it.
            if len(body) < FLIP_BYTES_MIN or request.is_order():
                fault = "pass"
            else:
                body = flipped(body, draw, len(body) // 2, len(body) - FRAME_BYTES_MAX)
        if fault == "unavailable":
            self._report.note(number, fault, request)
            wait = draw.choice(("", "Retry-After: 0\r\n", "Retry-After: 1\r\n"))
            self._client.socket.sendall(
                f"HTTP/1.1 503 Service Unavailable\r\n{wait}Content-Length: 0\r\n\r\n".encode())
            return True
        if fault == "stall":
            self._report.note(number, fault, request)
            time.sleep(self._stall)
            raise Broken
        if fault == "late":
            self._report.note(number, fault, request)
            reset(self._client.socket)
            time.sleep(self._stall)
            self._forward(request, body)
            return False
        return self._answer(number, fault, draw, request, self._forward(request, body))

    def _answer(self, number, fault, draw, request, answer):
        if fault == "flip-answer":
            if not answer.is_whole_data() or len(answer.body) < FLIP_BYTES_MIN:
                fault = "pass"
            else:
                answer.body = flipped(answer.body, draw, 0, len(answer.body))
        self._report.note(number, fault, request)
        whole = answer.head + answer.framed_body()
        if fault == "lost-answer":
            raise Broken
        if fault == "truncated-answer":
            if answer.body and draw.random() < 0.8:  # else somewhere, the head included
                whole = whole[:len(answer.head) + draw.randrange(len(answer.body))]
            else:
                whole = whole[:draw.randrange(len(answer.head))]
            self._client.socket.sendall(whole)
            # An orderly end, as of a server that died: what was sent does arrive.
            self._client.socket.shutdown(socket.SHUT_WR)
            return False
        self._client.socket.sendall(whole)
        if answer.closes:
            self._drop_upstream()
            return False
        return True


def main():
    parser = argparse.ArgumentParser(add_help=False)
    parser.add_argument("--port", type=int, required=True)
    parser.add_argument("--upstream", type=int, required=True)
    parser.add_argument("--seed", required=True)
    parser.add_argument("--rate", type=float, default=0.2)
    parser.add_argument("--stall", type=float, default=0.3)
    parser.add_argument("--without", choices=FAULTS)
    parser.add_argument("--report")
    options = parser.parse_args()
    decisions = Decisions(options.seed, options.rate, options.without)
    with socket.create_server(("127.0.0.1", options.port), backlog=512) as server:
        report = Report(options.report)  # its file is the sign that we listen
        while True:
            client, _ = server.accept()
            client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            conversation = Conversation(client, options.upstream, decisions, report, options.stall)
            threading.Thread(target=conversation.run, daemon=True).start()


if __name__ == "__main__":
    try:
        main()
    except KeyboardInterrupt:
        sys.exit(130)
