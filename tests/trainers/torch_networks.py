"""The networks of 'outlast-train imagenet' and 'horses' in PyTorch, with the names of torchvision, which few machines
have: for the tests that compare weights and results, and for the benchmark.
"""
from torch import nn
from torch.nn import functional


def conv(before, after, kernel=1, stride=1, groups=1, bias=False):
    return nn.Conv2d(before, after, kernel, stride, (kernel - 1) // 2, groups=groups, bias=bias)


def fill_by_outputs(model):
    """First weights of the convolutions, as torchvision draws them."""
    for module in model.modules():
        if isinstance(module, nn.Conv2d):
            nn.init.kaiming_normal_(module.weight, mode="fan_out", nonlinearity="relu")
            if module.bias is not None:
                nn.init.zeros_(module.bias)


class ResnetBlock(nn.Module):
    """What both kinds have: a shortcut, by a convolution where the shape changes."""

    def __init__(self, before, after, stride):
        super().__init__()
        self.relu = nn.ReLU(inplace=True)
        self.downsample = None
        if stride != 1 or before != after:
            self.downsample = nn.Sequential(conv(before, after, 1, stride), nn.BatchNorm2d(after))

    def forward(self, x):
        shortcut = x if self.downsample is None else self.downsample(x)
        y = self.inner(x)
        y += shortcut
        return self.relu(y)


class BasicBlock(ResnetBlock):
    expansion = 1

    def __init__(self, before, width, stride):
        super().__init__(before, width, stride)
        self.conv1, self.bn1 = conv(before, width, 3, stride), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = conv(width, width, 3), nn.BatchNorm2d(width)

    def inner(self, x):
        return self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))


class Bottleneck(ResnetBlock):
    expansion = 4

    def __init__(self, before, width, stride):
        super().__init__(before, 4 * width, stride)
        self.conv1, self.bn1 = conv(before, width), nn.BatchNorm2d(width)
        self.conv2, self.bn2 = conv(width, width, 3, stride), nn.BatchNorm2d(width)
        self.conv3, self.bn3 = conv(width, 4 * width), nn.BatchNorm2d(4 * width)

    def inner(self, x):
        x = self.relu(self.bn1(self.conv1(x)))
        x = self.relu(self.bn2(self.conv2(x)))
        return self.bn3(self.conv3(x))


class Resnet(nn.Module):
    def __init__(self, block, counts, classes):
        super().__init__()
        self.conv1, self.bn1 = conv(3, 64, 7, 2), nn.BatchNorm2d(64)
        self.relu, self.maxpool = nn.ReLU(inplace=True), nn.MaxPool2d(3, 2, 1)
        channels = 64
        for number, count in enumerate(counts):
            width, blocks = 64 << number, []
            for place in range(count):
                blocks.append(block(channels, width, 2 if number > 0 and place == 0 else 1))
                channels = width * block.expansion
            setattr(self, f"layer{number + 1}", nn.Sequential(*blocks))
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(channels, classes)
        fill_by_outputs(self)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(self.avgpool(x).flatten(1))


def resnet18(classes):
    return Resnet(BasicBlock, [2, 2, 2, 2], classes)


def resnet50(classes):
    return Resnet(Bottleneck, [3, 4, 6, 3], classes)


# Of each block: channels before, kernel, channels within, channels after, whether it squeezes, activation, stride.
SMALL = [
    (16, 3, 16, 16, True, nn.ReLU, 2),
    (16, 3, 72, 24, False, nn.ReLU, 2),
    (24, 3, 88, 24, False, nn.ReLU, 1),
    (24, 5, 96, 40, True, nn.Hardswish, 2),
    (40, 5, 240, 40, True, nn.Hardswish, 1),
    (40, 5, 240, 40, True, nn.Hardswish, 1),
    (40, 5, 120, 48, True, nn.Hardswish, 1),
    (48, 5, 144, 48, True, nn.Hardswish, 1),
    (48, 5, 288, 96, True, nn.Hardswish, 2),
    (96, 5, 576, 96, True, nn.Hardswish, 1),
    (96, 5, 576, 96, True, nn.Hardswish, 1),
]


def conv_norm(before, after, kernel, stride, groups, activation):
    parts = [conv(before, after, kernel, stride, groups), nn.BatchNorm2d(after, eps=0.001)]
    return nn.Sequential(*parts, *([activation(inplace=True)] if activation else []))


class Squeeze(nn.Module):
    def __init__(self, channels):
        super().__init__()
        near = max(8, (channels // 4 + 4) // 8 * 8)
        fewer = near + 8 if near < 0.9 * (channels // 4) else near
        self.fc1, self.fc2 = conv(channels, fewer, bias=True), conv(fewer, channels, bias=True)

    def forward(self, x):
        weights = self.fc2(functional.relu(self.fc1(functional.adaptive_avg_pool2d(x, 1))))
        return functional.hardsigmoid(weights) * x


class InvertedResidual(nn.Module):
    def __init__(self, before, kernel, within, after, squeezes, activation, stride):
        super().__init__()
        self.has_shortcut = stride == 1 and before == after
        expand = [conv_norm(before, within, 1, 1, 1, activation)] if within != before else []
        self.block = nn.Sequential(*expand, conv_norm(within, within, kernel, stride, within, activation),
                                   *([Squeeze(within)] if squeezes else []), conv_norm(within, after, 1, 1, 1, None))

    def forward(self, x):
        return self.block(x) + x if self.has_shortcut else self.block(x)


class MobilenetV3Small(nn.Module):
    def __init__(self, classes):
        super().__init__()
        self.features = nn.Sequential(conv_norm(3, 16, 3, 2, 1, nn.Hardswish),
                                      *(InvertedResidual(*form) for form in SMALL),
                                      conv_norm(96, 576, 1, 1, 1, nn.Hardswish))
        self.avgpool = nn.AdaptiveAvgPool2d(1)
        self.classifier = nn.Sequential(nn.Linear(576, 1024), nn.Hardswish(inplace=True), nn.Dropout(0.2, inplace=True),
                                        nn.Linear(1024, classes))
        fill_by_outputs(self)

    def forward(self, x):
        return self.classifier(self.avgpool(self.features(x)).flatten(1))


def mobilenet_v3_small(classes):
    return MobilenetV3Small(classes)
