package transport

import (
	"encoding/json"
	"net/http"
	"slices"
)

const (
	versionHeader = "Mcp-Protocol-Version"
	versionMeta   = "io.modelcontextprotocol/protocolVersion"
)

// Stateless is the revision of the protocol without a handshake. Each request names its revision.
const Stateless = "2026-07-28"

// Handshakes are the revisions of the protocol that begin with initialize. Later requests of such a client are all
// served in the same way, with any value of their version header.
var Handshakes = []string{"2025-03-26", "2025-06-18", "2025-11-25"}

// Negotiated returns the revision that initialize answers.
func Negotiated(asked string) string {
	if slices.Contains(Handshakes, asked) {
		return asked
	}
	return "2025-06-18"
}

// versionOf returns the revision that a call is served by; empty: one with a handshake. It is Stateless if the header
// says so, or if the call itself names any revision.
func versionOf(r *http.Request, m Message) (string, *Failure) {
	header, named := r.Header.Get(versionHeader), metaVersion(m.Params)
	switch {
	case named == "" && header != Stateless:
		return "", nil
	case named == "":
		return header, nil // the SDK reports what is missing
	case header != named:
		return "", mismatch()
	case named != Stateless:
		return "", unsupported(named)
	}
	return named, nil
}

// metaVersion returns the revision that a call names in its _meta.
func metaVersion(params json.RawMessage) string {
	var p struct {
		Meta map[string]json.RawMessage `json:"_meta"`
	}
	var named string
	if params == nil || json.Unmarshal(params, &p) != nil || json.Unmarshal(p.Meta[versionMeta], &named) != nil {
		return ""
	}
	return named
}

func mismatch() *Failure {
	return &Failure{
		Status:  http.StatusBadRequest,
		Code:    CodeHeaderMismatch,
		Reason:  "header_mismatch",
		Message: "the header MCP-Protocol-Version has to name the revision that _meta names",
	}
}

// methodHeader is the header that names the method in requests of the stateless revision.
const methodHeader = "Mcp-Method"

func wrongMethodHeader() *Failure {
	return &Failure{
		Status:  http.StatusBadRequest,
		Code:    CodeHeaderMismatch,
		Reason:  "header_mismatch",
		Message: "the header Mcp-Method has to name the method of the message",
	}
}

func unsupported(version string) *Failure {
	f := &Failure{
		Status:  http.StatusBadRequest,
		Code:    CodeUnsupportedVersion,
		Reason:  "unsupported_protocol_version",
		Message: "unsupported protocol version",
	}
	f.Data, _ = json.Marshal(map[string]any{ // strings always marshal
		"supported": []string{Stateless},
		"requested": version,
	})
	return f
}
