package judge

import (
	"slices"
	"strings"

	"github.com/fairlead-ssh/fairlead/hosts/lazyregexp"
)

// holdsSecrets reports whether a path, which may be a pattern, is or may reach a file whose content is secret. Symbolic
// links are the host's affair: this is about the text alone.
func holdsSecrets(p, dir string, pattern bool) (why string, ok bool) {
	segs := segments(throughProc(resolve(p, dir)))
	if why, ok := secretAt(&places().read, segs, pattern); ok {
		return why, true
	}
	return inAnotherSystem(segs, pattern)
}

// secretAt finds a path in a table, or what it is a copy of.
func secretAt(table *pathTable, segs []string, pattern bool) (why string, ok bool) {
	e := table.find(segs, pattern)
	if e == nil && !pattern && len(segs) > 0 {
		if name := copyOf(segs[len(segs)-1]); name != "" {
			e = table.find(append(slices.Clip(segs[:len(segs)-1]), name), false)
		}
	}
	if e == nil {
		return "", false
	}
	return e.why, true
}

// maxSystems bounds how many systems are looked for in each other on the way of a path.
const maxSystems = 4

// inAnotherSystem reports whether a path is one of the same files in a system that is mounted, in that of a container or a backup, or
// below /usr/local.
func inAnotherSystem(segs []string, pattern bool) (why string, ok bool) {
	n := 0
	for i := 1; i+1 < len(segs); i++ {
		if !topOfSystem[segs[i]] || i == 1 && segs[0] == "" {
			continue
		}
		if n++; n > maxSystems {
			return "too many directories on its way are named as those of a system", true
		}
		if why, ok := secretAt(&places().systems, append([]string{""}, segs[i:]...), pattern); ok {
			return why, true
		}
	}
	return "", false
}

// topOfSystem are the directories at the root of a system that hold secrets at known places.
var topOfSystem = map[string]bool{"etc": true, "var": true, "boot": true}

// copyOf returns the name of the file that one of a name is a copy of, as editors, package managers and people put it aside. It is ""
// for other names.
func copyOf(name string) string {
	rest := name
	if n := len(rest); n > 2 && rest[0] == '#' && rest[n-1] == '#' {
		return rest[1 : n-1]
	}
	if strings.HasPrefix(rest, ".#") {
		return rest[2:]
	}
	if i := strings.LastIndex(rest, ".sw"); i > 1 && i == len(rest)-4 && rest[0] == '.' {
		return rest[1:i]
	}
	for {
		if n := len(rest) - 1; n > 0 && rest[n] == '~' {
			rest = rest[:n]
			continue
		}
		i := strings.LastIndexAny(rest, "._-")
		if i < 1 || !asideWords[strings.ToLower(strings.TrimRight(rest[i+1:], "0123456789"))] {
			break
		}
		rest = rest[:i]
	}
	if rest == name {
		return ""
	}
	return rest
}

// asideWords are the last parts of the names of copies, without digits: those of dates and of rotated files are none but digits.
var asideWords = func() map[string]bool {
	words := map[string]bool{"": true}
	for _, w := range strings.Fields("bak bck backup back old orig original save saved copy prev previous dist new tmp dpkg ucf rpmsave rpmorig rpmnew pacsave pacnew apk cfsaved swp gz bz2 xz zst zip tar tgz") {
		words[w] = true
	}
	return words
}()

// throughProc takes away what leads to the same file by another way.
func throughProc(p string) string {
	for range maxDepth {
		rest, ok := strings.CutPrefix(p, "/proc/")
		if !ok {
			break
		}
		_, rest, _ = strings.Cut(rest, "/")
		if t, ok := strings.CutPrefix(rest, "task/"); ok {
			_, rest, _ = strings.Cut(t, "/")
		}
		if rest, ok = strings.CutPrefix(rest, "root/"); !ok {
			break
		}
		p = "/" + rest
	}
	if rest, ok := strings.CutPrefix(p, "/private/etc/"); ok {
		return "/etc/" + rest
	}
	if rest, ok := strings.CutPrefix(p, "/var/run/"); ok {
		return "/run/" + rest
	}
	return p
}

// secretsBelow reports whether a directory holds files whose place is known and whose content is secret.
func secretsBelow(p, dir string) (why string, ok bool) {
	if why, ok := holdsSecrets(strings.TrimSuffix(p, "/")+"/*", dir, true); ok {
		return fileBelow(why), true
	}
	segs := segments(throughProc(resolve(p, dir)))
	if len(segs) == 0 {
		return "", false
	}
	for i := range places().read.all {
		if e := &places().read.all[i]; !e.anchored && hiddenAbove(segs, e.segs) {
			return fileBelow(e.why), true
		}
	}
	if segs[0] == "~" && len(segs) == 1 {
		return ofAccounts, true
	}
	if segs[0] != "" {
		return "", false
	}
	if len(segs) == 1 || len(segs) == 2 && segs[1] == "root" || len(segs) <= 3 && (segs[1] == "home" || segs[1] == "Users") {
		return ofAccounts, true
	}
	for i := range places().read.all {
		s := &places().read.all[i]
		if s.anchored && len(s.segs) > len(segs) && reaches(segs, s.segs[:len(segs)], true) {
			return fileBelow(s.why), true
		}
	}
	return "", false
}

