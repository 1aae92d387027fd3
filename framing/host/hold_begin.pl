# Part of supervisor.pl for a shell that is held: makes the directory in which alone the shell may write, for what shells and sort
# keep in files. It is gone with the supervisor. Nothing in it is a directory, and no link in it is followed.
#
#= $k $maker the supervisor's process id
#= $g $room_dir the directory; "" without one
#= T remove_room removes it
#= K ROOM_DIR the directory while it is read
#= H HOLD_END where the child says what holds it
#= I HOLD_IN the end of that which the child has
#= C hear_calls has system calls answered, and returns records of those that were refused
#= x call_watch see hold_told.pl
#= $q $calls see supervisor.pl
#= $t $token see supervisor.pl
#= $j $call_text of a record
$maker = $$;
sub remove_room {
	for (1..9) {
		opendir(ROOM_DIR, $room_dir) || last;
		unlink map { "$room_dir/$_" } readdir ROOM_DIR;
		closedir ROOM_DIR;
		rmdir($room_dir) && last
	}
}
END {
	if ($$ == $maker) {
		@call_watch && $call_watch[2]->();
		$room_dir ne "" && remove_room()
	}
}
sysopen(RANDOM_SOURCE, "/dev/urandom", 0) && sysread RANDOM_SOURCE, $room_dir, 12;
close RANDOM_SOURCE;
$room_dir = unpack "H*", $room_dir;
for ("/dev/shm", "/run/user/$<", "/tmp", "") {
	$_ eq "" ? ($room_dir = "") : mkdir("$_/.fairlead-$room_dir", 448) && ($room_dir = "$_/.fairlead-$room_dir", last)
}
$ENV{TMPDIR} = $room_dir;
$ENV{TMPPREFIX} = "$room_dir/zsh";
# A pair of local streams, over which the child can pass a descriptor too.
socketpair HOLD_END, HOLD_IN, 1, 1, 0;
sub hear_calls {
	join "", map {
		my $call_text = $_;
		defined $call_text ? "@rs@$token"."r".length($call_text).";$call_text" : (vec($calls, $call_watch[0], 1) = 0, "")[1]
	} $call_watch[1]->()
}
