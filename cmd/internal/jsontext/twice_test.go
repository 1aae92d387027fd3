package jsontext

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
)

func TestAMemberThatIsThereTwiceIsFound(t *testing.T) {
	deep := strings.Repeat("[", maxDepth+1)
	for text, want := range map[string]string{
		`{"a":1,"b":1,"c":{"a":1,"b":[{"a":1},{"a":1}]},"A":2}`: "",
		`["a","a",["a"],{"a":"a"},"a"]`:                         "",
		`{"a":"a","b":"a","c":["a","a"]}`:                       "",
		`{"a":"\",\"a\":","b":"{\"c\":1,\"c\":2}"}`:             "",
		`"a"`:                                 "",
		`{"command":"ls","command":"rm"}`:     `"command" is there twice, again at byte 16`,
		` { "a" : 1 , "b" : { } , "a" : 2 } `: `"a" is there twice, again at byte 25`,
		`{"a":[{"b":{"c":1,"d":[],"c":2}}]}`:  `"c" is there twice, again at byte 25`,
		`{"a":1,"\u0061":2}`:                  `"a" is there twice, again at byte 7`,
		`{"\"\\":1,"\"\u005c":2}`:             `"\"\\" is there twice, again at byte 10`,
		`{"a":{"a":{}},"a":null}`:             `"a" is there twice, again at byte 14`,
		`[{"a":1},{"a":1,"a":1}]`:             `"a" is there twice, again at byte 16`,
		`{"":1,"":2}`:                         `"" is there twice, again at byte 6`,
		`{"` + strings.Repeat("n", 65) + `":1,"` + strings.Repeat("n", 65) + `":2}`: "a name is there twice, again at byte 71",
		deep: "", `{"a":1,"a`: "", `{"a\`: "", `}`: "", `]"a"`: "", `{"a"`: "", `{"a","a"`: `"a" is there twice, again at byte 5`, `,`: "",
	} {
		err := Check([]byte(text))
		if want == "" {
			assert.NoError(t, err, "%.99q", text)
		} else {
			assert.EqualError(t, err, want, "%.99q", text)
		}
	}
}
