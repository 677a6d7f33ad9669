package main

import (
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/service/s3"

	"vitrine/scripts/local/idp/provider"
	"vitrine/scripts/testkit/engine"
	"vitrine/scripts/testkit/wire"
	"vitrine/shared/platform/contract"
)

// leaves deletes a workspace by the api, keeps it, and deletes another one on the pages, with what an export left.
func (h *harness) leaves(t *testing.T) {
	t.Helper()
	const path = "/v1/web/workspace/deletion"
	who := provider.Person{Email: "leaver@example.org"}
	m := h.signIn(t, "cli", who)
	made := ask[contract.CreatedKey](t, m, "POST", "/v1/web/keys", contract.CreateKey{Name: "one"}, "Idempotency-Key",
		wire.NewKey())
	g := *h.anyone
	g.Key = made.Secret
	if _, err := g.PublishFiles(t.Context(), "Left", "", wire.File{Path: "a.txt", Body: []byte("left")}); err != nil {
		t.Fatal(err)
	}
	of := ask[contract.WorkspaceDeletion](t, m, "GET", path, nil).Workspace
	ask[any](t, m, "POST", path, contract.RequestDeletion{Confirm: of.Name})
	ask[any](t, h.signIn(t, "cli", who), "DELETE", path, nil)

	b := h.browser(t, "walker@example.org")
	for _, kept := range []bool{true, false} {
		b.visit("/api/auth/sign-in?fresh=1")
		b.visit("/settings")
		b.visit("/settings/delete")
		b.submit("/settings/delete", map[string]string{"confirm": "walker's Workspace"})
		b.visit("/deletion/requested")
		if kept {
			b.visit("/api/auth/sign-in")
			b.visit("/deletion")
			b.submit("/deletion/cancel", nil)
		}
	}
	object := "x/" + string(of.ID) + "/export.zip"
	e := engine.Shared(t)
	client := s3.NewFromConfig(e.AWS(), func(o *s3.Options) { o.BaseEndpoint, o.UsePathStyle = &e.S3, true })
	_, err := client.PutObject(t.Context(), &s3.PutObjectInput{
		Bucket: &e.Bucket, Key: &object, Body: strings.NewReader("zip"),
	})
	if err != nil {
		t.Fatal(err)
	}
	ask[any](t, h.signIn(t, "cli", who), "POST", path, contract.RequestDeletion{Confirm: of.Name})
}
