package main

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"

	"vitrine/shared/platform/env"
)

// host is what differs between the functions of the hosts.
type host struct {
	name      string
	memory    float64           // MB; the share of a core grows with it
	caches    bool              // keeps files and lists of files in memory
	timeout   float64           // seconds
	rings     []string          // settings of the key rings that it may read
	people    []string          // settings of the identity provider that it gets
	providers bool              // verifies what identity providers of agents send
	sells     bool              // talks to Stripe
	hears     bool              // receives Stripe's events, and reconciles what they did not tell
	bundles   bool              // asks for archives of revisions, which the bundle function makes
	registers bool              // says that agents can register at the api, without holding the ring for it
	streams   bool              // writes each answer while it is produced, because its gateway passes it on at once
	settings  map[string]string // in addition to those that all hosts have
	grants    func(*data) []awsiam.PolicyStatement
	purpose   string // of the rule that wakes a scheduled function
	idle      string // what its alarm says when it is not woken
}

// title is the name as a construct has it.
func (h host) title() string { return strings.ToUpper(h.name[:1]) + h.name[1:] }

// Below the time limit of an HTTP API, so that the function's own refusal arrives; and enough for a
// slow reader of a large file, while a hanging one is cut off.
const (
	answerTime = 28
	streamTime = 240
)

// hosts holds no construct, because constructs need the CDK's process, which is started only for a
// synthesis.
var hosts = []host{
	{
		name:      "api",
		memory:    512,
		caches:    true,
		timeout:   answerTime,
		rings:     []string{env.ContentRing, env.LinksRing, env.PepperRing, env.SealRing, env.AssertionRing},
		people:    verifying, // ID tokens that clients exchange
		providers: true,
		sells:     true,
		hears:     true,
		bundles:   true,
		settings: map[string]string{
			env.Pow:             "adaptive",
			env.ClientDocuments: "on",
			env.FetchOrigins:    "", // declared for scripts/dev, because functions are told declared variables only
		},
		grants: (*data).apiRights,
	},
	{
		name:     "upload",
		memory:   1024,
		timeout:  answerTime, // finalize hashes what came without a digest
		rings:    []string{env.PepperRing},
		settings: map[string]string{env.PutMode: "direct"}, // uploadFront overrides it where there is an edge
		grants:   (*data).uploadRights,
	},
	{
		name:    "content",
		memory:  512,
		caches:  true,
		timeout: streamTime,
		rings:   []string{env.ContentRing},
		streams: true,
		grants:  (*data).contentRights,
	},
	{
		name:    "app",
		memory:  512,
		caches:  true,
		timeout: answerTime,
		rings:   []string{env.ContentRing, env.LinksRing, env.PepperRing, env.SealRing},
		people:  signingIn,
		sells:   true, // the page of the plan
		bundles: true,
		grants:  (*data).appRights,
	},
	{
		name:      "mcp",
		memory:    1024, // a message has up to 5.5 MB, which is unpacked twice
		caches:    true,
		timeout:   answerTime,
		rings:     []string{env.ContentRing, env.LinksRing, env.PepperRing, env.SealRing},
		people:    describing,
		bundles:   true,
		registers: true,
		settings: map[string]string{
			env.PutMode:         "direct", // mcpFront overrides it where there is an edge
			env.ClientDocuments: "on",
		},
		grants: (*data).mcpRights,
	},
}

// pageTime ends a page that takes longer than its view may, with reading and writing.
const pageTime = 10

// pagesHost is the function that makes pages. It has no gateway of its own: that of the content host leads to it.
var pagesHost = host{
	name:    env.Pages,
	memory:  512,
	caches:  true,
	timeout: pageTime,
	rings:   []string{env.ContentRing},
	streams: true,
	grants:  (*data).renderRights,
}
