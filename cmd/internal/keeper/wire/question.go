package wire

// Question is what connecting wants to know from the person who called: whether to trust the key of a host, a passphrase, or
// what a server asks. Texts of hosts and servers are theirs: clean them before a terminal shows them.
type Question struct {
	ID      string `json:"id"`
	Kind    string `json:"kind" enum:"host-key,host-keys,passphrase,login,touch"`
	Asker   string `json:"asker" doc:"of the request that it is asked for, as its Fairlead-Asker says"`
	Host    string `json:"host"`
	Addr    string `json:"addr,omitempty"`
	User    string `json:"user,omitempty"`
	Try     int    `json:"try" doc:"more than 1: the answer before was wrong"`
	KeyFile string `json:"key_file,omitempty" doc:"of passphrase; of touch the fingerprint of the key, and nothing is to answer"`

	KeyType     string        `json:"key_type,omitempty" doc:"of host-key, as are the fields below"`
	Fingerprint string        `json:"fingerprint,omitempty"`
	File        string        `json:"file,omitempty" doc:"where a yes records the key"`
	Certificate string        `json:"certificate,omitempty" doc:"why the host's certificate does not count"`
	Near        []KnownKey    `json:"near,omitempty" doc:"other keys of the host, known for port 22"`
	Skipped     []SkippedLine `json:"skipped,omitempty" doc:"lines about the host that could not be used"`

	NewKeys []string `json:"new_keys,omitempty" doc:"of host-keys: those that the host has proved to be its own"`
	OldKeys []string `json:"old_keys,omitempty" doc:"of host-keys: those that it does not have any more"`

	Method      string   `json:"method,omitempty" doc:"of login: password, keyboard-interactive, or banner for what the server says"`
	Name        string   `json:"name,omitempty" doc:"of login: what the server says"`
	Instruction string   `json:"instruction,omitempty" doc:"of login: what the server says"`
	Prompts     []Prompt `json:"prompts,omitempty" doc:"of login: what to answer, in order; none means that there is only something to read"`
}

// Prompt is one thing that a server wants to know.
type Prompt struct {
	Text string `json:"text"`
	Echo bool   `json:"echo" doc:"what is typed may be seen"`
}

// KnownKey is a key in a known_hosts file.
type KnownKey struct {
	File        string `json:"file"`
	Line        int    `json:"line"`
	Type        string `json:"type"`
	Fingerprint string `json:"fingerprint"`
}

// SkippedLine is a line of a known_hosts file that could not be used.
type SkippedLine struct {
	File   string `json:"file"`
	Line   int    `json:"line"`
	Reason string `json:"reason"`
}

// Questions are those that wait for an answer.
type Questions struct {
	Items []Question `json:"items"`
}

// QuestionAnswer answers one. Refuse gives no answer, which ends the attempt to connect.
type QuestionAnswer struct {
	Refuse  bool     `json:"refuse,omitempty"`
	Trust   bool     `json:"trust,omitempty" doc:"of host-key and host-keys: trust and record"`
	Answers []string `json:"answers,omitempty" maxItems:"16" doc:"the passphrase, or one for each prompt"`
	// Encoding is of all Answers. A terminal types bytes, which need not be UTF-8.
	Encoding string `json:"encoding,omitempty" enum:"utf-8,base64" doc:"of answers (default utf-8)"`
}
