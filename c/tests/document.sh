#!/bin/sh
# document.sh PAGE COMPILER...: compiles the C blocks of a page, one after the other, as one file on the standard input.
page=$1
shift
sed -n '/^```c$/,/^```$/{/^```/d;p;}' "$page" | "$@" -
