package web_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"vitrine/scripts/testkit/expect"
	"vitrine/shared/adapter/web"
	"vitrine/shared/entry/access"
	"vitrine/shared/identity/credential"
	"vitrine/shared/identity/workspace"
	"vitrine/shared/platform/fault"
	"vitrine/shared/platform/idempotency"
	"vitrine/shared/platform/limits"
)

const (
	memberToken = "member-token"
	viewerToken = "viewer-token" // of a member who may only read
	mcpToken    = "mcp-token"
	slowToken   = "slow-token" // its check hangs
	mem         = "mem_00000000000000000000000000"
)

// authenticateBy returns the check of one kind of access token.
func authenticateBy(
	tokens map[string][]credential.Scope,
) func(context.Context, string, access.Request, string) (access.Authenticated, error) {
	return func(ctx context.Context, bearer string, _ access.Request, requestID string) (access.Authenticated, error) {
		if bearer == slowToken {
			<-ctx.Done()
			return access.Authenticated{}, fmt.Errorf("read the grant: %w", ctx.Err())
		}
		scopes, known := tokens[bearer]
		if !known {
			return access.Authenticated{}, fault.New(fault.NotAuthenticated, "send a live access token")
		}
		ws := workspace.Workspace{ID: "00000000-0000-4000-8000-000000000001"}
		return access.Authenticated{Actor: credential.Actor{
			Member:    mem,
			Scopes:    scopes,
			Workspace: ws,
			RequestID: requestID,
		}}, nil
	}
}

// newMemberEnv is newEnv with routes of members as well.
func newMemberEnv(t testing.TB) *env {
	t.Helper()
	s := newEnv(t)
	s.server.AuthenticateMember = authenticateBy(map[string][]credential.Scope{
		memberToken: {credential.Read, credential.Admin}, viewerToken: {credential.Read},
	})
	s.server.AuthenticateMCP = authenticateBy(map[string][]credential.Scope{mcpToken: {credential.Read}})
	s.host = s.server.Handler(append(s.routes(),
		web.Member(web.Operation{
			ID:      "members.change",
			Method:  "POST",
			Path:    "/v1/web/things",
			Scope:   credential.Admin,
			Command: web.Command{Operation: idempotency.UpdateSettings},
		}, s.change),
		web.Member(web.Operation{
			ID:               "members.ask",
			Method:           "GET",
			Path:             "/v1/web/things",
			ConcurrentLimits: true,
		}, s.who),
		web.Member(web.Operation{
			ID:       "mcp.ask",
			Method:   "GET",
			Path:     "/v1/mcp/things",
			Security: web.MCPToken,
		}, s.who),
	)...)
	return s
}

func (e *env) change(_ context.Context, request *web.Request, in *createIn) (created, error) {
	return created{ID: request.Command.Key.Actor, Title: in.Body.Title}, nil
}

func (e *env) who(ctx context.Context, request *web.Request, _ *struct{}) (created, error) {
	if e.record != nil { // the handler hangs
		<-ctx.Done()
		return created{}, ctx.Err()
	}
	return created{ID: string(request.Actor.Member)}, nil
}

func bearer(token string) []string { return []string{"Authorization", "Bearer " + token} }

func TestRoutesOfMembersGuardInTheSameOrder(t *testing.T) {
	for _, g := range []guarded{
		{"nothing is right: credential first", "", "", "{", true, 401, fault.NotAuthenticated},
		{"missing key beats scope", viewerToken, "", "{", true, 400, fault.InvalidIdempotencyKey},
		{"T50: 201 characters", memberToken, strings.Repeat("x", 201), goodBody, false, 400, fault.InvalidIdempotencyKey},
		{"scope beats limit", viewerToken, "12345678", "{", true, 403, fault.Forbidden},
		{"limit beats body", memberToken, "12345678", "{", true, 429, fault.RateLimitedActor},
		{"body last", memberToken, "12345678", "{", false, 400, fault.InvalidRequest},
		{"all is right", memberToken, "12345678", goodBody, false, 200, ""},
	} {
		t.Run(g.name, func(t *testing.T) {
			if got := g.do(t, newMemberEnv(t), "/v1/web/things"); g.code == "" && got.ID != mem {
				t.Errorf("the command is that of %q", got.ID)
			}
		})
	}
}

