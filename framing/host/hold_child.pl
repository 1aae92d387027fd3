# Part of supervisor.pl for a shell that is held: the child says by what, or why it is not, and then it is no shell.
#
#= $h $held what holds it
#= $g $room_dir see hold_begin.pl
#= H HOLD_END see hold_begin.pl
#= I HOLD_IN see hold_begin.pl
close HOLD_END;
@_ = fileno HOLD_IN;
$held = $room_dir eq "" ? undef : eval '@hold@';
syswrite HOLD_IN, defined $held ? "K$held" : "N".($@ || "it has no place for temporary files");
defined $held or exit 126;
