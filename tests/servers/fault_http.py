"""HTTP/1.1 messages as the fault proxy needs them: cut off exactly, passed on byte for byte."""

import socket


class Broken(Exception):
    """The connection ended where it should not have; or is to be ended."""


class Message:
    def __init__(self, head):
        self.head = head
        lines = head.decode("latin-1").split("\r\n")
        self.first = lines[0].split(" ", 2)
        self.headers = {}
        for line in lines[1:]:
            name, colon, value = line.partition(":")
            if colon:
                self.headers[name.strip().lower()] = value.strip()

    def is_chunked(self):
        return "chunked" in self.headers.get("transfer-encoding", "").lower()

    def is_order(self):
        """XML, JSON and the like: what is asked for or told, not an object's bytes."""
        kind = self.headers.get("content-type", "").lower()
        return "xml" in kind or "json" in kind or "html" in kind


class Request(Message):
    def __init__(self, head):
        super().__init__(head)
        if len(self.first) != 3:
            raise Broken
        self.method, self.target = self.first[0], self.first[1]

    def body_bytes(self):
        return int(self.headers.get("content-length", "0"))

    def has_condition(self):
        return (self.method in ("PUT", "POST", "DELETE")
                and ("if-none-match" in self.headers or "if-match" in self.headers
                     or "ifGenerationMatch=" in self.target))

    def is_order(self):
        return super().is_order() or "comp=blocklist" in self.target


class Answer(Message):
    def __init__(self, head):
        super().__init__(head)
        self.status = int(self.first[1])
        self.body = b""
        self.closes = self.headers.get("connection", "").lower() == "close"

    def is_whole_data(self):
        return self.status == 200 and not self.is_order() and "content-range" not in self.headers

    def framed_body(self):
        """The body as it is sent: one chunk, if the head promises chunks."""
        if not self.is_chunked():
            return self.body
        chunk = b"%x\r\n%s\r\n" % (len(self.body), self.body) if self.body else b""
        return chunk + b"0\r\n\r\n"


class Reader:
    """Reads messages off a socket; confined to one thread."""

    def __init__(self, connection):
        self.socket = connection
        self._data = b""

    def _more(self):
        piece = self.socket.recv(1 << 18)
        if not piece:
            raise Broken
        self._data += piece

    def _until(self, mark):
        while mark not in self._data:
            self._more()
        end = self._data.index(mark) + len(mark)
        taken, self._data = self._data[:end], self._data[end:]
        return taken

    def _exactly(self, count):
        pieces, have = [self._data[:count]], min(count, len(self._data))
        self._data = self._data[count:]
        while have < count:
            piece = self.socket.recv(min(1 << 20, count - have))
            if not piece:
                raise Broken
            pieces.append(piece)
            have += len(piece)
        return b"".join(pieces)

    def _chunks(self):
        """The decoded body, and the bytes as they came."""
        decoded, raw = [], []
        while True:
            size = self._until(b"\r\n")
            count = int(size.split(b";")[0], 16)
            raw.append(size)
            if count == 0:
                trailer = self._until(b"\r\n")
                raw.append(trailer)
                while trailer != b"\r\n":
                    trailer = self._until(b"\r\n")
                    raw.append(trailer)
                return b"".join(decoded), b"".join(raw)
            piece = self._exactly(count + 2)
            raw.append(piece)
            decoded.append(piece[:-2])

    def read_request(self):
        """None if the client is done."""
        try:
            if not self._data:
                self._more()
        except (Broken, OSError):
            return None
        return Request(self._until(b"\r\n\r\n"))

    def read_body(self, request, count=None):
        if "100-continue" in request.headers.get("expect", "").lower():
            # The server is sent the header too, and its own 100 is dropped.
            self.socket.sendall(b"HTTP/1.1 100 Continue\r\n\r\n")
        if request.is_chunked():
            return self._chunks()[1]
        return self._exactly(request.body_bytes() if count is None else count)

    def read_answer(self, method):
        try:
            answer = Answer(self._until(b"\r\n\r\n"))
            while 100 <= answer.status < 200:
                answer = Answer(self._until(b"\r\n\r\n"))
            if method == "HEAD" or answer.status in (204, 304):
                return answer
            if answer.is_chunked():
                answer.body, _ = self._chunks()
            elif "content-length" in answer.headers:
                answer.body = self._exactly(int(answer.headers["content-length"]))
            else:
                answer.closes = True
                answer.body = self._rest()
            return answer
        except OSError as error:
            raise Broken from error

    def _rest(self):
        pieces = [self._data]
        self._data = b""
        while piece := self.socket.recv(1 << 18):
            pieces.append(piece)
        return b"".join(pieces)


def connect(port):
    connection = socket.create_connection(("127.0.0.1", port), timeout=120)
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return Reader(connection)
