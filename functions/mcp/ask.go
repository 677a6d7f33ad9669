package mcp

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"vitrine/functions/mcp/transport"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/idempotency"
)

// question asks a person before a tool does what cannot be undone.
type question struct {
	words string
	state string // signed, so that an answer belongs to this question only
}

// confirmation is the name of the question in the client's answer.
const confirmation = "confirm"

func (q *question) result() *mcp.CallToolResult {
	return &mcp.CallToolResult{
		InputRequests: mcp.InputRequestMap{confirmation: &mcp.ElicitParams{
			Mode:    "form",
			Message: q.words,
			RequestedSchema: json.RawMessage(`{"type":"object","properties":{"confirm":{"type":"boolean",` +
				`"title":"Yes, do it"}},"required":["confirm"]}`),
		}},
		RequestState: q.state,
	}
}

// confirm returns the question that a person must answer before a tool goes on; nil if it may. Clients that cannot ask
// get no question, because the annotations of the tool tell them what it does. It returns forbidden if the person
// declined, and invalid_request if the answer is to another question or too late.
// confirmationLife is how long a question stays open that a client shows to a person.
const confirmationLife = 5 * time.Minute

func (h *Host) confirm(c *call, words string) (*question, error) {
	if !canAsk(c.asked) {
		return nil, nil
	}
	print := idempotency.FingerprintOf(c.asked.Params.Name, c.Actor.Subject(), c.asked.Params.Arguments)
	state := c.asked.Params.RequestState
	if state == "" && len(c.asked.Params.InputResponses) == 0 {
		return &question{words: words, state: h.sign(print, h.Now().Add(confirmationLife))}, nil
	}
	if !h.signed(state, print) {
		return nil, fault.New(fault.InvalidRequest, "the confirmation is not that of this call, or it came too late; call again")
	}
	answer, _ := c.asked.Params.InputResponses[confirmation].(*mcp.ElicitResult)
	if answer == nil || answer.Action != "accept" || answer.Content["confirm"] != true {
		return nil, fault.New(fault.Forbidden, "the person did not agree, so nothing was changed")
	}
	return nil, nil
}

// canAsk reports whether the client can show questions to a person. Only in the stateless revision can a server without
// sessions ask.
func canAsk(r *mcp.CallToolRequest) bool {
	if r.ProtocolVersion() < transport.Stateless {
		return false
	}
	capable := r.ClientCapabilities()
	return capable != nil && capable.Elicitation != nil
}

// The offsets in a state: the ID of the key, its end in Unix seconds, and the MAC of both and the call.
const (
	stateEnds = 1
	stateMAC  = stateEnds + 8
	stateSize = stateMAC + sha256.Size
)

// sign returns the state for a question about a call.
func (h *Host) sign(call idempotency.Fingerprint, ends time.Time) string {
	kid, key := h.Confirmations.Active()
	out := make([]byte, stateMAC, stateSize)
	out[0] = kid
	binary.BigEndian.PutUint64(out[stateEnds:], uint64(ends.Unix()))
	return base64.RawURLEncoding.EncodeToString(append(out, mac(key, out, call)...))
}

// signed reports whether a state was signed for this call and has not ended.
func (h *Host) signed(state string, call idempotency.Fingerprint) bool {
	raw, err := base64.RawURLEncoding.DecodeString(state)
	if err != nil || len(raw) != stateSize {
		return false
	}
	key := h.Confirmations.Key(raw[0])
	if key == nil || !hmac.Equal(mac(key, raw[:stateMAC], call), raw[stateMAC:]) {
		return false
	}
	return h.Now().Before(time.Unix(int64(binary.BigEndian.Uint64(raw[stateEnds:])), 0))
}

func mac(key, head []byte, call idempotency.Fingerprint) []byte {
	m := hmac.New(sha256.New, key)
	m.Write(head)
	m.Write(call[:])
	return m.Sum(nil)
}
