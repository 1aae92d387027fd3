package framing

import (
	"bytes"
	"strconv"
	"strings"
)

// A feeder is a second program on the host, on a terminal of its own, that gives a command its standard input through a
// named pipe. The pipe has a name only until the command has opened it. What is fed comes in counted pieces, so that
// every byte passes as it is and the end is a real end of file; a reader that is slow holds the feeder back, and so
// whoever feeds it. When its terminal goes, so does the feeder, and what it made: the directory's name is known, and what
// removes it is set, before there is one. What removes it ignores the signals that may come again. A signal's trap removes
// it itself: dash runs one between the exit and the trap for it, and an exit in there is the last thing it does.
//
// The text is typed as [Bootstrap]'s is: behind [Loader], once that has printed the nonce. perl passes bytes as they
// come; without it the shell prints what comes as lines of octal escapes ([Feeder.Perl] says which).
const feeder = `stty -isig 2>/dev/null
umask 077
_fl_n=.fairlead-@1@2
_fl_d=/tmp/$_fl_n
_fl_c() { trap '' HUP INT TERM; rm -f "$_fl_d/in"; rmdir "$_fl_d"; }
trap _fl_c EXIT
trap '_fl_c; trap - EXIT; exit 1' HUP INT TERM
for _fl_x in "${TMPDIR-}" /tmp; do
case $_fl_x in (*[!A-Za-z0-9/._-]*) continue;; (/*) ;; (*) continue;; esac
_fl_d=$_fl_x/$_fl_n
mkdir "$_fl_d" 2>/dev/null && break
done
mkfifo "$_fl_d/in" && exec 3<>"$_fl_d/in" || { printf '^%s%sQ\n' @1 @2; exit 1; }
_fl_p=; command -v perl >/dev/null && _fl_p=perl
printf '^%s%sP%s;%s\n' @1 @2 "$_fl_p" "$_fl_d/in"
IFS= read -r _fl_x || exit 1
exec 4>"$_fl_d/in" 3>&-
rm -f "$_fl_d/in"; rmdir "$_fl_d"
trap - EXIT HUP INT TERM
case $_fl_p in (perl) _fl_p='$0="fairlead";open O,">&=4";$b="";for(;;){while(($i=index$b,"\n")<0){sysread(STDIN,$b,65536,length$b)or exit}$n=substr$b,0,$i;substr($b,0,$i+1)="";$n>0||exit;while($n){$b eq""and(sysread(STDIN,$b,65536)or exit);$m=length$b<$n?length$b:$n;$d=0;while($d<$m){$d+=syswrite(O,$b,$m-$d,$d)||exit}substr($b,0,$m)="";$n-=$m}}'; export _fl_p; exec perl -e 'eval$ENV{_fl_p}';; esac
while IFS= read -r _fl_x; do case $_fl_x in (.) exit;; esac; printf "$_fl_x" >&4 || exit; done
`

// FeedScript returns what to type once the loader has printed nonce.
func FeedScript(nonce Token) []byte {
	text := []byte(withMarks(loaderRest, nonce) + "fairlead=")
	text = appendSingleQuoted(text, withMarks(feeder, nonce))
	return append(text, "\nexport fairlead\n"+`exec sh +x -c '\e\v\a\l "$fairlead"' fairlead`+"\n\x1e\n"...)
}

// Feeder is a feeder that is ready.
type Feeder struct {
	Path string // of the pipe: for [Command.Stdin]
	Perl bool   // takes bytes as they are
}

// Feeding looks for the feeder's answer in all that it has printed so far. failed says that the host can make no pipe.
func Feeding(said []byte, nonce Token) (f Feeder, ready, failed bool) {
	mark := append([]byte{rs}, nonce[:]...)
	for {
		i := bytes.Index(said, mark)
		if i < 0 {
			return f, false, false
		}
		said = said[i+len(mark):]
		line, _, whole := bytes.Cut(said, []byte("\n"))
		if !whole || len(line) == 0 {
			continue
		}
		switch line = bytes.TrimSuffix(line, []byte("\r")); line[0] {
		case 'Q':
			return f, false, true
		case 'P':
			how, path, ok := strings.Cut(string(line[1:]), ";")
			return Feeder{Path: path, Perl: how == "perl"}, ok, !ok
		}
	}
}

// Go is the line that starts the feeding, typed once the command has opened the pipe.
const Go = "go\n"

// AppendPiece appends p as one piece of input. An empty p appends the end of the input.
func (f Feeder) AppendPiece(dst, p []byte) []byte {
	switch {
	case f.Perl:
		dst = strconv.AppendInt(dst, int64(len(p)), 10)
		dst = append(dst, '\n')
		return append(dst, p...)
	case len(p) == 0:
		return append(dst, ".\n"...)
	}
	const perLine = 200
	for i, c := range p {
		dst = append(dst, '\\', '0'+c>>6, '0'+c>>3&7, '0'+c&7)
		if i%perLine == perLine-1 || i == len(p)-1 {
			dst = append(dst, '\n')
		}
	}
	return dst
}
