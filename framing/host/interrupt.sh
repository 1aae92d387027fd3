# signal.sh for SIGINT: the shell hears of it only if there are programs, as a command that traps INT and runs none has its own
# use for it, or by @alone@ where nothing is known of a trap. A child that is signaled before it has become its program may forget that: what looks like the shell gets INT
# once more a little later, with what it has started since.
#
#= m shell_like descendants that look like the shell
#= o signaled_ids descendants that have been sent the signal
is_deaf=
shell_like=
@descendants@
@hearing@
case $is_deaf in d) ;; *) list_descendants $0
if test "$descendant_ids";then kill -URG $0 2>/dev/null;else @alone@;fi
for child_id in $descendant_ids;do
	cmp -s /proc/$child_id/cmdline /proc/$0/cmdline && shell_like="$shell_like $child_id"
done;; esac
set -- $descendant_ids
test "$1" && kill -INT $descendant_ids 2>/dev/null
echo fairlead:$0:$#:$is_deaf:
test "$shell_like" && {
	sleep .05 2>/dev/null||sleep 1
	signaled_ids=" $* "
	descendant_ids=
	list_descendants $0
	for child_id in $descendant_ids;do
		case " $shell_like " in *" $child_id "*) kill -INT $child_id;;
		*) case $signaled_ids in *" $child_id "*) ;; *) kill -INT $child_id;; esac;;
		esac
	done
} 2>/dev/null||:
