package approvals

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"
	"golang.org/x/crypto/ssh"

	"github.com/fairlead-ssh/fairlead/audit"
	"github.com/fairlead-ssh/fairlead/cmd/internal/cmdutil"
	"github.com/fairlead-ssh/fairlead/cmd/internal/reason"
	"github.com/fairlead-ssh/fairlead/cmd/internal/table"
	"github.com/fairlead-ssh/fairlead/session/approval"
	"github.com/fairlead-ssh/fairlead/session/approval/sshsig"
	"github.com/fairlead-ssh/fairlead/session/sshconn/privatekey"
)

// EnrollOptions is everything that "approvals enroll" needs.
type EnrollOptions struct {
	Base

	Name   string
	Key    string // the file of a public key
	New    bool
	List   bool
	Remove string
}

// NewCmdEnroll builds the command. runF replaces the real work in tests of flags.
func NewCmdEnroll(b Base, runF func(context.Context, *EnrollOptions) error) *cobra.Command {
	o := &EnrollOptions{Base: b}
	if runF == nil {
		runF = enrollRun
	}
	cmd := &cobra.Command{
		Use:   "enroll --new | --key FILE.pub | --list | --remove NAME",
		Short: "Enroll an approver's signing key",
		Long: `Enroll an approver's signing key in the file approvers beside policy.yaml, in OpenSSH's format of allowed_signers
(ssh-keygen -Y verify reads it).

  --new            make a key for approvals, with a passphrase that Fairlead asks for twice
  --key FILE.pub   enroll an existing key

A signature proves a touch (keys of security keys: sk-ssh-ed25519, sk-ecdsa, added with ssh-add), a passphrase (key files
with one), or nothing ("unproven": no passphrase, or a key that an SSH agent holds open). A key whose file is on another machine
is enrolled there; copy its line of the file approvers to this one.

Without access to the keeper's socket, sign the digest of a request, and send the signature to its API with an approver's token:

  printf %s DIGEST | ssh-keygen -Y sign -n approve@fairlead -f KEY

Once a key is enrolled, approvals on prod hosts and on hosts without a tier need at least a passphrase. A policy file can
require more or less, by tier and class:

  approvals:
    proof:
      prod: passphrase
      staging: {dangerous: touch, "*": unproven}

Enrolling asks for confirmation at the terminal: --yes does not answer, and agents cannot enroll keys.`,
		Example: `  fairlead approvals enroll --new
  fairlead approvals enroll --key ~/.ssh/id_ed25519_sk.pub --name ada
  fairlead approvals enroll --list`,
		Args: cmdutil.Args(0, 0, "no arguments"),
		RunE: func(cmd *cobra.Command, _ []string) error {
			what := 0
			for _, given := range []bool{o.New, o.Key != "", o.List, o.Remove != ""} {
				if given {
					what++
				}
			}
			switch {
			case what != 1:
				return cmdutil.Usagef("approvals enroll takes one of --new, --key FILE.pub, --list and --remove NAME")
			case o.Name != "" && (o.List || o.Remove != ""):
				return cmdutil.Usagef("--name goes with --new and --key")
			}
			return runF(cmd.Context(), o)
		},
	}
	f := cmd.Flags()
	f.StringVar(&o.Name, "name", "", "who it is; your account's `name` if not given")
	f.StringVar(&o.Key, "key", "", "enroll the public key in `FILE.pub`")
	f.BoolVar(&o.New, "new", false, "make a key with a passphrase, and enroll it")
	f.BoolVar(&o.List, "list", false, "print who is enrolled")
	f.StringVar(&o.Remove, "remove", "", "take away all keys of a `NAME`, or the one with a fingerprint")
	return cmd
}

func enrollRun(ctx context.Context, o *EnrollOptions) error {
	file, err := o.ApproversFile()
	if err != nil {
		return err
	}
	if o.List {
		return o.list(file)
	}
	who := o.Caller()
	if !o.IO.InTTY || o.Terminal == nil {
		return o.refuse("enrolling a key needs a person at a terminal, and standard input is not a terminal")
	}
	if o.Remove != "" {
		return o.remove(ctx, file)
	}
	o.Name = cmp.Or(o.Name, strings.TrimPrefix(who.Principal, "operator/"))
	if err := approval.CheckName(o.Name); err != nil {
		return cmdutil.Usagef("%s: give another with --name", plain(err))
	}
	all, err := approval.ReadApprovers(file) // before anything is asked or made
	if err != nil {
		return errors.New(plain(err))
	}
	if o.New {
		return o.enrollNew(ctx, file)
	}
	return o.enrollKey(ctx, file, all)
}

// enrollKey enrolls a key that exists.
func (o *EnrollOptions) enrollKey(ctx context.Context, file string, all []approval.Approver) error {
	a, err := readKey(o.Key)
	if err != nil {
		return cmdutil.Usagef("%s", plain(err))
	}
	a.Name = o.Name
	for _, other := range all {
		if other.Fingerprint() == a.Fingerprint() {
			return cmdutil.Usagef("%s is enrolled already, as %s", a.Fingerprint(), other.Name)
		}
	}
	said, err := o.ask(ctx, fmt.Sprintf("Enroll %s %s\nas %s, whose signature is proof of %s? [y/N] ", a.Key.Type(), a.Fingerprint(), a.Name, proves(a.Proof)))
	if err != nil {
		return err
	}
	if !yes(said) {
		return o.refuse("no key was enrolled")
	}
	return o.enroll(file, a)
}

