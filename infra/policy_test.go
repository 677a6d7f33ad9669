package main

import (
	"slices"
	"strings"
	"testing"
)

// forObjects is the use of the key that S3 makes for objects of the bucket: its context is the bucket, or an object
// where one was written without the bucket's own key.
const forObjects = " Key.Arn if StringEquals kms:ViaService s3.AWS::Region.amazonaws.com" +
	" if StringLike kms:EncryptionContext:aws:s3:arn Objects.Arn or Objects.Arn/*"

// What every role may do: write its log. And what reading uploaded files requires.
var (
	everywhere = []string{"logs:CreateLogStream Log.Arn", "logs:PutLogEvents Log.Arn"}
	readsFiles = []string{
		"s3:GetObject Objects.Arn/o/*",
		"kms:Decrypt" + forObjects,
	}
	listsFiles = []string{
		"s3:ListBucket Objects.Arn if StringLike s3:prefix o/*", "s3:ListBucket Objects.Arn if StringLike s3:prefix d/*",
	}
	readsGates = slices.Concat(onKeys("Core.Arn", "W#* or A#* or AL#*", "dynamodb:BatchGetItem", "dynamodb:GetItem"),
		onKeys("Hot.Arn", "r:*", "dynamodb:UpdateItem"))
)

func readsRings(names ...string) (out []string) {
	for _, ring := range names {
		out = append(out, "secretsmanager:GetSecretValue "+ring,
			"kms:Decrypt Key.Arn if StringEquals kms:EncryptionContext:SecretARN "+ring+
				" if StringEquals kms:ViaService secretsmanager.AWS::Region.amazonaws.com")
	}
	return out
}

func on(resource string, actions ...string) (out []string) {
	for _, a := range actions {
		out = append(out, a+" "+resource)
	}
	return out
}

// onKeys returns rights to items whose leading keys match.
func onKeys(resource, keys string, actions ...string) (out []string) {
	for _, line := range on(resource, actions...) {
		out = append(out, line+" if ForAllValues:StringLike dynamodb:LeadingKeys "+keys)
	}
	return out
}

// servesMembers is what serving members requires, except files.
var servesMembers = slices.Concat(
	on("Core.Arn", "dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query", "dynamodb:ConditionCheckItem"),
	on("Core.Arn/index/gsi1", "dynamodb:Query"), on("Core.Arn/index/gsi2", "dynamodb:Query"),
	on("Events.Arn", "dynamodb:PutItem", "dynamodb:Query"),
	on("Hot.Arn", "dynamodb:GetItem", "dynamodb:PutItem", "dynamodb:UpdateItem"))

// servesUploads is what opening and finalizing upload sessions of whole files requires, except table core.
var servesUploads = slices.Concat(readsFiles, listsFiles[:1],
	on("Events.Arn", "dynamodb:PutItem"),
	on("Hot.Arn", "dynamodb:BatchGetItem", "dynamodb:PutItem", "dynamodb:UpdateItem", "dynamodb:DeleteItem"),
	on("Objects.Arn/o/*", "s3:PutObject"),
	onKeys("Core.Arn", "O#*", "dynamodb:BatchWriteItem"), onKeys("Core.Arn", "B#*", "dynamodb:DeleteItem"),
	[]string{"kms:GenerateDataKey" + forObjects})

// appliesDiffs is what sessions with diffs require besides.
var appliesDiffs = append(on("Objects.Arn/d/*", "s3:GetObject"), listsFiles[1:]...)

