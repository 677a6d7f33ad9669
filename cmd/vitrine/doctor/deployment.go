package doctor

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"

	"vitrine/shared/platform/contract"
	"vitrine/shared/platform/release"
)

// checkVersion compares the version of this program with those that the deployment knows.
func (e *examination) checkVersion(ctx context.Context) []Finding {
	if e.deployment == nil {
		return []Finding{found("version", OK, "this is vitrine %s", e.Version)}
	}
	known, err := e.deployment.Versions(ctx)
	switch {
	case err != nil:
		return []Finding{Failed("version", Warning, err)}
	case !release.ValidVersion(e.Version) || !release.ValidVersion(known.Latest):
		return []Finding{found("version", OK, "this is vitrine %s, and the server has %s", e.Version, known.Latest)}
	case release.Compare(e.Version, known.Latest) >= 0:
		return []Finding{found("version", OK, "vitrine %s is the newest version", e.Version)}
	}
	f := found("version", Warning, "this is vitrine %s, and the server has %s", e.Version, known.Latest).
		then("vitrine upgrade")
	if release.ValidVersion(known.MinSupported) && release.Compare(e.Version, known.MinSupported) < 0 {
		f.State = Wrong
		f.Message += "; it supports " + known.MinSupported + " and later"
	}
	return []Finding{f}
}

// checkSignIn reads where people sign in, and how apps name themselves there.
func (e *examination) checkSignIn(ctx context.Context) []Finding {
	if e.deployment == nil {
		return nil
	}
	authority, err := e.deployment.Authority(ctx)
	if err != nil {
		return []Finding{Failed("sign-in", Wrong, err)}
	}
	how := "apps register there"
	if authority.TakesDocuments() {
		how = "apps register there, or name themselves by a document of their own"
	}
	return []Finding{found("sign-in", OK, "people sign in at %s; %s", e.deployment.Hosts.APIURL, how)}
}

// maxMetadata bounds the metadata of the MCP host, in bytes.
const maxMetadata = 64 << 10

// checkMCP reads what clients of the MCP host read first.
func (e *examination) checkMCP(ctx context.Context) []Finding {
	if e.deployment == nil {
		return nil
	}
	at := e.deployment.Hosts.MCPURL
	if at == "" {
		return []Finding{found("mcp", OK, "the deployment has no MCP host")}
	}
	resp, err := e.Caller.Probe(ctx, at+"/.well-known/oauth-protected-resource")
	if err != nil {
		return []Finding{found("mcp", Wrong, "the MCP host %s gives no answer", at).then("Tell whoever runs the server")}
	}
	defer resp.Body.Close()
	var m contract.ResourceMetadata
	text, err := io.ReadAll(io.LimitReader(resp.Body, maxMetadata))
	if err == nil {
		err = json.Unmarshal(text, &m)
	}
	if err != nil || resp.StatusCode != http.StatusOK || m.Resource != at ||
		!slices.Contains(m.AuthorizationServers, e.deployment.Hosts.APIURL) {
		return []Finding{found("mcp", Wrong, "%s does not say that its clients sign in at %s", at, e.deployment.Hosts.APIURL).
			then("Tell whoever runs the server: its MCP host, or what stands in front of it, answers something else")}
	}
	return []Finding{found("mcp", OK, "the MCP host answers at %s", at)}
}
