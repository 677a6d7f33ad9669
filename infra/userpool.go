package main

import (
	"fmt"
	"html"
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscertificatemanager"
	cognito "github.com/aws/aws-cdk-go/awscdk/v2/awscognito"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsroute53targets"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/jsii-runtime-go"

	"vitrine/shared/platform/policy"
)

// identify makes the user pool, unless people sign in elsewhere or not at all.
func (d *data) identify(o options) {
	if o.Identity.By != cognitoIdentity {
		return
	}
	pool := d.newPool(o)
	d.newAddress(o, pool, d.newClient(o, pool))
	d.newClientSecret(o)
	output(d.stack, "Issuer", pool.UserPoolProviderUrl())
}

// newPool makes the user pool. People sign up by themselves with an e-mail address, which Cognito verifies, unless the
// policy lets in listed addresses or operators only.
func (d *data) newPool(o options) cognito.UserPool {
	yes := jsii.Bool(true)
	pool := cognito.NewUserPool(d.stack, jsii.String("People"), &cognito.UserPoolProps{
		SelfSignUpEnabled:   jsii.Bool(o.Policy.signUp()),
		UserVerification:    o.Policy.verification(),
		UserInvitation:      o.Policy.invitation(),
		SignInAliases:       &cognito.SignInAliases{Email: yes},
		SignInCaseSensitive: jsii.Bool(false),
		AutoVerify:          &cognito.AutoVerifiedAttrs{Email: yes},
		KeepOriginal:        &cognito.KeepOriginalAttrs{Email: yes},
		StandardAttributes:  &cognito.StandardAttributes{Email: &cognito.StandardAttribute{Required: yes, Mutable: yes}},
		PasswordPolicy: &cognito.PasswordPolicy{
			MinLength:            number(12),
			RequireLowercase:     yes,
			RequireUppercase:     yes,
			RequireDigits:        yes,
			RequireSymbols:       yes,
			TempPasswordValidity: days(3),
		},
		Mfa:                cognito.Mfa_OPTIONAL,
		MfaSecondFactor:    &cognito.MfaSecondFactor{Otp: yes, Sms: jsii.Bool(false)},
		AccountRecovery:    cognito.AccountRecovery_EMAIL_ONLY,
		FeaturePlan:        cognito.FeaturePlan_ESSENTIALS,
		DeletionProtection: jsii.Bool(o.Keep),
		RemovalPolicy:      o.removal(),
	})
	if o.Identity.Sender != "" {
		d.sendBySES(pool, o)
	}
	suppress(pool,
		rule{"AwsSolutions-COG2", "people choose a second factor themselves: an application on their phone, never SMS"},
		rule{"AwsSolutions-COG3",
			"threat protection belongs to the Plus plan, whose price for each person is the deployer's choice"},
		rule{"AwsSolutions-COG8", "the Plus plan has a price for each person, which is the deployer's choice"},
	)
	cognito.NewCfnUserPoolGroup(d.stack, jsii.String("Operators"), &cognito.CfnUserPoolGroupProps{
		UserPoolId:  pool.UserPoolId(),
		GroupName:   jsii.String("operators"),
		Description: jsii.String("People who run this deployment; nobody is born one"),
	})
	output(d.stack, "UserPool", pool.UserPoolId())
	return pool
}

// verification returns the text that asks people to confirm their address; nil for Cognito's own, which names nobody.
func (p ownerPolicy) verification() *cognito.UserVerificationConfig {
	if p.Brand.Name == policy.DefaultName {
		return nil
	}
	name := html.EscapeString(p.Brand.Name)
	return &cognito.UserVerificationConfig{
		EmailStyle:   cognito.VerificationEmailStyle_CODE,
		EmailSubject: jsii.String("Confirm your address for " + p.Brand.Name),
		EmailBody:    jsii.String("Your confirmation code for " + name + " is {####}."),
	}
}

// invitation returns the text for people whose account an operator made; nil for Cognito's own.
func (p ownerPolicy) invitation() *cognito.UserInvitationConfig {
	if p.Brand.Name == policy.DefaultName {
		return nil
	}
	name := html.EscapeString(p.Brand.Name)
	return &cognito.UserInvitationConfig{
		EmailSubject: jsii.String("Your account for " + p.Brand.Name),
		EmailBody: jsii.String("You have an account for " + name +
			". Sign in as {username} with the temporary password {####}, and choose your own."),
	}
}

