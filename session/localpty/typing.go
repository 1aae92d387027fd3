package localpty

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
)

// unrecorded begins a line that is typed at a shell, to keep it out of the shell's history: bash and zsh write theirs when
// they are replaced, if HISTFILE says where, and tcsh with savehist; fish and mksh take no line that begins with a space.
// ksh93, and zsh with INC_APPEND_HISTORY, write a line before they run it: there it stays, as where HISTFILE is read-only.
// An error of unset would make dash, ash and zsh give up the line, so a subshell tries first; fish, which has neither, gives
// up only what eval was to do.
const unrecorded = " eval '(unset HISTFILE savehist) && unset HISTFILE savehist';"

// maxTyped is how long a line may be that a shell's line editor gets: more than a loader's, which begins with a mark of its own.
// busybox takes 1023 bytes, fish prints the line again for each of them, and an error of the line comes after all that.
const maxTyped = 160

// reader is typed instead of a longer line: sh reads that, with the terminal's own echo and line limit off, and has the terminal
// as it was when it runs it. The mark that says so is not in reader itself, which is echoed.
const (
	readerBegin = `exec sh -c 's=$(stty -g 2>/dev/null);stty -icanon -echo min 1 2>/dev/null;e=$(printf "\n.");e=${e%.};x=;n=`
	readerEnd   = `;printf %s_%s fairlead reads;while test $n != 0;do IFS= read -r l||exit;x=$x$l$e;n=$((n-1));done;` +
		`stty $s 2>/dev/null;eval "$x"'`
	readerMark = "fairlead_reads"
)

var errNoReader = errors.New("it ended")

// typeLine types line at the shell that t, a command's terminal, leads to. Lines that sh runs may have any length.
func typeLine(t io.ReadWriter, line string) error {
	if len(line) <= maxTyped || !strings.HasPrefix(line, "exec sh -c '") {
		_, err := io.WriteString(t, unrecorded+line+"\n")
		return err
	}
	lines := strconv.Itoa(strings.Count(line, "\n") + 1)
	if _, err := io.WriteString(t, unrecorded+readerBegin+lines+readerEnd+"\n"); err != nil {
		return err
	}
	var end []byte // of what has come, as long as the mark
	buf := make([]byte, 4096)
	for {
		n, err := t.Read(buf)
		end = append(end, buf[:n]...)
		if bytes.Contains(end, []byte(readerMark)) {
			_, err = io.WriteString(t, line+"\n")
			return err
		}
		if err != nil {
			return errNoReader
		}
		end = end[max(0, len(end)-len(readerMark)):]
	}
}
