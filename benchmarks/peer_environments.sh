#!/bin/sh
# Makes the environments of the programs that peers_beyond_memory.py measures, below .bench/ of the repository:
#
#     sh benchmarks/peer_environments.sh              both
#     sh benchmarks/peer_environments.sh spark        one of them
#
# .bench/spark     pyspark, which needs Java as well
# .bench/dask-ml   dask-ml
#
# An environment that is ready is left as it is; remove its folder to make it anew. PYTHON names another interpreter.

set -eu

cd "$(dirname "$0")/.."
python=${PYTHON:-}
if [ -z "$python" ]; then
    if [ -x .venv/bin/python ]; then python=.venv/bin/python; else python=python3; fi
fi

environment() { # name, packages...
    folder=.bench/$1
    shift
    if [ -e "$folder/ready" ]; then
        echo "$folder is ready"
        return
    fi
    mkdir -p .bench
    "$python" -m venv --clear "$folder"
    "$folder/bin/python" -m pip install --quiet --disable-pip-version-check "$@"
    touch "$folder/ready"
    echo "$folder is made"
}

java_is_there() {
    # On some systems "java" is a stub that only tells where to get one: it has to answer.
    command -v java >/dev/null 2>&1 && java -version >/dev/null 2>&1
}

spark() {
    if ! java_is_there; then
        if [ -e /etc/debian_version ] && [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then
            apt-get update -qq
            DEBIAN_FRONTEND=noninteractive apt-get install -qq -y --no-install-recommends default-jre-headless
        else
            echo "Spark needs Java 17 or newer: install it (on Debian: apt-get install default-jre-headless)" >&2
        fi
    fi
    environment spark pyspark pyarrow pandas numpy
}

dask_ml() {
    environment dask-ml dask-ml "dask[dataframe]" distributed pyarrow scikit-learn
}

if [ $# -eq 0 ]; then set -- spark dask-ml; fi
for name in "$@"; do
    case $name in
        spark) spark ;;
        dask-ml) dask_ml ;;
        *)
            echo "no environment called $name: choose from spark, dask-ml" >&2
            exit 2
            ;;
    esac
done
