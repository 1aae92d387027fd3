# Makes the shell $0 end its command, then sends @signal@ to all its descendants, and prints what it has done; see Signal. The
# signal 0 is none. It prints nothing where the shell cannot be signaled from here, as out of a sandbox of the kernel's: there the
# number can be another process's, even its own.
#
# Like loader.sh it is sent in one line between single quotes, for every login shell.
#= d is_deaf d where the shell would not end its command
kill -0 $0&&test $0 != $$||exit
is_deaf=
@descendants@
@hearing@
look_at_signals $0
case $catches_urg in n) is_deaf=d;; *) kill -URG $0
list_descendants $0;; esac
set -- $descendant_ids
test "$1"&&kill -@signal@ $descendant_ids
echo fairlead:$0:$#:$is_deaf:
