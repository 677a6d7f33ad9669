package stdio

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strings"

	"vitrine/cmd/vitrine/failure"
	"vitrine/cmd/vitrine/secret"
	"vitrine/shared/platform/fault"
)

// maxAnswer bounds an answer of the host in bytes. A function answers at most 6 MB.
const maxAnswer = 16 << 20

// Access is the address of the MCP host and a token for it.
type Access struct {
	URL   string
	Token secret.Text
}

// Host sends messages to the MCP host of a deployment.
type Host struct {
	// Access returns a token other than refused, which the host has refused; "" for the first one of a message.
	Access    func(ctx context.Context, refused secret.Text) (Access, error)
	HTTP      *http.Client
	UserAgent string
}

// errRefused means that the host refuses a token.
var errRefused = errors.New("the token is refused")

// send posts a message and returns the answer on one line. revision is that of the handshake, for messages that name
// none. It renews a refused token once.
func (h *Host) send(ctx context.Context, m message, revision string) ([]byte, error) {
	access, err := h.Access(ctx, "")
	if err != nil {
		return nil, err
	}
	answer, err := h.post(ctx, m, revision, access)
	if !errors.Is(err, errRefused) {
		return answer, err
	}
	if access, err = h.Access(ctx, access.Token); err != nil {
		return nil, err
	}
	answer, err = h.post(ctx, m, revision, access)
	if errors.Is(err, errRefused) {
		err = failure.New(failure.Auth, fault.NotAuthenticated, "the MCP host does not accept the stored sign-in")
	}
	return answer, err
}

func (h *Host) post(ctx context.Context, m message, revision string, to Access) ([]byte, error) {
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, strings.TrimRight(to.URL, "/")+"/", bytes.NewReader(m.raw))
	if err != nil {
		return nil, err
	}
	for name, value := range map[string]string{
		"Content-Type":         "application/json",
		"Accept":               "application/json, text/event-stream",
		"User-Agent":           h.UserAgent,
		"Authorization":        "Bearer " + string(to.Token),
		"Mcp-Protocol-Version": revision,
	} {
		r.Header.Set(name, value)
	}
	if named := m.revision(); named != "" {
		r.Header.Set("Mcp-Protocol-Version", headerValue(named))
		r.Header.Set("Mcp-Method", headerValue(m.method))
		r.Header.Set("Mcp-Name", headerValue(m.name()))
	}
	for name, values := range r.Header { // an empty header would name a revision
		if values[0] == "" {
			r.Header.Del(name)
		}
	}
	answer, err := h.HTTP.Do(r)
	if err != nil {
		return nil, unreachable(ctx, to.URL, err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(io.LimitReader(answer.Body, maxAnswer+1))
	switch {
	case err != nil:
		return nil, unreachable(ctx, to.URL, err)
	case answer.StatusCode == http.StatusUnauthorized:
		return nil, errRefused
	}
	line, ok := oneLine(body, m.id)
	if !ok || len(body) > maxAnswer {
		return nil, unusable(to.URL, answer.StatusCode)
	}
	return line, nil
}

// headerValue returns a value in the form of the headers of the protocol, in which other than printable ASCII is
// base64.
func headerValue(text string) string {
	other := func(c rune) bool { return c < ' ' || c > '~' }
	sentinel := strings.HasPrefix(text, "=?base64?") && strings.HasSuffix(text, "?=")
	if !sentinel && strings.TrimSpace(text) == text && !strings.ContainsFunc(text, other) {
		return text
	}
	return "=?base64?" + base64.StdEncoding.EncodeToString([]byte(text)) + "?="
}

func unreachable(ctx context.Context, host string, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if wrapped, ok := errors.AsType[*url.Error](err); ok {
		err = wrapped.Err
	}
	return failure.New(failure.Server, failure.Network, "no response from %s: %v", host, err).
		Advise("Check the network and that the server runs, then call again.")
}

// unusable returns the failure of an answer that is not of the protocol, as that of a gateway.
func unusable(host string, status int) error {
	exit, code := failure.ExitOf(status), failure.HTTP
	if status < http.StatusBadRequest {
		exit, code = failure.Other, failure.BadResponse
	}
	return failure.New(exit, code, "%s", fmt.Sprintf("%s answers %d, and nothing of the protocol", host, status)).
		Advise("Call again in a minute; if it stays so, tell the operator of the server.")
}
