package prompt

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts"
)

// own are the commands of the prompt itself, with what they do.
var owns = []struct{ name, takes, does string }{
	{"hosts", "", "show the hosts"},
	{"only", "WHICH", "go on with the hosts where the last command was failed, ok, unreachable or notrun, or with those of a SELECTOR"},
	{"all", "", "go on with all hosts"},
	{"fold", "[off]", "group identical output"},
	{"diff", "[off]", "show how outputs differ"},
	{"forks", "N", "run on N hosts at a time"},
	{"become", "ACCOUNT", "run as ACCOUNT, by sudo or what the inventory says; none: as the account that logs in"},
	{"help", "", "show this; Tab completes, and ^R finds the last command that holds what is typed"},
	{"quit", "", "end the prompt, as ^D does"},
}

// isOwn reports whether a line is for the prompt. A colon alone, or before a blank, is a command of the shell.
func isOwn(line string) bool {
	return len(line) > 1 && line[0] == ':' && (line[1] >= 'a' && line[1] <= 'z' || line[1] >= 'A' && line[1] <= 'Z')
}

// own does what a line that begins with a colon says. end is the end of the prompt.
func (p *Prompt) own(line string) (end bool) {
	word, rest, _ := strings.Cut(line[1:], " ")
	rest = strings.TrimSpace(rest)
	if takes, known := argument(word); known && takes == "" && rest != "" {
		p.say(":%s takes no arguments\n", word)
		return false
	}
	switch word {
	case "hosts":
		p.say("%s\n", p.described())
	case "only":
		p.only(rest)
	case "all":
		p.all()
		p.failed = 0
	case "fold":
		p.forms(Fold, rest)
	case "diff":
		p.forms(Diff, rest)
	case "forks":
		n, err := strconv.Atoi(rest)
		if err != nil || n < 1 {
			p.say(":forks takes a number of hosts, as in :forks 20; it is %d\n", p.forks)
			return false
		}
		p.forks = n
	case "help":
		var b strings.Builder
		for _, o := range owns {
			fmt.Fprintf(&b, "  %-15s %s\n", strings.TrimSpace(":"+o.name+" "+o.takes), o.does)
		}
		fmt.Fprintf(p.cfg.Notices, "%s", b.String())
	case "quit":
		return true
	case "become":
		p.as(rest)
	default:
		p.say("there is no :%s; :help lists what there is\n", word)
	}
	return false
}

// as sets the account that commands run as.
func (p *Prompt) as(account string) {
	if account == "" {
		p.say(":become takes an account, as in :become root, or none\n")
		return
	}
	if err := hosts.CheckBecomeUser(account); err != nil && account != hosts.NoBecome {
		p.say(":become: %q %v\n", account, err)
		return
	}
	p.become = account
}

func argument(word string) (takes string, known bool) {
	for _, o := range owns {
		if o.name == word {
			return o.takes, true
		}
	}
	return "", false
}

// only narrows the hosts, always beginning with all of them.
func (p *Prompt) only(which string) {
	if which == "" {
		p.say(":only takes failed, ok, unreachable, notrun or a selector\n")
		return
	}
	picked, err := p.cfg.Only(which)
	switch {
	case err != nil:
		p.say(":only: %v\n", err)
	case len(picked) == 0:
		p.say("no host is %s; nothing changes\n", which)
	default:
		p.hosts, p.failed = picked, 0
		p.say("%s\n", p.described())
	}
}

// forms sets how results are printed.
func (p *Prompt) forms(f Form, arg string) {
	switch arg {
	case "", "on":
		p.form = f
	case "off":
		if p.form == f {
			p.form = Lines
		}
	default:
		p.say(":%s takes on or off\n", f)
		return
	}
	p.say("%s\n", map[Form]string{Lines: "output comes line by line", Fold: "identical output is grouped", Diff: "outputs are compared"}[p.form])
}
