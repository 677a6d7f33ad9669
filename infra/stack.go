package main

import (
	"strings"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/jsii-runtime-go"
)

// stackName returns the name of the stack of a host, or of the stack Data for "data".
func (o options) stackName(part string) string {
	return o.Name + "-" + strings.ToUpper(part[:1]) + part[1:]
}

func (o options) newStack(app awscdk.App, part, description string) awscdk.Stack {
	return awscdk.NewStack(app, jsii.String(o.stackName(part)), &awscdk.StackProps{
		Description: jsii.String(description), TerminationProtection: jsii.Bool(o.production()),
		Tags: &map[string]*string{"vitrine": jsii.String(o.Name), "vitrine-environment": jsii.String(string(o.Environment))},
	})
}

// removal returns the policy for data whose stack is deleted.
func (o options) removal() awscdk.RemovalPolicy {
	if o.Keep {
		return awscdk.RemovalPolicy_RETAIN
	}
	return awscdk.RemovalPolicy_DESTROY
}

// output makes a value an output of the stack, which scripts/deploy copies into the settings file.
func output(stack awscdk.Stack, name string, value *string) {
	o := awscdk.NewCfnOutput(stack, jsii.String("Output"+name), &awscdk.CfnOutputProps{Value: value})
	o.OverrideLogicalId(jsii.String(name))
}

func number(n float64) *float64 { return &n }

func seconds(n float64) awscdk.Duration { return awscdk.Duration_Seconds(number(n)) }

func days(n float64) awscdk.Duration { return awscdk.Duration_Days(number(n)) }
