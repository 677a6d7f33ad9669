package transport

import (
	"bytes"
	"encoding/json"
	"io"
	"net/http"
	"regexp"
	"strconv"
	"strings"

	"vitrine/shared/adapter/web"
)

// Message is a JSON-RPC 2.0 message of a client. Its members have the right types.
type Message struct {
	ID     json.RawMessage // a string, or an integer of at most 53 bits; nil: a notification
	Method string          // empty: a client's answer to a request, although servers here send none
	Params json.RawMessage // an object; nil: none
}

// Call reports whether the client expects a result.
func (m Message) Call() bool { return m.ID != nil && m.Method != "" }

// body returns the message as JSON that every parser reads the same way.
func (m Message) body() []byte {
	var b bytes.Buffer
	b.WriteString(`{"jsonrpc":"2.0","id":`)
	b.Write(m.ID)
	b.WriteString(`,"method":`)
	method, _ := json.Marshal(m.Method) // strings always marshal
	b.Write(method)
	if m.Params != nil {
		b.WriteString(`,"params":`)
		b.Write(m.Params)
	}
	b.WriteByte('}')
	return b.Bytes()
}

// integer matches a JSON number without fraction and exponent.
var integer = regexp.MustCompile(`^(0|-?[1-9][0-9]*)$`)

// largestID is the largest integer that every JSON parser preserves.
const largestID = 1<<53 - 1

// parse decodes one message. It refuses batches, which MCP has removed, and members that JSON-RPC does not have. It
// also refuses an object with the same key twice, because two parsers may interpret it differently.
func parse(body []byte) (Message, *Failure) {
	if err := web.CheckJSON(body); err != nil {
		return Message{}, invalid("invalid_json", "the body is no JSON that can be read: "+err.Error())
	}
	switch first := bytes.TrimLeft(body, " \t\r\n"); {
	case len(first) > 0 && first[0] == '[':
		return Message{}, invalid("batch_not_supported", "send one message a request; batches are not supported")
	case len(first) == 0 || first[0] != '{':
		return Message{}, invalid("invalid_json", "the body has to be one JSON object")
	}
	var members map[string]json.RawMessage
	if err := json.Unmarshal(body, &members); err != nil {
		return Message{}, invalid("invalid_json", "the body has to be one JSON object")
	}
	m, f := message(members)
	if id := members["id"]; f != nil && id != nil && validID(id) {
		f = f.of(id)
	}
	return m, f
}

// message builds a message from the members of an object.
func message(members map[string]json.RawMessage) (m Message, f *Failure) {
	if string(members["jsonrpc"]) != `"2.0"` {
		return m, invalid("invalid_json_rpc_version", `jsonrpc has to be "2.0"`)
	}
	id, identified := members["id"]
	method, named := members["method"]
	if identified && !validID(id) {
		return m, invalid("json_rpc_request_id_required", "id has to be a string or an integer of at most 53 bits")
	}
	if !named && identified && (members["result"] != nil || members["error"] != nil) {
		return Message{ID: id}, nil
	}
	for name := range members {
		if name != "jsonrpc" && name != "id" && name != "method" && name != "params" {
			return m, invalid("invalid_request", "a message has the members jsonrpc, id, method and params, and no others")
		}
	}
	if err := json.Unmarshal(method, &m.Method); err != nil || m.Method == "" {
		return m, invalid("invalid_request", "method is missing or no string")
	}
	m.ID = id
	if params := members["params"]; params != nil {
		if params[0] != '{' {
			return m, invalid("invalid_params", "params has to be an object")
		}
		m.Params = params
	}
	return m, nil
}

func validID(id json.RawMessage) bool {
	if id[0] == '"' {
		return true
	}
	n, err := strconv.ParseInt(string(id), 10, 64)
	return err == nil && integer.Match(id) && -largestID <= n && n <= largestID
}

// read reads a body of at most limit bytes.
func read(r *http.Request, limit int64) ([]byte, *Failure) {
	if !strings.Contains(strings.ToLower(r.Header.Get("Content-Type")), "application/json") {
		return nil, invalid("content_type_must_be_json", "send Content-Type: application/json")
	}
	body, err := io.ReadAll(io.LimitReader(r.Body, limit+1))
	switch {
	case int64(len(body)) > limit:
		return nil, tooLarge(limit)
	case err != nil:
		return nil, invalid("invalid_json", "the body did not arrive as a whole; send the request again")
	}
	return body, nil
}
