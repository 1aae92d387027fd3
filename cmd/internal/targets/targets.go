// Package targets turns what stands on a command line into hosts.
package targets

import (
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead-ssh/fairlead/cmd/internal/reason"
	"github.com/fairlead-ssh/fairlead/hosts"
)

// MaxList bounds a list of hosts that is read from a file or standard input.
const MaxList = 8 << 20

// Resolver knows where hosts come from.
type Resolver struct {
	Inventory func() (*hosts.Inventory, error) // asked only when a selector needs it
	In        io.Reader                        // what "-" reads
	Reach
}

// Resolve returns the hosts that expr picks and except does not, without doubles, as the call changes them. A member of a
// union that has the form user@host names a host outside the inventory; user@SELECTOR is the hosts that a selector picks, as user; where all do, the inventory is not even read. One
// that the inventory does not have may be a host of ssh_config. Every error is the caller's to correct.
func (r *Resolver) Resolve(expr, except string) ([]hosts.Host, error) {
	if strings.TrimSpace(expr) == "" {
		return nil, errors.New("the selector is empty: name hosts, or write all")
	}
	user, expr, ok := r.splitUser(expr)
	if ok {
		if err := r.As(user); err != nil {
			return nil, err
		}
	}
	adhoc, rest, err := split(expr)
	if err != nil {
		return nil, err
	}
	not, err := r.parse(except)
	if err != nil {
		return nil, exceptError{err}
	}
	var picked []hosts.Host
	if rest != "" {
		sel, err := r.parse(rest)
		if err != nil {
			return nil, err
		}
		inv, err := r.Inventory()
		if err != nil {
			return nil, err
		}
		if picked, err = inv.Select(sel.Except(not)); errors.Is(err, hosts.ErrNotFound) {
			picked, err = r.outside(inv, rest, not, err)
		}
		if err != nil {
			return nil, err
		}
	}
	for _, h := range adhoc {
		if !not.Match(h) && !contains(picked, h) {
			picked = append(picked, h)
		}
	}
	if len(picked) == 0 {
		return nil, errors.New("no host is left after --except")
	}
	return r.change(picked)
}

// Except reads what leaves out some of hs, which are picked already: hosts of the inventory, beside it, or that have left it.
func (r *Resolver) Except(expr string, hs []hosts.Host) (hosts.Selector, error) {
	not, err := r.parse(expr)
	if err != nil || expr == "" {
		return not, wrapExcept(err)
	}
	inv, err := r.Inventory()
	if err != nil {
		return not, err
	}
	all, known := slices.Collect(inv.All()), map[string]bool{}
	for _, h := range all {
		known[h.Name] = true
	}
	for _, h := range hs {
		if hosts.CheckName(h.Name) == nil && !known[h.Name] {
			all, known[h.Name] = append(all, h), true
		}
	}
	if inv, err = hosts.NewInventory(all, slices.Collect(inv.Groups())); err != nil {
		return not, err
	}
	return not, wrapExcept(inv.Check(not))
}

func wrapExcept(err error) error {
	if err == nil {
		return nil
	}
	return exceptError{err}
}

// exceptError is what is wrong with --except.
type exceptError struct{ error }

func (e exceptError) Error() string { return "--except: " + reason.Text(e.error) }
func (e exceptError) Unwrap() error { return e.error }

// outside is Resolve for an expression that names hosts which are not in the inventory, as why says.
func (r *Resolver) outside(inv *hosts.Inventory, expr string, not hosts.Selector, why error) ([]hosts.Host, error) {
	found, rest, err := r.beside(expr, inv)
	switch {
	case err != nil:
		return nil, err
	case r.Named == nil:
		return nil, why
	case len(found) == 0:
		return nil, unknown(why)
	}
	found = slices.DeleteFunc(found, not.Match)
	if rest == "" {
		return found, inv.Check(not)
	}
	sel, err := r.parse(rest)
	if err != nil {
		return nil, err
	}
	picked, err := inv.Select(sel.Except(not))
	if err != nil {
		return nil, unknown(err)
	}
	return append(picked, found...), nil
}

func contains(hs []hosts.Host, h hosts.Host) bool {
	for _, o := range hs {
		if o.Source == (hosts.Pos{}) && o.Name == h.Name && o.User == h.User && o.Port == h.Port {
			return true
		}
	}
	return false
}

// parse reads a selector that may name lists; "" is the zero Selector.
func (r *Resolver) parse(text string) (hosts.Selector, error) {
	if text == "" {
		return hosts.Selector{}, nil
	}
	return hosts.ParseOptions{ReadList: r.readList}.Parse(text)
}

func (r *Resolver) readList(name string) ([]byte, error) {
	if name == "-" {
		data, err := readAtMost(r.In)
		return data, reason.File("standard input", err)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, reason.File(name, err)
	}
	defer f.Close()
	data, err := readAtMost(f)
	return data, reason.File(name, err)
}

func readAtMost(in io.Reader) ([]byte, error) {
	data, err := io.ReadAll(io.LimitReader(in, MaxList+1))
	if err == nil && len(data) > MaxList {
		err = fmt.Errorf("it holds more than %d MiB of names", MaxList>>20)
	}
	return data, err
}

// split takes the members of the form user@host out of a union. In anything that is more than a plain union nothing is
// taken out: what has the form there is a mistake that the selector's own errors explain.
func split(expr string) (adhoc []hosts.Host, rest string, err error) {
	h, ok, err := ParseUnlisted(strings.TrimSpace(expr))
	if !ok {
		h, ok, err = hosts.ParseAdHoc(strings.TrimSpace(expr))
	}
	if err != nil {
		return nil, "", err
	}
	if ok {
		return []hosts.Host{h}, "", nil
	}
	if strings.ContainsAny(expr, `()"&|~`) || !strings.Contains(expr, "@") {
		return nil, expr, nil
	}
	var others []string
	for _, member := range strings.Split(expr, ",") {
		h, ok, err := hosts.ParseAdHoc(strings.TrimSpace(member))
		switch {
		case err != nil:
			return nil, "", err
		case strings.TrimSpace(member) == "":
			return nil, expr, nil
		case !ok:
			others = append(others, member)
		case !contains(adhoc, h):
			adhoc = append(adhoc, h)
		}
	}
	return adhoc, strings.Join(others, ","), nil
}

// Labels returns what to call each of hs: its name, with user and port where several have the same one.
func Labels(hs []hosts.Host) []string {
	count := make(map[string]int, len(hs))
	for _, h := range hs {
		count[h.Name]++
	}
	labels := make([]string, len(hs))
	for i, h := range hs {
		labels[i] = h.Name
		if count[h.Name] > 1 {
			if h.User != "" {
				labels[i] = h.User + "@" + labels[i]
			}
			if h.Port != 0 {
				labels[i] += ":" + strconv.Itoa(int(h.Port))
			}
		}
	}
	return labels
}
