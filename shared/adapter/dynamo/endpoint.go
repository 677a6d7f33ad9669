package dynamo

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	smithyauth "github.com/aws/smithy-go/auth"
	transport "github.com/aws/smithy-go/endpoints"
	smithyhttp "github.com/aws/smithy-go/transport/http"
)

// settled returns a client with a fixed endpoint and signature. The SDK would evaluate its endpoint rules for each
// call, always with the same result: a client has one region and one endpoint, and tables are called by name, not by
// ARN. The endpoint of a region serves every account, so an account's own endpoint is used only if the client requires
// it. If the rules fail, the client stays unchanged and each of its calls returns the error.
func settled(client *dynamodb.Client) *dynamodb.Client {
	o := client.Options()
	if o.AccountIDEndpointMode == aws.AccountIDEndpointModeRequired || o.EndpointResolverV2 == nil {
		return client
	}
	at, err := o.EndpointResolverV2.ResolveEndpoint(context.Background(), dynamodb.EndpointParameters{
		Region:       &o.Region,
		UseDualStack: aws.Bool(o.EndpointOptions.UseDualStackEndpoint == aws.DualStackEndpointStateEnabled),
		UseFIPS:      aws.Bool(o.EndpointOptions.UseFIPSEndpoint == aws.FIPSEndpointStateEnabled),
		Endpoint:     o.BaseEndpoint,
	})
	if err != nil {
		return client
	}
	signing := &smithyauth.Option{SchemeID: smithyauth.SchemeIDSigV4}
	smithyhttp.SetSigV4SigningName(&signing.SignerProperties, "dynamodb")
	smithyhttp.SetSigV4SigningRegion(&signing.SignerProperties, o.Region)
	ruled, _ := smithyauth.GetAuthOptions(&at.Properties)
	for _, r := range ruled {
		signing.SignerProperties.SetAll(&r.SignerProperties)
	}
	smithyauth.SetAuthOptions(&at.Properties, nil) // otherwise each call would write them into the shared properties
	return dynamodb.New(o, func(o *dynamodb.Options) {
		o.EndpointResolverV2 = (*place)(&at)
		o.AuthSchemeResolver = scheme{signing}
	})
}

// place is the endpoint of all calls.
type place transport.Endpoint

// ResolveEndpoint implements dynamodb.EndpointResolverV2.
func (p *place) ResolveEndpoint(context.Context, dynamodb.EndpointParameters) (transport.Endpoint, error) {
	return transport.Endpoint(*p), nil
}

// scheme answers the SDK's question of how to sign a call, the same for all calls.
type scheme []*smithyauth.Option

// ResolveAuthSchemes implements dynamodb.AuthSchemeResolver.
func (s scheme) ResolveAuthSchemes(
	context.Context, *dynamodb.AuthResolverParameters,
) ([]*smithyauth.Option, error) {
	return s, nil
}
