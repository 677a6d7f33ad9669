package stdio

import (
	"encoding/json"
	"slices"

	"vitrine/cmd/vitrine/failure"
)

// handshakes are the revisions with a handshake that the host serves. The first is that for clients of any other one.
var handshakes = []string{"2025-06-18", "2025-03-26", "2025-11-25"}

// onlyTools are the capabilities as long as the host does not answer.
var onlyTools = map[string]any{"tools": struct{}{}}

// without answers a request that the host does not answer, because there is no sign-in or it cannot be reached. A
// client can start all the same, and has publish_path, whose answers say what to do.
func (s *Server) without(m message, f *failure.Failure) {
	if f.Exit == failure.Auth {
		f = s.signedOut(f)
	}
	s.Log("%s is answered here: %s", m.method, f.Message)
	var result any
	switch m.method {
	case "initialize":
		revision := textOf(m.params["protocolVersion"])
		if !slices.Contains(handshakes, revision) {
			revision = handshakes[0]
		}
		s.agree(revision)
		result = map[string]any{
			"protocolVersion": revision,
			"capabilities":    onlyTools,
			"serverInfo":      s.info(),
			"instructions":    f.Message + ". " + f.Hint,
		}
	case "server/discover":
		result = cacheable(map[string]any{
			"supportedVersions": []string{Stateless},
			"capabilities":      onlyTools,
			"serverInfo":        s.info(),
			"instructions":      f.Message + ". " + f.Hint,
		})
	case "tools/list":
		s.shorten(f.Message + ". " + f.Hint)
		list := map[string]any{"tools": []json.RawMessage{tool}}
		if m.stateless() {
			list = cacheable(list)
		}
		result = list
	case "ping":
		result = struct{}{}
	case "tools/call":
		result = failed(m, f)
	default:
		s.write(reply{ID: m.id, Error: &rpcError{Code: codeServer, Message: f.Message + ". " + f.Hint, Data: factsOf(f)}})
		return
	}
	s.write(reply{ID: m.id, Result: result})
}

// shorten remembers why the client has the short list of tools, which it keeps until it starts again.
func (s *Server) shorten(why string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.short = why
}

func (s *Server) info() map[string]string {
	return map[string]string{"name": "vitrine", "title": "Vitrine", "version": s.Version}
}

// cacheable completes a result of a revision without a handshake that no client may keep.
func cacheable(result map[string]any) map[string]any {
	result["resultType"] = "complete"
	result["ttlMs"] = 0
	result["cacheScope"] = "private"
	return result
}

// signedOut says how to sign in, and that a client keeps the short list of tools until it starts again.
func (s *Server) signedOut(f *failure.Failure) *failure.Failure {
	return failure.New(failure.Auth, f.Code, "%s", f.Message).
		Advise("Run %s in a terminal on this machine, then start this program again: until then it has %s alone.",
			s.SignIn, toolName)
}
