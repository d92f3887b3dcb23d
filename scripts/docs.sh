#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Installs what is missing, builds README.md and docs/ as a site that can be searched, follows every link in it, and
# serves it:
#
#   scripts/docs.sh [--build-only]     the site is then in build/site; searching needs a server
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

serve=true
case "${1:-}" in
  "") ;;
  --build-only) serve=false ;;
  *) echo "usage: scripts/docs.sh [--build-only]" >&2; exit 2 ;;
esac

scripts/setup.sh docs
python3 scripts/site.py build/site
if $serve; then
  echo "http://localhost:8000 has the site; Ctrl+C ends it"
  python3 -m http.server 8000 --bind 127.0.0.1 --directory build/site
else
  echo "the site is in build/site; python3 -m http.server --directory build/site shows it"
fi
