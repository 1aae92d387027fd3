package programs

import "errors"

// Problems compiles every entry of every table, and returns the mistakes.
func Problems() []error { return index().problems() }

func (t *tables) problems() []error {
	problems := []error{t.err}
	var all func(e *entry)
	all = func(e *entry) {
		n := e.get()
		problems = append(problems, e.err)
		for _, sub := range n.subs {
			all(sub)
		}
	}
	for _, e := range t.programs {
		all(e)
	}
	return problems
}

// OptionNames are the options of a program, by its table.
func OptionNames(name string) []string {
	n := index().programs[name].get()
	var all []string
	for _, l := range n.long {
		all = append(all, l.name)
	}
	for b, at := range n.short {
		if at != 0 && b != '#' {
			all = append(all, "-"+string(rune(b)))
		}
	}
	return all
}

// Raw says whether a program reads its words by itself.
func Raw(name string) bool { return index().programs[name].get().style&words != 0 }

// Parse compiles every entry of one file, and returns the mistakes.
func Parse(name, text string) error {
	t := newTables()
	t.file(name, text)
	return errors.Join(t.problems()...)
}

// JudgeIn judges a call by the tables of one text.
func JudgeIn(text string, c Call) Finding {
	t := newTables()
	t.file("t.txt", text)
	return t.judge(c)
}
