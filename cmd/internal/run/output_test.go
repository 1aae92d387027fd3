package run

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/stretchr/testify/assert"
)

// Whatever the pieces are, the ends are kept, what is missing is counted, and no character is torn.
func TestACaptureKeepsBothEnds(t *testing.T) {
	for _, most := range []int64{1, 2, 3, 7, 20, 64} {
		for _, n := range []int{0, 1, 5, 6, 7, 8, 19, 20, 21, 63, 64, 65, 500} {
			for _, piece := range []int{1, 2, 5, 64, 1000} {
				for _, alphabet := range []string{"abc", "aé", "x😀", "\xff"} {
					text := strings.Repeat(alphabet, n)[:n]
					if alphabet != "\xff" {
						text = strings.ToValidUTF8(text, "")
					}
					c := newCapture(most, &textTree{})
					for at := 0; at < len(text); at += piece {
						_, _ = c.Write([]byte(text[at:min(at+piece, len(text))]))
					}
					got, cut, omitted := c.bytes()
					assert.EqualValues(t, len(text), int64(len(got))+omitted)
					assert.LessOrEqual(t, int64(len(got)), most+1)
					if omitted == 0 {
						assert.Equal(t, text, string(got))
						continue
					}
					assert.True(t, strings.HasPrefix(text, string(got[:cut])))
					assert.True(t, strings.HasSuffix(text, string(got[cut:])))
					if alphabet != "\xff" {
						assert.True(t, utf8.Valid(got), "%d of %q", most, text)
					}
				}
			}
		}
	}
}

func TestSizesAreReadStrictly(t *testing.T) {
	var n int64
	for text, want := range map[string]int64{"1": 1, "64KiB": 64 << 10, "10MiB": 10 << 20, "1GiB": 1 << 30} {
		assert.NoError(t, sizeFlag{&n}.Set(text), text)
		assert.Equal(t, want, n, text)
	}
	for _, bad := range []string{"", "0", "1KB", "-1", "2GiB", "9999999999GiB", "1.5MiB", " 1"} {
		assert.Error(t, sizeFlag{&n}.Set(bad), bad)
	}
}
