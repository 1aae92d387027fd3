package audit

import (
	"bytes"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strconv"
	"strings"
)

const (
	headName = "head"
	dataExt  = ".jsonl"
	headLen  = len(`{"v":1,"count":"","file":"","size":"","hash":""`) + 20 + len("000001.jsonl") + 20 + hexLen + macLen + 1
	maxFiles = 999_999
)

// head is where a chain ends.
type head struct {
	count uint64            // records in the chain
	file  int               // number of the file with the last one, from 1
	size  int64             // where it ends there
	hash  [sha256.Size]byte // of it
}

func dataName(n int) string { return fmt.Sprintf("%06d%s", n, dataExt) }

// dataNumber is the inverse of dataName.
func dataNumber(name string) (int, bool) {
	digits, ok := strings.CutSuffix(name, dataExt)
	if !ok {
		return 0, false
	}
	n, err := strconv.Atoi(digits)
	return n, err == nil && n > 0 && n <= maxFiles && dataName(n) == name
}

func (k *keys) appendHead(b []byte, h head, name string) []byte {
	b = append(b, `{"v":1,"count":"`...)
	b = appendPadded(b, h.count)
	b = append(b, `","file":"`...)
	b = append(b, name...)
	b = append(b, `","size":"`...)
	b = appendPadded(b, uint64(h.size))
	b = append(b, `","hash":"`...)
	b = hex.AppendEncode(b, h.hash[:])
	b = append(b, '"')
	body := b
	b = append(b, macMark...)
	b = k.appendMAC(b, k.head, body)
	return append(b, '"', '}', '\n')
}

func appendPadded(b []byte, n uint64) []byte {
	const zeros = "00000000000000000000"
	var digits [20]byte
	d := strconv.AppendUint(digits[:0], n, 10)
	b = append(b, zeros[len(d):]...)
	return append(b, d...)
}

// parseHead reads what appendHead wrote. It is strict: whatever is accepted is re-encoded to the same bytes.
func (k *keys) parseHead(text []byte) (head, bool) {
	if len(text) != headLen {
		return head{}, false
	}
	at := len(`{"v":1,"count":"`)
	field := func(n int, then string) string {
		s := string(text[at : at+n])
		at += n + len(then)
		return s
	}
	count, err1 := strconv.ParseUint(field(20, `","file":"`), 10, 64)
	name := field(len("000001.jsonl"), `","size":"`)
	size, err2 := strconv.ParseInt(field(20, `","hash":"`), 10, 64)
	sum, err3 := hex.DecodeString(field(hexLen, `"`))
	n, ok := dataNumber(name)
	if err1 != nil || err2 != nil || err3 != nil || !ok || size < 0 {
		return head{}, false
	}
	h := head{count: count, file: n, size: size, hash: [sha256.Size]byte(sum)}
	want := k.appendHead(nil, h, name)
	body := headLen - macLen - 1
	return h, bytes.Equal(want[:body], text[:body]) && hmac.Equal(want, text)
}
