package stripe

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"sync"
)

// mock sends requests to stripe-mock, which knows what Stripe's OpenAPI document allows. It keeps no state, so only its
// verdict counts.
type mock struct {
	url string

	mu        sync.Mutex
	validated int
	refused   []string
}

// validate records whether stripe-mock takes a request.
func (m *mock) validate(r *http.Request, body []byte) {
	said, err := m.ask(r, body)
	m.mu.Lock()
	defer m.mu.Unlock()
	m.validated++
	if err != nil {
		said = err.Error()
	}
	if said != "" {
		m.refused = append(m.refused, fmt.Sprintf("%s %s %s: %s", r.Method, r.URL, body, said))
	}
}

// ask returns what stripe-mock has against a request; empty: it is valid.
func (m *mock) ask(r *http.Request, body []byte) (string, error) {
	out, err := http.NewRequestWithContext(r.Context(), r.Method, m.url+r.URL.RequestURI(), bytes.NewReader(body))
	if err != nil {
		return "", err
	}
	for _, name := range []string{"Authorization", "Content-Type", "Idempotency-Key", "Stripe-Version"} {
		if sent := r.Header.Get(name); sent != "" {
			out.Header.Set(name, sent)
		}
	}
	answer, err := http.DefaultClient.Do(out)
	if err != nil {
		return "", err
	}
	defer answer.Body.Close()
	if answer.StatusCode < 300 {
		return "", nil
	}
	said, err := io.ReadAll(io.LimitReader(answer.Body, 4<<10))
	return fmt.Sprintf("%d %s", answer.StatusCode, said), err
}
