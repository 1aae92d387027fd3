package proof

import (
	"math/rand/v2"
	"strconv"
	"strings"
)

// Source makes shell source: most of it whole, some of it torn.
type Source struct {
	r      *rand.Rand
	corpus []string // commands that are used as they are, and mixed
	parser bool     // only commands that do nothing, each with a name or words of its own
	n      int
	depth  int
}

// NewSource returns a generator of scripts whose commands read.
func NewSource(seed uint64, corpus []string) *Source {
	return &Source{r: rand.New(rand.NewPCG(seed, 2)), corpus: corpus}
}

// NewParserSource returns a generator of scripts without effects.
func NewParserSource(seed uint64) *Source {
	return &Source{r: rand.New(rand.NewPCG(seed, 3)), parser: true}
}

var readingCommands = []string{
	"echo", "printf '%s\\n'", "cat f", "ls", "ls -l", "wc -l f", "head -n 1 f", "tail -n 1", "grep a f", "sort f", "tr a b", "cut -d ' ' -f 1 f", "sed -n 1p f", "awk '{ print $1 }' f",
	"test -f", "[ -f f ]", "true", ":", "stat f", "basename", "dirname", "seq 3", "date", "id", "uname -a", "pwd", "type ls", "command -v ls", "find . -name f", "xargs echo", "uniq", "rev f",
	"printf %d", "test 1 -eq", "[ 1 -lt", "echo -n", "print -r --", "cd dir", "ls $", "jq . x.json", "diff f g.txt", "file f", "od -c f", "command ls", "env ls", "nice ls", "timeout 1 ls", "sort -t", "wait", "times", "umask", "hash", "read x",
	"expr 1 +", "which ls", "tee", "nl f", "paste f", "cmp f f", "cksum f", "ps", "exit", "return", "break", "let", "test -v", "[ -t", "printf -v x", "kill -l", "trap -p", "set", "ulimit -a", "alias", "type", "builtin echo", "du -s dir", "df .", "stat -c %n f",
}

