package redact

import "bytes"

// LearnFromCommand learns the values that a command gives to names and options that say they are secret, and returns
// how many it found: `export TOKEN=…`, `PGPASSWORD=… psql`, `mysql -p…`, `curl -u user:…`, URLs with a password, and all
// else that a [Guarded] reader would not get to see. The command is only read. See [Owner.Learn] for what is too short or
// too long. Learn from commands that run: one that does not run should teach nothing, see [Set.With].
func (o Owner) LearnFromCommand(text string) int {
	s := o.set
	var all []found
	learn := func(kind string, value []byte) { all = append(all, parts(kind, bytes.Clone(value))...) }
	s.assignments(text, learn)
	var none Counts
	p := pattern{book: rulebook(), key: s.key, note: &none, found: learn}
	p.feed([]byte(text))
	p.finish()
	return s.learn(o.name, false, all)
}

// assignments finds NAME=value and --name=value among the words of a command, as a shell splits and unquotes them.
func (s *Set) assignments(text string, found func(kind string, value []byte)) {
	words := shellWords(text)
	for i, w := range words {
		name, value, given := bytes.Cut(w, []byte("="))
		if !given && bytes.HasPrefix(w, []byte("--")) && i+1 < len(words) && !bytes.HasPrefix(words[i+1], []byte("-")) {
			value = words[i+1]
		}
		if len(value) == 0 || placeholder(value) || filePath.Match(value) {
			continue
		}
		if kind := nameKind(name); kind != "" {
			found(kind, value)
		}
	}
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
