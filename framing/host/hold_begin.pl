# Part of supervisor.pl for a shell that is held: makes the directory in which alone the shell may write, for what shells and sort
# keep in files. It is gone with the supervisor. Nothing in it is a directory, and no link in it is followed.
#
#= $k $maker the supervisor's process id
#= $g $room_dir the directory; "" without one
#= T remove_room removes it
#= K ROOM_DIR the directory while it is read
#= H HOLD_END where the child says what holds it
#= I HOLD_IN the end of that which the child has
$maker = $$;
sub remove_room {
	for (1..9) {
		opendir(ROOM_DIR, $room_dir) || last;
		unlink map { "$room_dir/$_" } readdir ROOM_DIR;
		closedir ROOM_DIR;
		rmdir($room_dir) && last
	}
}
END { $room_dir ne "" && $$ == $maker && remove_room() }
sysopen(RANDOM_SOURCE, "/dev/urandom", 0) && sysread RANDOM_SOURCE, $room_dir, 12;
close RANDOM_SOURCE;
$room_dir = unpack "H*", $room_dir;
for ("/dev/shm", "/run/user/$<", "/tmp", "") {
	$_ eq "" ? ($room_dir = "") : mkdir("$_/.fairlead-$room_dir", 448) && ($room_dir = "$_/.fairlead-$room_dir", last)
}
$ENV{TMPDIR} = $room_dir;
$ENV{TMPPREFIX} = "$room_dir/zsh";
pipe HOLD_END, HOLD_IN;
