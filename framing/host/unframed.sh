# What a server that gives no terminal runs, once the command line of Unframed has taken it out of a word: it makes the
# environment, picks the shell, says on both streams that what follows is the command's, and becomes the shell.
#
# The command travels in the environment, and is taken out of it by itself: the shell's line in the host's list of processes is
# short, and holds no word that somebody looks for there.
#
#= _fl_s _fl_shell the name of the shell that is wanted, then its path
#= _fl_o _fl_name its name
#= _fl_w _fl_login y for a login shell
@environment@
@settings@fairlead=@program@
_fl_shell=@shell@
_fl_login=@login@
@pick_shell@
@forget_shell@
export fairlead
printf '@rs@%s%sP%s\n' @nonce1@ @nonce2@ $$
printf '@rs@%s%sP%s\n' @nonce1@ @nonce2@ $$ >&2
exec "$@" +x -c '\e\v\a\l "$fairlead"' "$_fl_name" @streams@
