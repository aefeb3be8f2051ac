#!/bin/sh
# document.sh PAGE COMPILER...: joins the C blocks of a page, and compiles them as one file on the standard input.
page=$1
shift
sed -n '/^```c$/,/^```$/{/^```/d;p;}' "$page" | "$@" -
