package main

import (
	"maps"
	"slices"
	"strings"
	"testing"

	"vitrine/functions/assembly"
	"vitrine/scripts/testkit/expect"
)

func TestPeopleSignUpThemselvesAndProveTheirAddress(t *testing.T) {
	sender := map[string]any{"Named-Data": object{
		"EmailSendingAccount": "DEVELOPER",
		"From":                "Example Reports <vitrine@example.org>",
		"SourceArn": object{"Fn::Join": []any{"", []any{
			"arn:", object{"Ref": "AWS::Partition"}, ":ses:", object{"Ref": "AWS::Region"}, ":", object{"Ref": "AWS::AccountId"},
			":identity/example.org"}}},
	}}
	subject := map[string]string{
		"Plain-Data": "Verify your new account",
		"Named-Data": "Confirm your address for Example Reports",
	}
	for _, stack := range []string{"Plain-Data", "Named-Data"} {
		p := read(t, stack).only(t, "AWS::Cognito::UserPool").Properties
		same(t, "sign-up", at(t, p, "AdminCreateUserConfig", "AllowAdminCreateUserOnly"), false)
		same(t, "verified", p["AutoVerifiedAttributes"], []string{"email"})
		same(t, "verified before a change", at(t, p, "UserAttributeUpdateSettings",
			"AttributesRequireVerificationBeforeUpdate"), []string{"email"})
		same(t, "name", p["UsernameAttributes"], []string{"email"})
		same(t, "second factor", p["EnabledMfas"], []string{"SOFTWARE_TOKEN_MFA"})
		same(t, "recovery", at(t, p, "AccountRecoverySetting", "RecoveryMechanisms"),
			[]any{object{"Name": "verified_email", "Priority": 1}})
		same(t, "protection", p["DeletionProtection"], "ACTIVE")
		same(t, "sender", p["EmailConfiguration"], sender[stack])
		same(t, "subject", at(t, p, "VerificationMessageTemplate", "EmailSubject"), subject[stack])
		same(t, "plan", p["UserPoolTier"], "ESSENTIALS")
		same(t, "group", read(t, stack).only(t, "AWS::Cognito::UserPoolGroup").Properties["GroupName"], "operators")
	}
}

func TestTheClientTakesCodesAndNothingElse(t *testing.T) {
	for stack, app := range map[string]string{
		"Plain-Data": "https://app.invalid",
		"Named-Data": "https://app.example.org",
	} {
		p := read(t, stack).only(t, "AWS::Cognito::UserPoolClient").Properties
		for name, want := range map[string]any{
			"GenerateSecret":                  true,
			"AllowedOAuthFlows":               []string{"code"},
			"AllowedOAuthFlowsUserPoolClient": true,
			"AllowedOAuthScopes":              []string{"openid", "email", "profile"},
			"PreventUserExistenceErrors":      "ENABLED",
			"EnableTokenRevocation":           true,
			"CallbackURLs":                    []string{app + assembly.CallbackPath},
			"SupportedIdentityProviders":      []string{"COGNITO"},
			"IdTokenValidity":                 15,
			"AccessTokenValidity":             15,
			"RefreshTokenValidity":            60,
		} {
			same(t, stack+": "+name, p[name], want)
		}
		for _, page := range []string{app + assembly.SignedOutPath, app + "/signed-out"} {
			if !slices.Contains(p["LogoutURLs"].([]any), any(page)) {
				t.Errorf("%s: people do not come back to %s after signing out", stack, page)
			}
		}
	}
}

func TestTheSignInPagesHaveAnAddress(t *testing.T) {
	plain := read(t, "Plain-Data")
	p := plain.only(t, "AWS::Cognito::UserPoolDomain").Properties
	same(t, "version", p["ManagedLoginVersion"], 2)
	if prefix := plain.text(p["Domain"]); prefix != "plain-AWS::AccountId" {
		t.Errorf("the prefix is %s", prefix)
	}
	named := read(t, "Named-Data")
	p = named.only(t, "AWS::Cognito::UserPoolDomain").Properties
	same(t, "domain", p["Domain"], "id.example.org")
	same(t, "certificate", at(t, p, "CustomDomainConfig", "CertificateArn"), certificate)
	if records := named.of("AWS::Route53::RecordSet"); len(records) != 2 {
		t.Errorf("%d records, want one for each version of IP", len(records))
	}
	if target := named.text(named.Outputs["SignInRecordTarget"].Value); target != "People/SignIn.CloudFrontDistribution" {
		t.Errorf("the record has to point at %s", target)
	}
	for _, tpl := range []*template{plain, named} {
		look := tpl.only(t, "AWS::Cognito::ManagedLoginBranding").Properties // without one the pages do not work
		same(t, "look", look["UseCognitoProvidedValues"], true)
		if client := tpl.text(look["ClientId"]); client != "People/App" {
			t.Errorf("the look is that of %s", client)
		}
	}
}

func TestTheSecretOfTheClientIsNoFunctionsWork(t *testing.T) {
	for _, stack := range []string{"Plain-Data", "Named-Data"} {
		tpl := read(t, stack)
		for id, r := range tpl.Resources {
			if r.Type == "AWS::Lambda::Function" || strings.HasPrefix(r.Type, "Custom::") {
				t.Errorf("%s has %s %s", stack, r.Type, id)
			}
		}
		same(t, "the secret is born as",
			tpl.of("AWS::SecretsManager::Secret")["ClientSecret"].Properties["GenerateSecretString"],
			object{"ExcludePunctuation": true, "PasswordLength": 64})
		for name, want := range map[string]string{
			"UserPool": "People", "ClientId": "People/App", "ClientSecret": "ClientSecret", "Issuer": "People.ProviderURL",
		} { // scripts/deploy copies the secret and tells the hosts the rest
			if got := tpl.text(tpl.Outputs[name].Value); got != want {
				t.Errorf("%s tells %s as %s, want %s", stack, name, got, want)
			}
		}
	}
}

