package programs

import "slices"

// Names are all program names of the tables, sorted; asking for them compiles every entry.
func Names() []string {
	var names []string
	for name, e := range index() {
		e.get()
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// Families counts the names of each table.
func Families() []int {
	var n []int
	for _, table := range families() {
		count := 0
		for _, p := range table {
			count += 1
			for _, b := range p.name {
				if b == '|' {
					count++
				}
			}
		}
		n = append(n, count)
	}
	return n
}

// OptionNames are the options of a program, by its table.
func OptionNames(name string) []string {
	n := index()[name].get()
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
func Raw(name string) bool { return index()[name].program.raw }
