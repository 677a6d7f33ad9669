package app

import (
	"crypto/rand"
	"encoding/json"
	"io"
	"mime"
	"net/http"
	"net/url"

	"vitrine/shared/fault"
	"vitrine/shared/idempotency"
)

const (
	formType    = "application/x-www-form-urlencoded"
	maxFormBody = 64 << 10
)

// readForm takes the fields of a form, each at most once; the query is no part of it.
func readForm(w http.ResponseWriter, r *http.Request) (map[string]string, error) {
	if media, _, err := mime.ParseMediaType(r.Header.Get("Content-Type")); err != nil || media != formType {
		return nil, fault.New(fault.InvalidRequest, "send the fields as %s", formType)
	}
	raw, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxFormBody))
	if err != nil {
		return nil, fault.Wrap(fault.InvalidRequest, err, "the form is too large or incomplete")
	}
	parsed, err := url.ParseQuery(string(raw))
	if err != nil {
		return nil, fault.New(fault.InvalidRequest, "the form is malformed")
	}
	fields := make(map[string]string, len(parsed))
	for name, values := range parsed {
		if len(values) > 1 {
			return nil, fault.New(fault.InvalidRequest, "a field stands twice")
		}
		fields[name] = values[0]
	}
	return fields, nil
}

// once is a fresh name for what a form does, so that sending the form twice does it once.
func once() string { return "page-" + rand.Text() }

// commandOf is what a form does. Its body stands for the fields that matter; a form without a name of its own is refused.
func commandOf(v visit, operation idempotency.Operation, target, client string, body any) (idempotency.Command, error) {
	if err := idempotency.CheckClient(client); err != nil {
		return idempotency.Command{}, fault.New(fault.InvalidRequest, "the form is not complete; reload the page and try again")
	}
	raw, err := json.Marshal(body)
	return idempotency.Command{
		Key:         idempotency.Key{Actor: v.Actor.Subject(), Operation: operation, Target: target, Client: client},
		Fingerprint: idempotency.FingerprintOf(http.MethodPost, "page "+string(operation), raw),
	}, err
}
