package main

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"time"
)

// provision creates a workspace. With bits it asks for a proof of work first and burns each nonce once.
func (server *fakeServer) provision(w http.ResponseWriter, r *http.Request) {
	var in struct {
		Challenge json.RawMessage
		Solution  *struct {
			Nonce   string
			Counter uint64
		}
	}
	d := json.NewDecoder(r.Body)
	d.DisallowUnknownFields()
	if err := d.Decode(&in); err != nil {
		server.violation("provision: %v", err)
	}
	server.mu.Lock()
	defer server.mu.Unlock()
	switch {
	case server.bits == 0:
	case in.Solution == nil:
		fmt.Fprint(pow401(w),
			`{"error":{"code":"pow_required","message":"busy","request_id":"`+peerID+`"},"challenge":`+server.challenge()+`}`)
		return
	case server.burnt[in.Solution.Nonce], !bytes.Contains(in.Challenge,
		[]byte(in.Solution.Nonce)), !bytes.Contains(in.Challenge, []byte(`"signed":1.50`)),
		!solves(in.Solution.Nonce, in.Solution.Counter, server.bits):
		plannedFault{status: 400, code: "pow_invalid"}.answer("", w)
		return
	default:
		server.burnt[in.Solution.Nonce] = true
	}
	answer(w, 201, map[string]string{
		"api_key_secret": trialKey, "claim_token": claim, "workspace_id": workspace,
		"api_key_id": "key_00000000000000000000000005", "claim_token_id": "ct_00000000000000000000000006",
	})
}

// challenge returns a challenge that only a byte-exact echo preserves. Its nonce is that of the request that asks.
func (server *fakeServer) challenge() string {
	expires := time.Now().Add(5 * time.Minute).UTC().Format(time.RFC3339)
	return fmt.Sprintf(`{"nonce":"nonce%02d","difficulty":%d,"expires_at":%q,"signature":"sig","signed":1.50}`,
		len(server.calls), server.bits, expires)
}

func pow401(w http.ResponseWriter) http.ResponseWriter {
	w.WriteHeader(http.StatusUnauthorized)
	return w
}

// solves checks a solution independently, by the digest written out in binary.
func solves(nonce string, counter uint64, bits int) bool {
	var text strings.Builder
	for _, b := range sha256.Sum256(fmt.Appendf(nil, "%s:%d", nonce, counter)) {
		fmt.Fprintf(&text, "%08b", b)
	}
	return strings.HasPrefix(text.String(), strings.Repeat("0", bits))
}
