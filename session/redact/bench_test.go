package redact_test

import (
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/fairlead-ssh/fairlead/session/redact"
)

// logText is what servers write all day: no secrets, some words and URLs that look at first as if.
func logText(size int) []byte {
	r := rand.New(rand.NewPCG(1, 2))
	lines := []func() string{
		func() string {
			return fmt.Sprintf(`10.0.%d.%d - - [21/Nov/2026:06:%02d:%02d +0000] "GET /api/v1/items/%d?page=%d HTTP/1.1" 200 %d "-" "Mozilla/5.0 (X11; Linux x86_64) Firefox/140.0"`,
				r.IntN(256), r.IntN(256), r.IntN(60), r.IntN(60), r.IntN(100000), r.IntN(10), r.IntN(100000))
		},
		func() string {
			return fmt.Sprintf(`Nov 21 06:%02d:%02d web01 systemd[1]: Started Session %d of User deploy.`, r.IntN(60), r.IntN(60), r.IntN(10000))
		},
		func() string {
			return fmt.Sprintf(`{"level":"info","ts":"2026-11-21T06:12:%02dZ","msg":"request done","id":"%08x-%04x-4%03x","ms":%d}`, r.IntN(60), r.Uint32(), r.IntN(65536), r.IntN(4096), r.IntN(900))
		},
		func() string {
			return fmt.Sprintf(`-rw-r--r-- 1 root root %7d Nov 21 06:%02d /usr/share/doc/package-%d/changelog.Debian.gz`, r.IntN(1e6), r.IntN(60), r.IntN(1000))
		},
		func() string {
			return fmt.Sprintf(`Nov 21 06:%02d:%02d web01 sshd[%d]: Accepted publickey for deploy from 10.0.0.%d port %d ssh2`, r.IntN(60), r.IntN(60), r.IntN(30000), r.IntN(256), r.IntN(65536))
		},
		func() string {
			return fmt.Sprintf(`%x  Get:%d http://deb.debian.org/debian bookworm/main amd64 lib%d all 1.2.3 [%d kB]`, r.Uint64(), r.IntN(100), r.IntN(1000), r.IntN(1000))
		},
	}
	var b strings.Builder
	for b.Len() < size {
		b.WriteString(lines[r.IntN(len(lines))]() + "\n")
	}
	return []byte(b.String()[:size])
}

func setOf(tb testing.TB, n int) *redact.Set {
	tb.Helper()
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	r := rand.New(rand.NewPCG(3, 4))
	s := redact.New(redact.Config{Key: key})
	for range n {
		v := make([]byte, 24)
		for i := range v {
			v[i] = alphabet[r.IntN(len(alphabet))]
		}
		require.NoError(tb, s.Add("token", v))
	}
	return s
}

func BenchmarkCleanLogs(b *testing.B) {
	text := logText(1 << 20)
	for _, n := range []int{0, 10, 1000} {
		for _, chunk := range []int{512, 32 << 10} {
			b.Run(fmt.Sprintf("secrets=%d/chunk=%d", n, chunk), func(b *testing.B) {
				w := setOf(b, n).Writer(io.Discard, redact.Guarded)
				b.SetBytes(int64(chunk))
				b.ReportAllocs()
				at := 0
				for b.Loop() {
					if at+chunk > len(text) {
						at = 0
					}
					_, _ = w.Write(text[at : at+chunk])
					at += chunk
				}
				require.Zero(b, w.Counts().Total())
			})
		}
	}
}

// One line in a hundred has a secret.
func BenchmarkLogsWithSecrets(b *testing.B) {
	var text []byte
	for i, line := range strings.SplitAfter(string(logText(1<<20)), "\n") {
		text = append(text, line...)
		if i%100 == 0 {
			text = append(text, expand("connecting to postgres://app:s3cr3t@db/app with token={32}\n")...)
		}
	}
	w := setOf(b, 10).Writer(io.Discard, redact.Guarded)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		_, _ = w.Write(text)
	}
}

