package crowd

import (
	"context"
)

// pin keeps an artifact, which people can do.
func (w *Worker) pin(ctx context.Context, a *Artifact) error {
	if w.person == nil {
		return errNone
	}
	err := ask(ctx, w.person.agent, nil, "POST", "/v1/web/artifacts/"+string(a.ID)+"/pin", nil)
	a.pinned.set(err)
	return err
}

// changeKeys makes a key beside the one that publishes, or revokes it. An agent revokes its only key, and has another
// workspace afterwards.
func (w *Worker) changeKeys(ctx context.Context) error {
	if w.person == nil {
		k := &w.Current.Key
		w.Current = nil
		err := ask(ctx, k.agent, nil, "POST", "/v1/api-keys/current/revoke", nil)
		k.revoked.set(err)
		return err
	}
	for _, k := range w.person.keys {
		if !k.revoked.tried {
			err := ask(ctx, w.person.agent, nil, "POST", "/v1/web/keys/"+string(k.ID)+"/revoke", nil)
			k.revoked.set(err)
			return err
		}
	}
	k, err := w.person.makeKey(ctx)
	if err == nil {
		w.person.keys = append(w.person.keys, k)
	}
	return err
}

// claim takes over an ephemeral workspace that an agent has just published in.
func (w *Worker) claim(ctx context.Context) error {
	if w.person == nil || !w.permit() {
		return errNone
	}
	source, err := w.provision(ctx)
	if err == nil {
		err = w.Publish(ctx, source)
	}
	if err == nil {
		err = w.person.claim(ctx, source)
		source.claimed.set(err)
	}
	return err
}
