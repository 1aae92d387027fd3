# Part of supervisor.pl for a shell that is held: passes on what the child says.
#
#= $h $held what the child says
#= $n $count how many bytes
#= T remove_room see hold_begin.pl
#= H HOLD_END see hold_begin.pl
#= I HOLD_IN see hold_begin.pl
close HOLD_IN;
$held = "";
# 4 is EINTR.
1 while ($count = sysread HOLD_END, $held, 4096, length $held) || !defined $count && $! == 4;
close HOLD_END;
$held =~ "^K" || remove_room();
write_out("@rs@@nonce1@"."@nonce2@".($held || "Nthe kernel ended it")."\n");
if ($held !~ "^K") {
	alarm 60;
	sysread STDIN, $held, 1;
	exit 1
}
