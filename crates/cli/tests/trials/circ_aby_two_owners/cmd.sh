#!/bin/sh
# MADRIGAL: path of the binary, else madrigal of PATH; run in this folder
: ${MADRIGAL:=madrigal}
$MADRIGAL run --circuit add.aby --widths 32,32 --local 2 --input 0=a.txt --input 1=b.txt --quiet
