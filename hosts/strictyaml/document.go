package strictyaml

import (
	"bytes"
	"errors"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"go.yaml.in/yaml/v3"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// What a file may be at most.
const (
	MaxFile  = 1 << 20 // bytes
	MaxDepth = 16      // lists and mappings in each other
)

// Document reads the one document that a file is. It returns nil where the file says nothing, and where it notes what is
// wrong. what is the file in the words of its readers: "a policy".
func (p *Problems) Document(data []byte, what string) *yaml.Node {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if len(data) > MaxFile {
		p.Add(1, "the file has more than %d bytes", MaxFile)
		return nil
	}
	if !p.text(data) {
		return nil
	}
	root, wrong := Decode(data, what)
	if wrong != nil {
		p.Add(wrong.Line, "%s", wrong.Msg)
		return nil
	}
	if root == nil || !p.plain(root, 0) {
		return nil
	}
	return root
}

// Decode reads the one document of a file; what names it, as in "an inventory". Without a Problem, nil is a file that holds
// no value.
func Decode(data []byte, what string) (*yaml.Node, *Problem) {
	dec := yaml.NewDecoder(bytes.NewReader(data))
	var doc, second yaml.Node
	switch err := dec.Decode(&doc); {
	case errors.Is(err, io.EOF):
		return nil, nil
	case err != nil:
		return nil, syntax(data, err)
	}
	switch err := dec.Decode(&second); {
	case err == nil:
		return nil, &Problem{second.Line, "a second document begins here; " + what + " is one"}
	case !errors.Is(err, io.EOF):
		return nil, syntax(data, err)
	}
	if len(doc.Content) != 1 {
		return nil, nil
	}
	return doc.Content[0], nil
}

// text refuses what a reader of the file would not see as it is.
func (p *Problems) text(data []byte) bool {
	line := 1
	for i := 0; i < len(data); {
		r, n := utf8.DecodeRune(data[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			p.Add(line, "the file is not UTF-8")
			return false
		case r == '\n':
			line++
		case r == '\t' || r == '\r':
		case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
			p.Add(line, "the file holds the character %U, which cannot be seen", r)
			return false
		}
		i += n
	}
	return true
}

// plain refuses what no such file needs, anywhere in it: anchors, aliases, tags, merges and keys that are there twice.
func (p *Problems) plain(n *yaml.Node, depth int) bool {
	before := len(p.found)
	switch {
	case depth > MaxDepth:
		p.Add(n.Line, "more than %d levels of lists and mappings", MaxDepth)
		return false
	case n.Kind == yaml.AliasNode:
		p.Add(n.Line, "anchors and aliases are not supported")
		return false
	case n.Anchor != "":
		p.Add(n.Line, "anchors and aliases are not supported")
	case n.Style&yaml.TaggedStyle != 0:
		p.Add(n.Line, "tags such as %s are not supported", Clip(n.Tag))
	}
	if n.Kind == yaml.MappingNode {
		seen := map[string]int{}
		for i := 0; i+1 < len(n.Content); i += 2 {
			k := n.Content[i]
			switch first, twice := seen[k.Value]; {
			case k.Kind != yaml.ScalarNode:
				p.Add(k.Line, "a key must be a word")
			case k.Tag == "!!merge":
				p.Add(k.Line, "<< is not supported")
			case twice:
				p.Add(k.Line, "%q is there twice; first on line %d", Clip(k.Value), first)
			default:
				seen[k.Value] = k.Line
			}
		}
	}
	for _, c := range n.Content {
		p.plain(c, depth+1)
	}
	return len(p.found) == before
}

var (
	yamlLine   = lazyregexp.New(`^line (\d+): `)
	yamlAnchor = lazyregexp.New(`^unknown anchor '(.*)' referenced$`)
)

// syntax turns an error of the library into one with a line. The library counts lines from 0 where its parser complains
// ("did not find …") and from 1 where its scanner does; it leaves the line out if that is 0, and for anchors.
func syntax(data []byte, err error) *Problem {
	lines := bytes.Split(data, []byte("\n"))
	msg, line := strings.TrimPrefix(err.Error(), "yaml: "), 1
	if m := yamlLine.FindStringSubmatch(msg); m != nil {
		line, _ = strconv.Atoi(m[1])
		if msg = msg[len(m[0]):]; strings.HasPrefix(msg, "did not find") {
			line++
		}
	} else if m := yamlAnchor.FindStringSubmatch(msg); m != nil {
		line = 1 + bytes.Count(data[:max(0, bytes.Index(data, []byte("*"+m[1])))], []byte("\n"))
	}
	if strings.Contains(msg, "a tab character") { // it names the line before
		for line < len(lines)-1 && !bytes.HasPrefix(bytes.TrimLeft(lines[line], " "), []byte("\t")) {
			line++
		}
		line++
	}
	return &Problem{min(line, len(lines)), "not valid YAML: " + Clip(strings.ReplaceAll(msg, "\n", " "))}
}
