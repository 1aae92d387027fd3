// Package sshopt is what a call says about how its hosts are reached, with the options of ssh's command line: -F, -o, -l, -p,
// -J, -i and -A. They go before what files and the inventory say, and hold for one call.
package sshopt

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
	"github.com/fairlead-ssh/fairlead/hosts/sshconfig"
)

// Set is what one call says. The zero Set says nothing.
type Set struct {
	Become string   `json:"become,omitempty"` // the account as which all runs there, or hosts.NoBecome; "" is what the inventory says
	File   string   `json:"file,omitempty"`   // the configuration to read: an absolute path, or "none"; "" means as ever
	Lines  []string `json:"lines,omitempty"`  // "Keyword=value", the first value of a keyword counts
}

// maxLines and maxText bound what a call may say.
const (
	maxLines = 128
	maxText  = 64 << 10
)

// Empty reports whether s says nothing.
func (s Set) Empty() bool { return s.Become == "" && s.File == "" && len(s.Lines) == 0 }

// String is the whole of s in one word, equal only for what is equal. "" is an empty Set.
func (s Set) String() string {
	if s.Empty() {
		return ""
	}
	text, err := json.Marshal(s)
	if err != nil {
		panic("sshopt: internal error: " + err.Error()) // texts
	}
	return base64.RawURLEncoding.EncodeToString(text)
}

// Parse reads what String has written, and checks it: options that are unknown or not obeyed are errors.
func Parse(word string) (s Set, err error) {
	if word == "" {
		return s, nil
	}
	if len(word) > maxText {
		return s, errors.New("the options of ssh are too long")
	}
	text, err := base64.RawURLEncoding.DecodeString(word)
	if err == nil {
		err = json.Unmarshal(text, &s)
	}
	if err != nil {
		return Set{}, errors.New("the options of ssh cannot be understood")
	}
	return s, s.check()
}

// check refuses what Fairlead would not obey.
func (s Set) check() error {
	if _, err := (hosts.Become{}).Called(s.Become); err != nil {
		return fmt.Errorf("--become: %w", err)
	}
	if len(s.Lines) > maxLines {
		return fmt.Errorf("there are more than %d options", maxLines)
	}
	for _, line := range s.Lines {
		o, err := sshconfig.ParseOption(line)
		switch {
		case err != nil:
			return fmt.Errorf("-o %s: %w", o.Name, err)
		case o.Effect == sshconfig.Refused:
			return fmt.Errorf("-o %s: %s", o.Name, o.Why)
		case o.Effect == sshconfig.NoEffect:
			return fmt.Errorf("-o %s: Fairlead does not obey this option: leave it out", o.Name)
		}
	}
	return nil
}

// harmless are options that change neither where, as whom, with what keys nor by which route a host is reached, and run
// nothing here. An agent may use these.
var harmless = []string{"connecttimeout", "connectionattempts", "serveraliveinterval", "serveralivecountmax", "batchmode", "rekeylimit"}

// MayNot says why a principal may not use s; nil means that it may. Only operators choose where, as whom, and through which
// programs of this machine hosts are reached. As whom commands run there is the policy's business.
func (s Set) MayNot(principal string) error {
	if hosts.RoleOf(principal) == hosts.RoleOperator {
		return nil
	}
	if s.File != "" {
		return fmt.Errorf("-F is for operators, and the caller is %s", principal)
	}
	for _, line := range s.Lines {
		o, err := sshconfig.ParseOption(line)
		if err != nil || !slices.Contains(harmless, o.Keyword) {
			return fmt.Errorf("the option %s of ssh is for operators, and the caller is %s", o.Name, principal)
		}
	}
	return nil
}

// Apply returns h as s has it reached. A host that is not reached over SSH, and one that the call names with another user or
// port, are errors.
func (s Set) Apply(h hosts.Host) (hosts.Host, error) {
	var err error
	if h.Become, err = h.Become.Called(s.Become); err != nil {
		return h, fmt.Errorf("--become: %w", err)
	}
	if s.File == "" && len(s.Lines) == 0 {
		return h, nil
	}
	if h.Transport != hosts.SSH && h.Transport != "" {
		return h, fmt.Errorf("%s: options of ssh are of no use there, because it is reached by %s: leave them or this host out", h.Name, h.Transport)
	}
	if s.File != "" {
		h.SSHConfig = s.File
	}
	if len(s.Lines) == 0 {
		return h, nil
	}
	said, err := (&sshconfig.Config{}).Resolve(h.Name, sshconfig.Options{Lines: s.Lines, Offline: true})
	if err != nil {
		return h, err
	}
	typed := h.Source == (hosts.Pos{}) // user@host:port
	if said.User.OnCommandLine() {
		if typed && h.User != "" && h.User != said.User.V {
			return h, fmt.Errorf("%s is to be reached as %s and as %s: leave one out", h.Name, h.User, said.User.V)
		}
		h.User = said.User.V
	}
	if said.Port.OnCommandLine() {
		if typed && h.Port != 0 && h.Port != said.Port.V {
			return h, fmt.Errorf("%s is to be reached on port %d and on %d: leave one out", h.Name, h.Port, said.Port.V)
		}
		h.Port = said.Port.V
	}
	if said.HostName.OnCommandLine() {
		h.Addr = said.HostName.V
	}
	if said.ConnectTimeout.OnCommandLine() {
		h.ConnectTimeout = said.ConnectTimeout.V
	}
	h.SSHOptions = slices.Clone(s.Lines)
	return h, nil
}

// Names are the keywords of s, for messages.
func (s Set) Names() string {
	var names []string
	if s.Become != "" {
		names = append(names, "--become")
	}
	if s.File != "" {
		names = append(names, "-F")
	}
	for _, line := range s.Lines {
		name, _, _ := strings.Cut(line, "=")
		names = append(names, name)
	}
	return strings.Join(names, ", ")
}
