package redact

import (
	"bytes"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// windowsRules take out what command lines of Windows and PowerShell hold.
func windowsRules() []*rule {
	return []*rule{
		{ // net user a x /add; GET begins as net ends
			kind: "password", keys: []string{"t user ", "t.exe user "}, look: commandLook, pre: afterNe,
			re: lazyregexp.New(`^(?i)t(?:\.exe)? user[ \t]+(?:"[^"\n]*"|[^\s"/]+)[ \t]+(?:"([^"\n]{3,})"|([^\s"'/*<>|&$%][^\s"'<>|&]{2,}))[ \t\r]*(?:/|$|[&|;)"'])`),
			ok: notPlaceholder,
		},
		{ // net use z: \\h\s x /user:a, net use \\h\s /user:a x
			kind: "password", keys: []string{"t use ", "t.exe use "}, pre: afterNe, look: commandLook, need: ":",
			re: lazyregexp.New(`^(?i)t(?:\.exe)? use[ \t]+(?:\S:[ \t]+|\*[ \t]+)?\\\\[^\s"']+(?:[ \t]+/(?:persistent|savecred)\S*)*[ \t]+(?:` +
				netWord + `(?:[ \t]+/\S+)*[ \t]+/u(?:ser)?:|/u(?:ser)?:[^\s"']+[ \t]+` + netWord + `)`),
			ok: notPlaceholder,
		},
		{ // rasdial a b x
			kind: "password", keys: []string{"rasdial "}, left: wordLeft, look: commandLook,
			re: lazyregexp.New(`^(?i)rasdial[ \t]+(?:"[^"\n]*"|[^\s"/]+)[ \t]+[^\s"/]+[ \t]+` + netWord),
			ok: notPlaceholder,
		},
		{ // cmdkey /add:h /user:a /pass:x
			kind: "secret", keys: secretNames, name: true, next: ":", pre: afterSlash, look: 512,
			re: lazyregexp.New(`^:(?:"([^"%$\n]{3,})"|([^\s"'%$<>|&*][^\s"'<>|&]{2,}))`),
			ok: func(m *match) bool {
				m.pick(3)
				v := m.win[m.from:m.to]
				return namesSecret(m) && !placeholder(v) && !capitals(v) && (!letters.Match(v) || bytes.ContainsAny(linePrefix(m.before), ":\\ck"))
			},
		},
		{ // xfreerdp /u:a /p:x
			kind: "password", keys: []string{"xfreerdp", "wfreerdp", "mstsc ", "winrs ", "sdl-freerdp"}, left: wordLeft, look: commandLook, pre: wordStarts(";|&", "/p:", "-p:"),
			re: lazyregexp.New(`^[a-z-]+[0-9]*(?:\.exe)?[ \t](?:[^\n;|&]*?[ \t])?[/-]p:(?:"([^"\n]{3,})"|'([^'\n]{3,})'|([^\s"'$%<>|&]{3,}))`),
			ok: notPlaceholder,
		},
		{ // schtasks /create /ru a /rp x
			kind: "password", keys: []string{"schtasks"}, left: wordLeft, look: commandLook, pre: wordStarts("|&", "/rp", "/RP", "/p ", "/P "),
			re: lazyregexp.New(`^(?i)schtasks(?:\.exe)?[ \t][^\n|&]*?[ \t]/r?p[ \t]+(?:"([^"%\n]{3,})"|([^\s"'%*/<>|&][^\s"'<>|&]{2,}))`),
			ok: notPlaceholder,
		},
		{ // ConvertTo-SecureString "x" -AsPlainText
			kind: "password", keys: []string{"convertto-securestring "}, left: wordLeft, look: commandLook, need: "-",
			re: lazyregexp.New(`^(?i)convertto-securestring[ \t]+(?:-(?:string|asplaintext|force)[ \t]+)*(?:"([^"$\n]{3,})"|'([^'\n]{3,})'|([^\s"'$(|-][^\s"'|]{2,}))`),
			ok: notPlaceholder,
		},
		{ // reg add k /v DefaultPassword /t REG_SZ /d x; what reg query shows of it
			kind: "password", keys: []string{"password", "passwd", "pwd"}, look: 512, next: "\" \t", pre: inRegistry,
			re: lazyregexp.New(`^(?i)(?:password|passwd|pwd)"?[ \t]+(?:/t[ \t]+)?reg_(?:sz|expand_sz)[ \t]+(?:/d[ \t]+)?(?:"([^"\n]{3,})"|([^\s"'/%][^\s"']{2,}))`),
			ok: notPlaceholder,
		},
	}
}

const netWord = `(?:"([^"\n]{3,})"|([^\s"'/*<>|&$%][^\s"'<>|&]{2,}))`

// afterNe reports whether before ends with the rest of net.
func afterNe(before, _ []byte, _ int) bool {
	n := len(before) - 2
	return n >= 0 && foldedPrefix(before[n:], []byte("ne")) && wordLeft.allows(before[:n], 'n')
}

// afterSlash reports whether a name is an option of Windows, with a colon after it.
func afterSlash(before, win []byte, name int) bool {
	if name+3 >= len(win) || win[name] != ':' {
		return false
	}
	i := len(before)
	for i > 0 && wordBytes[before[i-1]] {
		i--
	}
	return i > 1 && before[i-1] == '/' && blank(before[i-2])
}

// inRegistry reports whether the type of a value follows a name.
func inRegistry(_, win []byte, name int) bool {
	i := skip(win, name, "\" \t")
	if foldedPrefix(win[i:], []byte("/t")) {
		i = skip(win, i+2, " \t")
	}
	return foldedPrefix(bytes.TrimLeft(win[i:], " "), []byte("reg_"))
}
