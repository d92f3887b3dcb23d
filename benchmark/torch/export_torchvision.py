#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""Models of torchvision as ONNX files, and what PyTorch runs for the same image, to hold weft's reading of the files
against: export_torchvision.py [--folder FOLDER] [--opset N] [--dynamic] [--count] [NETWORK ...]

Writes FOLDER/NETWORK.onnx, with random weights, and prints CSV: network, multiply-adds of its convolutions and products
in a run, boxes that the first stage proposes, boxes found, multiply-adds for each box of either kind (0 where a network
has no such stage). Everything but the boxes is determined by the file, so that

    place NETWORK.onnx --dim NonZero=N --dim NonMaxSuppression=N

has to count the same for as many boxes of a detection model; if fewer are found than proposed, the second
NonMaxSuppression is given by its own name, which `place` tells. Biases, which PyTorch's figure leaves out, are up to
1 % more. Needs python3-torch and python3-torchvision (tested with 1.13 and 0.14); Mask R-CNN takes 10 GB of memory
and some minutes. `--dynamic` leaves height and width of the image open, so that they are asked for, too (`--dim
height=800 --dim width=1066`).

The others leave the batch open (`place NETWORK.onnx --batch 512`); their figures are for one image."""
import argparse
import os
import sys
import warnings

try:
    import torch
    import torchvision
    from torch.utils._python_dispatch import TorchDispatchMode
except ImportError as e:
    sys.exit(f'export_torchvision: it needs PyTorch and torchvision ({e}); Debian: apt-get install python3-torchvision')

DETECTION = {  # by the size of the image that they take
    'fasterrcnn_resnet50_fpn': (800, 1066), 'fasterrcnn_mobilenet_v3_large_fpn': (800, 1066),
    'retinanet_resnet50_fpn': (800, 1066), 'fcos_resnet50_fpn': (800, 1066), 'ssd300_vgg16': (300, 300),
    'ssdlite320_mobilenet_v3_large': (320, 320), 'keypointrcnn_resnet50_fpn': (800, 1066),
    'maskrcnn_resnet50_fpn': (800, 1066)}
OTHERS = {name: (3, 224, 224) for name in (
    'resnet50', 'vit_b_16', 'swin_t', 'convnext_tiny', 'efficientnet_b0', 'mobilenet_v3_large', 'regnet_y_400mf',
    'densenet121', 'googlenet', 'shufflenet_v2_x1_0', 'squeezenet1_1', 'mnasnet1_0', 'vgg16', 'maxvit_t',
    'deeplabv3_resnet50')} | {'inception_v3': (3, 299, 299), 'r3d_18': (3, 8, 112, 112)}
NETWORKS = [*DETECTION, *OTHERS]


def multiply_adds(op, inputs, result):
    """Of one call of an op; 0 of those that are neither convolutions nor products."""
    name = op.overloadpacket.__name__
    if name == 'convolution':
        x, weight, transposed = inputs[0], inputs[1], inputs[6]
        return (x if transposed else result).numel() * weight[0].numel()
    if name in ('mm', 'bmm', 'addmm', 'baddbmm'):
        a = inputs[1] if name in ('addmm', 'baddbmm') else inputs[0]
        return result.numel() * a.shape[-1]
    return 0


class Counted(TorchDispatchMode):
    """Multiply-adds of all that runs inside."""

    def __init__(self):
        super().__init__()
        self.total = 0

    def __torch_dispatch__(self, op, types, args=(), kwargs=None):
        result = op(*args, **(kwargs or {}))
        self.total += multiply_adds(op, args, result)
        return result


def count_of_heads(net, counted):
    """What the stages that work on boxes take, and on how many boxes: filled in when the network runs."""
    heads = getattr(net, 'roi_heads', None)
    found = {'proposed': [0, 0], 'found': [0, 0]}

    def watch(module, key):
        start = []
        module.register_forward_pre_hook(lambda m, inputs: start.append(counted.total))

        def end(m, inputs, result):
            found[key][0] = len(inputs[0]) if hasattr(inputs[0], '__len__') else 0
            found[key][1] += counted.total - start.pop()
        module.register_forward_hook(end)

    for key, names in (('proposed', ('box_head', 'box_predictor')),
                       ('found', ('mask_head', 'mask_predictor', 'keypoint_head', 'keypoint_predictor'))):
        for name in names:
            if getattr(heads, name, None) is not None:
                watch(getattr(heads, name), key)
    return found


def made(name):
    options = {'weights': None}
    if name == 'deeplabv3_resnet50':
        return torchvision.models.segmentation.deeplabv3_resnet50(weights_backbone=None, **options)
    if name in ('googlenet', 'inception_v3'):
        options.update(init_weights=False)
    return getattr(torchvision.models.video if name == 'r3d_18' else torchvision.models, name)(**options)


def export_for_any_batch(name, o):
    net = made(name).eval()
    counted = Counted()
    with counted:  # with gradients: without, attention is one op, which can be neither counted nor exported
        net(torch.rand(1, *OTHERS[name]))
    print(name, counted.total, 0, 0, 0, 0, sep=',', flush=True)
    if not o.count:
        torch.onnx.export(net, (torch.rand(2, *OTHERS[name]),), os.path.join(o.folder, name + '.onnx'),
                          opset_version=max(o.opset, 14), input_names=['image'], dynamic_axes={'image': {0: 'batch'}})


def export(name, o):
    height, width = DETECTION[name]
    options = {'box_score_thresh': 0.001} if 'rcnn' in name else {}  # random weights find nothing at the usual one
    torch.manual_seed(0)
    net = getattr(torchvision.models.detection, name)(weights=None, weights_backbone=None, **options).eval()
    image = [torch.rand(3, height, width)]
    counted = Counted()
    boxes = count_of_heads(net, counted)
    with torch.no_grad(), counted:
        net(image)
    each = {key: made // count if count else 0 for key, (count, made) in boxes.items()}
    print(name, counted.total, boxes['proposed'][0], boxes['found'][0], each['proposed'], each['found'], sep=',',
          flush=True)
    if o.count:
        return
    net = getattr(torchvision.models.detection, name)(weights=None, weights_backbone=None, **options).eval()
    open_extents = {'input_names': ['image'], 'dynamic_axes': {'image': {1: 'height', 2: 'width'}}} if o.dynamic else {}
    torch.onnx.export(net, (image,), os.path.join(o.folder, name + '.onnx'), opset_version=o.opset, **open_extents)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument('networks', nargs='*', metavar='NETWORK', help='one of ' + ', '.join(NETWORKS) + '; all by default')
    p.add_argument('--folder', default='.', help='where the files go (default: here)')
    p.add_argument('--opset', type=int, default=11, help='from 11 to 16 (default: 11)')
    p.add_argument('--dynamic', action='store_true', help='leave height and width of the image open')
    p.add_argument('--count', action='store_true', help='count only, without files')
    o = p.parse_args()
    for name in o.networks:
        if name not in NETWORKS:
            p.error(f'there is no network "{name}"; there is ' + ', '.join(NETWORKS))
    warnings.filterwarnings('ignore')
    print('network,multiply_adds,boxes_proposed,boxes_found,multiply_adds_per_proposed,multiply_adds_per_found')
    for name in o.networks or NETWORKS:
        (export if name in DETECTION else export_for_any_batch)(name, o)


if __name__ == '__main__':
    main()
