# Sends a signal to the shell $0, and then to all its descendants. Like loader.sh it is sent in one line between single quotes.
@descendants@
list_descendants $0
set -- $0 $descendant_ids
kill -@signal@ $* 2>/dev/null
echo fairlead:$0:$#::
