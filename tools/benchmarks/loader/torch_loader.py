"""Images a second of PyTorch's DataLoader with torchvision's transforms, the
same as loader-bench's.

usage: torch_loader.py WORKERS BATCH ITEMS BATCHES SIZE
"""

import sys
import time

import numpy
import torch
from PIL import Image
from torchvision import transforms


class Pictures(torch.utils.data.Dataset):
    def __init__(self, count, size):
        numbers = numpy.random.RandomState(1)
        self.pixels = numbers.randint(0, 256, (count, size, size, 3),
                                      dtype=numpy.uint8)
        crop = (transforms.RandomCrop(32, padding=4) if size == 32
                else transforms.RandomResizedCrop(224))
        self.transform = transforms.Compose([
            crop, transforms.RandomHorizontalFlip(), transforms.ToTensor(),
            transforms.Normalize([0.49, 0.48, 0.45], [0.25, 0.24, 0.26])])

    def __len__(self):
        return len(self.pixels)

    def __getitem__(self, index):
        return self.transform(Image.fromarray(self.pixels[index])), index % 10


def main():
    workers, batch, items, batches, size = map(int, sys.argv[1:])
    loader = torch.utils.data.DataLoader(
        Pictures(items, size), batch, shuffle=True, num_workers=workers,
        drop_last=True, persistent_workers=workers > 0,
        pin_memory=torch.cuda.is_available())
    taken, start = -1, 0
    while taken < batches:
        for _ in loader:
            if taken < 0:
                start = time.perf_counter()
            taken += 1
            if taken == batches:
                break
    print(batches * batch / (time.perf_counter() - start))


if __name__ == "__main__":
    main()
