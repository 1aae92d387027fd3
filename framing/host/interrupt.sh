# signal.sh for SIGINT: the shell hears of it only if there are programs, as a command that traps INT and runs none has its own
# use for it, or by @alone@ where nothing is known of a trap. A child that is signaled before it has become its program may forget
# that: what looks like the shell gets INT once more a little later, with what it has started since. As long as such a child has the
# shell's trap on SIGURG it has the one on SIGINT, which on a busy host may take a while: it gets INT again until that is over, up to
# twenty times. As signal.sh it prints nothing where the shell cannot be signaled from here.
#
#= d is_deaf d where the shell would not end its command
#= m missed_some set while a descendant may have forgotten the signal
#= o heard_ids those that have not
#= N turn_count how often the signal was sent again
kill -0 $0&&test $0 != $$||exit
is_deaf=
missed_some=
heard_ids=" "
@descendants@
@hearing@
look_at_signals $0
case $catches_urg in n) is_deaf=d;; *) list_descendants $0
if test "$descendant_ids";then kill -URG $0;else @alone@;fi
for child_id in $descendant_ids;do
	cmp -s /proc/$child_id/cmdline /proc/$0/cmdline && missed_some=y||heard_ids="$heard_ids$child_id "
done;; esac
set -- $descendant_ids
test "$1" && kill -INT $descendant_ids
echo fairlead:$0:$#:$is_deaf:
turn_count=0
while test "$missed_some"&&test $turn_count != 20;do
	sleep .05||sleep 1
	turn_count=$((turn_count+1))
	missed_some=
	descendant_ids=
	list_descendants $0
	for child_id in $descendant_ids;do case $heard_ids in *" $child_id "*) ;; *) look_at_signals $child_id
		kill -INT $child_id
		case $catches_urg in y) missed_some=y;; *) heard_ids="$heard_ids$child_id ";; esac;; esac
	done
done 2>/dev/null
