"""Compares the CNN of 'outlast-train cifar10' to the same one in PyTorch: weights go both ways as .pth files, and both
say the same of every picture.

usage: cifar10_test.py OUTLAST-TRAIN

Ends with 77 if there is no PyTorch.
"""

import json
import pathlib
import subprocess
import sys
import tempfile
import unittest

try:
    import torch
    from torch import nn
    from torch.nn import functional
except ImportError:
    print("PyTorch is missing: apt-get install python3-torch", file=sys.stderr)
    sys.exit(77)

TRAIN = sys.argv[1] if len(sys.argv) == 2 else sys.exit(__doc__)
PICTURES = 40  # in each of the files


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 6, 5)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(400, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x):
        x = functional.max_pool2d(functional.relu(self.conv1(x)), 2)
        x = functional.max_pool2d(functional.relu(self.conv2(x)), 2)
        x = functional.relu(self.fc1(torch.flatten(x, 1)))
        return self.fc3(functional.relu(self.fc2(x)))


class Cifar10(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        torch.set_num_threads(1)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.data = self.folder / "data"
        self.data.mkdir()
        for name in [*(f"data_batch_{number}" for number in range(1, 6)), "test_batch"]:
            records = torch.randint(0, 256, (PICTURES, 3073), dtype=torch.uint8)
            records[:, 0] = torch.arange(PICTURES) % 10
            (self.data / f"{name}.bin").write_bytes(bytes(records.flatten().tolist()))
        self.pictures = (records[:, 1:].reshape(PICTURES, 3, 32, 32).float() / 255 - 0.5) / 0.5

    def run_train(self, *words):
        done = subprocess.run([TRAIN, *map(str, words)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def predictions(self, *words):
        out = self.run_train("cifar10", "--data", self.data, "--mode", "predict", "--json", *words)
        return [json.loads(line) for line in out.splitlines()]

    def says_the_same(self, model, predictions):
        with torch.no_grad():
            probabilities = functional.softmax(model(self.pictures), 1)
        self.assertEqual(len(predictions), PICTURES)
        for number, said in enumerate(predictions):
            best = probabilities[number].max().item()
            self.assertAlmostEqual(said["probability"], best, delta=1e-5)
            self.assertEqual(said["label"], str(probabilities[number].argmax().item()))

    def test_what_we_trained_is_the_same_in_python(self):
        job = self.folder / "job"
        self.run_train("cifar10", "--data", self.data, "--job-dir", job, "--train-steps", 300, "--learning-rate", 0.01)
        self.run_train("export", job, "--output", self.folder / "net.pth")
        model = Net()
        model.load_state_dict(torch.load(self.folder / "net.pth"))
        self.says_the_same(model, self.predictions("--job-dir", job))

    def test_what_python_made_is_the_same_here(self):
        for name, options in {"new": {}, "old": {"_use_new_zipfile_serialization": False}}.items():
            with self.subTest(name):
                model = Net()
                with torch.no_grad():
                    for parameter in model.parameters():
                        parameter.mul_(2)  # so that it is sure of something
                path = self.folder / f"{name}.pth"
                torch.save({"epoch": 3, "model_state_dict": model.state_dict(), "loss": 0.5}, path, **options)
                self.says_the_same(model, self.predictions("--weights", path))


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0)
