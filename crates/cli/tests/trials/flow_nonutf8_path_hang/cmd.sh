#!/bin/sh
# MADRIGAL: path of the binary, else madrigal of PATH; run in this folder
: ${MADRIGAL:=madrigal}
cp name.txt "$(printf 'na\357me.txt')"
timeout 15 $MADRIGAL run --circuit "$(printf 'na\357me.txt')" --local 2 --input 0=a.txt --input 1=b.txt --quiet
