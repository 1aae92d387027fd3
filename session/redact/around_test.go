package redact_test

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/redact"
)

// allOf calls f with each text of at most n of some parts.
func allOf(n int, parts []string, f func(text string)) {
	f("")
	if n > 0 {
		for _, p := range parts {
			allOf(n-1, parts, func(rest string) { f(p + rest) })
		}
	}
}

const (
	tok      = `[A-Za-z0-9_.-]*`
	tag      = `<(?:[^/<>\n][^<>\n]*)?`
	elem     = `(?:` + tag + `|<(?:key|name)>` + tok + `)`
	nameIs   = `(?i)(?:^|[^a-zA-Z])(?:name|parameterkey|key|variable)\\?["']?[ \t]*[:=][ \t]*(?:\\?["'])?` + tok
	braces   = `[;{][ \t]*` + tok
	ownWord  = `[ \t]*(?:[-:] [ \t]*|(?:enable|set)[ \t]+)?` + tok
	ownAfter = `(?:^|[\n\x00])` + ownWord
	str      = `[ \t]+(?:"[^"]{3,}"|'[^']{3,}')`
)

// What looks at bytes, since expressions would take too long where names stand everywhere, says what an expression says.
func TestWhatStandsAroundANameIsSeenAsExpressionsSeeIt(t *testing.T) {
	letters := func(s string) []string { return strings.Split(s, "") }
	tags := []string{"<", ">", "/", "\n", "a", "<key>", "<name>"}
	names := []string{"name", "Key", "parameter", "variable", `"`, "'", `\`, " ", "\t", ":", "=", "x", "-"}
	lines := []string{"\n", "\x00", " ", "\t", "-", ":", "set", "enable", "a", ";", "{", "_"}
	quotes := []string{`"`, `'`, " ", "\t", "abc", "ab", ";", "\r", "#", "}", "x"}
	for _, c := range []struct {
		name         string
		before, rest string // expressions of what precedes the name and what follows it
		near, far    []string
		n, m         int // how many of these
	}{
		{"blockOpens", ``, `^["']?[ \t]*[:=].*[|>]`, nil, letters("\"' \t:=|>a"), 0, 5},
		{"colonEnds", ``, `^["']?[ \t]*[:=](?:[ \t\r\\]*$|[ \t]+[&!])`, nil, letters("\"' :=\r\\a&!"), 0, 5},
		{"loginEnds", ``, `^[ \t]*[^ \t]*[ \t\r]*$`, nil, letters(" \t\ra"), 0, 7},
		{"tagEnds", tag + `$`, `^["']?(?:>|[ \t][^<>]*>)`, tags, letters("\"' <>a"), 2, 4},
		{"lastTag", elem + `$`, `^(?:<[^>]*>|["']?(?:>|[ \t][^<>]*>))[ \t\r]*$`, tags, letters("\" <>\ra"), 2, 4},
		{"tagCloses", elem + `$`, `^</`, tags, letters("</>"), 3, 2},
		{"inAttribute", elem + `$`, `^["'][ \t]`, tags, letters("\"' \ta"), 3, 2},
		{"pairName", nameIs + `$`, `^\\?["'][ \t]*,`, names, letters("\\\"' \t,a"), 2, 3},
		{"lastName", nameIs + `$`, `^["']?,?[ \t\r]*$`, names, letters("\"', \ra"), 2, 3},
		{"quotedAlone", `(?:` + braces + `|` + ownAfter + `)$`, `^` + str + `[ \t]*;?[ \t\r]*(?:$|#|\})`, lines[:1], quotes, 1, 4},
		{"quotedAlone", `(?:` + braces + `|` + ownAfter + `)$`, `^ "abc"$`, lines, []string{` "abc"`}, 3, 1},
		{"quotedInBraces", braces + `$`, `^` + str + `[ \t]*;`, []string{"; "}, quotes, 1, 4},
		{"lastWords", ``, `^(?:[^ \t]*[ \t\r]*){0,4}$`, nil, letters(" \ra"), 0, 8},
		{"mappingAfter", ``, `^.[ \t\r]*(?:$|&|\{[ \t\r]*$)`, nil, letters(" \t\ra&{"), 0, 5},
		{"explicitKey", `(?:^|[\n\x00])[ \t-]*\?[ \t]+["']*` + tok + `$`, `^["' \t\r]*$`, []string{"? ", "?", " ", "-", "\n", `"`, "a"}, letters("\"' \ra"), 4, 2},
		{"listOpens", ``, `^(?:\\?["'])?[ \t]*[:=][=> \t]*[\[({@aA]`, nil, letters("\\\"' \t:=>[({@a"), 0, 4},
		{"flowData", `(?:(?:^|[\n\x00])[ \t]*(?:string)?|\{[ \t]*(?:string)?)$`, `^.[ \t]*[&{]`, []string{"\n", " ", "{", "string", "x"}, letters(" \t&{x"), 4, 3},
		{"nextArgument", `\([ \t"'\\]*` + tok + `$`, `^\\?["'][ \t]*,[ \t]*\\?["']`, letters("(\"'\\ a,"), letters("\\\"' ,a"), 3, 4},
		{"opensCall", ``, `^ ?\(.*["']`, nil, letters(" (\"'a"), 0, 5},
		{"afterSlash", `[ \t]/[A-Za-z0-9_-]*$`, `^:[^\n]{3,}`, letters(" \t/a-"), letters(":ab "), 4, 4},
		{"braceEnds", ``, `^"[ \t]*\{[ \t\r]*$`, nil, letters("\" \t{\ra"), 0, 5},
		{"inRegistry", ``, `^(?i)[" \t]*(?:/t[ \t]*)? *reg_`, nil, []string{"\"", " ", "\t", "/t", "/T", "reg_", "REG_", "x"}, 0, 4},
		{"netrcHead", `(?:^|[\n\x00])[ \t]*$`, `^[ \t]*[^ \t]*[ \t\r]*$`, letters("\n \ta"), letters(" \t\ra"), 3, 5},
		{"inObject", `(?:^|[ \t\n\f\r{,])\\?"(?:string)?$`, ``, []string{"string", "tring", `"`, `\`, " ", "\t", "\n", "\f", "\r", "{", ",", "x"}, nil, 3, 0},
		{"assigns", ``, `^["'\\\])]*(?:\x1b|[ \t]*[:=][:=> \t\r]*[^:=> \t\r])`, nil, letters("\"'\\]) \r:=>\x1b"), 0, 4},
		{"isFlag", `(?:^|[ \t\n\f\r"'=])-[A-Za-z0-9_.-]*$`, `^[ \t]+` + redact.ShellWord, letters("- \t\n\f\r\"'=a.;"), []string{" ", `"ab"`, "ab", "-"}, 3, 2},
		{"secretAccess", ``, `^et[_-]*(?i:access)`, nil, []string{"et", "_", "-", "access", "Access", "acces", "x"}, 0, 5},
	} {
		judge := redact.Around[c.name]
		require.NotNil(t, judge, c.name)
		before, rest := regexp.MustCompile(c.before), regexp.MustCompile(c.rest)
		var fits []bool
		var all []string
		allOf(c.m, c.far, func(text string) { all, fits = append(all, text), append(fits, rest.MatchString(text)) })
		allOf(c.n, c.near, func(b string) {
			first := before.MatchString(b)
			for i, text := range all {
				if c.name == "secretAccess" && !strings.HasPrefix(text, "et") {
					continue
				}
				if want := first && fits[i]; judge([]byte(b), []byte("secr"+text), 4) != want {
					t.Fatalf("%s: after %q, before %q: want %v", c.name, b, text, want)
				}
			}
		})
	}
	// How far they look.
	for n := 30; n < 50; n++ {
		fill := strings.Repeat(" ", n-2)
		require.Equal(t, n <= 40, redact.Around["blockOpens"](nil, []byte("pass:"+fill+"|"), 4), n)
		require.Equal(t, n <= 40, redact.Around["colonEnds"](nil, []byte("pass"+fill+" :"), 4), n)
	}
	for n := 150; n < 170; n++ { // of a window that is full the value may stand beyond
		require.Equal(t, n == 160, redact.Around["assigns"](nil, []byte("pass="+strings.Repeat(" ", n-5)), 4), n)
		require.False(t, redact.Around["assigns"](nil, []byte("pass"+strings.Repeat(" ", n-4)), 4), n)
	}
}

func TestWhatPrecedesANameIsSeenAsExpressionsSeeIt(t *testing.T) {
	names := []string{"name", "Key", "parameter", "variable", `"`, "'", `\`, " ", "\t", ":", "=", "x", "-"}
	for _, c := range []struct {
		name, re string
		parts    []string
		n        int
	}{
		{"fallsBack", `^[A-Za-z0-9_.$>:-]+(?:[ \t]*(?:[(\[?][\s\S]|\|\|)|[ \t]+or)`, strings.Split("a.? (|or\"", ""), 5},
		{"inFlow", `(?:^|[\n\x00])[^\n\x00]*\{[^}\n\x00]*$`, strings.Split("{}a\n", ""), 5},
		{"firstTag", `(?:^|[\n\x00])(?:[^\n\x00]*>)?[ \t]*<[^<\n\x00]*$|(?:^|[\n\x00])[^<\n\x00]*$`, strings.Split("<> a\n", ""), 5},
		{"goesOn", `^[ \t.+,)&]`, strings.Split(" \t.+,)&a", ""), 2},
		{"inTag", tag + `$`, strings.Split("</>\na", ""), 5},
		{"tagged", `<(?:key|name)>` + tok + `$`, []string{"<", "key", "name", ">", "<key>", "<name>", "x", " "}, 4},
		{"isName", nameIs + `$`, names, 3},
		{"isName", nameIs + `$`, []string{"name", `\`, `"`, ":", " ", "x"}, 5},
		{"inBraces", braces + `$`, strings.Split(";{ \ta\n", ""), 4},
		{"ownLine", `^` + ownWord + `$`, []string{" ", "\t", "-", ":", "set", "enable", "a", ";"}, 4},
		{"inQuery", `[?&][A-Za-z0-9_-]*$`, strings.Split("?&aZ0_-. ", ""), 4},
		{"opened", `(?:^|[\n\x00])[^"\n\x00]*"(?:[^"\n\x00]*"[^"\n\x00]*")*[^"\n\x00]*$`, strings.Split("\"\n\x00a", ""), 5},
		{"endsLine", `^(?:\\?["'])?[ \t\r,;)}\]]*(?:\\?["'])?[ \t\r]*(?:$|#|//|--)`, strings.Split("\\\" \r,#/-", ""), 5},
		{"endsLine", `^[ \t\r,;)}\]]*$`, strings.Split("\t\r,;)}]a", ""), 2},
		{"endsLine", `^(?:\\?["'])?[,;]*(?:\\?["'])?$`, strings.Split("\"',;", ""), 4},
		{"wordOfShell", `^` + redact.ShellWord, strings.Split(" \t\n\f\r\"'$`|;&<>-a\\", ""), 3},
		{"wordOfShell", `^` + redact.ShellWord, strings.Split("\"'$a\\", ""), 5},
		{"afterControl", `\x1b\[[\x20-\x3f]*[\s\S]$`, strings.Split("\x1b[ ?@\x1f", ""), 5},
	} {
		re, judge := regexp.MustCompile(c.re), redact.Before[c.name]
		require.NotNil(t, judge, c.name)
		allOf(c.n, c.parts, func(text string) {
			if want := re.MatchString(text); judge([]byte(text)) != want {
				t.Fatalf("%s: %q: want %v", c.name, text, want)
			}
		})
	}
}

// What spares an expression passes all that the expression finds.
func TestWhatAValueFallsBackToIsLookedFor(t *testing.T) {
	parts := []string{"a", ".", "$", "?", "(", ")", "[", "]", "||", "??", "?:", "or", " ", `"abc"`, `'x-1'`, "getenv", "env", "fetch", "config", "environ.get", "fallback", "default", "=", ",", "ENV.fetch", "{", "-", ">", ":", ";"}
	r, found := rand.New(rand.NewPCG(1, 2)), 0
	for range 400_000 {
		var b []byte
		for range 1 + r.IntN(9) {
			b = append(b, parts[r.IntN(len(parts))]...)
		}
		if may, does := redact.Offers(b); does {
			found++
			require.True(t, may, "%q", b)
		}
	}
	require.Greater(t, found, 500)
	for _, text := range []string{"?= DB_PASSWORD", "a ? password : b", `Some("") } Config {`, "[DB] = env[DB]", "array('a', 'a');", "PASSWORD('');"} {
		may, _ := redact.Offers([]byte(text))
		require.False(t, may, text)
	}
}

// A line that begins further back than can be seen does not begin with the name.
func TestALineWhoseStartIsNotSeenBeginsWithNoName(t *testing.T) {
	for n := 120; n < 130; n++ {
		blanks := strings.Repeat(" ", n)
		require.Equal(t, n < 128, redact.Before["leads"]([]byte(blanks)), n)
		require.True(t, redact.Before["leads"]([]byte("\n"+blanks)), n)
		require.True(t, redact.Before["leads"]([]byte("\x00"+blanks)), n)
		if n < 128 {
			require.Equal(t, n, redact.Places["keyDepth"]([]byte(blanks)))
		} else {
			require.Zero(t, redact.Places["keyDepth"]([]byte(blanks)))
		}
	}
}

func TestPlacesAreThoseThatExpressionsFind(t *testing.T) {
	end := func(re string, group int) func(string) int {
		x := regexp.MustCompile(re)
		return func(s string) int {
			if g := x.FindStringSubmatchIndex(s); g != nil {
				return g[group]
			}
			return -1
		}
	}
	zero := func(f func(string) int) func(string) int { return func(s string) int { return max(0, f(s)) } }
	wordOfDSN, colon := end("[^ \t\n\"'`=,;<>()]*$", 0), regexp.MustCompile(`[A-Za-z0-9_.+-]:.`)
	for _, c := range []struct {
		name  string
		model func(string) int
		parts []string
		n     int
	}{
		{"linePrefix", func(s string) int { return len(s) - 1 - strings.LastIndexAny(s, "\n\x00") }, strings.Split("\n\x00a ", ""), 4},
		{"sequence", zero(end(`^\x1b\[[\x20-\x3f]{0,37}[\x40-\x7e]`, 1)), []string{"\x1b", "[", "\x1f", " ", "?", "@", "~", "\x7f", strings.Repeat("0", 36)}, 4},
		{"quoteAt", zero(end(`^\\?["']`, 1)), strings.Split("\\\"'a", ""), 4},
		{"wordStart", end(tok+`$`, 0), strings.Split("aZ09_.-/ ", ""), 4},
		{"passwordBefore", func(s string) int {
			word := s[wordOfDSN(s):]
			if g := colon.FindStringIndex(word); g != nil {
				return len(s) - len(word) + g[0] + 2
			}
			return -1
		}, strings.Split("a:+/ (", ""), 5},
		{"indent", func(s string) int {
			to := len(strings.TrimRight(s, " \t\r"))
			return 1000*(to-len(strings.TrimLeft(s[:to], " \t"))) + to
		}, strings.Split(" \t\ra", ""), 5},
	} {
		place := redact.Places[c.name]
		require.NotNil(t, place, c.name)
		allOf(c.n, c.parts, func(text string) {
			if want := c.model(text); place([]byte(text)) != want {
				t.Fatalf("%s: %q: %d, want %d", c.name, text, place([]byte(text)), want)
			}
		})
	}
	depth := regexp.MustCompile(`^(?:[ \t]|- )*`)
	allOf(5, strings.Split(" \t-a\n", ""), func(text string) {
		line := text[1+strings.LastIndexAny(text, "\n\x00"):]
		if want := len(depth.FindString(line)); redact.Places["keyDepth"]([]byte(text)) != want {
			t.Fatalf("%q: want %d", text, want)
		}
	})
	allOf(4, strings.Split("\"'\\]) \t=:>a", ""), func(text string) {
		hand, plain := redact.Separator([]byte(text))
		require.Equal(t, plain, hand, "%q", text)
	})
}