// quirks are put anywhere: what shells and parsers may read in different ways.
var quirks = []string{
	"\\\n", " \\\n", "#\\\n", " #\\\n", " # x\\\n", "\\", "\\\\\n", "'", "\"", "`", "$", "{", "}", " { ", " }", "(", ")", ";", ";;", " ! ", "!", ";;&", ";&", "\r\n", "\\\r\n", "\t", "\n", "&", "&&", "|", "|&", "&>", ">&", ">|", ">!", "<>",
	"<&", "<<<", "2>&-", "$[1]", "$((", "))", "((", "[[ ", " ]]", "[", "]", "~", "=ls", "*", "?", "*(e:'CMD':)", "*(CMD)", "@(a|b)", "!(f)", "+(x)", "^a^b", "$'", "$\"", "\\x27", "$'\\''", "\"\\\"", "'\\''", "$(", "${", "${x:-", "$\\\n(", "`\\\n",
	"${x@P}", "${!x}", "${x/a/b}", "${x:1:2}", "${#x}", "${(e)x}", "$$", "$#", "$*", "$@", "$-", "$?", "$!", "function ", "coproc ", "time ", "select ", "case x in ", "esac", "if ", "then ", "fi", "do ", "done", "for x in ", "in ", "else ", "while ", "until ",
	"<<E\n", "\nE\n", "<<'E'\n", "<<-E\n", "\n\tE\n", "<<\\E\n", "<<\"E\"\n", "<<E\\\nF\n", "\nE\\\n", "<<E;CMD\n", "<<E F\n", "<<$E\n", "<<`E`\n", "\nE", "alias x=", "\u00a0", "\u2003", "\xff", "\xc3", "%1", "{a,b}", "{1..3}", "{a,", ",b}", "CMD", ";CMD", "\nCMD\n", "|CMD",
	"$(CMD)", "`CMD`", "<(CMD)", ">(CMD)", "=(CMD)", "$(<f)", "$(( $(CMD) ))", "x=1 ", "x=(1 2) ", "x[1]=2 ", "x+=1 ", "-- ", "# CMD\n", " #", "\\#", "x#y", "$#", "${#}", "${x#y}", "# '", "# \"\n", "<<E\n`CMD`\nE\n", "<<E\n\\$(CMD)\nE\n", "<<E\n$(CMD\n)\nE\n",
	"\x01", "\v", "\f", "\x00", "case a in (a) CMD;; esac", "case a in a) CMD;& b) CMD;; esac", "f() CMD", "() { CMD; }", "repeat 1 CMD", "foreach x (a b) CMD; end", "if (true) CMD", "{ CMD } always { CMD }", "[[ -n x ]] && CMD", "(( 1 )) && CMD", "${ CMD;}", "${|CMD;}", "$((1)#2)", "$((08))",
	"${x:-`CMD`}", "${x:-\"`CMD`\"}", "\"${x:-'$(CMD)'}\"", "\"${x:-\\}$(CMD)}\"", "${x:-'}'$(CMD)}", "$((x\\\n))", "'\\\n'", "\"\\\n\"", "$'\\\n'", "\"`echo \\\"CMD\\\"`\"", "`echo \\`CMD\\``", "`echo '\\\\`CMD\\\\`'`", "$(case x in x) CMD;; esac)", "$(# )\nCMD)", "$(echo ')' CMD)", "$(cat <<E\n)\nE\nCMD)",
	"${x+'}", "${x%'}'}", "\"${x%'}'}\"", "\"${x#\"}\"}\"", "<<E\"F\n", "<<'E\nF'\n", "<<''\n", "<<\"\"\n\n", "<<-'\tE'\n", "<<E<<F\n", "<<E|CMD\n", "<<E && CMD\n", "\\\n#", "a\\\n#b", "#a\\\nb", ";#\\\n", "$(#\\\n", "`#\\\n", "(#\\\n", "&#\\\n", "\"#\\\n\"", "{#\\\n", "}#\\\n", "x=#\\\n", ">#\\\n",
	"!CMD", "! CMD", "!!", "!$", "time -p CMD", "time -- CMD", "{CMD;}", "{ CMD;}", "}CMD", "CMD}", "in CMD", "do CMD", "then CMD", "elif CMD", "]] CMD", "[[ a < b ]]", "[[ a =~ (b|CMD) ]]", "[[ a =~ $(CMD) ]]", "(( x = `CMD` ))", "let x=`CMD`", "$[ `CMD` ]", "for ((;;)) do CMD; done", "for x; do CMD; done", "for x do CMD; done", "for x\nin a\ndo CMD\ndone",
	"for x in a; { CMD; }", "while CMD; do break; done", "until CMD; do :; done", "if CMD; then :; fi", "case `CMD` in *) ;; esac", "case x in `CMD`) ;; esac", "function f { CMD; }; f", "f() { CMD; }; f", "function f() { CMD; }; f", "f () (CMD); f", "CMD &", "CMD |& cat", "x=`CMD` CMD", "x=$(CMD)", "export x=`CMD`", "local x=$(CMD)", "readonly x=`CMD`",
	"1>/dev/null", "01>/dev/null", "10>/dev/null", "{x}>/dev/null", ">/dev/null2", "> /dev/null", ">/dev/null\\\n2", "&>/dev/null", ">&/dev/null", ">& /dev/null", "&>>/dev/null", "<&-", "0<f", "</dev/null", "2>&1>f2", "1<>f",
}

// Next returns another script.
func (s *Source) Next() string {
	s.depth, s.n = 0, s.r.IntN(3)
	var t string
	switch k := s.r.IntN(10); {
	case k < 3 && len(s.corpus) > 0:
		t = pick(s.r, s.corpus)
		if s.r.IntN(3) == 0 {
			t += pick(s.r, []string{"; ", " | ", " && ", "\n", " || "}) + pick(s.r, s.corpus)
		}
	default:
		t = s.list(1 + s.r.IntN(3))
	}
	if s.r.IntN(5) < 2 {
		return t
	}
	for range 1 + s.r.IntN(3) {
		t = s.damage(t)
	}
	if len(t) > 3000 {
		t = t[:3000]
	}
	return t
}

// damage puts a quirk somewhere, or takes a few bytes away.
func (s *Source) damage(t string) string {
	i := s.r.IntN(len(t) + 1)
	switch s.r.IntN(8) {
	case 0:
		j := min(len(t), i+1+s.r.IntN(3))
		return t[:i] + t[j:]
	case 1:
		if j := strings.IndexAny(t[i:], " \n;"); j >= 0 { // where a word begins
			i += j + 1
		}
	case 2:
		if j := strings.IndexByte(t[i:], '\n'); j >= 0 {
			i += j
		}
	}
	q := pick(s.r, quirks)
	for strings.Contains(q, "CMD") {
		q = strings.Replace(q, "CMD", s.payload(), 1)
	}
	return t[:i] + q + t[i:]
}

