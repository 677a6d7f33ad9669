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

// question is what a person is asked before a tool does what cannot be taken back.
type question struct {
	words string
	state string // signed, so that an answer is that to this question
}

// confirmation is the name of the question in the answer of the client.
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

// confirmationLife is how long a question stays open that a client shows to a person.
const confirmationLife = 5 * time.Minute

// confirm returns the question that has to be answered before a tool goes on, nil if it may. Clients that cannot ask
// get none: their annotations of the tool say what it does. Faults: forbidden if the person said no, invalid_request
// for an answer to another question or one that came too late.
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

// canAsk reports whether the client shows questions to a person. Only the stateless revision lets a server without
// sessions ask.
func canAsk(r *mcp.CallToolRequest) bool {
	if r.ProtocolVersion() < transport.Stateless {
		return false
	}
	capable := r.ClientCapabilities()
	return capable != nil && capable.Elicitation != nil
}

// The parts of a state: the id of the key, when it ends in Unix seconds, and the MAC of both and the call.
const (
	stateEnds = 1
	stateMAC  = stateEnds + 8
	stateSize = stateMAC + sha256.Size
)

// sign makes the state of a question about a call.
func (h *Host) sign(call idempotency.Fingerprint, ends time.Time) string {
	kid, key := h.Confirmations.Active()
	out := make([]byte, stateMAC, stateSize)
	out[0] = kid
	binary.BigEndian.PutUint64(out[stateEnds:], uint64(ends.Unix()))
	return base64.RawURLEncoding.EncodeToString(append(out, mac(key, out, call)...))
}

// signed reports whether a state is that of a question about a call, and in time.
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
