package audit

import (
	"encoding/hex"
	"strconv"
	"time"
	"unicode/utf8"
)

// appendBody appends the body of a record: everything before its mac. It is written by hand because it stands in the
// path of every command; a test holds it to the struct tags.
func appendBody(b []byte, e *Event, seq uint64, at time.Time, hmac []byte, prev *[32]byte) []byte {
	b = append(b, `{"v":`...)
	b = strconv.AppendInt(b, Version, 10)
	b = append(b, `,"seq":`...)
	b = strconv.AppendUint(b, seq, 10)
	b = append(b, `,"time":"`...)
	b = at.UTC().AppendFormat(b, time.RFC3339Nano)
	b = append(b, '"')

	b = appendStr(b, `,"kind":`, string(e.Kind))
	b = appendStr(b, `,"id":`, e.ID)
	b = appendStr(b, `,"group":`, e.Group)

	b = appendStr(b, `,"principal":`, e.Principal)
	b = appendStr(b, `,"client":`, e.Client)
	b = appendPtr(b, `,"uid":`, e.UID)
	b = appendStr(b, `,"separation":`, e.Separation)

	b = appendStr(b, `,"host":`, e.Host)
	b = appendStr(b, `,"tier":`, e.Tier)
	b = appendStr(b, `,"address":`, e.Address)
	b = appendStr(b, `,"route":`, e.Route)
	b = appendStr(b, `,"ssh_options":`, e.SSHOptions)
	b = appendStr(b, `,"ssh_user":`, e.SSHUser)
	b = appendStr(b, `,"become":`, e.Become)
	b = appendStr(b, `,"key":`, e.Key)
	b = appendStr(b, `,"cert_id":`, e.CertID)
	if e.CertSerial != 0 {
		b = append(b, `,"cert_serial":`...)
		b = strconv.AppendUint(b, e.CertSerial, 10)
	}
	b = appendStr(b, `,"host_key":`, e.HostKey)
	b = appendStr(b, `,"session":`, e.Session)
	b = appendStr(b, `,"sandbox":`, e.Sandbox)

	b = appendStr(b, `,"command":`, e.Command)
	if hmac != nil {
		b = append(b, `,"command_hmac":"`...)
		b = append(b, hmac...)
		b = append(b, '"')
	} else {
		b = appendStr(b, `,"command_hmac":`, e.CommandHMAC)
	}
	b = appendInt(b, `,"stdin_bytes":`, e.StdinBytes)
	b = appendStr(b, `,"stdin_sha256":`, e.StdinSHA256)
	if e.Typed {
		b = append(b, `,"typed":true`...)
	}

	b = appendStr(b, `,"subject":`, e.Subject)
	b = appendStr(b, `,"change":`, e.Change)

	b = appendStr(b, `,"verdict":`, e.Verdict)
	b = appendStr(b, `,"rule":`, e.Rule)
	b = appendStr(b, `,"class":`, e.Class)
	b = appendStr(b, `,"policy":`, e.Policy)
	b = appendStr(b, `,"reason":`, e.Reason)
	b = appendStr(b, `,"approval":`, e.Approval)
	b = appendStr(b, `,"approved_by":`, e.ApprovedBy)
	b = appendStr(b, `,"approval_proof":`, e.ApprovalProof)
	if e.WithInput {
		b = append(b, `,"with_input":true`...)
	}
	b = appendStr(b, `,"revoked_by":`, e.RevokedBy)
	b = appendStr(b, `,"for_session":`, e.ForSession)
	b = appendStr(b, `,"approval_digest":`, e.ApprovalDigest)
	b = appendStr(b, `,"approver":`, e.Approver)
	b = appendStr(b, `,"approval_key":`, e.ApprovalKey)
	b = appendStr(b, `,"approval_signature":`, e.ApprovalSignature)
	b = appendStr(b, `,"approval_document":`, e.ApprovalDocument)

	b = appendStr(b, `,"state":`, e.State)
	b = appendStr(b, `,"status":`, e.Status)
	b = appendPtr(b, `,"exit_code":`, e.ExitCode)
	b = appendStr(b, `,"signal":`, e.Signal)
	b = appendStr(b, `,"stopped_by":`, e.StoppedBy)
	b = appendStr(b, `,"cwd":`, e.CWD)
	b = appendStr(b, `,"held":`, e.Held)
	b = appendStrs(b, `,"refused":`, e.Refused)
	b = appendInt(b, `,"duration_ms":`, e.DurationMS)
	b = appendInt(b, `,"stdout_bytes":`, e.StdoutBytes)
	b = appendInt(b, `,"stderr_bytes":`, e.StderrBytes)
	b = appendStr(b, `,"stdout_sha256":`, e.StdoutSHA256)
	b = appendStr(b, `,"stderr_sha256":`, e.StderrSHA256)
	b = appendStr(b, `,"stdout_kept":`, e.StdoutKept)
	b = appendStr(b, `,"stderr_kept":`, e.StderrKept)
	if e.Omitted != (Omitted{}) {
		at := len(b)
		b = appendInt(b, `,"stdout":`, e.Omitted.Stdout)
		b = appendInt(b, `,"stderr":`, e.Omitted.Stderr)
		b = wrap(b, at, `,"omitted":{`)
	}
	if e.Error != (Fault{}) {
		at := len(b)
		b = appendStr(b, `,"code":`, e.Error.Code)
		b = appendStr(b, `,"message":`, e.Error.Message)
		b = wrap(b, at, `,"error":{`)
	}
	if e.Torn != (Torn{}) {
		b = append(b, `,"torn":{"offset":`...)
		b = strconv.AppendInt(b, e.Torn.Offset, 10)
		b = append(b, `,"bytes":`...)
		b = strconv.AppendInt(b, e.Torn.Bytes, 10)
		b = append(b, `,"sha256":`...)
		b = appendQuoted(b, e.Torn.SHA256)
		b = append(b, '}')
	}
	b = appendStr(b, `,"next":`, e.Next)
	if e.Purged != (Purged{}) {
		b = appendPurged(b, &e.Purged)
	}

	b = append(b, prevMark...)
	b = hex.AppendEncode(b, prev[:])
	return append(b, '"')
}