// rights is everything that each role may do; no other right is granted.
var rights = map[string][]string{
	"api": slices.Concat(everywhere, readsFiles, servesMembers,
		readsRings("ContentRing", "LinksRing", "PepperRing", "SealRing", "AssertionRing"),
		on("Events.Arn/index/gsi1", "dynamodb:Query"), on("Hot.Arn", "dynamodb:BatchGetItem"),
		onKeys("Core.Arn", "LOCK#* or BE#* or JOB#REMOVE#* or FB#*", "dynamodb:DeleteItem")),
	"upload": slices.Concat(everywhere, servesUploads, appliesDiffs, readsRings("PepperRing"),
		on("Core.Arn", "dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:ConditionCheckItem"),
		on("Objects.Arn/d/*", "s3:PutObject")),
	"mcp": slices.Concat(everywhere, servesUploads, appliesDiffs,
		readsRings("ContentRing", "LinksRing", "PepperRing", "SealRing"),
		on("Core.Arn", "dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query", "dynamodb:ConditionCheckItem"),
		on("Core.Arn/index/gsi1", "dynamodb:Query"), on("Core.Arn/index/gsi2", "dynamodb:Query"),
		onKeys("Core.Arn", "FB#*", "dynamodb:DeleteItem")),
	"content": slices.Concat(everywhere, readsGates, readsFiles, readsRings("ContentRing"),
		on("Objects.Arn/b/*", "s3:GetObject"), on("Objects.Arn/x/*", "s3:GetObject")),
	"render": slices.Concat(everywhere, readsGates, readsFiles, readsRings("ContentRing")),
	"app": slices.Concat(everywhere, servesUploads, servesMembers,
		readsRings("ContentRing", "LinksRing", "PepperRing", "SealRing"),
		on("Events.Arn/index/gsi1", "dynamodb:Query"), on("Objects.Arn/cli/*", "s3:GetObject"),
		onKeys("Core.Arn", "LTX#* or SES#* or OAR#* or LOCK#* or JOB#REMOVE#* or FB#*", "dynamodb:DeleteItem")),
	"jobs": slices.Concat(everywhere,
		on("Core.Arn", "dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query", "dynamodb:PutItem",
			"dynamodb:UpdateItem", "dynamodb:DeleteItem",
			"dynamodb:BatchWriteItem", "dynamodb:ConditionCheckItem"),
		on("Core.Arn/index/gsi1", "dynamodb:Query"), on("Core.Arn/index/gsi2", "dynamodb:Query"),
		on("Events.Arn", "dynamodb:PutItem", "dynamodb:Query"),
		on("Objects.Arn/o/*", "s3:DeleteObject"), on("Objects.Arn/d/*", "s3:DeleteObject"),
		on("Objects.Arn/b/*", "s3:DeleteObject"), on("Objects.Arn/x/*", "s3:DeleteObject"),
		on("Objects.Arn if StringLike s3:prefix b/*", "s3:ListBucket"),
		on("Objects.Arn if StringLike s3:prefix x/*", "s3:ListBucket"),
		listsFiles),
	"bundle": slices.Concat(everywhere, readsFiles,
		onKeys("Core.Arn", "W#* or A#*", "dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query",
			"dynamodb:ConditionCheckItem"),
		onKeys("Core.Arn", "FB#*", "dynamodb:GetItem", "dynamodb:BatchGetItem", "dynamodb:Query"),
		onKeys("Core.Arn", "AL#* or K#*", "dynamodb:BatchGetItem"),
		on("Core.Arn/index/gsi1", "dynamodb:Query"), on("Core.Arn/index/gsi2", "dynamodb:Query"),
		on("Events.Arn", "dynamodb:Query"),
		on("Objects.Arn/b/*", "s3:PutObject", "s3:AbortMultipartUpload"),
		on("Objects.Arn/x/*", "s3:PutObject", "s3:AbortMultipartUpload"),
		[]string{"kms:GenerateDataKey" + forObjects}),
}

const membersWrite = "W#* or A#* or AL#* or K#* or CT#* or JOB#MIGRATE#* or JOB#REMOVE#* or IDP#* or EML#* or DEL#* or REG#* or CRED#*"

// writes are the items of table core that hosts put and update. With narrow-writes=no they may do so to all of them.
var writes = map[string]string{
	"api":    membersWrite + " or UC#* or OAR#* or OCL#* or LOCK#* or BC#* or BE#* or FB#*",
	"upload": "U#* or A#* or K#*",
	"app":    membersWrite + " or SES#* or LTX#* or RPT#* or LOCK#* or CFG#* or BC#* or U#* or FB#*",
	"mcp":    "U#* or A#* or AL#* or W#* or FB#*",
}

// moreRights returns those that depend on options.
func moreRights(d *deployment, host string) []string {
	wide := on("Core.Arn", "dynamodb:PutItem", "dynamodb:UpdateItem")
	if host == "bundle" {
		if d.NarrowWrites {
			return onKeys("Core.Arn", "A#* or W#*", "dynamodb:UpdateItem")
		}
		return on("Core.Arn", "dynamodb:UpdateItem")
	}
	more := slices.Concat(signInRights(d, host), providerRights(d, host), billingRights(d, host))
	switch narrow := writes[host]; {
	case narrow == "":
		return nil
	case d.NarrowWrites:
		return append(more, onKeys("Core.Arn", narrow, "dynamodb:PutItem", "dynamodb:UpdateItem")...)
	}
	return append(more, wide...)
}

// providerRights returns those that depend on the identity providers of agents.
func providerRights(d *deployment, host string) []string {
	if host != "api" || d.AgentProviders == "" {
		return nil
	}
	return []string{"secretsmanager:GetSecretValue " + providerList}
}

// billingRights returns those that depend on the account at Stripe.
func billingRights(d *deployment, host string) []string {
	readKey := "secretsmanager:GetSecretValue " + stripeKey
	switch {
	case !d.Billing.on():
		return nil
	case host == "app":
		return []string{readKey} // no event comes to it
	case host == "api":
		return []string{readKey, "secretsmanager:GetSecretValue " + stripeSecret}
	}
	return nil
}

// signInRights returns those that depend on the identity provider.
func signInRights(d *deployment, host string) []string {
	switch {
	case host != "app" || d.Identity.By == noIdentity:
		return nil
	case d.Identity.By == oidcIdentity:
		return []string{"secretsmanager:GetSecretValue " + clientSecret}
	}
	if d.Identity.SecretARN == "" {
		return nil // the first deployment does not know it
	}
	return readsRings(d.Identity.SecretARN)
}

