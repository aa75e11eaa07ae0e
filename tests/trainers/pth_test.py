"""Compares our files of weights to those of PyTorch, both ways: torch.save(), our reader, our writer, torch.load().

usage: pth_test.py PTH_TOOL

Ends with 77 if there is no PyTorch.
"""

import collections
import os
import pathlib
import subprocess
import sys
import tempfile
import unittest
import zipfile

try:
    import torch
except ImportError:
    print("PyTorch is missing: apt-get install python3-torch", file=sys.stderr)
    sys.exit(77)

TOOL = sys.argv[1] if len(sys.argv) == 2 else sys.exit(__doc__)
FORMATS = {"zip": {}, "legacy": {"_use_new_zipfile_serialization": False}}
NEW_DTYPES = [getattr(torch, name) for name in (
    "uint16", "uint32", "uint64", "float8_e4m3fn", "float8_e5m2", "float8_e4m3fnuz", "float8_e5m2fnuz",
    "float8_e8m0fnu") if hasattr(torch, name)]
OLD_DTYPES = [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16,
              torch.int8, torch.uint8, torch.bool, torch.complex64]


def same(a, b):
    """Equal values of equal types, tensors bit by bit; an ordered dictionary may be a plain one."""
    if isinstance(a, torch.Tensor):
        if not isinstance(b, torch.Tensor) or (a.dtype, a.shape) != (b.dtype, b.shape):
            return False
        return bytes_of(a) == bytes_of(b)
    if isinstance(a, dict):
        return isinstance(b, dict) and list(a) == list(b) and all(same(a[key], b[key]) for key in a)
    if isinstance(a, (list, tuple)):
        return isinstance(b, type(a)) and len(a) == len(b) and all(map(same, a, b))
    return type(a) is type(b) and a == b


def bytes_of(tensor):
    tensor = tensor.detach().contiguous()
    return bytes(tensor.view(torch.uint8).reshape(-1).tolist()) if tensor.dim() else bytes_of(tensor.reshape(1))


def drawn(shape, dtype):
    """Any bits, from the seed."""
    elements = int(torch.tensor(shape).prod()) if shape else 1
    size = torch.empty(0, dtype=dtype).element_size()
    raw = torch.randint(0, 2 if dtype == torch.bool else 256, (elements * size,), dtype=torch.uint8)
    return raw.view(dtype).reshape(shape)


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = torch.nn.Conv2d(3, 4, 3, bias=False)
        self.bn1 = torch.nn.BatchNorm2d(4)
        self.linear = torch.nn.Linear(4, 2)

    def forward(self, x):
        return self.linear(self.bn1(self.conv1(x)).mean((2, 3)))


def trained(kind):
    torch.manual_seed(1)
    net = Net()
    optimizer = kind(net.parameters())
    net(torch.randn(5, 3, 6, 6)).sum().backward()
    optimizer.step()
    return net, optimizer


