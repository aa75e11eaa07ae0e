"""Copies of many pieces, byte by byte."""

import ctypes
import os
import unittest

from outlast import _copy


def address_of(memory):
    return ctypes.addressof(ctypes.c_char.from_buffer(memory))


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
            for is_waited_for in (True, False):
                memory = bytearray(at + 8)
                _copy.CopyPlan(pieces, threads).run(address_of(memory), is_waited_for)
                self.assertTrue(memory == expected + bytes(8), (threads, is_waited_for))

    def test_neighbours_become_one_piece(self):
        self.assertEqual(
            _copy.coalesce([(0, 100, 8), (8, 108, 8), (16, 200, 4), (20, 204, 0), (20, 204, 4), (30, 208, 4)]),
            [(0, 100, 16), (16, 200, 8), (30, 208, 4)],
        )


if __name__ == "__main__":
    unittest.main()
