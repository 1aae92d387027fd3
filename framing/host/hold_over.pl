#= T remove_room see hold_begin.pl
#= C hear_calls see hold_begin.pl
#= x call_watch see hold_told.pl
#= $q $calls see supervisor.pl
#= $n $count how many files and processes the shell leaves behind
#= $t $token see supervisor.pl
#= $g $room_dir see hold_begin.pl
#= K ROOM_DIR see hold_begin.pl
if (@call_watch) {
	# What still runs has half a second to end.
	for (1..25) {
		write_out(hear_calls());
		vec($calls, $call_watch[0], 1) || last;
		select undef, undef, undef, .02
	}
	opendir ROOM_DIR, $room_dir;
	$count = grep($_ !~ "^[.]+\$", readdir ROOM_DIR).";".vec $calls, $call_watch[0], 1;
	closedir ROOM_DIR;
	write_out("@rs@$token"."r".length("left;$count").";left;$count");
	$call_watch[2]->()
}
remove_room();
