"""Compares the networks of 'outlast-train imagenet' and 'horses' to the same ones in PyTorch: weights go both ways as
.pth files, and both say the same of every picture.

usage: networks_test.py OUTLAST-TRAIN

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
    import torch_networks
except ImportError:
    print("PyTorch is missing: apt-get install python3-torch", file=sys.stderr)
    sys.exit(77)
from png_file import write_png

TRAIN = sys.argv[1] if len(sys.argv) == 2 else sys.exit(__doc__)
CLASSES = ["ant", "bee", "cat"]
PICTURES = 4  # of each class, in each half
SIDE = 64
CLOSE = 1e-4  # fifty layers of float32, added up in another order by another PyTorch
# What an evaluation sees: with 56 pixels 'imagenet' scales to 64, which these pictures have, and cuts out the middle.
NETWORKS = {
    "resnet18": (torch_networks.resnet18, ["imagenet", "--arch", "resnet18", "--image-size", 56], slice(4, 60)),
    "resnet50": (torch_networks.resnet50, ["imagenet", "--arch", "resnet50", "--image-size", 56], slice(4, 60)),
    "mobilenet_v3": (torch_networks.mobilenet_v3_small, ["horses", "--image-size", 64], slice(0, 64)),
}


def draw_picture(path, label):
    """Noise around a colour of the class. Returns it as channels of rows."""
    colour = torch.tensor([60 + 60 * label, 120, 180 - 60 * label])
    pixels = (colour + torch.randint(-60, 61, (SIDE, SIDE, 3))).clamp(0, 255)
    write_png(path, bytes(pixels.flatten().tolist()), SIDE, SIDE)
    return pixels.permute(2, 0, 1).float()


def settled(make, pictures):
    """A new network with statistics of these pictures instead of zeros and ones, then something of its own in every
    norm: none may be left out, or exchanged with another, without being seen. It says something else of each picture.
    """
    model = make(len(CLASSES))
    norms = [module for module in model.modules() if isinstance(module, nn.BatchNorm2d)]
    for norm in norms:
        norm.momentum = None  # the plain mean of all batches
    with torch.no_grad():
        model.train()(pictures)
        for norm in norms:
            norm.weight.mul_(0.7 + 0.6 * torch.rand_like(norm.weight))
            norm.bias.add_(0.2 * torch.randn_like(norm.bias))
            norm.running_mean.add_(0.1 * torch.randn_like(norm.running_mean) * norm.running_var.sqrt())
            norm.running_var.mul_(0.7 + 0.6 * torch.rand_like(norm.running_var))
        scores = model.eval()(pictures)
        head = [module for module in model.modules() if isinstance(module, nn.Linear)][-1]
        head.bias.sub_(scores.mean(0)).div_(scores.std(0))
        head.weight.div_(scores.std(0)[:, None])
    return model


class Networks(unittest.TestCase):
    def setUp(self):
        torch.manual_seed(1)
        torch.set_num_threads(1)
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        self.data = self.folder / "data"
        pictures = {}
        for half in ("train", "val"):
            for label, name in enumerate(CLASSES):
                (self.data / half / name).mkdir(parents=True)
                for number in range(PICTURES):
                    path = f"{half}/{name}/{number}.png"
                    pictures[path] = draw_picture(self.data / path, label)
        self.names = [path for path in pictures if path.startswith("val")]
        self.truths = torch.arange(len(self.names)) // PICTURES
        mean, std = torch.tensor([0.485, 0.456, 0.406]), torch.tensor([0.229, 0.224, 0.225])
        seen = torch.stack([pictures[path] for path in self.names])
        self.pictures = (seen / 255 - mean[:, None, None]) / std[:, None, None]

    def run_train(self, *words):
        done = subprocess.run([TRAIN, *map(str, words)], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def says_the_same(self, model, part, task, *which):
        """Of each picture: the class and its probability; of all of them: the loss, in which every class has a part."""
        with torch.no_grad():
            scores = model.eval()(self.pictures[:, :, part, part])
        asked = [*task, "--data", self.data, "--threads", 1, "--json", *which, "--mode"]
        said = [json.loads(line) for line in self.run_train(*asked, "predict").splitlines()]
        self.assertEqual([one["example"] for one in said], self.names)
        for one, probabilities, truth in zip(said, functional.softmax(scores, 1), self.truths):
            self.assertAlmostEqual(one["probability"], probabilities.max().item(), delta=CLOSE)
            self.assertAlmostEqual(probabilities[CLASSES.index(one["label"])].item(), one["probability"], delta=CLOSE)
            self.assertEqual(one["truth"], CLASSES[truth])
        loss = functional.cross_entropy(scores, self.truths).item()
        self.assertAlmostEqual(json.loads(self.run_train(*asked, "evaluate"))["test_loss"], loss, delta=1e-4)
        # Something that a wrong network would not say as well.
        self.assertGreater(len({round(one["probability"], 3) for one in said}), len(said) // 2, said)

    def test_what_python_made_is_the_same_here(self):
        for name, (make, task, part) in NETWORKS.items():
            with self.subTest(name):
                model = settled(make, self.pictures[:, :, part, part])
                path = self.folder / f"{name}.pth"
                torch.save(model.state_dict(), path)
                self.says_the_same(model, part, task, "--weights", path)

    def test_what_we_trained_is_the_same_in_python(self):
        for name, (make, task, part) in NETWORKS.items():
            with self.subTest(name):
                job, before, after = (self.folder / name / file for file in ("job", "before.pth", "after.pth"))
                before.parent.mkdir()
                model = settled(make, self.pictures[:, :, part, part])
                torch.save(model.state_dict(), before)
                self.run_train(*task, "--data", self.data, "--weights", before, "--job-dir", job, "--batch-size", 6,
                               "--train-steps", 3, "--learning-rate", 0.0001, "--threads", 1)
                self.run_train("export", job, "--format", "pth", "--output", after)
                trained = torch.load(after)
                for tensor, old in model.state_dict().items():
                    self.assertFalse(torch.equal(trained[tensor], old), f"{tensor} learned nothing")
                model = make(len(CLASSES))
                model.load_state_dict(trained, strict=True)
                self.says_the_same(model, part, task, "--job-dir", job)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=0)
