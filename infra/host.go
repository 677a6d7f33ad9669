package main

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"

	"vitrine/shared/platform/env"
)

// host describes what differs between the functions.
type host struct {
	name      string
	memory    float64           // MB; Lambda allots CPU in proportion to it
	caches    bool              // keeps files and lists of files in memory
	timeout   float64           // seconds
	rings     []string          // the settings that name the key rings it may read
	people    []string          // the settings of the identity provider that it gets
	providers bool              // verifies tokens of agents' identity providers
	sells     bool              // talks to Stripe
	hears     bool              // receives Stripe's events, and reconciles what they missed
	bundles   bool              // asks for archives of revisions, which the function bundle makes
	registers bool              // tells agents that they can register at the api, whose ring it does not hold
	streams   bool              // its gateway passes an answer on while the function writes it
	origins   bool              // knows the artifacts' own origins
	settings  map[string]string // in addition to those that all hosts have
	grants    func(*data) []awsiam.PolicyStatement
	purpose   string // description of the rule that wakes a scheduled function
	idle      string // description of the alarm for when that rule does not
}

// title returns the name as constructs spell it.
func (h host) title() string { return strings.ToUpper(h.name[:1]) + h.name[1:] }

// Time limits of functions in seconds. answerTime is below the 30 seconds after which an HTTP API gives up, so that the
// function's own refusal arrives. streamTime is enough for a slow reader of a large file, and still ends one that
// hangs.
const (
	answerTime = 28
	streamTime = 240
)

// hosts are the functions behind the gateways. They are described without constructs, because those need the CDK's
// process, which runs only during a synthesis.
var hosts = []host{
	{
		name:      "api",
		memory:    512,
		caches:    true,
		timeout:   answerTime,
		rings:     []string{env.ContentRing, env.LinksRing, env.PepperRing, env.SealRing, env.AssertionRing},
		people:    verifying, // clients exchange ID tokens
		providers: true,
		sells:     true,
		hears:     true,
		bundles:   true,
		settings: map[string]string{
			env.Pow:             "adaptive",
			env.ClientDocuments: "on",
			env.FetchOrigins:    "", // empty, but declared so that scripts/dev can set it: functions see declared variables only
		},
		grants: (*data).apiRights,
	},
	{
		name:     "upload",
		memory:   1024,
		timeout:  answerTime, // finalizing hashes files that came without a digest
		rings:    []string{env.PepperRing},
		settings: map[string]string{env.PutMode: "direct"}, // uploadFront overrides it where there is a distribution
		grants:   (*data).uploadRights,
	},
	{
		name:    "content",
		memory:  512,
		caches:  true,
		timeout: streamTime,
		rings:   []string{env.ContentRing},
		streams: true,
		origins: true,
		grants:  (*data).contentRights,
	},
	{
		name:     "app",
		memory:   512,
		caches:   true,
		timeout:  answerTime,
		rings:    []string{env.ContentRing, env.LinksRing, env.PepperRing, env.SealRing},
		people:   signingIn,
		sells:    true, // it has the page of the plan
		bundles:  true,
		origins:  true,
		settings: map[string]string{env.PutMode: "direct"}, // signingFront overrides it where there is a distribution
		grants:   (*data).appRights,
	},
	{
		name:      "mcp",
		memory:    1024, // a message of up to 5.5 MB is unpacked twice
		caches:    true,
		timeout:   answerTime,
		rings:     []string{env.ContentRing, env.LinksRing, env.PepperRing, env.SealRing},
		people:    describing,
		bundles:   true,
		registers: true,
		settings: map[string]string{
			env.PutMode:         "direct", // signingFront overrides it where there is a distribution
			env.ClientDocuments: "on",
		},
		grants: (*data).mcpRights,
	},
}

// pageTime is how many seconds a page may take, including reading and writing. It exceeds the time that the view itself
// gets.
const pageTime = 10

// pagesHost is the function that makes pages of files. It has no gateway of its own, because the gateway of the content
// host leads to it.
var pagesHost = host{
	name:    env.Pages,
	memory:  512,
	caches:  true,
	timeout: pageTime,
	rings:   []string{env.ContentRing},
	streams: true,
	origins: true,
	grants:  (*data).renderRights,
}