func TestEveryRouteTakesItsOwnCredentialOnly(t *testing.T) {
	s := newMemberEnv(t)
	for _, tt := range []struct{ path, token string }{
		{"/v1/policy", goodKey}, {"/v1/web/things", memberToken}, {"/v1/mcp/things", mcpToken},
	} {
		for _, token := range []string{goodKey, memberToken, mcpToken} {
			w := s.do(t, "GET", tt.path, "", bearer(token)...)
			if token == tt.token {
				answered(t, w, http.StatusOK)
			} else {
				wantRefusal(t, w, http.StatusUnauthorized, fault.NotAuthenticated) // T03, T05, T70, with the challenge
			}
		}
	}
	wantRefusal(t, s.do(t, "GET", "/v1/web/things", "", append(bearer(memberToken), bearer(memberToken)...)...), 400,
		fault.InvalidAuth)
}

func TestT78RoutesOfMembersAreNotForOtherOrigins(t *testing.T) {
	s := newMemberEnv(t)
	for _, token := range []string{memberToken, "unknown"} {
		w := s.do(t, "GET", "/v1/web/things", "", append(bearer(token), "Origin", "https://evil.test")...)
		for name := range w.Header() {
			if strings.HasPrefix(name, "Access-Control-") {
				t.Errorf("%s: %s", name, w.Header().Get(name))
			}
		}
	}
}

func TestTheLogNamesTheMember(t *testing.T) {
	s := newMemberEnv(t)
	s.do(t, "GET", "/v1/web/things", "", bearer(memberToken)...)
	if line := s.log.String(); !strings.Contains(line, `"member":"`+mem+`"`) || strings.Contains(line, `"key":`) ||
		strings.Contains(line, memberToken) {
		t.Error(line)
	}
	if s.touched.Load() != 0 {
		t.Error("a member was stamped as an API key")
	}
}

func TestARouteOfMembersThatHangsGivesUp(t *testing.T) {
	for name, hang := range map[string]func(*env) string{
		"at the check":   func(*env) string { return slowToken },
		"in the handler": func(s *env) string { s.record = new(idempotency.Record); return memberToken },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newMemberEnv(t)
				token, start := hang(s), time.Now()
				wantRefusal(t, s.do(t, "GET", "/v1/web/things", "", bearer(token)...), http.StatusServiceUnavailable,
					fault.DatabaseUnavailable)
				if took := time.Since(start); took != limits.IdentityAnswer {
					t.Errorf("it took %s", took)
				}
			})
		})
	}
}

func TestDocumentOfARouteOfMembers(t *testing.T) {
	d := describe(t, newMemberEnv(t))
	for path, scheme := range map[string]string{
		"/v1/web/things": "WorkOsBearer",
		"/v1/mcp/things": "McpOAuthBearer",
		"/v1/policy":     "ApiKeyBearer",
	} {
		op := d.Paths[path]["get"]
		if len(op.Security) != 1 || op.Security[0][scheme] == nil {
			t.Errorf("%s: %v", path, op.Security)
		}
		for _, status := range []string{"401", "503"} {
			if _, told := op.Responses[status]; !told {
				t.Errorf("%s does not document %s", path, status)
			}
		}
	}
}

func TestAMemberThatMayBeNullIsDocumentedSo(t *testing.T) {
	type inner struct {
		Name string `json:"name"`
	}
	type outer struct {
		Inner *inner `json:"inner"`
		Maybe *inner `json:"maybe,omitempty"`
		Own   inner  `json:"own"`
	}
	s := newEnv(t)
	s.host = s.server.Handler(web.Public(web.Operation{ID: "outer.get", Method: "GET", Path: "/v1/outer"},
		func(context.Context, *struct{}) (outer, error) { return outer{}, nil }))
	var d struct {
		Components struct {
			Schemas map[string]struct{ Properties map[string]json.RawMessage }
		}
	}
	expect.OK(t, json.Unmarshal(s.do(t, "GET", "/openapi.json", "").Body.Bytes(), &d))
	const ref = `{"$ref":"#/components/schemas/Inner"}`
	for name, want := range map[string]string{
		"inner": `{"anyOf":[` + ref + `,{"type":"null"}]}`,
		"maybe": ref,
		"own":   ref,
	} {
		var got bytes.Buffer
		if err := json.Compact(&got, d.Components.Schemas["Outer"].Properties[name]); err != nil || got.String() != want {
			t.Errorf("%s is %s, want %s", name, got.String(), want)
		}
	}
}
