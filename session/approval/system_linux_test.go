package approval_test

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/assert"

	"github.com/fairlead-ssh/fairlead/session/approval"
)

func TestAnAddressIsReadAsTheKernelWritesIt(t *testing.T) {
	if binary.NativeEndian.Uint16([]byte{1, 0}) != 1 {
		t.Skip("the addresses below are those of a machine that writes the lowest byte first")
	}
	for text, want := range map[string]string{
		"0100007F:0016":                         "127.0.0.1:22",
		"0200000A:FFFF":                         "10.0.0.2:65535",
		"00000000000000000000000001000000:0016": "[::1]:22",
		"0000000000000000FFFF00000100007F:0016": "127.0.0.1:22",
		"":                                      "", "local_address": "", "0100007F": "", "0100007F:": "", ":0016": "", "0100007G:0016": "", "0100007F:10000": "", "0100007F:x": "",
		"01000:0016": "", "010000:0016": "", "0100007F00:0016": "", "0100007F0100007F:0016": "",
	} {
		a, ok := approval.KernelAddr(text)
		assert.Equal(t, want != "", ok, text)
		if ok {
			assert.Equal(t, want, a.String())
		}
	}
}
