"""The softmax of rows in two lines of PyTorch, of which torch.compile makes kernels in Triton."""

import torch


@torch.compile(dynamic=False)
def torch_compile(x, out):
    powers = torch.exp(x - x.amax(1, keepdim=True))
    out.copy_(powers / powers.sum(1, keepdim=True))
