# Part of supervise.sh for a shell that is held: where there is no perl, becomes python3, which asks for hold_begin.py and what that
# needs, and says so where there is no python3 either. The texts are on their way while python3 starts.
#
# -I and -S keep python3 from the account's modules and its variables, and -B from writing any; they are not taken from the shell.
#
#= _fl_x _fl_word the first line of what is typed
#= _fl_r _fl_read reads a text that is typed, behind a line with its size
#= _fl_d _fl_driver the text of driver.sh
#= _fl_o _fl_name the shell's name
command -v @perl@ >/dev/null 2>&1 || {
	command -v python3 >/dev/null 2>&1 || { printf '@rs@%s%sNit has neither perl nor python3\n' @nonce1@ @nonce2@; read -r _fl_word; exit 1; }
	printf '@rs@%s%sQ\n' @nonce1@ @nonce2@
	export fairlead _fl_driver
	exec python3 -ISBc 'import sys;_fl_read=lambda:sys.stdin.buffer.read(int(sys.stdin.buffer.readline()));exec(_fl_read())' "$@" +x -c '\e\v\a\l "$fairlead"' "$_fl_name"
}
