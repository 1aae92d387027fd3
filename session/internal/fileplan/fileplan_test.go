package fileplan_test

import (
	"bytes"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/internal/fileplan"
)

func write(content string) *fileplan.Plan {
	return &fileplan.Plan{Op: fileplan.Write, Path: "/f", Target: "/f", Content: []byte(content)}
}

// unchanged hides nothing, and notes how much it was given.
type unchanged struct{ given int }

func (u *unchanged) hide(s string) string {
	u.given += len(s)
	return s
}

func TestEveryLineOfAContentIsMarked(t *testing.T) {
	const head = "file_write /f\na new file\nall of its content becomes these "
	for content, want := range map[string]string{
		"":         "0 bytes, sha256 e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855:\n",
		"a\n":      "2 bytes, sha256 87428fc522803d31065e7bce3cf03fe475096631e5e07bbd7a0fde60c4cf25c7:\n+a\n",
		"a":        "1 bytes, sha256 ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb:\n+a\n\\ no newline at the end\n",
		"\n\n":     "2 bytes, sha256 75a11da44c802486bc6f65640aa48a730f0f684c5c07a42ba3cd1735eb3fb070:\n+\n+\n",
		"+a\n-b\n": "6 bytes, sha256 64d46439da6442b78085215bfd350a6cb1d8e552135f9a8e6d343525356ebf4f:\n++a\n+-b\n",
	} {
		assert.Equal(t, head+want, write(content).Text(nil), "%q", content)
		assert.Equal(t, head+want, write(content).Text(strings.Clone), "%q", content)
	}
	edit := fileplan.Plan{Op: fileplan.Edit, Path: "/f", Target: "/f", There: true, Size: 9, Was: 0o644, Old: []byte("a\nb"), New: []byte("c\n")}
	assert.Equal(t, "file_edit /f\nthere is a file of 9 bytes, mode 0644\nthe only place that has these 3 bytes gets those 2 bytes instead:\n"+
		"-a\n-b\n\\ no newline at the end\n+c\n", edit.Text(nil))
}

// The beginning of a long content is recorded, with its secrets hidden, and its size.
func TestALongContentIsRecordedWithItsBeginning(t *testing.T) {
	const line = "0123456789abcde\n"
	most := strings.Repeat(line, 1<<16) // 1 MiB
	u := &unchanged{}
	assert.Contains(t, write(most).Text(u.hide), "+"+line+"+"+line, "what just fits is whole")
	assert.NotContains(t, write(most).Text(u.hide), "truncated")

	*u = unchanged{}
	text := write(most + "x").Text(u.hide)
	assert.True(t, strings.HasSuffix(text, "+"+line+"+\n+(truncated: 1048577 bytes in all)\n\\ no newline at the end\n"), text[len(text)-100:])
	assert.Equal(t, 1<<12, strings.Count(text, "+"+line), "64 KiB of it")
	assert.Less(t, u.given, 512<<10, "what is not recorded need not be searched")

	grown := write(most).Text(func(s string) string { return s + "x" })
	assert.Contains(t, grown, "(truncated: 1048576 bytes in all)")

	secret := strings.Repeat("s3cret", 1000)
	for _, before := range []int{0, 60 << 10, 64<<10 - 100, 200 << 10, 256<<10 - 100} {
		content := strings.Repeat("x", before) + secret + strings.Repeat("y", 2<<20)
		text := write(content).Text(func(s string) string { return strings.ReplaceAll(s, secret, "(hidden)") })
		assert.NotContains(t, text, "s3cret", "%d bytes before", before)
	}
	// What is hidden at the beginning shows nothing of what is cut at the end.
	content := strings.Repeat(secret, 256<<10/len(secret)+1) + strings.Repeat("y", 2<<20)
	text = write(content).Text(func(s string) string { return strings.ReplaceAll(s, secret, "(hidden)") })
	assert.NotContains(t, text, "s3cret")
}

// A content that is as long as may be is not copied many times.
func TestATextTakesFewCopiesOfAContent(t *testing.T) {
	p := &fileplan.Plan{Op: fileplan.Write, Path: "/f", Target: "/f", Content: bytes.Repeat([]byte("0123456789abcde\n"), 1<<20)}
	for name, hide := range map[string]func(string) string{"whole": nil, "recorded": strings.Clone} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		n := len(p.Text(hide))
		runtime.ReadMemStats(&after)
		assert.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(n+4<<20), name)
	}
}
