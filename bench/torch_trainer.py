"""The baseline of './dev bench trainers': the same models in PyTorch, as people write them. One thread.

usage: torch_trainer.py MODEL BATCH STEPS      prints seconds and processor seconds of STEPS training steps
"""
import sys
import time

import torch
from torch import nn
from torch.nn import functional


class Cnn(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 6, 5)
        self.pool = nn.MaxPool2d(2, 2)
        self.conv2 = nn.Conv2d(6, 16, 5)
        self.fc1 = nn.Linear(16 * 5 * 5, 120)
        self.fc2 = nn.Linear(120, 84)
        self.fc3 = nn.Linear(84, 10)

    def forward(self, x):
        x = self.pool(functional.relu(self.conv1(x)))
        x = self.pool(functional.relu(self.conv2(x)))
        x = torch.flatten(x, 1)
        x = functional.relu(self.fc1(x))
        x = functional.relu(self.fc2(x))
        return self.fc3(x)


def cifar10(batch):
    """The tutorial's network and rule, with its data in memory and normalised already: nothing but the steps is measured."""
    model = Cnn()
    rule = torch.optim.SGD(model.parameters(), lr=0.001, momentum=0.9)
    pictures = torch.rand(4096, 3, 32, 32) * 2 - 1
    labels = torch.randint(0, 10, (4096,))

    def step(number):
        first = number * batch % (4096 - batch)
        rule.zero_grad()
        functional.cross_entropy(model(pictures[first:first + batch]), labels[first:first + batch]).backward()
        rule.step()

    return step


MODELS = {"cifar10": cifar10}


def main():
    name, batch, steps = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
    torch.set_num_threads(1)
    torch.manual_seed(1)
    step = MODELS[name](batch)
    for number in range(max(steps // 20, 3)):
        step(number)
    wall, processor = time.perf_counter(), time.process_time()
    for number in range(steps):
        step(number)
    print(time.perf_counter() - wall, time.process_time() - processor)


main()