func TestWithoutAPoolThereIsNone(t *testing.T) {
	for _, stack := range []string{"Bare-Data", "Loose-Data"} {
		for id, r := range read(t, stack).Resources {
			if strings.HasPrefix(r.Type, "AWS::Cognito::") {
				t.Errorf("%s has %s", stack, id)
			}
		}
		if read(t, stack).Outputs["UserPool"].Value != nil {
			t.Errorf("%s tells of a pool", stack)
		}
	}
}

func TestTheIdentityInSESIsTheAddressUnlessItIsADomain(t *testing.T) {
	identity := func(given string) string {
		from := map[string]any{"identity-email-from": "a@mail.example.org", "identity-email-identity": given}
		return expect.Value(optionsFrom(from))(t).Identity.SenderIdentity
	}
	expect.Results(t, identity, map[string]string{
		"":                   "a@mail.example.org",
		"a@mail.example.org": "a@mail.example.org",
		"mail.example.org":   "mail.example.org",
		"Example.org":        "example.org",
	})
}

// theirProvider is an external provider, changed for a test.
func theirProvider(change map[string]any) map[string]any {
	all := map[string]any{
		"identity":           "oidc",
		"oidc-issuer":        "https://id.example.com",
		"oidc-client-id":     "us",
		"oidc-client-secret": clientSecret,
	}
	maps.Copy(all, change)
	return all
}

func badProviders() []mistake {
	return []mistake{
		{"a strange kind", map[string]any{"identity": "ldap"}, "cognito, oidc or none"},
		{"another provider beside a pool", map[string]any{"oidc-issuer": "https://id.example.com"}, "set identity to oidc"},
		{"no issuer", theirProvider(map[string]any{"oidc-issuer": ""}), "oidc-issuer"},
		{"an issuer without TLS", theirProvider(map[string]any{"oidc-issuer": "http://id.example.com"}), "https"},
		{"an issuer with a query", theirProvider(map[string]any{"oidc-issuer": "https://id.example.com?x"}), "oidc-issuer"},
		{"no client", theirProvider(map[string]any{"oidc-client-id": ""}), "lacks oidc-client-id"},
		{"a secret itself", theirProvider(map[string]any{"oidc-client-secret": "hush"}), "whole ARN"},
		{"half of an ARN", theirProvider(
			map[string]any{"oidc-client-secret": "arn:aws:secretsmanager:eu-west-1:111122223333:secret:x"}), "whole ARN"},
		{"a wild ARN", theirProvider(
			map[string]any{"oidc-client-secret": "arn:aws:secretsmanager:eu-west-1:111122223333:secret:*-AbC123"}), "whole ARN"},
		{"half of an operator", theirProvider(map[string]any{"oidc-operator-claim": "roles"}), "give both"},
		{"an operator of the pool", map[string]any{"oidc-operator-claim": "roles", "oidc-operator-value": "x"},
			"set identity to oidc"},
		{"a sender without a pool", map[string]any{"identity": "none", "identity-email-from": "a@example.org"},
			"for the pool"},
		{"a sender with a name", map[string]any{"identity-email-from": "A <a@example.org>"},
			"is an e-mail address"},
		{"an identity without a sender", map[string]any{"identity-email-identity": "example.org"},
			"give identity-email-from too"},
		{"an identity of somebody else", map[string]any{
			"identity-email-from": "a@example.org", "identity-email-identity": "ample.org",
		}, "does not cover a@example.org"},
		{"another address as identity", map[string]any{
			"identity-email-from": "a@example.org", "identity-email-identity": "b@example.org",
		}, "does not cover a@example.org"},
		{"an odd way out", theirProvider(map[string]any{"oidc-logout": "odd"}), "oidc-logout"},
		{"a strange prefix", map[string]any{"identity-prefix": "My_Pool"}, "identity-prefix"},
		{"a word of Amazon's", map[string]any{"name": "My-AWS-Vitrine"}, `no address with "aws"`},
		{"one in the prefix", map[string]any{"identity-prefix": "my-cognito"}, `no address with "cognito"`},
		{"a certificate elsewhere", map[string]any{
			"domain-identity": "id.example.org", "certificate": "arn:aws:acm:eu-west-1:111122223333:certificate/x",
		}, "certificate-identity has to be in us-east-1"},
		{"no certificate", map[string]any{"domain-identity": "id.example.org"}, "lacks certificate-identity"},
		{"below the content", domains(map[string]any{"domain-identity": "id.files.example.net"}),
			"must not share a name with the sign-in pages"},
	}
}

func TestProvidersMayBeOfSeveralKinds(t *testing.T) {
	for name, from := range map[string]map[string]any{
		"a public client": theirProvider(map[string]any{"oidc-client-secret": ""}), "nobody": {"identity": "none"},
		"a prefix instead of a name": {"name": "My-AWS-Vitrine", "identity-prefix": "ours"},
	} {
		if _, err := optionsFrom(from); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}
