// Command smoketest checks a running deployment through its public interface and ends with "N passed, N failed".
package main

import (
	"context"
	"fmt"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"time"

	"vitrine/scripts/testkit/wire"
)

// step is one check of a deployment.
type step struct {
	name string
	run  func(context.Context, *deployment) error
	// rights are those that the roles of its hosts need for it; infra grants them.
	rights string
	reads  bool // it reads files
	own    bool // it asks own origins of artifacts
}

// The rights that steps have in common.
const (
	provisioning = "of api: to put W#*, K#* and CT#* in table core, and to update r:* in table hot"
	uploading    = "of upload: to put and update U#* and A#* in table core, to list o/* and d/*, and to put files: " +
		"s3:PutObject and kms:GenerateDataKey; of api: to update A#* and put AL#* in table core"
	reading = "of content: to get W#*, A#* and AL#* in table core, to update r:* in table hot, and to read files: " +
		"s3:GetObject and kms:Decrypt"
	opening = "of api and app: to get items of table core"
	ending  = "of api: to update A#* and K#* in table core"
)

var steps = []step{
	{name: "discovery names all hosts, and each is healthy", run: healthy, rights: provisioning},
	{name: "every host sends its security headers", run: headers},
	{name: "a 401 carries its challenge", run: challenge},
	{name: "the MCP host tells a client where to get a token", run: metadata},
	{name: "unknown paths and methods are 404 with the envelope", run: unknown},
	{name: "a 10 MB file is stored once, and only as it was declared", run: uploads, rights: uploading},
	{
		name:   "the file is read back byte for byte, whole and in ranges",
		run:    largeRead,
		rights: reading,
		reads:  true,
	},
	{
		name:   "content is sealed off: media type, policy, no index",
		run:    sealed,
		rights: reading,
		reads:  true,
	},
	{name: "the share link opens, and the agent view lists the files", run: link, rights: opening},
	{
		name:   "a frame opens the artifact at its own origin, and reads it by a cookie",
		run:    opened,
		rights: reading,
		reads:  true,
		own:    true,
	},
	{name: "own origins that nobody opened are 404", run: strangers, own: true},
	{name: "deletion holds from the next read on", run: deletion, rights: ending},
	{name: "the origin of a deleted artifact clears what browsers keep", run: cleared, own: true},
	{name: "a full rate limit says when to come back, and means it", run: limit, rights: provisioning},
	{name: "a revoked key is dead at once", run: revocation, rights: ending},
}

// requestTimeout bounds every single request.
const requestTimeout = 2 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if len(os.Args) < 2 || len(os.Args) > 3 {
		fmt.Fprintln(os.Stderr, "usage: scripts/smoke API_URL [DOMAIN]")
		os.Exit(2)
	}
	os.Exit(run(ctx, os.Args[1], strings.Join(os.Args[2:], "")))
}

// run checks the deployment of an api host whose artifacts have their own origins below a domain, or none.
func run(ctx context.Context, api, domain string) int {
	client := &http.Client{
		Timeout: requestTimeout, Transport: &http.Transport{DisableCompression: true, DialContext: dialLocal},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}
	anyone, err := wire.Discover(ctx, client, api)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s does not answer as a Vitrine API host: %v\n", api, err)
		return 1
	}
	v := &deployment{anyone: anyone, domain: domain}
	passed, failed := 0, 0
	for _, s := range steps {
		if s.own && domain == "" {
			continue
		}
		began := time.Now()
		err := s.run(ctx, v)
		if ctx.Err() != nil {
			return 130
		}
		if err == nil {
			passed++
			fmt.Printf("ok    %s (%.1f s)\n", s.name, time.Since(began).Seconds())
			continue
		}
		failed++
		fmt.Printf("FAIL  %s: %v\n", s.name, err)
		if hint := denied(s, err); hint != "" {
			fmt.Println("      " + strings.ReplaceAll(hint, "\n", "\n      "))
		}
	}
	fmt.Printf("%d passed, %d failed\n", passed, failed)
	return min(failed, 1)
}
