//go:build unix

package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// bench is a test program with many mutants in it, of which the environment chooses one. Building and linking once for all of a
// package takes a fraction of the time. Close it.
type bench struct {
	dir     string // of temporary files
	bin     string
	pkgDir  string
	invalid map[int]bool // mutants that do not compile
}

// chooser is source by which a bench's program chooses a mutant: by its number in the list, from 1 on, at the end of the program's
// name, which processes that the tests start have too, whatever their environment.
const chooser = `

import (
	"os"
	"path/filepath"
	"strings"
)

var mutantChosen = func() string {
	exe, _ := os.Executable()
	_, n, _ := strings.Cut(filepath.Base(exe), "mutant-")
	return n
}()
`

// build makes a bench of a package and mutants of it. A function that has mutants gets a copy for each: it calls the one that is
// chosen.
func build(ctx context.Context, p pkg, all []mutant) (b *bench, err error) {
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return nil, err
	}
	b = &bench{dir: dir, bin: filepath.Join(dir, "tests"), pkgDir: p.Dir, invalid: map[int]bool{}}
	defer func() {
		if err != nil {
			b.close()
		}
	}()
	for {
		lines, err := b.overlay(p, all)
		if err != nil {
			return nil, err
		}
		cmd := exec.CommandContext(ctx, "go", "test", "-c", "-vet=off", "-gcflags=-e", "-ldflags=-s -w", "-overlay", filepath.Join(dir, "overlay.json"), "-o", b.bin, p.ImportPath)
		cmd.Env = append(os.Environ(), "GOFLAGS=")
		said, err := cmd.CombinedOutput()
		if err == nil {
			return b, nil
		}
		before := len(b.invalid)
		for _, m := range position.FindAllStringSubmatch(string(said), -1) {
			n, _ := strconv.Atoi(m[2])
			if i := lines.at(m[1], n); i > 0 {
				b.invalid[i] = true
			}
		}
		if len(b.invalid) == before {
			return nil, fmt.Errorf("the tests of %s do not compile with mutants: %w\n%s", p.ImportPath, err, said)
		}
	}
}

func (b *bench) close() { _ = os.RemoveAll(b.dir) }

// position is where the compiler finds something wrong.
var position = regexp.MustCompile(`(?m)^(?:\S*/)?([^\s/]+\.go):(\d+):\d+: `)

// ranges are lines of copies in files.
type ranges map[string][]lineRange

type lineRange struct{ from, to, mutant int }

// at is the mutant that a line of a file belongs to, 0 for none.
func (r ranges) at(file string, line int) int {
	for _, one := range r[file] {
		if one.from <= line && line <= one.to {
			return one.mutant
		}
	}
	return 0
}

// overlay writes the files of a package with all mutants that compile.
func (b *bench) overlay(p pkg, all []mutant) (ranges, error) {
	lines := ranges{}
	replace := map[string]string{}
	put := func(name, text string) error {
		to := filepath.Join(b.dir, filepath.Base(name))
		replace[name] = to
		return os.WriteFile(to, []byte(text), 0o600)
	}
	of := map[string][]int{} // mutants by file
	for i, m := range all {
		if !b.invalid[i+1] {
			of[m.file] = append(of[m.file], i)
		}
	}
	for file, list := range of {
		text, copies, err := withMutants(file, all, list)
		if err != nil {
			return nil, err
		}
		lines[filepath.Base(file)] = copies
		if err := put(file, text); err != nil {
			return nil, err
		}
	}
	if err := put(filepath.Join(p.Dir, "zz_mutant_chosen.go"), "package "+p.Name+chooser); err != nil {
		return nil, err
	}
	data, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		return nil, err
	}
	return lines, os.WriteFile(filepath.Join(b.dir, "overlay.json"), data, 0o600)
}

// edit puts a text where the bytes from..to of a file are.
type edit struct {
	from, to int
	text     string
}

func apply(src string, edits []edit) string {
	sort.SliceStable(edits, func(i, j int) bool { return edits[i].from < edits[j].from })
	var b strings.Builder
	at := 0
	for _, e := range edits {
		b.WriteString(src[at:e.from])
		b.WriteString(e.text)
		at = e.to
	}
	b.WriteString(src[at:])
	return b.String()
}

