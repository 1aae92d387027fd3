package hosts

// Selector picks hosts. The zero Selector picks none. Selectors never change and are safe for concurrent use.
type Selector struct{ root expr }

// ParseSelector parses an expression over hosts:
//
//	web01                  a host by name
//	web[01-12/2,20]        a range: the names it expands to, see Expand
//	web*  web??.example    a glob over names: * is any run of characters, ? one; with ranges too
//	~^db\d  re:^db\d       a regular expression (RE2) found anywhere in a name
//	@web                   the hosts of a group, those of its children included
//	role=web  role!=db     a label; != also picks hosts without the label; * and ? are globs in an unquoted value
//	tier=prod              the tier; hosts without one are prod
//	all                    every host, spelled out
//	a,b  a|b               union
//	a&b                    intersection
//	!a                     exclusion
//	(…)                    grouping
//
// ! binds before &, and & before the comma. A !x that is a member of a union is taken from the whole union, wherever it
// stands in it: "!web01,@web" is every host of web but web01. A selector, or a part of one, that only excludes is an
// error: write "all,!x". Spaces are free between all parts; two parts without an operator are an error.
//
// A regular expression ends at the first space, comma, "|", "&" or ")" that is not inside its own (), [] or {} and not
// escaped; in double quotes it may hold anything, with \" for a quote. The value of a label may be quoted as well, with \"
// and \\, and is then taken literally.
//
// The lists ^file, file:path and - (standard input) are refused: they would read files of whoever evaluates the selector,
// for whoever wrote it. A command line that wants them uses [ParseOptions.Parse].
//
// Errors are [*ParseError] with a column. Whether the names exist is for [Inventory.Select] to say.
func ParseSelector(text string) (Selector, error) { return ParseOptions{}.Parse(text) }

// ParseOptions says what a selector may read while it is parsed. The zero value refuses all of it.
type ParseOptions struct {
	// ReadList returns the text of a list of hosts: the file named after ^ or file:, or standard input for "-". Lists hold
	// names and ranges, separated by spaces, commas or line ends; # begins a comment. The selector then holds the names, not
	// the list: its String reads nothing. nil refuses lists.
	ReadList func(name string) ([]byte, error)
}

// Parse is [ParseSelector] with lists.
//
// Where a selector is written as Ansible's patterns or nodeset's are, the error says how to write it here.
func (o ParseOptions) Parse(text string) (Selector, error) {
	sel, err := o.parse(text)
	if err != nil {
		return Selector{}, explain(text, err)
	}
	return sel, nil
}

func (o ParseOptions) parse(text string) (Selector, error) {
	p := parser{text: text, readList: o.ReadList}
	root, err := p.parse()
	if err != nil {
		return Selector{}, err
	}
	return Selector{root}, nil
}

// IsZero reports whether s is the zero Selector.
func (s Selector) IsZero() bool { return s.root == nil }

// Match reports whether s picks h. It looks at the name, groups, labels and tier of h alone: names that do not exist are
// simply not h. See [Inventory.Check].
func (s Selector) Match(h Host) bool { return s.root != nil && s.root.match(&h) }

// String returns the canonical form, which parses back to an equal selector: no spaces, "," for union, exclusions last,
// only the parentheses that are needed. The zero Selector is "".
func (s Selector) String() string {
	if s.root == nil {
		return ""
	}
	return s.root.String()
}

// Except returns a selector for what s picks and other does not. A zero other changes nothing.
func (s Selector) Except(other Selector) Selector {
	if s.root == nil || other.root == nil {
		return s
	}
	if u, ok := s.root.(*unionExpr); ok {
		return Selector{newUnion(u.pos, append(u.neg[:len(u.neg):len(u.neg)], other.root))}
	}
	return Selector{newUnion([]expr{s.root}, []expr{other.root})}
}

func (s Selector) walk(f func(expr)) {
	if s.root != nil {
		walk(s.root, f)
	}
}
