package foreign

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// quiet are variables about Ansible's own work on a host, which mean nothing to Fairlead and take nothing away.
var quiet = strings.Fields(`ansible_python_interpreter ansible_pipelining ansible_ssh_pipelining ansible_remote_tmp ansible_shell_type
	ansible_shell_executable ansible_ssh_transfer_method ansible_scp_if_ssh ansible_sftp_batch_mode ansible_ssh_retries
	ansible_ssh_control_path ansible_ssh_control_path_dir ansible_control_path ansible_control_path_dir ansible_ssh_use_tty
	ansible_async_dir ansible_module_compression ansible_facts ansible_local ansible_check_mode ansible_diff_mode`)

// convert makes what the model says into an Inventory. dir is where relative paths of keys begin.
func (m *model) convert(dir string) *Inventory {
	c := &converter{model: m, dir: dir, playbooks: map[string]bool{}, badGroups: map[string]bool{}, parsed: map[string]*sshArgs{}}
	inv := &Inventory{}
	known := map[string]bool{}
	for _, name := range m.names {
		h := m.hosts[name]
		out, ok := c.host(h)
		if ok {
			inv.Hosts = append(inv.Hosts, out)
			known[name] = true
		}
	}
	for _, name := range m.order {
		if g, ok := c.group(m.groups[name], known); ok {
			inv.Groups = append(inv.Groups, g)
		}
	}
	if n := len(c.playbooks); n > 0 {
		names := slices.Sorted(maps.Keys(c.playbooks))
		what := fmt.Sprintf("%d variables are", n)
		if n == 1 {
			what = "1 variable is"
		}
		m.minor(hosts.Pos{File: m.root}, "%s for playbooks and without effect here: %s", what, clip(strings.Join(names, ", ")))
	}
	inv.Notes, inv.Files = m.notes.all(m.root), m.files.all()
	return inv
}

// converter turns variables into fields.
type converter struct {
	*model
	dir       string
	playbooks map[string]bool // names of variables that are no business of ours
	badGroups map[string]bool
	parsed    map[string]*sshArgs
}

// group leaves out what is there by itself: all, and an ungrouped without hosts.
func (c *converter) group(g *ansibleGroup, known map[string]bool) (Group, bool) {
	if g.name == "all" || g.name == "ungrouped" && len(g.members) == 0 && len(g.children) == 0 {
		return Group{}, false
	}
	if !c.goodGroup(g) {
		return Group{}, false
	}
	out := Group{Name: g.name, Pos: g.pos}
	for _, name := range g.hosts {
		if pos, still := g.members[name]; still && known[name] {
			out.Hosts = append(out.Hosts, Member{name, pos})
		}
	}
	for _, name := range g.order {
		if child := c.groups[name]; name != "all" && c.goodGroup(child) && (name != "ungrouped" || len(child.members) > 0) {
			out.Children = append(out.Children, Member{name, g.children[name]})
		}
	}
	return out, true
}

func (c *converter) goodGroup(g *ansibleGroup) bool {
	err := hosts.CheckGroup(g.name)
	if err != nil && !c.badGroups[g.name] {
		c.badGroups[g.name] = true
		c.add(g.pos, "group %q is left out, its hosts are not: a group's name %v", clip(g.name), err)
	}
	return err == nil
}

// host converts one host; ok is false where it has no name that Fairlead could use.
func (c *converter) host(h *ansibleHost) (out Host, ok bool) {
	if err := hosts.CheckName(h.name); err != nil {
		hint := ""
		if _, ip := netip.ParseAddr(h.name); ip == nil {
			hint = "; give it a name, and the address as ansible_host"
		} else if login, ok, bad := hosts.ParseAdHoc(h.name); ok && bad == nil {
			hint = fmt.Sprintf("; write %s ansible_user=%s", login.Name, login.User)
		}
		c.leftOut(h.pos, "host %q is left out: a host's name %v%s", clip(h.name), err, hint)
		return out, false
	}
	s := &hostFields{converter: c, vars: c.settle(h), set: map[string]Field{}}
	s.read()
	out = Host{Name: h.name, Pos: h.pos}
	for _, name := range slices.Sorted(maps.Keys(s.set)) {
		out.Fields = append(out.Fields, s.set[name])
	}
	return out, true
}

// hostFields reads the variables of one host.
type hostFields struct {
	*converter
	vars map[string]settled
	set  map[string]Field
}

// take returns the variable that counts of several names for one thing, the last one first as with Ansible. Those that are
// nothing are passed over.
func (s *hostFields) take(names ...string) (name string, v settled, ok bool) {
	for _, n := range names {
		if got, there := s.vars[n]; there && got.kind != nullValue {
			name, v, ok = n, got, true
		}
	}
	return name, v, ok
}

