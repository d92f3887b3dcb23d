#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Installs ONNX Runtime for one test, which runs models and their stages: scripts/onnxruntime.sh [FOLDER]
# Needs node and npm, and takes about 300 MB from npm's registry. Nothing else needs it; without it the test is skipped.
set -euo pipefail

folder=${1:-$(dirname "$0")/../build/onnxruntime}
version=1.30.0

command -v npm >/dev/null || { echo "onnxruntime: npm is not installed (Debian: npm)" >&2; exit 1; }
mkdir -p "$folder"
# The scripts of the package would download CUDA's parts; the CPU's are in it.
npm install --prefix "$folder" --ignore-scripts --no-audit --no-fund "onnxruntime-node@$version"
node -e 'require(process.argv[1])' "$(realpath "$folder")/node_modules/onnxruntime-node"
echo "onnxruntime: version $version is in $folder"
