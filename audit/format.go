package audit

// Version is the version of the format that this package writes, the v of every record.
//
// One directory (mode 0700) holds one chain. Its files (mode 0600):
//
//	key            64 lower-case hexadecimal digits and a newline: the chain's secret of 32 random bytes
//	head           one line of fixed length, rewritten in place after appends; also the file that is locked
//	000001.jsonl   the records, one JSON object a line; 000002.jsonl follows when it is full, and so on
//
// Keys are derived from the secret, each HMAC-SHA256(secret, label), with the labels "fairlead audit record 1",
// "fairlead audit head 1", "fairlead audit exact 1" and one for anchors. They differ so that nobody who chooses a command chooses what
// is signed as a record.
//
// A record is a line of the form
//
//	{"v":1,"seq":N,"time":"…","kind":"…",…,"prev":"P","mac":"M"}
//
// Its body is every byte before `,"mac":`. Its hash is SHA-256(body). P is the hash of the record before, in lower-case
// hexadecimal, and 64 zeros in the first. M is HMAC-SHA256(record key, hash), in lower-case hexadecimal. N counts
// from 1 through all files. v and seq come first, prev and mac last, in exactly this spelling; between them stand the
// fields of [Event], of which more may appear without a new version, so a checker works on the bytes of the line and
// never on a decoded and re-encoded form. command_hmac is HMAC-SHA256(exact key, the exact bytes of the command).
//
// The head is
//
//	{"v":1,"count":"C","file":"F","size":"S","hash":"H","mac":"M"}
//
// C records stand in the chain (20 digits); the last one, with hash H, ends at byte S (20 digits) of file F (its name);
// M is HMAC-SHA256(head key, the bytes before `,"mac":`). 64 zeros are the hash of no record.
//
// Writers take an exclusive flock on head, append to the last file with one write, then rewrite head, then let go; for
// records of what changes nothing they may keep the lock for 5 ms and rewrite head at its end. A
// writer that finds more in the file than it left there reads head again first.
//
// A full file (by size, or by the age of its first record) ends with a chain.rotate record whose `next` names the file
// that follows. A writer that finds chain.rotate at the end of the last file goes on in the next.
//
// The oldest files may be removed, never one between two others. A chain.purge record in what is left says so: its
// `purged` names the last file that is removed (`through`), how many `records` stand in the chain up to its end, and the
// `hash` of the last of them, which is P of the first record that is left. A chain that does not begin with 000001.jsonl
// and has no such record is not whole. A chain.purge record without `through` is about outputs, see [OutputStore].
//
// What a crash leaves behind the head: whole records that continue the chain (a writer died before it rewrote head, or
// within a group; they count), then the beginning of one more line (it died within that). The next writer ends such torn
// bytes with "~" and a newline where that is missing, and appends a chain.seal record: `torn` gives the offset, the length
// and the SHA-256 of all bytes between the last good record and the seal, which stay where they are, as evidence. Nothing
// else but such a sealed stretch may stand between two records.
//
// Anything else behind the head was appended by something that does not have the key. The next writer seals it, too, so
// that the log can be continued; Verify reports it as edited before and after that, and no reader shows it. Readers show
// a line only if its MAC is right and it stands behind the records that were shown.
const Version = 1