func appendPurged(b []byte, p *Purged) []byte {
	at := len(b)
	if !p.Before.IsZero() {
		b = append(b, `,"before":"`...)
		b = p.Before.UTC().AppendFormat(b, time.RFC3339Nano)
		b = append(b, '"')
	}
	b = appendStr(b, `,"through":`, p.Through)
	b = appendInt(b, `,"records":`, int64(p.Records))
	b = appendStr(b, `,"hash":`, p.Hash)
	b = appendInt(b, `,"outputs":`, p.Outputs)
	b = appendInt(b, `,"bytes":`, p.Bytes)
	return wrap(b, at, `,"purged":{`)
}

// wrap turns the members appended since at (each begins with a comma) into an object that opens with open.
func wrap(b []byte, at int, open string) []byte {
	members := string(b[at+1:])
	b = append(b[:at], open...)
	b = append(b, members...)
	return append(b, '}')
}

func appendStr(b []byte, name, s string) []byte {
	if s == "" {
		return b
	}
	return appendQuoted(append(b, name...), s)
}

func appendStrs(b []byte, name string, list []string) []byte {
	for i, s := range list {
		if b = append(b, ','); i == 0 {
			b = append(append(b[:len(b)-1], name...), '[')
		}
		b = appendQuoted(b, s)
	}
	if len(list) > 0 {
		b = append(b, ']')
	}
	return b
}

func appendInt(b []byte, name string, n int64) []byte {
	if n == 0 {
		return b
	}
	return strconv.AppendInt(append(b, name...), n, 10)
}

func appendPtr(b []byte, name string, n *int) []byte {
	if n == nil {
		return b
	}
	return strconv.AppendInt(append(b, name...), int64(*n), 10)
}

// appendQuoted appends s as a JSON string. Bytes that are not UTF-8 become U+FFFD: the exact ones are in the HMAC.
// Control characters, C1 ones included, are escaped, so that a record printed to a terminal stays text.
func appendQuoted(b []byte, s string) []byte {
	const digits = "0123456789abcdef"
	b = append(b, '"')
	start := 0
	for i := 0; i < len(s); {
		c := s[i]
		if c < utf8.RuneSelf {
			if c >= ' ' && c != '"' && c != '\\' && c != 0x7f {
				i++
				continue
			}
			b = append(b, s[start:i]...)
			switch c {
			case '"', '\\':
				b = append(b, '\\', c)
			case '\n':
				b = append(b, '\\', 'n')
			case '\r':
				b = append(b, '\\', 'r')
			case '\t':
				b = append(b, '\\', 't')
			default:
				b = append(b, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
			}
			i++
			start = i
			continue
		}
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case n == 1: // ASCII does not come here, so it is no UTF-8
			b = append(b, s[start:i]...)
			b = append(b, "\ufffd"...)
			start = i + n
		case r < 0xa0:
			b = append(b, s[start:i]...)
			b = append(b, '\\', 'u', '0', '0', digits[r>>4], digits[r&15])
			start = i + n
		}
		i += n
	}
	b = append(b, s[start:]...)
	return append(b, '"')
}