// plain returns a text that can be used as it is, or why it cannot.
func plain(name string, v value) (text, why string) {
	switch {
	case v.kind == vaultValue:
		return "", name + " is encrypted with Ansible Vault"
	case v.kind == otherValue:
		return "", name + " is a list or a mapping"
	case strings.Contains(v.text, "{{") || strings.Contains(v.text, "{%"):
		return "", name + " is a template, which Fairlead does not evaluate"
	}
	return strings.TrimSpace(v.text), ""
}

// put sets a field unless it is set.
func (s *hostFields) put(field string, v settled, values ...string) {
	if _, there := s.set[field]; !there {
		s.set[field] = Field{Name: field, Values: values, Inherited: v.inherited, Pos: v.pos}
	}
}

// refuse leaves a field open that decides where or as whom one logs in.
func (s *hostFields) refuse(field string, v settled, why string) {
	if _, there := s.set[field]; there {
		return
	}
	s.set[field] = Field{Name: field, Refusal: v.pos.String() + ": " + message("%s", why), Inherited: v.inherited, Pos: v.pos}
	s.model.put(Note{Pos: v.pos, Msg: message("%s: hosts with it refuse logins until an inventory of Fairlead's sets %s for them", why, field), Refused: true})
}

func (s *hostFields) read() {
	s.become()
	if s.connection() {
		return
	}
	s.args("ansible_ssh_args") // ssh sees them before all others
	s.text("addr", "ansible_host", "ansible_ssh_host")
	s.text("port", "ansible_port", "ansible_ssh_port")
	s.text("user", "ansible_user", "ansible_ssh_user")
	s.key()
	s.timeout()
	s.args("ansible_ssh_common_args")
	s.args("ansible_ssh_extra_args")
	s.rest()
}

// connection reads how the host is reached, and reports whether nothing else matters: it is this machine.
func (s *hostFields) connection() bool {
	name, v, ok := s.take("ansible_connection")
	if !ok {
		return false
	}
	text, why := plain(name, v.value)
	switch short := text[strings.LastIndexByte(text, '.')+1:]; {
	case why != "":
		s.refuse("transport", v, why)
	case short == "local":
		s.put("transport", v, string(hosts.Local))
		s.rest()
		return true
	case !slices.Contains([]string{"ssh", "smart", "paramiko", "paramiko_ssh", "libssh"}, short):
		s.refuse("transport", v, fmt.Sprintf("ansible_connection=%s has no counterpart", clip(text)))
	}
	return false
}

// text reads a field that is one text.
func (s *hostFields) text(field string, names ...string) {
	name, v, ok := s.take(names...)
	if !ok {
		return
	}
	text, why := plain(name, v.value)
	if why == "" && text != "" {
		why = unusable(field, name, text)
	}
	switch {
	case why != "":
		s.refuse(field, v, why)
	case text != "":
		s.put(field, v, text)
	}
}

// unusable says what is wrong with the value of a field, or "".
func unusable(field, name, text string) string {
	switch field {
	case "port":
		if n, err := strconv.ParseUint(text, 10, 16); err != nil || n == 0 || text[0] == '0' {
			return fmt.Sprintf("%s: %q is not between 1 and 65535", name, clip(text))
		}
	case "user":
		if err := hosts.CheckUser(text); err != nil {
			return fmt.Sprintf("%s: %q %v", name, clip(text), err)
		}
	case "addr":
		if _, err := netip.ParseAddr(text); err == nil {
			return ""
		}
		if err := hosts.CheckName(text); err != nil {
			return fmt.Sprintf("%s: %q %v", name, clip(text), err)
		}
	}
	return ""
}

// become reads as whom commands run.
func (s *hostFields) become() {
	name, v, ok := s.take("ansible_become")
	if !ok {
		return
	}
	text, why := plain(name, v.value)
	switch strings.ToLower(text) {
	case "false", "no", "off", "n", "f", "0", "":
		return
	case "true", "yes", "on", "y", "t", "1":
	default:
		if why == "" {
			why = fmt.Sprintf("%s: %q is not true or false", name, clip(text))
		}
	}
	as := hosts.Become{User: "root", Method: hosts.BecomeMethods[0]}
	more := func(name string, to *string) {
		if name, v, ok := s.take(name); ok {
			text, bad := plain(name, v.value)
			why = cmp.Or(why, bad)
			*to = cmp.Or(text, *to)
		}
	}
	more("ansible_become_user", &as.User)
	more("ansible_become_method", &as.Method)
	as.Method = strings.TrimPrefix(as.Method, "ansible.builtin.")
	if err := as.Check(); why == "" && err != nil {
		why = fmt.Sprintf("ansible_become: %v", err)
	}
	if why != "" {
		s.refuse("become", v, why)
		return
	}
	s.put("become", v, as.String())
}

