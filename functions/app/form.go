package app

import (
	"crypto/rand"
	"encoding/json"
	"errors"
	"net/http"

	"vitrine/shared/adapter/web"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/idempotency"
)

// readForm reads the fields of a form, each at most once. It ignores the query.
func readForm(r *http.Request) (web.Form, error) {
	form, err := web.ReadForm(r)
	if err != nil {
		return nil, fault.Wrap(fault.InvalidRequest, errors.Unwrap(err), "%s", err)
	}
	return form, nil
}

// once returns a fresh idempotency key for a form, so that sending the form twice has one effect.
func once() string { return "page-" + rand.Text() }

// commandOf returns the command that a form carries out; client is its idempotency key. body has the fields that make
// it another command.
func commandOf(
	v browserSession, operation idempotency.Operation, target, client string, body any,
) (idempotency.Command, error) {
	if err := idempotency.CheckClient(client); err != nil {
		return idempotency.Command{}, fault.New(fault.InvalidRequest,
			"the form is not complete; reload the page and try again")
	}
	raw, err := json.Marshal(body)
	return idempotency.Command{
		Key: idempotency.Key{
			Actor:     v.Actor.Subject(),
			Operation: operation,
			Target:    target,
			Client:    client,
		},
		Fingerprint: idempotency.FingerprintOf(http.MethodPost, "page "+string(operation), raw),
	}, err
}
