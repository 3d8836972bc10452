#!/bin/sh
# MADRIGAL: path of the binary, else madrigal of PATH; run in this folder
: ${MADRIGAL:=madrigal}
timeout 15 $MADRIGAL precompute --triples bits=1k --local 2 --store "$(printf 'st\357ore')" --quiet
