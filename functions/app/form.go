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

// readForm takes the fields of a form, each at most once; the query is no part of it.
func readForm(r *http.Request) (web.Form, error) {
	form, err := web.ReadForm(r)
	if err != nil {
		return nil, fault.Wrap(fault.InvalidRequest, errors.Unwrap(err), "%s", err)
	}
	return form, nil
}

// once is a fresh name for what a form does, so that sending the form twice does it once.
func once() string { return "page-" + rand.Text() }

// commandOf is what a form does. Its body stands for the fields that matter; a form without a name of its own is
// refused.
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
