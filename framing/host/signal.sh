# Makes the shell $0 end its command, then sends @signal@ to all its descendants, and prints what it has done; see Signal. The
# signal 0 is none.
#
# Like loader.sh it is sent in one line between single quotes, for every login shell.
is_deaf=
@descendants@
@hearing@
case $is_deaf in d) ;; *) kill -URG $0 2>/dev/null
list_descendants $0;; esac
set -- $descendant_ids
test "$1" && kill -@signal@ $descendant_ids 2>/dev/null
echo fairlead:$0:$#:$is_deaf:
