package redact

import "bytes"

// LearnFromCommand learns the values that a command gives to names and options that say they are secret, and returns
// how many it found: `export TOKEN=…`, `PGPASSWORD=… psql`, `mysql -p…`, `curl -u user:…`, URLs with a password, and all
// else that a [Guarded] reader would not get to see. The command is only read. See [Owner.Learn] for what is too short or
// too long. Learn from commands that run: one that does not run should teach nothing, see [Set.With].
func (o Owner) LearnFromCommand(text string) int {
	s := o.set
	var all []found
	learn := func(kind string, value []byte, more int) {
		for _, f := range parts(kind, value, more) {
			f.value = bytes.Clone(f.value)
			all = append(all, f)
		}
		if len(all) > 2*max(s.most.values, 0)+maxParts {
			all = latest(all, s.most.values)
		}
	}
	assignments(text, learn)
	var none Counts
	p := pattern{book: rulebook(), key: s.key, note: &none, found: func(kind string, value []byte) { learn(kind, value, 0) }}
	for rest := text; rest != ""; {
		n := min(len(rest), feedStep)
		p.feed([]byte(rest[:n]))
		rest = rest[n:]
	}
	p.finish()
	return s.learn(o.name, false, all)
}

// maxParts is more than one value has parts.
const maxParts = maxLines

// latest returns the last n of all that differ: no more would be learned.
func latest(all []found, n int) []found {
	seen := map[string]bool{}
	at := len(all) // where what is kept begins
	for i := len(all) - 1; i >= 0 && len(seen) < n; i-- {
		if f := all[i]; !seen[string(f.value)] {
			seen[string(f.value)] = true
			at--
			all[at] = f
		}
	}
	kept := copy(all, all[at:])
	clear(all[kept:])
	return all[:kept]
}

// feedStep is how much of a command is looked at at a time: one may be as long as a file.
const feedStep = 64 << 10

// assignments finds NAME=value and --name=value, also with a blank between the two, among the words of a command, as a shell
// splits and unquotes them.
func assignments(text string, found func(kind string, value []byte, more int)) {
	assigned := func(name, value []byte, more int) {
		if len(value) == 0 || placeholder(value) || filePath.Match(value) {
			return
		}
		if kind := nameKind(name); kind != "" {
			found(kind, value, more)
		}
	}
	var option []byte // the last word, if it may have its value in the next one
	shellWords(text, func(w wordOf) {
		if len(option) > 0 && !bytes.HasPrefix(w.text, []byte("-")) {
			assigned(option, w.text, w.more)
		}
		option = option[:0]
		name, value, given := bytes.Cut(w.text, []byte("="))
		switch {
		case given:
			assigned(name, value, w.more)
		case bytes.HasPrefix(w.text, []byte("--")):
			option = append(option, w.text...)
		}
	})
}

// nameKind returns what kind of secret a variable or option holds by its name, or "".
func nameKind(name []byte) string {
	probe := append(bytes.Clone(name), "=Zk3Qw9bT5xLm2"...)
	var none Counts
	kind := ""
	p := pattern{book: rulebook(), note: &none, found: func(k string, _ []byte) { kind = k }}
	p.feed(probe)
	p.finish()
	return kind
}
