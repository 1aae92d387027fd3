package mcp

import (
	"bufio"
	"encoding/json"
	"io"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

func TestWhatAMessageIs(t *testing.T) {
	for line, want := range map[string]struct {
		request, answer bool
		key             string
	}{
		`{"id":1,"method":"x"}`:        {true, false, "1"},
		`{"id":"1","method":"x"}`:      {true, false, `"1`},
		`{"id":"\u00e9","method":"x"}`: {true, false, `"é`},
		`{"id":7}`:                     {true, false, "7"},
		`{"id":"é","result":{}}`:       {false, true, `"é`},
		`{"id":null,"error":{}}`:       {false, false, ""},
		`{"method":"notifications/x"}`: {false, false, ""},
		`[{"id":1,"method":"x"}]`:      {false, false, ""},
		`{"id":1,"method":`:            {false, false, ""},
		`{"id":1,"method":2}`:          {false, false, ""},
		``:                             {false, false, ""},
	} {
		m := readMessage([]byte(line))
		assert.Equal(t, want.request, m.isRequest(), line)
		assert.Equal(t, want.answer, m.isAnswer(), line)
		if want.key != "" {
			assert.Equal(t, want.key, m.key(), line)
		}
		assert.Equal(t, line, string(m.line))
	}
}

func TestABatchIsItsMessages(t *testing.T) {
	for line, want := range map[string][]string{
		`[{"id":1,"method":"x"}, {"method":"y"}]`: {`{"id":1,"method":"x"}` + "\n", `{"method":"y"}` + "\n"},
		`[1]`:            {"1\n"},
		`[]`:             {`[]`},
		`[{"id":1}`:      {`[{"id":1}`},
		`{"params":[1]}`: {`{"params":[1]}`},
		"\n":             {"\n"},
	} {
		var got []string
		for _, m := range readMessages([]byte(line)) {
			got = append(got, string(m.line))
		}
		assert.Equal(t, want, got, line)
	}
}

func TestAnIDIsReplacedAndNothingElse(t *testing.T) {
	before := `{"jsonrpc":"2.0","id":7,"params":{"message":"<é> 12345678901234567890 1.50"},"method":"elicitation/create"}`
	m := readMessage([]byte(before))
	m.setID(quoted("1-2"))
	assert.JSONEq(t, strings.Replace(before, ":7,", `:"1-2",`, 1), string(m.line))
	assert.Contains(t, string(m.line), "12345678901234567890 1.50")
	assert.True(t, strings.HasSuffix(string(m.line), "}\n"))
	assert.Equal(t, `"1-2`, m.key())

	m = readMessage([]byte(`{"method":"notifications/cancelled","params":{"requestId":7,"reason":"over"}}`))
	assert.False(t, m.cancels(json.RawMessage("8"), "1-1"))
	require.True(t, m.cancels(json.RawMessage("7"), "1-2"))
	assert.JSONEq(t, `{"method":"notifications/cancelled","params":{"requestId":"1-2","reason":"over"}}`, string(m.line))
}

func FuzzMessage(f *testing.F) {
	f.Add(`{"id":1,"method":"x"}`, `{"method":"notifications/cancelled","params":{"requestId":1}}`)
	f.Add(`{"id":"a","id":"b","ID":3}`, `{"params":[]}`)
	f.Add(`0`, `{}`)
	f.Add(`[`, `{"params":{"requestId":"1"}}`)
	f.Fuzz(func(t *testing.T, one, two string) {
		m := readMessage([]byte(one))
		if m.isRequest() || m.isAnswer() {
			m.setID(quoted("1-1"))
			require.True(t, json.Valid(m.line), "%q", m.line)
			require.Equal(t, `"1-1`, m.key())
		}
		c := readMessage([]byte(two))
		if c.cancels(m.ID, "1-1") {
			require.True(t, json.Valid(c.line), "%q", c.line)
		}
		_ = c.protocolVersion()
		require.NotEmpty(t, readMessages([]byte(two)))
		in := bufio.NewReaderSize(strings.NewReader(one+"\n"+two), 16)
		var all string
		for {
			line, err := readLine(in)
			all += string(line)
			if err != nil {
				require.ErrorIs(t, err, io.EOF)
				break
			}
		}
		require.Equal(t, one+"\n"+two, all)
	})
}
