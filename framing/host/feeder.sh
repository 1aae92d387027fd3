# A second program on the host, on a terminal of its own, that gives a command its standard input through a named pipe. The
# pipe has a name only until the command has opened it. What is fed comes in counted pieces, so that every byte passes
# as it is and the end is a real end of file; a reader that is slow holds the feeder back, and so the caller.
#
# When its terminal goes, so does the feeder, and what it made: the directory's name is known, and what removes it is set,
# before there is one. What removes it ignores the signals that may come again. A signal's trap removes it itself: dash runs
# one between the exit and the trap for it, and an exit in there is the last thing it does.
#
# perl passes bytes as they come; without it the shell prints what comes as lines of octal escapes, and so it does without stty: some
# bytes would be signals. Shells that have a version may read ahead on a terminal, and keep what is perl's: there another perl takes the
# line that the command's opening of the pipe is told with.
#
#= _fl_n _fl_name the directory's name
#= _fl_d _fl_dir its path
#= _fl_c _fl_clean_up removes the pipe and the directory
#= _fl_x _fl_text a directory that may take the pipe, then a line that is typed
#= _fl_p _fl_perl perl where there is perl, then the text of feeder.pl
umask 077
_fl_name=.fairlead-@nonce1@@nonce2@
_fl_dir=/tmp/$_fl_name
_fl_clean_up() { trap '' HUP INT TERM; rm -f "$_fl_dir/in"; rmdir "$_fl_dir"; }
trap _fl_clean_up EXIT
trap '_fl_clean_up; trap - EXIT; exit 1' HUP INT TERM
for _fl_text in "${TMPDIR-}" /tmp /dev/shm /var/tmp "${HOME-}"; do
	case $_fl_text in (''|[!/]*|*[!A-Za-z0-9/._-]*) continue;; esac
	_fl_dir=$_fl_text/$_fl_name
	mkdir "$_fl_dir" && mkfifo "$_fl_dir/in" && break
	rmdir "$_fl_dir"
done 2>/dev/null
# Descriptor 3 holds the pipe open both ways, so that neither end waits for the other.
test -p "$_fl_dir/in" && exec 3<>"$_fl_dir/in" || { printf '@rs@%s%sQ\n' @nonce1@ @nonce2@; exit 1; }
_fl_perl=; stty -isig 2>/dev/null && command -v @perl@ >/dev/null && _fl_perl=perl
printf '@rs@%s%sP%s;%s\n' @nonce1@ @nonce2@ "$_fl_perl" "$_fl_dir/in"
case $_fl_perl${BASH_VERSION-}${KSH_VERSION-}${ZSH_VERSION-} in
(perl?*) perl -e 'sysread(STDIN,$_,1)or exit 1 until$_ eq"\n"' || exit 1;;
(*) IFS= read -r _fl_text || exit 1;;
esac
# The command has opened it.
exec 4>"$_fl_dir/in" 3>&-
rm -f "$_fl_dir/in"; rmdir "$_fl_dir"
trap - EXIT HUP INT TERM
# ksh and mksh keep descriptors above 2 to themselves.
case $_fl_perl in (perl) _fl_perl=@feeder_pl@; export _fl_perl; exec perl -e 'eval$ENV{_fl_perl}' >&4 4>&-;; esac
while IFS= read -r _fl_text; do case $_fl_text in (.) exit;; esac; printf "$_fl_text" >&4 || exit; done
