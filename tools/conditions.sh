#!/usr/bin/env bash
# Run a few quick tests under conditions that differ from a developer's machine, all at once: `make test-conditions`.
# Versions of Python and of dependencies, and other systems, are jobs of .github/workflows/ci.yml.
set -euo pipefail
cd "$(dirname "$0")/.."
project=$PWD
python=$project/.venv/bin/python
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

# Files that read and write files, print text, start processes or compute with numpy and polars.
tests=(
    tests/api/test_simulate.py
    tests/cli/test_{encodings,lines,mistakes,places,progress,simulate,streams,trace,widths}.py
    tests/job/test_tables.py
    tests/setup/test_{imports,names}.py
    validation/tests/bundled
)

# A path with a space and an umlaut, and sources without version control, as in the archive of a release.
clone="$scratch/sled läb"
git clone --quiet --no-hardlinks "$project" "$clone"
rm -rf "$clone/.git"
cp python/sledlab/_native* "$clone/python/sledlab/"
cp -r python/sledlab/show/charts "$clone/python/sledlab/show/"
[ ! -d python/sledlab/view ] || cp -r python/sledlab/view "$clone/python/sledlab/"

# An older processor: newer instructions are off in numpy, OpenBLAS, Arrow, polars and the C library.
NPY_DISABLE_CPU_FEATURES=$("$python" -c \
    'import numpy; print(*numpy.show_config("dicts")["SIMD Extensions"].get("found", []))')
export NPY_DISABLE_CPU_FEATURES OPENBLAS_CORETYPE=Nehalem ARROW_USER_SIMD_LEVEL=NONE POLARS_DISABLE_AVX512=1
export GLIBC_TUNABLES=glibc.cpu.hwcaps=-AVX512F,-AVX2,-AVX,-FMA,-FMA4,-BMI2
# A locale that is not UTF-8, and a time zone 14 hours ahead of UTC.
export LANG=C LC_ALL=C TZ=Pacific/Kiritimati
# Cache and configuration directories that cannot be written. Permissions do not bind root, a read-only mount does.
mkdir --mode=500 "$scratch/read-only"
export XDG_CACHE_HOME=$scratch/read-only MPLCONFIGDIR=$scratch/read-only
isolate=()
if [ "$(id -u)" = 0 ]; then
    # shellcheck disable=SC2016 # the inner shell expands these
    isolate=(
        unshare --mount sh -c 'mount --bind "$0" "$0" && mount -o remount,bind,ro "$0" && exec "$@"' "$scratch/read-only"
    )
fi
export SLEDLAB_REFERENCE=${SLEDLAB_REFERENCE:-$project/../shared/reference}
export PYTHONPATH=$clone/python
cd "$clone"
# A session that ignores SIGHUP, without a terminal.
"${isolate[@]}" nohup "$python" -m pytest -q -n auto -m "not slow" "${tests[@]}" </dev/null 2>&1 | cat
