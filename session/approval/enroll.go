package approval

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// ReadApprovers reads the file of approvers as [ParseApprovers] does. Where there is none, nobody is enrolled. The file and
// its directory must belong to root or to the account of this process, and nobody else may be able to write to them:
// whoever can write the file approves.
func ReadApprovers(file string) ([]Approver, error) {
	data, err := readApprovers(file)
	if err != nil {
		return nil, err
	}
	return ParseApprovers(data, file)
}

func readApprovers(file string) ([]byte, error) {
	f, err := os.OpenFile(file, os.O_RDONLY|syscall.O_NONBLOCK, 0) // without, opening a FIFO would block
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("approval: cannot read who is enrolled: %w", err)
	}
	defer f.Close()
	st, err := f.Stat()
	if err == nil && !st.Mode().IsRegular() {
		return nil, fmt.Errorf("approval: %s is not a regular file", file)
	}
	dir, derr := os.Stat(filepath.Dir(file))
	if err = errors.Join(err, derr); err != nil {
		return nil, fmt.Errorf("approval: cannot look at %s: %w", file, err)
	}
	for name, st := range map[string]fs.FileInfo{file: st, filepath.Dir(file): dir} {
		uid, known := owner(st)
		switch {
		case known && uid != os.Geteuid() && uid != 0:
			return nil, fmt.Errorf("approval: %s belongs to uid %d, who could enroll anybody", name, uid)
		case known && st.Mode().Perm()&0o022 != 0 && !(st.IsDir() && st.Mode()&fs.ModeSticky != 0):
			return nil, fmt.Errorf("approval: others may write to %s (mode %04o), and could enroll anybody: chmod go-w it, after a look at who is enrolled", name, st.Mode().Perm())
		}
	}
	data, err := io.ReadAll(io.LimitReader(f, maxApproversFile+1))
	if err != nil {
		return nil, fmt.Errorf("approval: cannot read who is enrolled: %w", err)
	}
	return data, nil
}

// Enroll adds an approver to the file, which it makes, with its directory, for this account alone where it is missing. What
// stands there stays as it is. A file with a mistake is not touched.
func Enroll(file string, a Approver) error {
	if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
		return fmt.Errorf("approval: cannot make a directory for the approvers: %w", err)
	}
	data, err := readApprovers(file)
	if err != nil {
		return err
	}
	if _, err := ParseApprovers(data, file); err != nil {
		return err
	}
	if len(data) > 0 && data[len(data)-1] != '\n' {
		data = append(data, '\n')
	}
	data = append(data, a.String()+"\n"...)
	if _, err := ParseApprovers(data, file); err != nil {
		return err
	}
	return replace(file, data)
}

// Withdraw removes the approvers that drop names, and returns them. A file with a mistake is not touched.
func Withdraw(file string, drop func(Approver) bool) ([]Approver, error) {
	data, err := readApprovers(file)
	if err != nil {
		return nil, err
	}
	all, err := ParseApprovers(data, file)
	if err != nil {
		return nil, err
	}
	gone := map[int]bool{}
	var out []Approver
	for _, a := range all {
		if drop(a) {
			gone[a.Line] = true
			out = append(out, a)
		}
	}
	if len(out) == 0 {
		return nil, nil
	}
	var left []byte
	number := 0
	for text := range strings.Lines(string(data)) {
		if number++; !gone[number] {
			left = append(left, text...)
		}
	}
	return out, replace(file, left)
}

// replace puts data in the place of a file, whole or not at all.
func replace(file string, data []byte) error {
	tmp, err := os.CreateTemp(filepath.Dir(file), ".approvers-*") // 0600
	if err != nil {
		return fmt.Errorf("approval: cannot write who is enrolled: %w", err)
	}
	_, err = tmp.Write(data)
	err = errors.Join(err, tmp.Sync(), tmp.Close())
	if err == nil {
		err = os.Rename(tmp.Name(), file)
	}
	if err != nil {
		os.Remove(tmp.Name())
		return fmt.Errorf("approval: cannot write who is enrolled: %w", err)
	}
	if dir, err := os.Open(filepath.Dir(file)); err == nil {
		_ = dir.Sync() // else who was removed could be back after a power cut
		dir.Close()
	}
	return nil
}