// payload is a command that must be seen.
func (s *Source) payload() string {
	if s.parser {
		s.n++
		return pick(s.r, []string{"c" + strconv.Itoa(10+s.n%20), "c" + strconv.Itoa(10+s.n%20) + " a", "tac p" + strconv.Itoa(s.n)})
	}
	return pick(s.r, []string{"touch pwned", "touch pwned", "ls", "echo x"})
}

func (s *Source) list(n int) string {
	var b strings.Builder
	for i := range n {
		if i > 0 {
			b.WriteString(pick(s.r, []string{"; ", "\n", " && ", " || ", " | ", "\n\n", " # c\n", " |\n", "; \\\n", " &&\n", ";", "|"}))
		}
		b.WriteString(s.statement())
	}
	return b.String()
}

func (s *Source) statement() string {
	s.depth++
	defer func() { s.depth-- }()
	if s.depth > 4 {
		return s.simple()
	}
	switch s.r.IntN(26) {
	case 0:
		return "if " + s.simple() + "; then " + s.list(1) + pick(s.r, []string{"; fi", "\nfi", "; else " + s.simple() + "; fi", "; elif " + s.simple() + "; then " + s.simple() + "; fi"})
	case 1:
		return "for " + pick(s.r, []string{"x", "i", "f", "_f"}) + " in " + s.words(3) + "; do " + s.list(1) + "; done"
	case 2:
		return "case " + s.word() + " in " + s.pattern() + ") " + s.list(1) + pick(s.r, []string{";; ", ";&\n", ";;&\n", ";;\n"}) + "*) " + s.simple() + pick(s.r, []string{";; esac", "\nesac", ";;\nesac"})
	case 3:
		return "{ " + s.list(1+s.r.IntN(2)) + "; }"
	case 4:
		return "(" + s.list(1+s.r.IntN(2)) + ")"
	case 5:
		return "! " + s.simple()
	case 6:
		return pick(s.r, []string{"[[ ", "[[ ! ", "[[ -n "}) + s.word() + pick(s.r, []string{" ]]", " == " + s.word() + " ]]", " =~ a ]]", " && -n " + s.word() + " ]]"})
	case 7:
		return "printf 'a b\\nc\\n' | while read -r x y; do " + s.list(1) + "; done"
	case 8:
		if s.parser {
			return pick(s.r, []string{"f() { ", "function f { "}) + s.simple() + "; }; f"
		}
		return s.simple()
	case 9:
		return "time " + s.simple()
	case 10:
		return s.simple() + pick(s.r, []string{" <<E\n", " <<-E\n", " <<'E'\n", " <<\"E\"\n", " <<\\E\n"}) + s.text() + pick(s.r, []string{"\nE", "\nE\n", "\n\tE\n", "\nE \nE\n"})
	case 11:
		return s.simple() + " | " + s.simple()
	default:
		return s.simple()
	}
}

func (s *Source) simple() string {
	var head string
	if s.parser {
		s.n++
		head = pick(s.r, []string{"tac", "tac --", "c" + strconv.Itoa(s.n%10), "cksum", "echo", ":", "true"})
	} else {
		head = pick(s.r, readingCommands)
	}
	t := head
	if s.r.IntN(14) == 0 {
		t = pick(s.r, []string{"LC_ALL=C ", "TZ=UTC ", "command ", "\\", "builtin ", "! "}) + t
	}
	if n := s.r.IntN(4); n > 0 {
		t += " " + s.words(n)
	}
	if s.r.IntN(6) == 0 {
		t += pick(s.r, []string{" 2>/dev/null", " >/dev/null", " 2>&1", " </dev/null", " <f", " >&2", " <<<" + s.word(), " &>/dev/null", " < " + s.word()})
	}
	return t
}

func (s *Source) words(n int) string {
	w := make([]string, n)
	for i := range w {
		w[i] = s.word()
	}
	return strings.Join(w, pick(s.r, []string{" ", " ", " ", "  ", " \\\n", "\t"}))
}

func (s *Source) atom() string {
	if s.parser {
		s.n++
		return "w" + strconv.Itoa(s.n)
	}
	return pick(s.r, []string{"f", "a", "b", "x", "1", "g.txt", "dir", "-n", "-l", "--", "-o", "pwned", "a=b", "-e", "2", "nowhere", "link"})
}