// withMutants is the text of a file with copies of the functions that have mutants, and the lines of these.
func withMutants(file string, all []mutant, list []int) (string, []lineRange, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return "", nil, err
	}
	src := string(data)
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, file, data, parser.SkipObjectResolution|parser.ParseComments)
	if err != nil {
		return "", nil, err
	}
	at := func(p token.Pos) int { return fset.Position(p).Offset }
	var edits []edit
	var copies strings.Builder
	type piece struct{ from, to, mutant int } // of copies
	var pieces []piece
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		mine := slices.DeleteFunc(slices.Clone(list), func(i int) bool { return all[i].from < at(fn.Body.Pos()) || all[i].to > at(fn.Body.End()) })
		if len(mine) == 0 {
			continue
		}
		if fn.Name.Name == "init" {
			return "", nil, errors.New(file + ": init cannot have mutants")
		}
		call, signature := callOf(fn, at)
		edits = append(edits, signature...)
		for _, i := range mine {
			m := all[i]
			name := fmt.Sprintf("%sMutant%d", fn.Name.Name, i+1)
			do := "return " + fmt.Sprintf(call, name)
			if fn.Type.Results.NumFields() == 0 {
				do = fmt.Sprintf(call, name) + "; return"
			}
			edits = append(edits, edit{at(fn.Body.Lbrace) + 1, at(fn.Body.Lbrace) + 1, fmt.Sprintf(" if mutantChosen == \"%d\" { %s };", i+1, do)})
			begin := at(fn.Pos())
			copies.WriteString("\n")
			from := strings.Count(copies.String(), "\n")
			copies.WriteString(apply(src[begin:at(fn.End())], []edit{
				{at(fn.Name.Pos()) - begin, at(fn.Name.End()) - begin, name}, {m.from - begin, m.to - begin, m.text},
			}))
			pieces = append(pieces, piece{from, strings.Count(copies.String(), "\n"), i + 1})
			copies.WriteString("\n")
		}
	}
	text := apply(src, edits)
	lines := 1 + strings.Count(text, "\n")
	var out []lineRange
	for _, p := range pieces {
		out = append(out, lineRange{lines + p.from, lines + p.to, p.mutant})
	}
	return text + copies.String(), out, nil
}

// callOf is the call of a function like fn, with %s for its name, and the changes that give each parameter a name for it.
func callOf(fn *ast.FuncDecl, at func(token.Pos) int) (call string, names []edit) {
	n := 0
	each := func(fields *ast.FieldList) (out []string) {
		for _, f := range fields.List {
			more := ""
			if _, ok := f.Type.(*ast.Ellipsis); ok {
				more = "..."
			}
			if len(f.Names) == 0 {
				n++
				name := fmt.Sprintf("mutantParam%d", n)
				names = append(names, edit{at(f.Type.Pos()), at(f.Type.Pos()), name + " "})
				out = append(out, name+more)
			}
			for _, id := range f.Names {
				name := id.Name
				if name == "_" {
					n++
					name = fmt.Sprintf("mutantParam%d", n)
					names = append(names, edit{at(id.Pos()), at(id.End()), name})
				}
				out = append(out, name+more)
			}
		}
		return out
	}
	types := ""
	if fn.Type.TypeParams != nil {
		types = "[" + strings.Join(typeNames(fn.Type.TypeParams), ", ") + "]"
	}
	call = "%s" + types + "(" + strings.Join(each(fn.Type.Params), ", ") + ")"
	if fn.Recv != nil {
		call = each(fn.Recv)[0] + "." + call
	}
	return call, names
}

func typeNames(fields *ast.FieldList) (out []string) {
	for _, f := range fields.List {
		for _, id := range f.Names {
			out = append(out, id.Name)
		}
	}
	return out
}

// try runs the tests with one of the mutants, from 1 on, or with 0, which is none. The tests that o.first names run before the others.
func (b *bench) try(ctx context.Context, n int, o options) (result, string, error) {
	if b.invalid[n] {
		return invalid, "", nil
	}
	runs := [][]string{nil}
	if o.first != "" {
		runs = [][]string{{"-test.run", o.first}, nil}
	}
	bin := filepath.Join(b.dir, fmt.Sprintf("mutant-%d", n))
	if err := os.Link(b.bin, bin); err != nil && !errors.Is(err, os.ErrExist) {
		return 0, "", err
	}
	for _, args := range runs {
		cmd := exec.CommandContext(ctx, bin, append(args, "-test.failfast", "-test.skip", o.skip, "-test.timeout", o.limit.String())...)
		cmd.Dir = b.pkgDir
		cmd.Env = append(os.Environ(), "CI=true")             // with which nothing is skipped: a mutant may hide what tests need
		cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} // a mutant may leave processes behind
		cmd.Cancel = func() error { return syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL) }
		cmd.WaitDelay = 10 * time.Second // for children that hold the pipe
		out, err := cmd.CombinedOutput()
		if cmd.Process != nil {
			_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
		}
		said := string(out)
		var exit *exec.ExitError
		switch {
		case err == nil:
			continue
		case ctx.Err() != nil:
			return 0, said, ctx.Err()
		case errors.Is(err, exec.ErrWaitDelay):
			continue // the tests have passed
		case !errors.As(err, &exit):
			return 0, said, err
		case strings.Contains(said, "panic: test timed out after"):
			return late, said, nil
		}
		return killed, said, nil
	}
	return survived, "", nil
}
