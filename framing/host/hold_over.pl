#= T remove_room see hold_begin.pl
remove_room();
