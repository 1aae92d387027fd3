package foreign

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/trustedfile"
)

// answer is what a program printed, and when it last failed.
type answer struct {
	Made   time.Time
	Failed time.Time `json:",omitzero"` // since Made
	Why    string    `json:",omitempty"`
	data   []byte
}

// old says that the program did not run for this caller.
func (a answer) old(at hosts.Pos) *Note {
	return &Note{Pos: at, Stale: true, Msg: message("its answer of %s is used: programs do not run for an AI agent that names the inventory itself", a.Made.Local().Format(stamp))}
}

const stamp = "2006-01-02 15:04:05"

// stale says that the program failed.
func (a answer) stale(at hosts.Pos) *Note {
	return &Note{Pos: at, Stale: true,
		Msg: message("the program failed (%s), so its answer of %s is used", a.Why, a.Made.Local().Format(stamp))}
}

// answerFile keeps the answer of one program, if it has a name.
type answerFile string

// answer names the file that keeps what a program prints. A program that was changed is asked again.
func (p Programs) answer(file string, argv []string) answerFile {
	if p.Cache == "" {
		return ""
	}
	h := sha256.New()
	h.Write([]byte(strings.Join(append([]string{p.Dir, file}, argv[1:]...), "\x00")))
	if st, err := os.Stat(file); err == nil {
		h.Write([]byte("\x00" + st.ModTime().UTC().Format(time.RFC3339Nano)))
	}
	return answerFile(filepath.Join(p.Cache, hex.EncodeToString(h.Sum(nil)[:16])+".json"))
}

// load returns the answer, if there is one that no other account could have written.
func (f answerFile) load() (a answer, ok bool) {
	if f == "" {
		return a, false
	}
	in, err := trustedfile.Open(string(f), "a list of hosts")
	if err != nil {
		return a, false
	}
	defer in.Close()
	data, err := io.ReadAll(io.LimitReader(in, 2*maxFile))
	if err != nil {
		return a, false
	}
	head, body, found := bytes.Cut(data, []byte("\n"))
	if !found || json.Unmarshal(head, &a) != nil {
		return answer{}, false
	}
	a.data = body
	return a, true
}

// save keeps an answer, whole or not at all, for this account alone.
func (f answerFile) save(a answer) (err error) {
	if f == "" {
		return nil
	}
	head, err := json.Marshal(a)
	if err != nil {
		return err
	}
	if err := os.MkdirAll(filepath.Dir(string(f)), 0o700); err != nil {
		return err
	}
	out, err := os.CreateTemp(filepath.Dir(string(f)), ".answer-*") // mode 0600
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, os.Remove(out.Name()))
		}
	}()
	_, err = out.Write(append(append(head, '\n'), a.data...))
	if err = errors.Join(err, out.Close()); err != nil {
		return err
	}
	return os.Rename(out.Name(), string(f))
}
