# Part of supervisor.pl for a shell that is held: has its system calls answered, and tells which were refused.
#
#= $r $ready see supervisor.pl
#= $l $limit see supervisor.pl
#= $s $ended see supervisor.pl
#= $c $child see supervisor.pl
#= $n $count a process that has ended
#= $p $pid see supervisor.pl
#= x call_watch see hold_told.pl
#= C hear_calls see hold_begin.pl
if (@call_watch && vec $ready, $call_watch[0], 1) {
	write_out(hear_calls());
	defined $ended && ($limit -= 1e4)
}
# What lost its parents is the supervisor's to wait for.
if (@call_watch && $child) {
	while (($count = waitpid -1, 1) > 0) { $count == $pid && ($ended = $?) }
}
