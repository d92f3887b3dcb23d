#!/usr/bin/env bash
# SPDX-License-Identifier: BSL-1.0
# Makes the recipes of a release in the form that the registries ask for: of conanfile.py one for ConanCenter, of
# port/ one for vcpkg, with where the sources are and their checksums.
#
#   scripts/recipes.sh OWNER/NAME TARBALL [FOLDER]
#
# OWNER/NAME is the repository on GitHub, TARBALL what it serves for the tag v<version>, as
# https://github.com/OWNER/NAME/archive/refs/tags/v<version>.tar.gz. FOLDER is build/recipes by default.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

[ $# -ge 2 ] && [ -f "$2" ] && [[ $1 == */* ]] || { sed -n '6,9s/^# \{0,1\}//p' "${BASH_SOURCE[0]}" >&2; exit 2; }
repository=$1 tarball=$2 folder=${3:-build/recipes}
version=$(sed -n 's/^#define WEFT_VERSION_[A-Z]* //p' include/weft/core/config.hpp | paste -sd.)
home=https://github.com/$repository

conan=$folder/conan/recipes/weft
rm -rf "$conan"
mkdir -p "$conan/all"
# without what Conan may have left there
find test_package -type f ! -path '*/build/*' ! -name CMakeUserPresets.json ! -path '*/__pycache__/*' -print0 |
  xargs -0 cp --parents -t "$conan/all"
sed "s|^    license = .*|&\n    homepage = \"$home\"\n    url = \"https://github.com/conan-io/conan-center-index\"|" \
  conanfile.py >"$conan/all/conanfile.py"
printf 'versions:\n  "%s":\n    folder: all\n' "$version" >"$conan/config.yml"
printf 'sources:\n  "%s":\n    url: "%s"\n    sha256: "%s"\n' "$version" "$home/archive/refs/tags/v$version.tar.gz" \
  "$(sha256sum <"$tarball" | cut -d' ' -f1)" >"$conan/all/conandata.yml"

port=$folder/vcpkg/ports/weft
rm -rf "$port"
mkdir -p "$port"
cp port/weft/usage "$port/"
sed "s|^  \"license\": .*|  \"homepage\": \"$home\",\n&|" port/weft/vcpkg.json >"$port/vcpkg.json"
{
  cat <<PORT
vcpkg_from_github(
  OUT_SOURCE_PATH SOURCE_PATH
  REPO $repository
  REF "v\${VERSION}"
  SHA512 $(sha512sum <"$tarball" | cut -d' ' -f1)
  HEAD_REF main
)
PORT
  sed '1,/^get_filename_component(SOURCE_PATH/d' port/weft/portfile.cmake
} >"$port/portfile.cmake"

echo "$conan"
echo "$port"