func TestEveryRoleMayDoThisAndNoMore(t *testing.T) {
	eachFunction(t, func(t *testing.T, d *deployment, host string, tpl *template) {
		got, want := policyOf(t, tpl).lines(), slices.Sorted(slices.Values(slices.Concat(rights[host], moreRights(d, host))))
		for _, line := range got {
			if !slices.Contains(want, line) {
				t.Errorf("may %s", line)
			}
		}
		for _, line := range want {
			if !slices.Contains(got, line) {
				t.Errorf("may not %s", line)
			}
		}
	})
}

func TestJobsAloneDeleteFiles(t *testing.T) {
	eachFunction(t, func(t *testing.T, d *deployment, host string, tpl *template) {
		for _, line := range policyOf(t, tpl).lines() {
			if strings.HasPrefix(line, "s3:Delete") && host != "jobs" {
				t.Errorf("may %s", line)
			}
		}
	})
}

// Without a prefix in the condition's own terms, an unfiltered list would return the keys of all
// workspaces.
func TestNobodyListsWithoutAPrefix(t *testing.T) {
	eachFunction(t, func(t *testing.T, d *deployment, host string, tpl *template) {
		p := policyOf(t, tpl)
		for _, prefix := range []string{"", "o", "y/"} {
			if p.allows("s3:ListBucket", "Objects.Arn", map[string]string{"s3:prefix": prefix}) {
				t.Errorf("may list what begins with %q", prefix)
			}
		}
		if p.allows("s3:ListBucket", "Objects.Arn", nil) {
			t.Error("may list the whole bucket")
		}
	})
}

func TestContentWritesNothingThatLasts(t *testing.T) {
	for name, d := range made {
		for _, line := range policyOf(t, read(t, d.stackName("content"))).lines() {
			action, resource, _ := strings.Cut(line, " ")
			reads := slices.Contains([]string{
				"dynamodb:GetItem", "dynamodb:BatchGetItem", "s3:GetObject", "kms:Decrypt", "secretsmanager:GetSecretValue",
			}, action)
			counts := slices.Contains(onKeys("Hot.Arn", "r:*", "dynamodb:UpdateItem"), line)
			if !reads && !counts && !strings.HasPrefix(action, "logs:") {
				t.Errorf("%s: content may %s", name, line)
			}
			for _, ring := range []string{"LinksRing", "PepperRing", "SealRing", "AssertionRing", "ClientSecret"} {
				if strings.Contains(resource, ring) {
					t.Errorf("%s: content may %s", name, line)
				}
			}
		}
	}
}

func TestNoRightIsWildButTheOneToAllFiles(t *testing.T) {
	objects := []string{"Objects.Arn/o/*", "Objects.Arn/d/*", "Objects.Arn/b/*", "Objects.Arn/x/*", "Objects.Arn/cli/*"}
	eachFunction(t, func(t *testing.T, d *deployment, host string, tpl *template) {
		for _, s := range policyOf(t, tpl) {
			for _, a := range s.actions {
				if strings.Contains(a, "*") {
					t.Errorf("may %s", a)
				}
			}
			for _, r := range s.resources {
				if strings.Contains(r, "*") && !slices.Contains(objects, r) {
					t.Errorf("may use %s", r)
				}
			}
		}
	})
}

func TestRolesAreNotSharedAndHaveNoManagedPolicies(t *testing.T) {
	eachFunction(t, func(t *testing.T, d *deployment, host string, tpl *template) {
		f := tpl.only(t, "AWS::Lambda::Function")
		if role := tpl.text(f.Properties["Role"]); role != "Role.Arn" {
			t.Errorf("the function runs as %s", role)
		}
		for name, role := range tpl.of("AWS::IAM::Role") {
			logWriter := name == "Api/CloudWatchRole" && host == "content" && d.LogRole
			if name != "Role" && !logWriter {
				t.Errorf("there is a role %s", name)
			}
			if role.Properties["ManagedPolicyArns"] != nil && !logWriter {
				t.Errorf("role %s has managed policies", name)
			}
			principal := map[bool]string{false: "lambda.amazonaws.com", true: "apigateway.amazonaws.com"}[logWriter]
			same(t, "who may be "+name, at(t, role.Properties, "AssumeRolePolicyDocument", "Statement", 0, "Principal"),
				object{"Service": principal})
		}
		if n := len(tpl.of("AWS::IAM::Policy")); n != 1 {
			t.Errorf("%d policies, want one", n)
		}
	})
}

func TestOnlyItsGatewayCallsAFunction(t *testing.T) {
	eachHost(t, func(t *testing.T, d *deployment, host string, tpl *template) {
		for name, p := range tpl.of("AWS::Lambda::Permission") {
			if host == "api" && d.Billing.on() && p.Properties["Principal"] == "events.amazonaws.com" {
				continue // the daily rule
			}
			same(t, name, p.Properties["Principal"], "apigateway.amazonaws.com")
			api, _, _ := strings.Cut(name, "/")
			if tpl.gateways()[api] == nil {
				api = "Api" // the only one of an HTTP API's stack
			}
			if arn := tpl.text(p.Properties["SourceArn"]); !strings.HasPrefix(arn,
				"arn:AWS::Partition:execute-api:AWS::Region:AWS::AccountId:"+api+"/") {
				t.Errorf("%s admits %s", name, arn)
			}
		}
	})
}
