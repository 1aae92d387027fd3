package redact

import (
	"slices"
	"sync"
)

// Doors for the tests of what is looked at byte by byte: each is compared with a plain expression.

// Around are the judges of what stands around a name: before it, and in win, where it ends at name.
var Around = map[string]func(before, win []byte, name int) bool{
	"blockOpens": blockOpens, "colonEnds": colonEnds, "loginEnds": loginEnds, "tagEnds": tagEnds, "lastTag": lastTag, "tagCloses": tagCloses,
	"inAttribute": inAttribute, "pairName": pairName, "lastName": lastName, "quotedAlone": quotedAlone, "quotedInBraces": quotedInBraces,
	"lastWords": lastWords, "mappingAfter": mappingAfter(5), "inObject": inObject, "assigns": assigns, "isFlag": isFlag, "secretAccess": secretAccess,
	"explicitKey": explicitKey, "listOpens": listOpens, "flowData": flowData, "nextArgument": nextArgument, "opensCall": opensCall,
	"afterSlash": afterSlash, "braceEnds": braceEnds, "inRegistry": inRegistry, "netrcHead": netrcHead,
	"isOpenAI": isOpenAI, "isJWT": isJWT, "longRun": longRun, "flag": flagWord("-p", false), "gluedFlag": flagWord("-p", true),
	"starts": wordStarts(";|&", "-a", "ab"), "startsAnywhere": wordStarts("", "-a"),
}

// Before are the judges of what precedes a name.
var Before = map[string]func(before []byte) bool{
	"fallsBack": fallsBack, "inFlow": inFlow, "firstTag": firstTag, "goesOn": goesOn,
	"inTag": inTag, "tagged": tagged, "isName": isName, "inBraces": inBraces, "ownLine": ownLine, "inQuery": inQuery, "leads": leads,
	"opened": func(b []byte) bool { return opened(b, '"') }, "endsLine": endsLine, "wordOfShell": wordOfShell, "mixed": mixed,
	"afterControl": afterControl,
}

// Offers returns what the judge says of what a value falls back to, and what the expression that it spares says.
func Offers(b []byte) (offers, matches bool) {
	return offersFallback(b), fallsBack(b) && fallback.Match(b)
}

// ShellWord is the expression of a word of a command.
const ShellWord = shellWord

// Places are numbers that tell where something begins or ends.
var Places = map[string]func(b []byte) int{
	"keyDepth": keyDepth, "linePrefix": func(b []byte) int { return len(linePrefix(b)) }, "passwordBefore": passwordBefore, "sequence": sequence,
	"quoteAt": func(b []byte) int { return quoteAt(b, 0) }, "wordStart": wordStart,
	"indent":   func(b []byte) int { from, to := indent(b); return 1000*from + to },
	"baseLine": func(b []byte) int { return baseLineOf(b, true) },
	"openLine": func(b []byte) int { return baseLineOf(b, false) },
}

func baseLineOf(b []byte, final bool) int {
	n, whole := baseLine(append([]byte("x"), b...), 1, final)
	if !whole {
		return -1
	}
	return n
}

var separatorRule = sync.OnceValue(func() *rule {
	i := slices.IndexFunc(valueRules(), func(r *rule) bool { return r.scan != nil })
	return valueRules()[i]
})

// Separator matches what stands between a name and its value, by hand and by the expression.
func Separator(b []byte) (hand, plain []int) {
	return separatorRule().scan(b), separatorRule().re.FindSubmatchIndex(b)
}

// Strip returns b without control sequences, and how much of its end may be the start of one.
func Strip(b []byte) (string, int) {
	out, rest := strip(nil, b)
	return string(out), rest
}

// Seen is what rules see at a place: what precedes it, and the line from there on, both without control sequences, where each of its
// bytes stands, and where the first word ends.
type Seen struct {
	Before, Text string
	From, To     []int
	Name         int
}

// SeenAt returns what rules see at some places of data, of one line, looked at in this order.
func SeenAt(look string, data []byte, places ...int) []Seen {
	x := &pattern{look: []byte(look)}
	x.ahead.reset()
	var out []Seen
	for _, i := range places {
		win, _ := x.ahead.window(data, i, true)
		p := x.place(data, i, win)
		s := Seen{Before: string(p.plain), Text: string(p.view.text), Name: p.name}
		for k := range len(p.view.text) + 1 {
			s.From, s.To = append(s.From, p.view.from(k)), append(s.To, p.view.to(k))
		}
		out = append(out, s)
	}
	return out
}

// Joined is the word at the start of b without the newlines in it.
func Joined(b []byte, final bool) (text string, at, breaks []int, whole bool) {
	var x ahead
	v, breaks, whole := x.joined(b, final)
	return string(v.text), v.at, breaks, whole
}

// NextRun returns where the next run of base64 stands, and StartsLine whether one at the end of text would start a line; look precedes
// it.
func NextRun(b []byte, i int) (from, to int) { return nextRun(b, i) }

// StartsLine reports whether nothing but blanks, or a number, stands before the end of look and data on its line.
func StartsLine(look, data string) bool {
	x := &encoded{look: []byte(look)}
	return x.startsLine([]byte(data), len(data))
}

// PendingWord is how much of the end of look and data may be a password that a keyword follows.
func PendingWord(look, data string) int {
	x := &pattern{look: []byte(look)}
	return x.pendingWord([]byte(data))
}

// Preceding is what comes before data[s:].
func Preceding(look, data string, s int) string {
	x := &encoded{look: []byte(look)}
	return string(x.preceding([]byte(data), s))
}
