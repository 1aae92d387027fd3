# Prints in seconds when "$2" and so on, which are in the directory "$1", were changed last, a line each; "-" of what is not there; or
# "none". No standard program says that: stat of GNU and busybox, that of BSD, and perl do.
#
#= w when_changed prints it of one name
#= f one_name the next of them
cd -- "$1" || exit; shift
if stat -c %Y . >/dev/null 2>&1; then when_changed() { stat -c %Y -- "$1"; }
elif stat -f %m . >/dev/null 2>&1; then when_changed() { stat -f %m -- "$1"; }
elif perl -e 1 >/dev/null 2>&1; then when_changed() { perl -e 'print +(lstat shift)[9], "\n"' -- "$1"; }
else echo none; exit; fi
for one_name do when_changed "$one_name" 2>/dev/null || echo -; done
