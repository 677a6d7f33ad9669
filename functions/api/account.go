package api

import (
	"context"
	"net/http"

	"vitrine/shared/adapter/web"
	"vitrine/shared/entry/ephemeral"
	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/policy"
)

func (h *Host) discovery(context.Context, *struct{}) (contract.Discovery, error) {
	d := h.URLs.Discovery()
	d.Features = []string{contract.FeatureFeedback}
	d.LoadsFrom = new(contract.LoadsFrom(h.Loads))
	d.Contact = h.Features.Brand.Contact
	if name := h.Features.Brand.Title(); name != policy.DefaultName {
		d.Name = name
	}
	return d, nil
}

func (h *Host) cliVersion(context.Context, *struct{}) (contract.CLIVersion, error) {
	return contract.CLIVersion{Latest: contract.Release, MinSupported: contract.OldestCLI}, nil
}

func (h *Host) whoami(ctx context.Context, request *web.Request, _ *struct{}) (contract.Whoami, error) {
	return h.Account.Whoami(ctx, request.Actor), nil
}

func (h *Host) usagePolicy(ctx context.Context, request *web.Request, _ *struct{}) (contract.UsagePolicy, error) {
	return h.Account.Policy(ctx, request.Actor), nil
}

func (h *Host) revokeCurrent(ctx context.Context, request *web.Request, _ *struct{}) (contract.RevokedKey, error) {
	k, err := h.Keys.RevokeOwn(ctx, request.Actor.Key, request.Actor.RequestID)
	if err != nil {
		return contract.RevokedKey{}, err
	}
	return revokedKey(k), nil
}

// admit counts a request for a workspace before its body is read.
func (h *Host) admit(r *http.Request) (context.Context, error) {
	admission, err := h.Provisioning.Admit(r.Context(), web.ClientAddress(r))
	return context.WithValue(r.Context(), admissionKey{}, admission), err
}

type admissionKey struct{}

type provisionInput struct {
	Body *contract.ProvisionRequest
}

func (h *Host) provision(ctx context.Context, in *provisionInput) (contract.Provisioned, error) {
	admission, _ := ctx.Value(admissionKey{}).(ephemeral.Admission)
	var asked contract.ProvisionRequest
	if in.Body != nil {
		asked = *in.Body
	}
	return h.Provisioning.Provision(ctx, admission, asked, web.RequestID(ctx))
}
