package trust

import (
	"encoding/base64"
	"encoding/hex"
	"slices"
	"strings"
)

// sshfpLine reads a record of DNS as "ssh-keygen -r" and dig print it: HOST [TTL] [IN] SSHFP ALGORITHM 2 HEX, or in the form of
// RFC 3597. A record with a SHA-1 fingerprint says nothing here, but is no mistake.
func (e *expectations) sshfpLine(line string) bool {
	f := strings.Fields(line)
	at := slices.IndexFunc(f, func(w string) bool { return strings.EqualFold(w, "SSHFP") || strings.EqualFold(w, "TYPE44") })
	if at < 1 || at > 3 {
		return false
	}
	data := f[at+1:]
	kind, digits := "", ""
	switch {
	case len(data) >= 3 && data[0] == `\#`:
		if digits = strings.Join(data[2:], ""); len(digits) < 4 {
			return false
		}
		kind, digits = strings.TrimPrefix(digits[2:4], "0"), digits[4:]
	case len(data) >= 3:
		kind, digits = data[1], strings.Join(data[2:], "")
	}
	sum, err := hex.DecodeString(digits)
	switch {
	case err == nil && kind == "1" && len(sum) == 20:
		return true
	case err != nil || kind != "2" || len(sum) != 32:
		return false
	}
	name := strings.ToLower(strings.TrimSuffix(f[0], "."))
	if e.by[name] == nil {
		e.by[name] = map[string]bool{}
	}
	e.by[name]["SHA256:"+base64.RawStdEncoding.EncodeToString(sum)] = true
	return true
}
