#!/usr/bin/env python3
# SPDX-License-Identifier: BSL-1.0
"""The `train_step` program refuses what it cannot do before it measures: train_step.py path/to/train_step"""
import os, tempfile

from program import finish, refused

with tempfile.TemporaryDirectory() as folder:
    refused('--html', os.path.join(folder, 'none', 'report.html'), because='cannot be opened')
    refused('--net', 'resnet51', because='resnet51')
finish()