// hiddenAbove reports whether a directory is one of those, each of a home, in which the file of a place lies: .config of **/.config/x/y.
// Others are too common to say anything by their name.
func hiddenAbove(dir, place []string) bool {
	if len(place) < 3 || place[0] != "**" || place[1][0] != '.' {
		return false
	}
	for n := 1; n < len(place)-1 && n <= len(dir); n++ {
		if slices.Equal(dir[len(dir)-n:], place[1:1+n]) {
			return true
		}
	}
	return false
}

const ofAccounts = "below it lie keys and credentials of accounts"

// fileBelow says of a directory what is said of a file in it.
func fileBelow(why string) string { return "a file below it " + strings.TrimPrefix(why, "it ") }

// secretsNamed reports whether a file of a name, which may be a pattern, anywhere below a directory holds secrets.
func secretsNamed(name, p, dir string) (why string, ok bool) {
	root := segments(throughProc(resolve(p, dir)))
	if !isWild(name) {
		if original := copyOf(name); original != "" {
			return secretsNamed(original, p, dir)
		}
	}
	for i := range places().read.all {
		e := &places().read.all[i]
		last := len(e.segs) - 1
		ok, aim := overlap(name, e.segs[last])
		// Close to a place that is known, an extension says enough.
		aims := aimsAt(name, e.segs[last], aim) || e.anchored && aim > 0 && (len(root) > 2 && aim >= literalLen(name) || !isWild(e.segs[last]) && name[0] != '*')
		if ok && aims && (isWild(name) || !slices.ContainsFunc(e.except, func(x string) bool { return matchGlob(x, name) })) &&
			(!e.anchored || len(root) == 0 || root[0] != "" || reachesBelow(root, e.segs[:last]) || !isWild(name) && name == e.segs[last] && topOfSystem[e.segs[1]]) {
			return e.why, true
		}
	}
	return "", false
}

// secretsChosen reports whether files that a program picks by name in all that it reads hold secrets. name may be a pattern: what only
// says which kind of file picks no secrets.
func secretsChosen(name string) (why string, ok bool) {
	if !isWild(name) {
		if original := copyOf(name); original != "" {
			return secretsChosen(original)
		}
	}
	for i := range places().read.all {
		e := &places().read.all[i]
		p := e.segs[len(e.segs)-1]
		if ok, aim := overlap(name, p); e.anchored || !ok || !aimsAt(name, p, aim) || name[0] == '*' && aim < literalLen(p) {
			continue
		}
		if !slices.ContainsFunc(e.except, func(x string) bool { return matchGlob(x, name) }) {
			return e.why, true
		}
	}
	return "", false
}

// reachesBelow reports whether a directory may hold, at any depth, another one, of which both may be patterns.
func reachesBelow(root, dir []string) bool {
	for i, s := range root {
		if i < len(dir) && dir[i] == "**" {
			return true
		}
		if i >= len(dir) {
			return false
		}
		if ok, _ := overlap(s, dir[i]); !ok {
			return false
		}
	}
	return true
}

// secretName fits names of variables that usually hold secrets, in capitals: the address of what asks for a password holds it.
var secretName = lazyregexp.New(`SECRET|TOKEN|PASSW|PASSPHRASE|CREDENTIAL|APIKEY|API_KEY|ACCESS_KEY|PRIVATE_KEY|_PASS|_PWD|AUTH_KEY|_DSN` +
	`|._(?:KEY|PAT|AUTH)$|^PGPASS$|(?:^|_)(?:DSN|JWT|CREDS?)(?:_|$)|CONN(?:ECTION)?_?STR` +
	`|(?:DATABASE|(?:^|_)DB|REDIS|VALKEY|MONGO(?:DB)?|AMQP|RABBIT(?:MQ)?|BROKER|POSTGRES(?:QL)?|PG|MYSQL|MARIADB|CLICKHOUSE|SQLALCHEMY|JDBC|CELERY|LDAP|SMTP|WEBHOOK)_?(?:URL|URI)(?:_|$)`)

// namesSecret knows names of variables that usually hold secrets.
func namesSecret(name string) bool { return secretName.MatchString(strings.ToUpper(name)) }

// SecretPaths are patterns of paths of files whose content is secret, and of names among them that are not meant. "**" is any
// number of directories.
type SecretPaths struct{ Patterns, Except []string }

// Secrets returns what the judge calls secret files by their path. What belongs to processes and open files is not among it.
func Secrets() (out []SecretPaths) {
	for _, e := range places().read.all {
		p := strings.Join(e.segs, "/")
		if e.anchored && len(e.segs) > 2 && topOfSystem[e.segs[1]] {
			p = "**" + p
		}
		if strings.HasPrefix(p, "/proc/*") || strings.HasPrefix(p, "/dev/fd/") {
			continue
		}
		if last := len(out) - 1; last >= 0 && slices.Equal(out[last].Except, e.except) {
			out[last].Patterns = append(out[last].Patterns, p)
		} else {
			out = append(out, SecretPaths{[]string{p}, e.except})
		}
	}
	return out
}
