package api

import (
	"context"
	"net/http"
	"time"

	"vitrine/shared/adapter/web"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/oauth"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/id"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
)

func (h *Host) keyRoutes() []web.Route {
	return []web.Route{
		web.Member(web.Operation{
			ID:               "web.apiKeys.list",
			Method:           "GET",
			Path:             "/v1/web/keys",
			Summary:          "The workspace's API keys, newest first",
			Scope:            credential.Admin,
			ConcurrentLimits: true,
			Errors:           []fault.Code{fault.InvalidCursor},
		}, h.keys),
		web.Member(web.Operation{
			ID:      "web.apiKeys.create",
			Method:  "POST",
			Path:    "/v1/web/keys",
			Summary: "Make an API key; its secret is shown this once",
			Status:  http.StatusCreated,
			Scope:   credential.Admin,
			Command: web.Command{Operation: idempotency.CreateKey},
		}, h.createKey),
		web.Member(web.Operation{
			ID:      "web.apiKeys.revoke",
			Method:  "POST",
			Path:    "/v1/web/keys/{api_key_id}/revoke",
			Summary: "End an API key at once and for good",
			Scope:   credential.Admin,
			Command: web.Command{Operation: idempotency.RevokeKey, Target: "api_key_id"},
			Errors:  []fault.Code{fault.NotFound},
		}, h.revokeKey),
	}
}

func (h *Host) keys(ctx context.Context, request *web.Request, in *wideListInput) (contract.WebKeyList, error) {
	p, err := in.list.page()
	if err != nil {
		return contract.WebKeyList{}, err
	}
	keys, next, err := h.Keys.List(ctx, request.Actor, credential.AllKeys, p)
	return contract.WebKeyList{Items: contract.Rows(keys, webKey), PageInfo: contract.Page(next)}, err
}

type createKeyInput struct {
	Body contract.CreateKey
}

// createKey makes a key, without an end unless one is asked for. A key that the CLI makes always ends, because the CLI
// makes one at every login.
func (h *Host) createKey(ctx context.Context, request *web.Request, in *createKeyInput) (contract.CreatedKey, error) {
	life := time.Duration(in.Body.ExpiresInDays) * limits.Day
	if life == 0 && request.Actor.Client == oauth.CLI {
		life = limits.CLIKeyLife
	}
	made, err := h.Keys.Create(ctx, request.Actor, request.Command, request.Record, in.Body.Name, life)
	return contract.CreatedKey{APIKey: apiKeySummary(made.Key), Secret: made.Secret}, err
}

type keyInput struct {
	Key string `path:"api_key_id"`
}

func (h *Host) revokeKey(ctx context.Context, request *web.Request, in *keyInput) (contract.RevokedKey, error) {
	k, err := h.Keys.Revoke(ctx, request.Actor, request.Command, request.Record, id.Key(in.Key))
	return revokedKey(k), err
}
