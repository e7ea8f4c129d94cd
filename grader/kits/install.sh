#!/bin/bash
# install.sh TOOLKIT - as root, installs what grading on the simulated GPU needs: a C++ compiler, make, bubblewrap, and
# of the CUDA Toolkit ("13.0") only the compiler and the runtime's headers, from NVIDIA's package repository
# (docs.nvidia.com/cuda/cuda-installation-guide-linux). What is there already is kept. For Ubuntu and Debian.
set -euo pipefail

keyring=${CUDA_KEYRING:-} # the address of the cuda-keyring package; `make autograder KEYRING=...` fills it in
toolkit=${1:?"install.sh TOOLKIT, for example 13.0"}
export DEBIAN_FRONTEND=noninteractive
install() { apt-get install -y -q --no-install-recommends "$@"; }

apt-get update -q
install g++ make bubblewrap jq ca-certificates
if ! command -v nvcc > /dev/null && [ ! -x /usr/local/cuda/bin/nvcc ]; then
    if [ -z "$keyring" ]; then
        echo "There is no CUDA Toolkit here, and this kit does not say where to get it. Make it again with KEYRING=ADDRESS:" >&2
        echo "the cuda-keyring package for this system, from NVIDIA's installation guide for Linux." >&2
        exit 1
    fi
    install curl
    package=$(mktemp --suffix=.deb)
    curl -fsSL --retry 3 -o "$package" "$keyring"
    dpkg -i "$package"
    rm "$package"
    apt-get update -q
    install "cuda-nvcc-${toolkit//./-}" "cuda-cudart-dev-${toolkit//./-}"
    [ -e /usr/local/cuda ] || ln -s "cuda-$toolkit" /usr/local/cuda
fi
apt-get clean
rm -rf /var/lib/apt/lists/*
