"""Copies, byte by byte, at every alignment; with our own instructions and without."""

import ctypes
import os
import unittest
from unittest import mock

from outlast import _copy, _stream


def address_of(memory):
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


class Stream(unittest.TestCase):
    def test_nothing_but_what_was_meant_is_written(self):
        least = _stream.STREAMED_MIN
        source = bytearray(os.urandom(least + 70000))
        for size in (0, 1, least - 1, least, least + 1, least + _stream.BLOCK - 1, least + 65000):
            for to_shift in (0, 1, 15, 16, 63):
                for source_shift in (0, 3, 64):
                    memory = bytearray(b"\xaa") * (size + 128)
                    _stream.copy(address_of(memory) + to_shift, address_of(source) + source_shift, size)
                    expected = bytearray(b"\xaa") * (size + 128)
                    expected[to_shift : to_shift + size] = source[source_shift : source_shift + size]
                    self.assertTrue(memory == expected, (size, to_shift, source_shift))

    def test_a_system_that_lets_nobody_bring_instructions(self):
        with mock.patch("outlast._memory._mprotect", return_value=-1):
            self.assertIs(_stream._make(), ctypes.memmove)
        with mock.patch("platform.machine", return_value="aarch64"):
            self.assertIs(_stream._make(), ctypes.memmove)


class Plans(unittest.TestCase):
    def test_pieces_of_all_sizes_by_any_number_of_threads(self):
        sizes = [0, 1, 7, 16384, 16385, 9000001, 5, 5, 5, 40 << 20, 3, 70000]
        sources = [bytearray(os.urandom(size)) if size < 1 << 20 else bytearray(os.urandom(997)) * (size // 997 + 1)
                   for size in sizes]  # fmt: skip
        expected = b"".join(bytes(source[:size]) for source, size in zip(sources, sizes))
        pieces, at = [], 0
        for source, size in zip(sources, sizes):
            pieces.append((at, address_of(source) if size else 0, size))
            at += size
        for threads in (1, 2, 3, 7):
            memory = bytearray(at + 8)
            _copy.CopyPlan(pieces, threads).run(address_of(memory))
            self.assertTrue(memory == expected + bytes(8), threads)

    def test_neighbours_become_one_piece(self):
        self.assertEqual(
            _copy.coalesce([(0, 100, 8), (8, 108, 8), (16, 200, 4), (20, 204, 0), (20, 204, 4), (30, 208, 4)]),
            [(0, 100, 16), (16, 200, 8), (30, 208, 4)],
        )


if __name__ == "__main__":
    unittest.main()
