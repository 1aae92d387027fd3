# Makes the file "$1" of standard input, for its owner alone until it has the mode "$3". "$4" is not empty where standard input is the
# rest of a file that is there, and "$5" where it is to be on disk. All of it are "$2" bytes, which are counted: a connection that is cut
# looks like the end of the input.
if [ "$4" ]; then cat >>"$1"; else (umask 077; set -C; cat >"$1"); fi || exit
[ "$(wc -c <"$1")" -eq "$2" ] || exit 90
chmod -- "$3" "$1" || exit
[ -z "$5" ] || sync "$1" 2>/dev/null || sync
