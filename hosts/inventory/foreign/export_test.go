package foreign

// ParseAnsible reads the text of one file of Ansible's as the name says.
func ParseAnsible(name string, data []byte) (*Inventory, error) {
	m := newModel(name)
	if err := m.text(name, data); err != nil {
		return nil, err
	}
	if err := m.finish(); err != nil {
		return nil, err
	}
	return m.convert("/inv"), nil
}

// ParseINI reads a text as INI, whatever it looks like.
func ParseINI(name string, data []byte) (*Inventory, error) {
	m := newModel(name)
	if err := m.ini(name, data); err != nil {
		return nil, err
	}
	if err := m.finish(); err != nil {
		return nil, err
	}
	return m.convert("/inv"), nil
}

// ParseVars reads a text as a file of group_vars of all, beside a host.
func ParseVars(name string, data []byte) (*Inventory, error) {
	m := newModel(name)
	if _, err := m.host("web1", m.groups["ungrouped"], Origin([]string{name})); err != nil {
		return nil, err
	}
	if err := m.finish(); err != nil {
		return nil, err
	}
	if err := m.vars(name, data, m.groups["all"].files); err != nil {
		return nil, err
	}
	return m.convert("/inv"), nil
}

// The parsers of texts.
var (
	ParseHosts  = etcHosts
	ParseCSV    = table
	ParseClush  = nodeGroups
	ExpandRange = expandRange
	SplitWords  = splitWords
)

// SSHArgs returns what options of ssh come to.
func SSHArgs(text string) (set map[string][]string, refused map[string]string) {
	a := parseSSHArgs(text)
	return a.set, a.refused
}
