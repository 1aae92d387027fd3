package rules

import (
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"io/fs"

	"go.yaml.in/yaml/v3"

	"github.com/fairlead-ssh/fairlead/hosts/strictyaml"
	"github.com/fairlead-ssh/fairlead/hosts/trustedfile"
)

// SystemFile is where root keeps the policy of a machine.
const SystemFile = "/etc/fairlead/policy.yaml"

// File is a policy file that was read and found right. It never changes.
type File struct {
	Name       string // as it was given
	rules      []*rule
	principals []*entry
	proofs     proofs
	proofTiers []namedTier
	sum        [sha256.Size]byte
}

// ReadFile reads a policy file. The file and its directory must belong to root or to the account that runs this program,
// and nobody else may be able to write to them: whoever can write the policy decides. Mistakes in the file are
// [*FileError], all of them joined with errors.Join; that the file is not there is [io/fs.ErrNotExist].
func ReadFile(name string) (*File, error) {
	f, err := trustedfile.Open(name, "policy")
	if pe, ok := errors.AsType[*fs.PathError](err); ok {
		return nil, fmt.Errorf("rules: cannot read the policy %s: %w", name, pe.Err)
	} else if err != nil {
		return nil, fmt.Errorf("rules: %w", err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, strictyaml.MaxFile+1))
	if err != nil {
		return nil, fmt.Errorf("rules: %w", err)
	}
	return Parse(data, name)
}

// Parse reads a policy. name is what messages call it. Mistakes are reported as by [ReadFile].
func Parse(data []byte, name string) (*File, error) {
	p := &problems{file: name}
	f := &File{Name: name, sum: sha256.Sum256(data)}
	switch root := p.Document(data, "a policy"); {
	case root != nil && root.Kind != yaml.MappingNode:
		p.Add(root.Line, "a policy is a mapping that begins with version: 1")
	case root != nil:
		p.file1(root, f)
	case len(p.Found()) == 0:
		p.Add(1, "the file says nothing; a policy begins with version: 1")
	}
	if err := p.err(); err != nil {
		return nil, err
	}
	return f, nil
}

func (p *problems) file1(root *yaml.Node, f *File) {
	fields := p.Fields(root, "a policy", "version", "rules", "principals", "approvals")
	if v := fields["version"]; v == nil {
		p.Add(root.Line, "version is missing: begin with version: 1")
	} else if s, ok := p.Scalar(v, "version"); ok && s != "1" {
		p.Add(v.Line, "version %s is not known; this program reads version 1", strictyaml.Clip(s))
	}
	if n := fields["rules"]; n != nil {
		f.rules = p.rules(n)
	}
	if n := fields["principals"]; n != nil {
		f.principals = p.entries(n)
	}
	if n := fields["approvals"]; n != nil {
		f.proofs, f.proofTiers = p.approvals(n)
	}
}
