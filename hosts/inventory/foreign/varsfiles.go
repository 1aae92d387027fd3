package foreign

import (
	"bytes"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// vaultHeader begins a file that Ansible Vault encrypted.
const vaultHeader = "$ANSIBLE_VAULT;"

// varsFiles reads group_vars and host_vars in the directory of an inventory.
func (m *model) varsFiles(dir string) error {
	groups, hostsDir := filepath.Join(dir, "group_vars"), filepath.Join(dir, "host_vars")
	for _, d := range []string{groups, hostsDir} {
		if err := m.note(d); err != nil { // also where it is missing: it may come
			return err
		}
	}
	if isDir(groups) {
		for _, name := range m.order {
			if err := m.varsOf(groups, name, m.groups[name].files); err != nil {
				return err
			}
		}
	}
	if isDir(hostsDir) {
		for _, name := range m.names {
			if err := m.varsOf(hostsDir, name, m.hosts[name].files); err != nil {
				return err
			}
		}
	}
	return nil
}

// varsOf reads the files of one group or host: NAME, NAME.yml, NAME.yaml or NAME.json, the first that is there, and all that
// is in it where it is a directory.
func (m *model) varsOf(dir, name string, into variables) error {
	if strings.ContainsAny(name, "/\\\x00") || name == "." || name == ".." {
		return nil
	}
	for _, ext := range []string{"", ".yml", ".yaml", ".json"} {
		path := filepath.Join(dir, name+ext)
		st, err := os.Stat(path)
		switch {
		case err != nil:
			continue
		case st.IsDir():
			return m.varsDir(path, into, 0)
		}
		return m.varsFile(path, into)
	}
	return nil
}

func (m *model) varsDir(dir string, into variables, depth int) error {
	if depth > maxDepth {
		return wrong(hosts.Pos{File: dir}, "more than %d directories inside each other", maxDepth)
	}
	if err := m.note(dir); err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return err
	}
	for _, e := range entries { // sorted
		name := e.Name()
		ext := filepath.Ext(name)
		path := filepath.Join(dir, name)
		switch {
		case strings.HasPrefix(name, "."), strings.HasSuffix(name, "~"):
		case isDir(path) && ext == "":
			err = m.varsDir(path, into, depth+1)
		case !isDir(path) && slices.Contains([]string{"", ".yml", ".yaml", ".json"}, ext):
			err = m.varsFile(path, into)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

func (m *model) varsFile(path string, into variables) error {
	data, err := m.read(path)
	if err != nil {
		return err
	}
	return m.vars(path, data, into)
}

// vars reads the variables of one file.
func (m *model) vars(path string, data []byte, into variables) error {
	if bytes.HasPrefix(data, []byte(vaultHeader)) {
		m.add(hosts.Pos{File: path, Line: 1}, "the file is encrypted with Ansible Vault and is not read: what it says of ansible_host, ansible_user and the like has no effect here")
		return nil
	}
	d := &yamlDoc{file: path, values: &m.values, twice: m.notes.twice}
	root, err := d.root(data)
	if err != nil || root == nil {
		return err
	}
	pairs, err := d.pairs(root, 0)
	if err != nil {
		return err
	}
	for _, kv := range pairs {
		into[kv.key] = d.value(kv.val)
	}
	return nil
}