// note writes an entry about who may approve, before that changes.
func (o *EnrollOptions) note(kind audit.Kind, a approval.Approver) error {
	if o.Audit == nil {
		return nil
	}
	sink, err := o.Audit()
	if err != nil {
		return err
	}
	return sink.Record(context.Background(), audit.Event{
		Kind: kind, Principal: o.Caller().Principal, Subject: a.Name, Change: fmt.Sprintf("key %s, %s", a.Fingerprint(), a.Proof),
	})
}

func (o *EnrollOptions) enroll(file string, a approval.Approver) error {
	if err := o.note(audit.ApproverEnroll, a); err != nil {
		return err
	}
	if err := approval.Enroll(file, a); err != nil {
		return errors.New(plain(err))
	}
	_, err := fmt.Fprintf(o.IO.Out, "enrolled %s: %s %s, for %s\n", a.Name, a.Key.Type(), a.Fingerprint(), proves(a.Proof))
	return err
}

// maxKeyFile bounds a file with a key.
const maxKeyFile = 64 << 10

// readKey reads a public key and finds out what a signature with it proves.
func readKey(file string) (approval.Approver, error) {
	file, err := filepath.Abs(file)
	if err != nil {
		return approval.Approver{}, err
	}
	data, err := readSmall(file)
	if err != nil {
		return approval.Approver{}, err
	}
	key, _, options, rest, err := ssh.ParseAuthorizedKey(data)
	if err != nil || len(options) > 0 || len(strings.TrimSpace(string(rest))) > 0 {
		return approval.Approver{}, fmt.Errorf("%s is not a file with one public key: give the one that ends in .pub", line(file))
	}
	if err := sshsig.Usable(key); err != nil {
		return approval.Approver{}, fmt.Errorf("%s: %w", line(file), err)
	}
	a := approval.Approver{Key: key, Proof: approval.Unproven}
	private, isPublic := strings.CutSuffix(file, ".pub")
	switch data, err := readSmall(private); {
	case sshsig.Hardware(key):
		a.Proof = approval.Touch
	case !isPublic || err != nil:
	default:
		a.File = private
		if key, err := privatekey.Parse(data); err == nil && key.Encrypted() {
			a.Proof = approval.Passphrase
		}
		clear(data)
	}
	return a, nil
}

func readSmall(file string) ([]byte, error) {
	st, err := os.Stat(file)
	switch {
	case err != nil:
		return nil, reason.File(file, err)
	case !st.Mode().IsRegular() || st.Size() > maxKeyFile:
		return nil, fmt.Errorf("%s is not a file with a key", line(file))
	}
	data, err := os.ReadFile(file)
	return data, reason.File(file, err)
}

// remove takes approvers away.
func (o *EnrollOptions) remove(ctx context.Context, file string) error {
	drop := func(a approval.Approver) bool { return a.Name == o.Remove || a.Fingerprint() == o.Remove }
	all, err := approval.ReadApprovers(file)
	if err != nil {
		return errors.New(plain(err))
	}
	var text strings.Builder
	left := 0
	for _, a := range all {
		if drop(a) {
			fmt.Fprintf(&text, "%s %s %s\n", a.Name, a.Key.Type(), a.Fingerprint())
		} else {
			left++
		}
	}
	if text.Len() == 0 {
		return cmdutil.Usagef("no key is enrolled as %s; list the enrolled keys with: fairlead approvals enroll --list", line(o.Remove))
	}
	if left == 0 {
		text.WriteString("No key is enrolled after that: approvals need no signature on any host, unless the policy requires one.\n")
	}
	said, err := o.ask(ctx, text.String()+"Take this away? [y/N] ")
	if err != nil {
		return err
	}
	if !yes(said) {
		return o.refuse("no key was removed")
	}
	for _, a := range all {
		if !drop(a) {
			continue
		}
		if err := o.note(audit.ApproverRemove, a); err != nil {
			return err
		}
	}
	gone, err := approval.Withdraw(file, drop)
	if err != nil {
		return errors.New(plain(err))
	}
	for _, a := range gone {
		if _, err := fmt.Fprintf(o.IO.Out, "removed %s: %s\n", a.Name, a.Fingerprint()); err != nil {
			return err
		}
	}
	return nil
}

// list prints who is enrolled.
func (o *EnrollOptions) list(file string) error {
	all, err := approval.ReadApprovers(file)
	if err != nil {
		return errors.New(plain(err))
	}
	if len(all) == 0 {
		fmt.Fprintln(o.IO.Err, "fairlead: no keys are enrolled; enroll one with: fairlead approvals enroll --new")
		return nil
	}
	t := table.New("NAME", "PROOF", "TYPE", "FINGERPRINT", "KEY")
	t.Fit, t.Whole, t.Drop = true, []string{"FINGERPRINT"}, []string{"KEY", "TYPE", "PROOF"}
	for _, a := range all {
		t.Add(a.Name, string(a.Proof), a.Key.Type(), a.Fingerprint(), line(a.File))
	}
	return t.Print(o.IO)
}

// proves is a proof in words.
func proves(p approval.Proof) string {
	switch p {
	case approval.Touch:
		return "a touch"
	case approval.Passphrase:
		return "a passphrase"
	}
	return "nothing (unproven): its file has no passphrase, or is not beside it"
}

// yes reports whether what somebody said is one.
func yes(said string) bool {
	said = strings.ToLower(strings.TrimSpace(said))
	return said == "y" || said == "yes"
}
