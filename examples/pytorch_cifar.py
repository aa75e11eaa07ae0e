"""Trains a small convolutional network on CIFAR-10 with PyTorch, as its tutorial does.

    python3 examples/pytorch_cifar.py --epochs 10
    outlast run -- python3 examples/pytorch_cifar.py --epochs 10

Saves checkpoints/checkpoint_<epoch>.pth with torch.save() after each epoch, and goes on from the
highest epoch whose file can be read. The order of the pictures comes from a generator whose state is
in the checkpoint too: a run that was killed ends with the weights of one that was not.

--data DIR has data_batch_1.bin, …: the binary version of CIFAR-10. Without it, pictures are made up.
"""

import argparse
import hashlib
import pathlib
import re
import time

import numpy as np
import torch
from torch import nn

CHECKPOINTS = pathlib.Path("checkpoints")


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 6, 5)
        self.pool = nn.MaxPool2d(2, 2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * 5 * 5, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x):
        x = self.pool(torch.relu(self.conv1(x)))
        x = self.pool(torch.relu(self.conv2(x)))
        x = torch.flatten(x, 1)
        x = torch.relu(self.fc1(x))
        x = torch.relu(self.fc2(x))
        return self.fc3(x)


def read_cifar(folder, count):
    """Each record: one byte for the class, then 3 x 32 x 32 for the picture."""
    records = [np.fromfile(path, dtype=np.uint8).reshape(-1, 3073)
               for path in sorted(pathlib.Path(folder).glob("data_batch_*.bin"))]
    if not records:
        raise SystemExit(f"there is no data_batch_1.bin in {folder}")
    records = np.concatenate(records)[:count]
    return records[:, 1:].reshape(-1, 3, 32, 32), records[:, 0]


def make_up(count):
    """Ten classes, each with a coarse pattern of its own under noise."""
    random = np.random.RandomState(0)
    patterns = random.randint(64, 192, (10, 3, 4, 4)).repeat(8, axis=2).repeat(8, axis=3)
    labels = random.randint(0, 10, count)
    noise = random.randint(-60, 61, (count, 3, 32, 32))
    return np.clip(patterns[labels] + noise, 0, 255).astype(np.uint8), labels


def newest_checkpoint():
    """The contents of the highest epoch that can be read; None if there is none."""
    found = [(int(match[1]), path) for path in CHECKPOINTS.glob("checkpoint_*.pth")
             if (match := re.fullmatch(r"checkpoint_(\d+)\.pth", path.name))]
    for _, path in sorted(found, reverse=True):
        try:
            checkpoint = torch.load(path)
        except Exception as error:  # it was being written when the machine went away
            print(f"{path} cannot be read ({type(error).__name__}), trying the one before it")
            continue
        print(f"Resuming from {path}")
        return checkpoint
    return None


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--epochs", type=int, default=10)
    parser.add_argument("--images", type=int, default=2000, help="how many pictures to train with")
    parser.add_argument("--data", help="the folder with the binary version of CIFAR-10")
    parser.add_argument("--pause", type=float, default=0, help="seconds to wait after each epoch")
    options = parser.parse_args()

    torch.set_num_threads(1)  # the order of additions, and so the last bit, depends on it
    torch.manual_seed(0)
    if options.data:
        pictures, labels = read_cifar(options.data, options.images)
    else:
        print("No --data: training on made-up pictures in the shape of CIFAR-10")
        pictures, labels = make_up(options.images)
    data = torch.utils.data.TensorDataset(torch.from_numpy(pictures).float() / 127.5 - 1,
                                          torch.from_numpy(labels).long())
    shuffle = torch.Generator().manual_seed(0)
    loader = torch.utils.data.DataLoader(data, batch_size=4, shuffle=True, generator=shuffle)
    net = Net()
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(net.parameters(), lr=0.001, momentum=0.9)

    first = 1
    checkpoint = newest_checkpoint()
    if checkpoint:
        net.load_state_dict(checkpoint["model"])
        optimizer.load_state_dict(checkpoint["optimizer"])
        shuffle.set_state(checkpoint["rng"]["shuffle"])
        torch.set_rng_state(checkpoint["rng"]["torch"])
        first = checkpoint["epoch"] + 1

    CHECKPOINTS.mkdir(exist_ok=True)
    for epoch in range(first, options.epochs + 1):
        running_loss = 0.0
        for inputs, targets in loader:
            optimizer.zero_grad()
            loss = criterion(net(inputs), targets)
            loss.backward()
            optimizer.step()
            running_loss += loss.item()
        print(f"[{epoch}/{options.epochs}] loss: {running_loss / len(loader):.3f}", flush=True)
        torch.save({"epoch": epoch, "model": net.state_dict(), "optimizer": optimizer.state_dict(),
                    "loss": running_loss / len(loader),
                    "rng": {"shuffle": shuffle.get_state(), "torch": torch.get_rng_state()}},
                   CHECKPOINTS / f"checkpoint_{epoch}.pth")
        time.sleep(options.pause)

    print("Finished Training")
    weights = b"".join(value.numpy().tobytes() for value in net.state_dict().values())
    print("result", hashlib.sha256(weights).hexdigest())


if __name__ == "__main__":
    main()
