# The parent of the shell where there is no perl: it relays the shell's two pipes to the terminal, standard output as it is and
# standard error in records, and says how the shell ended; see supervisor.pl. It takes more processes: cat relays the output,
# and errors go through a reader. Such a reader works on its own time, so frames end only when an end mark has come
# through it too (_fl_reader in driver.sh). A pipeline needs no named pipe and so no directory.
#
# All of it ignores the keyboard's signals and SIGTERM (15) from before it is forked: a reader that ignores them only in its own
# process may hear of the first ^C before that. The process that starts the shell catches them, so that the shell has them as they
# were. In a pipeline of ksh93 what is ignored stays so: there they are caught from the start, and the readers ignore them when they
# can.
#
# A file that cannot be, /dev/null/fairlead, says in the list of processes whose they are.
#
# The shell replaces a subshell: sh prints which signal killed a command where that command's errors would go.
#
# From bootstrap.sh: _fl_shell, _fl_word and _fl_name, the shell's path, options and name, and _fl_reader.
#
#= _fl_h _fl_supervisor_sh this text
#= _fl_e _fl_reader the reader of errors
#= _fl_s _fl_shell the shell's path
#= _fl_x _fl_word the shell's options
#= _fl_o _fl_name the shell's name
#= _fl_1 _fl_kept the reader, while what came in the environment goes
#= _fl_t _fl_token the shell's token, which marks the records
#= _fl_n _fl_start its first eight letters
#= _fl_i _fl_ignore the trap on the keyboard's signals
#= _fl_f _fl_files the files that hexdump reads
#= _fl_r _fl_read_errors turns errors into records
#= _fl_l _fl_line a line of errors
#= _fl_p _fl_print prints a record
#= _fl_c _fl_status how the shell ended
#= _fl_a _fl_answer is never looked at
# A hexdump may not start, or have no -e, as toybox's: no command would end then.
case $_fl_reader in (hexdump) hexdump -e '"x"' /dev/null >/dev/null 2>&1;; (*) false;; esac || _fl_reader=lines
fairlead="_fl_reader=$_fl_reader;$fairlead"
set -- "$_fl_shell" $_fl_word +x -c '\e\v\a\l "$fairlead"' "$_fl_name"
_fl_kept=$_fl_reader
unset _fl_supervisor_sh _fl_reader _fl_shell _fl_word _fl_name
_fl_reader=$_fl_kept
# Where one of these programs is missing the token is empty, which says so; cat relays the output.
_fl_token=$(LC_ALL=C tr -dc A-Za-z0-9_- </dev/urandom|head -c 22|cat)
_fl_start=$(printf %.8s "$_fl_token")
# mksh has no printf of its own, and a program takes no argument of 128 KiB.
_fl_ignore=
_fl_print='printf %s'
case ${KSH_VERSION-} in (V*) _fl_ignore=:;; (?*) _fl_print='print -rn --';; esac
trap "$_fl_ignore" 2 3 15 TSTP
exec 5>&1 2>/dev/null
printf '@rs@%s%sT%s\n' @nonce1@ @nonce2@ "$_fl_token"
_fl_files=; test -r /dev/stdin && _fl_files='/dev/stdin /dev/null/fairlead'
# hexdump prints each byte as it comes. The shell's own loop, the last resort, works by line and loses NUL bytes, and the
# hello says so.
case $_fl_reader in
(hexdump) _fl_read_errors() { exec hexdump -v -e '"@rs@~'"$_fl_start"'" 1/1 "%02x" "\n"' $_fl_files; };;
(*) _fl_read_errors() { LC_ALL=C; while IFS= read -r _fl_line; do $_fl_print "@rs@${_fl_token}e$((${#_fl_line}+1));$_fl_line
"; done; test "$_fl_line"&&$_fl_print "@rs@${_fl_token}e${#_fl_line};$_fl_line"; };;
esac
# Descriptor 3 leads to the reader of errors, 5 is the terminal.
{ {
trap : 2 3 15 TSTP
(exec "$@" 2>&3 3>&- 5>&-)
_fl_status=$?
echo "@rs@${_fl_token}X" >&3
echo "@rs@${_fl_token}X$_fl_status;?"
read -r _fl_answer; } | (trap '' 2 3 15 TSTP; exec cat - /dev/null/fairlead >&5 3>&- 5>&-); } 3>&1 | (trap '' 2 3 15 TSTP; exec >&5 5>&-; _fl_read_errors)
read -r _fl_answer