// sendBySES lets the pool send its e-mail from an address that is verified in SES. It sets the properties directly,
// because the CDK's method requires a region.
func (d *data) sendBySES(pool cognito.UserPool, o options) {
	by := o.Identity
	arn := fmt.Sprintf("arn:%s:ses:%s:%s:identity/%s",
		*d.stack.Partition(), *d.stack.Region(), *d.stack.Account(), by.SenderIdentity)
	pool.Node().DefaultChild().(cognito.CfnUserPool).SetEmailConfiguration(&cognito.CfnUserPool_EmailConfigurationProperty{
		EmailSendingAccount: jsii.String("DEVELOPER"),
		From:                jsii.String(o.Policy.sender(by.Sender)),
		SourceArn:           jsii.String(arn),
	})
}

// newClient makes the app host's client of the pool: a confidential client with the authorization code grant only. Its
// tokens are short-lived, because each is used once and not kept.
func (d *data) newClient(o options, pool cognito.UserPool) cognito.UserPoolClient {
	yes := jsii.Bool(true)
	client := pool.AddClient(jsii.String("App"), &cognito.UserPoolClientOptions{
		GenerateSecret:             yes,
		PreventUserExistenceErrors: yes,
		EnableTokenRevocation:      yes,
		AuthFlows:                  &cognito.AuthFlow{UserSrp: yes},
		OAuth: &cognito.OAuthSettings{
			Flows: &cognito.OAuthFlows{AuthorizationCodeGrant: yes},
			Scopes: &[]cognito.OAuthScope{cognito.OAuthScope_OPENID(), cognito.OAuthScope_EMAIL(),
				cognito.OAuthScope_PROFILE()},
			CallbackUrls: jsii.Strings(o.Addresses.App + callbackPath),
			LogoutUrls:   jsii.Strings(o.Addresses.App+"/signed-out", o.Addresses.App+"/"),
		},
		SupportedIdentityProviders: &[]cognito.UserPoolClientIdentityProvider{
			cognito.UserPoolClientIdentityProvider_COGNITO(),
		},
		IdTokenValidity:      awscdk.Duration_Minutes(number(15)),
		AccessTokenValidity:  awscdk.Duration_Minutes(number(15)),
		RefreshTokenValidity: awscdk.Duration_Hours(number(1)),
	})
	output(d.stack, "ClientId", client.UserPoolClientId())
	return client
}

// callbackPath is the path of the app host that receives authorization codes.
const callbackPath = "/api/auth/callback"

// newClientSecret makes a secret for the client's secret. Cognito generates the value, and a template could read it
// only through a custom resource. So scripts/deploy copies it here; until then the secret holds a random value.
func (d *data) newClientSecret(o options) {
	secret := awssecretsmanager.NewSecret(d.stack, jsii.String("ClientSecret"), &awssecretsmanager.SecretProps{
		Description:   jsii.String("Vitrine: the secret of its client at the identity provider"),
		EncryptionKey: d.key,
		RemovalPolicy: o.removal(),
		GenerateSecretString: &awssecretsmanager.SecretStringGenerator{
			PasswordLength:     number(64),
			ExcludePunctuation: jsii.Bool(true),
		},
	})
	suppress(secret, rule{"AwsSolutions-SMG4",
		"Cognito makes the value and changes it with the client; scripts/deploy copies it"})
	output(d.stack, "ClientSecret", secret.SecretArn())
}

// newAddress gives the sign-in pages an address: a custom domain, or a prefix below a domain of Amazon's.
func (d *data) newAddress(o options, pool cognito.UserPool, client cognito.UserPoolClient) {
	options := &cognito.UserPoolDomainOptions{ManagedLoginVersion: cognito.ManagedLoginVersion_NEWER_MANAGED_LOGIN}
	named, prefix := o.Identity.Domain, o.Identity.Prefix
	own := named.Name != ""
	if prefix == "" {
		prefix = strings.ToLower(o.Name) + "-" + *d.stack.Account()
	}
	if own {
		options.CustomDomain = &cognito.CustomDomainOptions{
			DomainName: jsii.String(named.Name),
			Certificate: awscertificatemanager.Certificate_FromCertificateArn(d.stack, jsii.String("SignInCertificate"),
				jsii.String(named.Certificate)),
		}
	} else {
		options.CognitoDomain = &cognito.CognitoDomainOptions{DomainPrefix: jsii.String(prefix)}
	}
	address := pool.AddDomain(jsii.String("SignIn"), options)
	look := cognito.NewCfnManagedLoginBranding(d.stack, jsii.String("SignInLook"), &cognito.CfnManagedLoginBrandingProps{
		UserPoolId: pool.UserPoolId(), ClientId: client.UserPoolClientId(), UseCognitoProvidedValues: jsii.Bool(true),
	})
	look.Node().AddDependency(address)
	if own {
		target := awsroute53targets.NewUserPoolDomainTarget(address)
		record(d.stack, "SignInRecord", named, address.CloudFrontEndpoint(), target)
	}
}