func BenchmarkOwnSecretsOnly(b *testing.B) {
	text := logText(32 << 10)
	s := redact.New(redact.Config{})
	require.NoError(b, s.AddOwn("sudo", []byte("correct horse")))
	w := s.Writer(io.Discard, redact.Everybody)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		_, _ = w.Write(text)
	}
}

// What the first Write after a change costs.
func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{10, 1000} {
		b.Run(fmt.Sprintf("secrets=%d", n), func(b *testing.B) {
			s := setOf(b, n)
			b.ReportAllocs()
			i := 0
			for b.Loop() {
				i++
				s.Learn("x", fmt.Appendf(nil, "learned-%d", i))
				s.Bytes([]byte("x"), redact.Guarded)
			}
		})
	}
}

// Text that is all keywords, without an end of a line: what somebody who wants to waste our time would send.
func BenchmarkHostileText(b *testing.B) {
	for _, unit := range []string{
		"pass", "password", "password ", "token_a.", "://", "://a:", "echo a|", "mysql -", "eyJ", "curl ", "-----BEGIN ", "-----",
		"Authorization: ", "AKIA", "$6$", "secret=", "«redacted:", "\"auth\"", "password=\\\"", "\n\"token\": \"", "login a ",
		"docker login ", "htpasswd -b ", "token" + strings.Repeat("a1_", 20), "password" + strings.Repeat(" ", 100),
		"LS0tLS1CRUdJTi", "identified by ", "{ssha}aaaaaaaaaaaaaaaaaaaa",
		// Names where their values may stand on another line, in a tag, in a pair or after a blank.
		"\npassword:", "password: |\n", "password: |\n  x\n", "password:\\\n", "<password", "<password>", "<name>password</name>\n",
		"<item name=\"password\" ", "name: password", "name: password\n", "key=password", "\"name\": \"password\",", "password \"",
		";password 'x'", "secret 'xyz", "password x\n", "user a password ", "--password ", "--password -", "-pass a ",
		// Colours, and tokens in pieces.
		"\x1b[0mpassword", "\x1b[0m<password", "password\x1b[0m=", "\x1b[$1$$1$$1$$1$m", "p\na\ns\ns\n", "sk-", "sk-\n", "ghp_\nghp_", "eyJ\n",
		"eyJ-", "eyJaaaaaaaa.", strings.Repeat("eyJ-", 1000) + ".eyJaaaa\n",
		// Beside a keyword that follows its secret, objects with data, and other words of files.
		"@tcp(", ":@tcp(", "data:\n", "\"data\":{", "\"data\":{\"a\":\"b\",}", "login a\n", "user a >", "user a on b >", "stats auth ", "docker login -p <",
		// What each of many keywords looks for in the rest of its line.
		"usm-user ", "createuser a ", "cookie:", "set-cookie:x@", "signature=", "otpauth-migration://", "nonce_key", "licensekey", "attae2\n", "create secret --from-literal ",
		"p\x00a\x00s\x00s\x00", "]{+a",
		"curl -u a:b ", "set-cookie: sid=; Path=/ ", "DB_PASSWORD ?= ", "secret_key = ", "secretsdump.py kim:@h ", "snmpwalk -v2c -c  h ", "password = ENV.fetch('MQ') { '' } ", "user app on >a ~* +@all ",
		// Base64.
		"YWJjZGVmZ2hpamts", "YWJjZGVmZ2hpamts ", "Q9aB3dE7fG1hI5jK9lM3nO7pQ1rS5tU9vW3xY7zA\n",
		"Q9aB3dE7fG1hI5jK9lM3nO7pQ1rS5tU9vW3xY7zA1bC5dE9fG3hI7jK1lM5nO9pQ \n",
	} {
		b.Run(fmt.Sprintf("%.14q", unit), func(b *testing.B) {
			text := []byte(strings.Repeat(unit, 64<<10/len(unit)))
			w := redact.New(redact.Config{}).Writer(io.Discard, redact.Guarded)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				_, _ = w.Write(text)
			}
		})
	}
}
