package main

import (
	"maps"
	"slices"

	"github.com/aws/aws-cdk-go/awscdk/v2/awskms"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssecretsmanager"
	"github.com/aws/jsii-runtime-go"

	"vitrine/shared/platform/env"
)

// ringNames maps the setting of each key ring to its construct, which names the purpose.
var ringNames = map[string]string{
	env.ContentRing: "ContentRing", env.LinksRing: "LinksRing", env.PepperRing: "PepperRing", env.SealRing: "SealRing",
	env.AssertionRing: "AssertionRing",
}

// makeRings makes a secret for each ring. A secret starts as {"seed": 64 random characters}, which keyring.ParseRing
// reads. The first rotation (scripts/rotate) writes the full form.
func (d *data) makeRings(o options) {
	replicas := d.replicas(o.Backup)
	d.rings = map[string]awssecretsmanager.Secret{}
	for _, name := range slices.Sorted(maps.Keys(ringNames)) { // in one order, or the template would change
		id := ringNames[name]
		ring := awssecretsmanager.NewSecret(d.stack, jsii.String(id), &awssecretsmanager.SecretProps{
			Description:   jsii.String("Vitrine: key ring of " + name),
			EncryptionKey: d.key,
			RemovalPolicy: o.removal(),
			// A replica is added to the secret in place, which keeps its value.
			ReplicaRegions: replicas,
			// Never change this: CloudFormation would make new secrets, and every credential and URL would become
			// invalid.
			GenerateSecretString: &awssecretsmanager.SecretStringGenerator{
				SecretStringTemplate: jsii.String("{}"),
				GenerateStringKey:    jsii.String("seed"),
				PasswordLength:       number(64),
				ExcludePunctuation:   jsii.Bool(true),
			},
		})
		suppress(ring, rule{"AwsSolutions-SMG4",
			"a ring rotates in steps (next, active, verify) that take days and keep old keys valid; replacing its value on a " +
				"schedule would end every credential"})
		output(d.stack, id, ring.SecretArn())
		d.rings[name] = ring
	}
}

// replicas returns where each ring has a replica, which follows every change of the ring. Losing the rings ends every
// credential and URL.
func (d *data) replicas(b backup) *[]*awssecretsmanager.ReplicaRegion {
	if b.RingsRegion == "" {
		return nil
	}
	replica := &awssecretsmanager.ReplicaRegion{Region: jsii.String(b.RingsRegion)}
	if b.RingsKey != "" {
		replica.EncryptionKey = awskms.Key_FromKeyArn(d.stack, jsii.String("RingsKey"), jsii.String(b.RingsKey))
	}
	return &[]*awssecretsmanager.ReplicaRegion{replica}
}
