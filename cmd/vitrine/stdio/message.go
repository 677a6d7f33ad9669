package stdio

import (
	"bytes"
	"encoding/json"
	"strings"
)

// Stateless is the first revision of the protocol without a handshake. Each of its requests names its revision.
const Stateless = "2026-07-28"

// revisionMember is where a request of a revision without a handshake names it.
const revisionMember = "io.modelcontextprotocol/protocolVersion"

// message is a JSON-RPC 2.0 message, as far as its forwarding depends on it. Names of members are compared exactly,
// unlike encoding/json does for structs.
type message struct {
	raw    []byte
	id     json.RawMessage // nil: a notification
	method string          // "": an answer
	params map[string]json.RawMessage
	all    map[string]json.RawMessage
}

// parse reads a message. It reports false for what is no JSON object.
func parse(line []byte) (message, bool) {
	m := message{raw: line, all: members(line)}
	if m.all == nil {
		return m, false
	}
	m.id, m.method = m.all["id"], textOf(m.all["method"])
	m.params = members(m.all["params"])
	return m, true
}

// members returns the members of a JSON object; nil for anything else.
func members(text json.RawMessage) (all map[string]json.RawMessage) {
	if json.Unmarshal(text, &all) != nil {
		return nil
	}
	return all
}

// textOf returns a JSON string; "" for anything else.
func textOf(text json.RawMessage) (out string) {
	if json.Unmarshal(text, &out) != nil {
		return ""
	}
	return out
}

// revision returns the revision that the message itself names; "" for none.
func (m message) revision() string { return textOf(members(m.params["_meta"])[revisionMember]) }

// stateless reports whether the message is of a revision without a handshake. Their names are dates.
func (m message) stateless() bool { return m.revision() >= Stateless }

// name returns what the message is about, as the header Mcp-Name has it; "" for messages without such a name.
func (m message) name() string {
	switch m.method {
	case "tools/call", "prompts/get":
		return textOf(m.params["name"])
	case "resources/read":
		return textOf(m.params["uri"])
	}
	return ""
}

// rpcError is a JSON-RPC error.
type rpcError struct {
	Code    int    `json:"code"`
	Message string `json:"message"`
	Data    any    `json:"data,omitempty"`
}

// Codes of JSON-RPC errors that are made here. codeServer is for failures without a code in JSON-RPC.
const (
	codeParse    = -32700
	codeInvalid  = -32600
	codeInternal = -32603
	codeServer   = -32000
)

// reply is an answer that is made here.
type reply struct {
	Version string          `json:"jsonrpc"`
	ID      json.RawMessage `json:"id"` // null where the message had none that could be read
	Result  any             `json:"result,omitempty"`
	Error   *rpcError       `json:"error,omitempty"`
}

// encode encodes a value on one line. It does not escape what only HTML needs escaped.
func encode(v any) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	err := e.Encode(v)
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), err
}

// oneLine returns an answer of the host with the id of its request, without line feeds. The host leaves the id out where
// it does not know the client. It returns false for what is no answer.
func oneLine(answer []byte, id json.RawMessage) ([]byte, bool) {
	all := members(answer)
	if all["jsonrpc"] == nil || all["result"] == nil && all["error"] == nil {
		return nil, false
	}
	var b bytes.Buffer
	if json.Compact(&b, answer) != nil {
		return nil, false
	}
	if all["id"] != nil {
		return b.Bytes(), true
	}
	return append([]byte(`{"id":`+string(id)+`,`), b.Bytes()[1:]...), true
}

// insert adds an item at the end of the array result.NAME of an answer, and leaves all other bytes as they are. It
// returns the answer unchanged where there is no such array.
func insert(answer []byte, name string, item json.RawMessage) []byte {
	d := json.NewDecoder(bytes.NewReader(answer))
	for _, member := range []string{"result", name} {
		if !enter(d, member) {
			return answer
		}
	}
	var list []json.RawMessage
	if d.Decode(&list) != nil || list == nil {
		return answer
	}
	end := d.InputOffset() - 1 // of the bracket
	if len(list) > 0 {
		item = append([]byte(","), item...)
	}
	return []byte(strings.Join([]string{string(answer[:end]), string(item), string(answer[end:])}, ""))
}

// enter moves a decoder to the value of a member of the object that comes next.
func enter(d *json.Decoder, member string) bool {
	if first, err := d.Token(); err != nil || first != json.Delim('{') {
		return false
	}
	for d.More() {
		name, err := d.Token()
		if err != nil || name == member {
			return err == nil
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return false
		}
	}
	return false
}
