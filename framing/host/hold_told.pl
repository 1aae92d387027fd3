# Part of supervisor.pl for a shell that is held: passes on what the child says, and begins to answer its system calls.
#
#= $h $held what the child says
#= $i $watch the text of what answers system calls
#= $n $count how many bytes
#= x call_watch what answers system calls: its descriptor and two subs; see framing.Shell.Watch
#= $p $pid see supervisor.pl
#= $g $room_dir see hold_begin.pl
#= T remove_room see hold_begin.pl
#= H HOLD_END see hold_begin.pl
#= I HOLD_IN see hold_begin.pl
close HOLD_IN;
# It is read while the child restricts itself.
$watch = eval 'sub {@watch@}';
# 4 is EINTR, 2 is MSG_PEEK: a zero announces a descriptor.
1 while !defined recv(HOLD_END, $held, 1, 2) && $! == 4;
$held eq "\0" && $watch && (@call_watch = eval { $watch->(fileno HOLD_END, $pid, $room_dir) });
# A child that waits to hear that its calls are answered hears that they are not.
@call_watch || shutdown HOLD_END, 1;
$held = "";
1 while ($count = sysread HOLD_END, $held, 4096, length $held) || !defined $count && $! == 4;
close HOLD_END;
substr($held, 0, 1) eq "\0" && ($held = substr $held, 2);
@call_watch || $held !~ "^K[^;]*\$" || ($held .= ";".($@ || "nothing reads them"));
$held = join " ", split "\n", $held;
$held =~ "^K" || remove_room();
write_out("@rs@@nonce1@"."@nonce2@".($held || "Nthe kernel ended it")."\n");
if ($held !~ "^K") {
	alarm 60;
	sysread STDIN, $held, 1;
	exit 1
}