func (s *Source) word() string {
	s.depth++
	defer func() { s.depth-- }()
	k := s.r.IntN(30)
	if s.depth > 5 {
		k %= 12
	}
	switch k {
	case 0, 1, 2, 3, 4, 5:
		return s.atom()
	case 6:
		return "'" + strings.ReplaceAll(s.text(), "'", "") + "'"
	case 7:
		return "\"" + s.atom() + pick(s.r, []string{" ", "\\\\", "\\$", "\\\"", "\\\n", "\\x", "'", "#", "!", "\\`"}) + s.atom() + "\""
	case 8:
		return s.atom() + pick(s.r, []string{"\\ ", "\\\n", "\\;", "\\#", "#", "\\'", "\\\\", "''", "\"\"", "'a b'", "\\$x", "\\&", "^", "%", "@", ":", ",", "~", "="}) + s.atom()
	case 9:
		return "$'" + s.atom() + pick(s.r, []string{"\\n", "\\x41", "\\'", "\\u0041", "\\101", "\\c[", "\\e", "\\\\", "\\\"", "\\0", "\\x", "\\q", "\\U00000041", "\\x4", "\\08", "\\?"}) + s.atom() + "'"
	case 10:
		return pick(s.r, []string{"*", "?", "[a-f]", "f*", "./*", "{a,b}", "{1..2}", "~", "~/x", "[!a]", "*.txt", "dir/*"})
	case 11:
		return pick(s.r, []string{"$x", "${x}", "\"$x\"", "$#", "$?", "$$", "\"$@\"", "$HOME", "\"${HOME}\"", "$1", "$LANG", "${#HOME}"})
	case 12, 13, 14:
		return "$(" + s.list(1) + pick(s.r, []string{")", " )", "\n)", "; )", " # )\n)"})
	case 15:
		return "\"$(" + s.list(1) + ")\""
	case 16, 17:
		return "`" + strings.NewReplacer("`", "\\`").Replace(s.list(1)) + "`"
	case 18:
		return "\"`" + strings.NewReplacer("`", "\\`", "\"", "\\\"").Replace(s.list(1)) + "`\""
	case 19, 20:
		return pick(s.r, []string{"$((1 + 2))", "$((x))", "$(( 1 << 2 ))", "$(( $(echo 1) ))", "$((0x10))", "$((1#2))", "$(( (1) ))", "$((`echo 1`))", "$(($x+1))", "$((a?b:c))"})
	case 21, 22:
		v := pick(s.r, []string{"x", "HOME", "u_1", "1", "@", "#"})
		q := pick(s.r, []string{"", "\""})
		return q + "${" + v + pick(s.r, []string{":-", "-", ":+", "+", "#", "%", "##", "%%", "/", "//", ":", ":?"}) + s.inner() + "}" + q
	case 23:
		return "\"${x:-" + s.word() + "}\""
	case 24:
		return pick(s.r, []string{"<(", ">("}) + s.simple() + ")"
	case 25:
		return s.word() + pick(s.r, []string{"", "", "#", "#;"}) + s.word()
	case 26: // a # that begins no comment, behind what is not part of an unquoted word
		return pick(s.r, []string{"\"\"", "''", "\"$x\"", "$x", "${x}", "$(:)", "`:`", "$((1))", "$''", "\\#"}) + pick(s.r, []string{"#", "#", "#;", "#'", "#\""}) + pick(s.r, []string{"", s.atom(), "\n"})
	default:
		return s.atom()
	}
}

func (s *Source) inner() string {
	return pick(s.r, []string{s.atom(), "'}'", "\"}\"", "\\}", "'" + s.atom() + "'", "*", "$(" + s.simple() + ")", "`" + strings.ReplaceAll(s.simple(), "`", "") + "`", "a b", "#", "'", "\"a\"", "a/b", "~", "{a}"})
}

func (s *Source) pattern() string {
	return pick(s.r, []string{s.atom(), "*", s.atom() + "|" + s.atom(), "(" + s.atom(), "[a-z]*", "'" + s.atom() + "'", "\"*\"", "$x", "a\\)"})
}

// text is what stands in quotes and here-documents.
func (s *Source) text() string {
	var b strings.Builder
	for range 1 + s.r.IntN(4) {
		b.WriteString(pick(s.r, []string{s.atom(), " ", "\n", "# c", "\\\n", "\\$", "$x", "\\`", "\\\\", "\t", "\"", ";", "&&", "(", ")", "{", "}", "!", "E", "$(" + s.simple() + ")", "`" + strings.ReplaceAll(s.simple(), "`", "") + "`", "$((1))", "'"}))
	}
	return b.String()
}