// key reads the file of the private key. A relative path begins where the inventory is.
func (s *hostFields) key() {
	name, v, ok := s.take("ansible_private_key_file", "ansible_ssh_private_key_file")
	if !ok {
		return
	}
	text, why := plain(name, v.value)
	switch {
	case why != "":
		s.refuse("identity", v, why)
	case text != "":
		s.put("identity", v, s.keyFile(v.pos, text))
	}
}

func (s *hostFields) keyFile(pos hosts.Pos, file string) string {
	if filepath.IsAbs(file) || strings.HasPrefix(file, "~/") {
		return file
	}
	s.minor(pos, "the key file %q is taken to be in the inventory's directory: write its whole path", clip(file))
	return filepath.Join(s.dir, file)
}

// timeout reads the seconds that connecting may take.
func (s *hostFields) timeout() {
	name, v, ok := s.take("ansible_timeout", "ansible_ssh_timeout")
	if !ok {
		return
	}
	text, why := plain(name, v.value)
	n, err := strconv.ParseUint(text, 10, 16)
	switch {
	case why != "":
		s.add(v.pos, "%s", why)
	case err != nil || n == 0:
		s.add(v.pos, "%s is not a number of seconds", name)
	default:
		s.put("connect_timeout", v, text+"s")
	}
}

// args reads options of ssh.
func (s *hostFields) args(name string) {
	_, v, ok := s.take(name)
	if !ok {
		return
	}
	text, why := plain(name, v.value)
	if why != "" {
		s.refuse("via", v, why)
		return
	}
	a := s.parsed[text]
	if a == nil {
		a = parseSSHArgs(text)
		s.parsed[text] = a
	}
	for _, field := range []string{"port", "user"} {
		if got := a.set[field]; len(got) == 1 {
			if why := unusable(field, name, got[0]); why != "" {
				s.refuse(field, v, why)
			} else {
				s.put(field, v, got[0])
			}
		}
	}
	if got, ok := a.set["via"]; ok {
		s.put("via", v, got...)
	}
	if got := a.set["identity"]; len(got) > 0 {
		var files []string
		for _, f := range got {
			files = append(files, s.keyFile(v.pos, f))
		}
		s.put("identity", v, files...)
	}
	if got := a.set["connect_timeout"]; len(got) == 1 {
		if n, err := strconv.ParseUint(got[0], 10, 16); err == nil && n > 0 {
			s.put("connect_timeout", v, got[0]+"s")
		} else {
			s.add(v.pos, "%s: ConnectTimeout is not a number of seconds", name)
		}
	}
	for _, field := range slices.Sorted(maps.Keys(a.refused)) {
		s.refuse(field, v, name+": "+a.refused[field])
	}
	if len(a.lost) > 0 {
		s.add(v.pos, "%s: %s has no effect here; host keys are always verified", name, clip(strings.Join(a.lost, ", ")))
	}
}

// rest lists the variables that have no counterpart.
func (s *hostFields) rest() {
	for name, v := range s.vars {
		switch {
		case strings.HasPrefix(name, "ansible_"), strings.HasPrefix(name, "ansible."):
			s.restAnsible(name, v)
		default:
			s.playbooks[name] = true
		}
	}
}

// read are the variables that become fields.
var read = strings.Fields(`ansible_connection ansible_host ansible_ssh_host ansible_port ansible_ssh_port ansible_user ansible_ssh_user
	ansible_private_key_file ansible_ssh_private_key_file ansible_timeout ansible_ssh_timeout ansible_ssh_args ansible_ssh_common_args
	ansible_ssh_extra_args ansible_become ansible_become_user ansible_become_method`)

func (s *hostFields) restAnsible(name string, v settled) {
	switch {
	case slices.Contains(read, name), slices.Contains(quiet, name), strings.HasSuffix(name, "_interpreter"):
	case strings.Contains(name, "pass"):
		s.add(v.pos, "%s is not taken over: Fairlead logs in with keys and keeps no passwords", clip(name))
	case strings.HasPrefix(name, "ansible_become"), strings.HasPrefix(name, "ansible_sudo"), strings.HasPrefix(name, "ansible_su_"):
		s.add(v.pos, "%s has no counterpart: use ansible_become, ansible_become_user and ansible_become_method", clip(name))
	case strings.Contains(name, "host_key_checking"):
		s.add(v.pos, "%s has no effect here: host keys are always verified", clip(name))
	default:
		s.add(v.pos, "%s has no counterpart", clip(name))
	}
}