class PthTest(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)

    def tool(self, how, source, name="ours.pth"):
        done = subprocess.run([TOOL, how, source, self.folder / name], capture_output=True, text=True, check=False)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual([p.name for p in self.folder.iterdir() if p.name.endswith(".tmp")], [])
        return self.folder / name

    def refusal(self, source):
        done = subprocess.run([TOOL, "tree", source, self.folder / "refused.pth"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 1)
        self.assertFalse((self.folder / "refused.pth").exists())
        return done.stderr

    def check(self, value, floats=False, expected=None):
        for name, options in FORMATS.items():
            with self.subTest(name):
                theirs = self.folder / f"{name}.pth"
                torch.save(value, theirs, **options)
                ours = self.tool("tree", theirs)
                wanted = value if expected is None else expected
                self.assertTrue(same(wanted, torch.load(ours)), torch.load(ours))
                # PyTorch 1.13 has no floats there.
                if not floats or not torch.__version__.startswith("1."):
                    self.assertTrue(same(wanted, torch.load(ours, weights_only=True)))
                # What we read of our own is the same again, to the byte.
                self.assertEqual(self.tool("tree", ours, "again.pth").read_bytes(), ours.read_bytes())

    def test_dtypes(self):
        self.check({str(dtype): drawn((2, 3), dtype) for dtype in OLD_DTYPES})

    def test_new_dtypes(self):
        value = {str(dtype): drawn((2, 3), dtype) for dtype in NEW_DTYPES}
        torch.save(value, self.folder / "new.pth")
        self.assertTrue(same(value, torch.load(self.tool("tree", self.folder / "new.pth"))))

    def test_shapes(self):
        self.check({str(shape): drawn(shape, torch.float32) for shape in
                    ((), (1,), (0,), (3, 0, 2), (5, 1, 1, 3), (2, 3, 4, 5), (1000, 70))})

    def test_views(self):
        base = drawn((4, 6), torch.float32)
        half = drawn((3, 5, 7), torch.float16)
        self.check({
            "base": base, "again": base, "transposed": base.t(), "row": base[2], "column": base[:, 3],
            "steps": base[::2, 1::3], "expanded": base[:, :1].expand(4, 5), "permuted": half.permute(2, 0, 1),
            "last": half[2, 4, 6], "nothing": half[:, 5:], "channels": drawn((2, 3, 4, 5), torch.float32).to(
                memory_format=torch.channels_last)})

    def test_values(self):
        self.check({
            "none": None, "yes": True, "no": False, "text": "Größe 漢 \n\"", "empty": "", "list": [1, [2.5, []], "a"],
            "tuple": (1, (2,), (), (1, 2, 3, 4)), "dict": {}, 5: "five", -7: {0: 1}, "float": 1e-300, "inf": float("inf"),
            "ints": [0, 1, 255, 256, 65535, 65536, -1, 2**31 - 1, 2**31, -2**31, -2**31 - 1, 2**63 - 1, -2**63]},
            floats=True)

    def test_what_is_read_as_something_simpler(self):
        net, _ = trained(torch.optim.Adam)
        weight = net.linear.weight
        self.check(
            {"parameter": weight, "size": weight.shape, "dtype": torch.float16, "device": torch.device("cpu"),
             "set": {3}, "counts": collections.Counter([2])},
            expected={"parameter": weight.detach(), "size": (2, 4), "dtype": "torch.float16", "device": "cpu",
                      "set": [3], "counts": {2: 1}})

    def test_checkpoints_with_optimizers(self):
        for kind in (lambda p: torch.optim.SGD(p, lr=0.1, momentum=0.9), torch.optim.Adam, torch.optim.AdamW):
            net, optimizer = trained(kind)
            value = {"epoch": 3, "model_state_dict": net.state_dict(),
                     "optimizer_state_dict": optimizer.state_dict(), "loss": 0.25}
            self.check(value, floats=True)
            other, resumed = trained(kind)
            loaded = torch.load(self.folder / "ours.pth")
            other.load_state_dict(loaded["model_state_dict"])
            resumed.load_state_dict(loaded["optimizer_state_dict"])
            for step in (0, 1):
                for model, stepper in ((net, optimizer), (other, resumed)):
                    stepper.zero_grad()
                    model(torch.full((2, 3, 6, 6), 0.5 + step)).sum().backward()
                    stepper.step()
            self.assertTrue(same(net.state_dict(), other.state_dict()))

    def test_a_plain_state_from_a_checkpoint(self):
        net, optimizer = trained(torch.optim.Adam)
        wrapped = collections.OrderedDict(("module." + k, v) for k, v in net.state_dict().items())
        for name, options in FORMATS.items():
            torch.save({"epoch": 3, "state_dict": wrapped, "optimizer": optimizer.state_dict()},
                       self.folder / name, **options)
            ours = self.tool("plain", self.folder / name)
            loaded = torch.load(ours, weights_only=True)
            self.assertIs(type(loaded), collections.OrderedDict)
            self.assertTrue(same(dict(net.state_dict()), loaded))
            Net().load_state_dict(loaded)
            flat = torch.load(self.tool("flat", self.folder / name))
            self.assertIn("state_dict.module.conv1.weight", flat)
            self.assertIn("optimizer.state.0.exp_avg", flat)

    def test_safetensors(self):
        try:
            import safetensors.torch
        except ImportError:
            self.skipTest("the safetensors package is missing")
        net, _ = trained(torch.optim.Adam)
        torch.save(net.state_dict(), self.folder / "a.pth")
        ours = self.tool("flat", self.folder / "a.pth", "ours.safetensors")
        self.assertTrue(same({k: net.state_dict()[k] for k in sorted(net.state_dict())},
                             dict(sorted(safetensors.torch.load_file(ours).items()))))
        back = torch.load(self.tool("flat", ours))
        self.assertTrue(same(dict(sorted(net.state_dict().items())), dict(sorted(back.items()))))

    def test_our_zip_is_one_to_others(self):
        torch.save({"a": drawn((100,), torch.float32), "b": drawn((7,), torch.int8)}, self.folder / "a.pth")
        with zipfile.ZipFile(self.tool("tree", self.folder / "a.pth")) as ours:
            self.assertIsNone(ours.testzip())
            self.assertEqual(ours.namelist(), ["archive/data.pkl", "archive/byteorder", "archive/data/0",
                                               "archive/data/1", "archive/version"])
            for info in ours.infolist():
                ours.fp.seek(info.header_offset + 26)
                name, extra = (int.from_bytes(ours.fp.read(2), "little") for _ in range(2))
                self.assertEqual((info.header_offset + 30 + name + extra) % 64, 0)

    def test_what_is_no_tensor_is_refused_by_name(self):
        class Evil:
            def __reduce__(self):
                return os.system, ("echo run > /dev/stderr",)

        for name, options in FORMATS.items():
            torch.save({"a": Evil()}, self.folder / name, **options)
            said = self.refusal(self.folder / name)
            self.assertIn("this file wants Python to call posix.system, which is no tensor", said)
            self.assertIn(str(self.folder / name), said)

    def test_compressed_entries_are_refused(self):
        torch.save({"a": torch.zeros(1000)}, self.folder / "a.pth")
        with zipfile.ZipFile(self.folder / "a.pth") as source, \
                zipfile.ZipFile(self.folder / "b.pth", "w", zipfile.ZIP_DEFLATED) as packed:
            for name in source.namelist():
                packed.writestr(name, source.read(name))
        self.assertIn("is compressed", self.refusal(self.folder / "b.pth"))

    def test_files_without_checksums_are_read(self):
        if not hasattr(torch.serialization, "set_crc32_options"):
            self.skipTest("this PyTorch always sums")
        torch.serialization.set_crc32_options(False)
        try:
            self.check({"a": drawn((9,), torch.float32)})
        finally:
            torch.serialization.set_crc32_options(True)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=1)
