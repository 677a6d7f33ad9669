package main

import (
	"context"

	"vitrine/shared/platform/contract"
)

// pin keeps an artifact, which people can do.
func (w *worker) pin(ctx context.Context, a *artifact) error {
	if w.person == nil {
		return errNone
	}
	err := ask(ctx, w.person.agent, nil, "POST", "/v1/web/artifacts/"+string(a.id)+"/pin", nil)
	a.pinned.set(err)
	return err
}

// changeKeys makes a key beside the one that publishes, or revokes it. An agent revokes its only key, and has another
// workspace afterwards.
func (w *worker) changeKeys(ctx context.Context) error {
	if w.person == nil {
		a := w.current
		err := ask(ctx, w.as(a), nil, "POST", "/v1/api-keys/current/revoke", nil)
		a.key.revoked.set(err)
		w.current = nil
		return err
	}
	for _, k := range w.person.keys {
		if k.revoked.done() || k.revoked.unknown {
			continue
		}
		err := ask(ctx, w.person.agent, nil, "POST", "/v1/web/keys/"+string(k.id)+"/revoke", nil)
		k.revoked.set(err)
		return err
	}
	k, err := w.person.makeKey(ctx)
	if err == nil {
		w.person.keys = append(w.person.keys, k)
	}
	return err
}

// claim takes over an ephemeral workspace that an agent has just published in.
func (w *worker) claim(ctx context.Context) error {
	if w.person == nil || !w.permit() {
		return errNone
	}
	source, err := w.provision(ctx)
	if err == nil {
		err = w.put(ctx, source)
	}
	if err != nil {
		return err
	}
	source.claimer = w.person
	body := contract.ClaimRequest{ClaimToken: source.claimToken}
	err = ask(ctx, w.person.agent, nil, "POST", "/v1/ephemeral/claim", body)
	source.claimed.set(err)
	return err
}
