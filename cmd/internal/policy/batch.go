package policy

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"

	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/exitcode"
	"github.com/fairlead-ssh/fairlead/session/policy"
)

// maxLine bounds a line of the batch: a command of some megabytes, with every byte escaped, fits.
const maxLine = 32 << 20

// batch judges the commands on in, one JSON object per line, and answers each with a line on out. Answers are held back
// only while more lines are there to be read, so that a program may talk line by line.
func batch(ctx context.Context, in io.Reader, out io.Writer, e policy.Decider, req policy.Request) error {
	r, w := bufio.NewReaderSize(in, 64<<10), bufio.NewWriterSize(out, 64<<10)
	enc := json.NewEncoder(w)
	bad := false
	for n := 1; ; n++ {
		line, end := readLine(r)
		if len(line) > 0 || end == nil {
			var answer any
			command, err := parseLine(line)
			if errors.Is(end, errLong) {
				err, end = errLong, nil
			}
			if err != nil {
				bad = true
				answer = map[string]string{"error": fmt.Sprintf("line %d: %v", n, err)}
			} else {
				req.Command = command
				d, err := e.Decide(ctx, req)
				if err != nil {
					return err
				}
				answer = toJSON(d)
			}
			if err := enc.Encode(answer); err != nil {
				return err
			}
		}
		if r.Buffered() == 0 || end != nil {
			if err := w.Flush(); err != nil {
				return err
			}
		}
		switch {
		case end == nil:
		case !errors.Is(end, io.EOF):
			return fmt.Errorf("cannot read standard input: %w", end)
		case bad:
			return cmdutil.Exit(exitcode.Usage)
		default:
			return nil
		}
	}
}

var errLong = fmt.Errorf("longer than %d bytes", maxLine)

// readLine returns a line without its end. The bytes are valid until the next call. A last line without an end comes
// with io.EOF. Of a line that is too long the rest is skipped.
func readLine(r *bufio.Reader) ([]byte, error) {
	line, err := r.ReadSlice('\n')
	if errors.Is(err, bufio.ErrBufferFull) {
		whole := bytes.Clone(line)
		for errors.Is(err, bufio.ErrBufferFull) {
			line, err = r.ReadSlice('\n')
			if len(whole) <= maxLine {
				whole = append(whole, line...)
			}
		}
		if line = whole; len(line) > maxLine+1 && (err == nil || errors.Is(err, io.EOF)) {
			return line[:1], errLong
		}
	}
	return bytes.TrimSuffix(bytes.TrimSuffix(line, []byte("\n")), []byte("\r")), err
}

// parseLine returns the command of a line. Other keys are left alone.
func parseLine(line []byte) (string, error) {
	var obj struct {
		Command json.RawMessage `json:"command"`
	}
	if err := json.Unmarshal(line, &obj); err != nil {
		if len(bytes.TrimSpace(line)) == 0 {
			return "", errors.New(`it is empty; write {"command":"…"}`)
		}
		return "", errors.New(`not a JSON object such as {"command":"…"}`)
	}
	if obj.Command == nil {
		return "", errors.New(`"command" is missing`)
	}
	if obj.Command[0] != '"' {
		return "", errors.New(`"command" is not a text`)
	}
	return unquoteJSON(obj.Command[1 : len(obj.Command)-1]), nil
}
