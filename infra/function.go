package main

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/aws/aws-cdk-go/awscdk/v2"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatch"
	"github.com/aws/aws-cdk-go/awscdk/v2/awscloudwatchactions"
	"github.com/aws/aws-cdk-go/awscdk/v2/awsiam"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslambda"
	"github.com/aws/aws-cdk-go/awscdk/v2/awslogs"
	"github.com/aws/aws-cdk-go/awscdk/v2/awssns"
	"github.com/aws/jsii-runtime-go"

	"vitrine/shared/platform/env"
)

// function is the stack of one host: its function, the role of that function alone, and what belongs to them.
type function struct {
	options
	host
	stack  awscdk.Stack
	data   *data
	lambda awslambda.Function
	pages  *function // of the content host: the function that makes pages of files, which the host's gateway also leads to

	log     awslogs.LogGroup
	reports awssns.ITopic // see topic
}

const alarmPeriod = 5 // minutes

func newFunction(app awscdk.App, o options, d *data, h host) *function {
	f := &function{
		options: o,
		host:    h,
		data:    d,
		stack:   o.newStack(app, h.name, "Vitrine: the "+h.name+" host"),
	}
	log := f.newLog("Log", "/aws/lambda")
	role := awsiam.NewRole(f.stack, jsii.String("Role"), &awsiam.RoleProps{
		AssumedBy:   awsiam.NewServicePrincipal(jsii.String("lambda.amazonaws.com"), nil),
		Description: jsii.String("What the " + h.name + " host of Vitrine may do"),
	})
	awscdk.Tags_Of(role).Add(jsii.String(functionTag), jsii.String(h.name), nil)
	for _, s := range h.grants(d) {
		role.AddToPolicy(s)
	}
	for _, ring := range h.rings {
		for _, s := range d.readRing(ring) {
			role.AddToPolicy(s)
		}
	}
	for _, s := range slices.Concat(d.readClientSecret(o, h.people), h.readProviderList(o), h.readBillingSecrets(o)) {
		role.AddToPolicy(s)
	}
	log.GrantWrite(role)
	f.log = log
	f.lambda = awslambda.NewFunction(f.stack, jsii.String(h.title()+"Function"), &awslambda.FunctionProps{
		Description:                  jsii.String("Vitrine: the " + h.name + " host"),
		Runtime:                      awslambda.Runtime_PROVIDED_AL2023(),
		Handler:                      jsii.String("bootstrap"),
		Code:                         awslambda.Code_FromAsset(jsii.String(o.code(h.name)), nil),
		Architecture:                 f.architecture(),
		Role:                         role,
		LogGroup:                     log,
		MemorySize:                   number(h.memory),
		Timeout:                      seconds(h.timeout),
		Tracing:                      awslambda.Tracing_DISABLED,
		Environment:                  f.environment(),
		ReservedConcurrentExecutions: f.reserved(),
		// Lambda passes lines of lambdahttp.NewLog on unchanged, because they are JSON with level and timestamp. Other
		// lines, such as those of a crashing runtime, count as INFO. Lambda itself would write three lines a request.
		// WARN keeps those about failures: a timeout, a process that ended.
		LoggingFormat:         awslambda.LoggingFormat_JSON,
		ApplicationLogLevelV2: awslambda.ApplicationLogLevel_INFO,
		SystemLogLevelV2:      awslambda.SystemLogLevel_WARN,
	})
	f.cfn().AddMetadata(jsii.String("vitrine:host"), h.name)
	suppressFiles(role)
	f.alarm("Errors", "The function fails or times out", f.tolerated(), f.lambda.MetricErrors(sum()))
	f.alarm("Throttles", "The function has no free concurrency", 1, f.lambda.MetricThrottles(sum()))
	output(f.stack, "FunctionName", f.lambda.FunctionName())
	output(f.stack, "LogGroup", log.LogGroupName())
	return f
}

func (f *function) cfn() awslambda.CfnFunction {
	return f.lambda.Node().DefaultChild().(awslambda.CfnFunction)
}

func (f *function) architecture() awslambda.Architecture {
	if f.Arch == "x86_64" {
		return awslambda.Architecture_X86_64()
	}
	return awslambda.Architecture_ARM_64()
}

func (f *function) reserved() *float64 {
	if n, given := f.Concurrency[f.name]; given && n > 0 {
		return &n
	}
	return nil
}

// environment returns the variables of the function. The endpoints of the engines are empty in AWS. They are declared
// all the same, because sam local sets declared variables only.
func (f *function) environment() *map[string]*string {
	a := f.Addresses
	variables := map[string]*string{
		env.CoreTable:   f.data.core.TableName(),
		env.EventsTable: f.data.events.TableName(),
		env.HotTable:    f.data.hot.TableName(),
		env.Bucket:      f.data.bucket.BucketName(),
	}
	for name, value := range map[string]string{
		env.Environment: string(f.Environment), env.APIURL: a.API, env.UploadURL: a.Upload, env.ContentURL: a.Content,
		env.AppURL: a.App, env.MCPURL: a.MCP, env.Limits: "on", env.RingsVersion: f.RingsVersion,
		env.HSTS:             string(f.HSTS),
		env.PolicyFile:       f.Policy.file(),
		env.SellsPlans:       env.OnOff(f.Billing.on()),
		env.DynamoDBEndpoint: "", env.S3Endpoint: "", env.S3Domain: "",
	} {
		variables[name] = jsii.String(value)
	}
	if f.caches {
		variables[env.Cache] = jsii.String(strconv.FormatInt(f.Cache, 10))
	}
	for name, value := range f.settings {
		variables[name] = jsii.String(value)
	}
	if f.streams {
		variables[env.ResponseMode] = jsii.String("stream")
	}
	if f.origins && f.ownOrigins() {
		variables[env.ContentOrigins] = jsii.String(wildcard)
	}
	if f.bundles {
		variables[env.Bundles] = jsii.String(f.bundleInterval(wakeSeconds))
	}
	if f.registers {
		variables[env.AgentRegistration] = jsii.String(f.agentRegistration())
	}
	for _, ring := range f.rings {
		variables[ring] = f.data.rings[ring].SecretArn()
	}
	if f.providers {
		variables[env.Providers] = jsii.String(f.AgentProviders)
	}
	for name, value := range f.billingSettings(f.Billing) {
		variables[name] = jsii.String(value)
	}
	people := f.Identity.settings()
	for _, name := range f.people {
		variables[name] = jsii.String(people[name])
	}
	return &variables
}

// bundleInterval returns the setting of a host that asks for bundles, which are made every so many seconds.
func (f *function) bundleInterval(seconds int) string {
	if !f.Bundles {
		return "off"
	}
	return strconv.Itoa(seconds)
}

// agentRegistration returns how much a host says of the registration of agents.
func (f *function) agentRegistration() string {
	if f.AgentProviders != "" {
		return "providers"
	}
	return "on"
}

// newLog makes a log group with a retention. Log groups that an AWS service delivers to belong below /aws/vendedlogs,
// where one policy covers the right to write. Elsewhere each group adds to a resource policy of the account, which has
// room for a few dozen. The name ends with a part of the stack's ID, because log groups outlive their stack if data is
// kept, and a recreated stack must not collide with them.
func (f *function) newLog(id, below string) awslogs.LogGroup {
	stackID := awscdk.Fn_Select(number(2), awscdk.Fn_Split(jsii.String("/"), f.stack.StackId(), nil))
	start := awscdk.Fn_Select(number(0), awscdk.Fn_Split(jsii.String("-"), stackID, nil))
	return awslogs.NewLogGroup(f.stack, jsii.String(id), &awslogs.LogGroupProps{
		LogGroupName: jsii.String(below + "/" + *f.stack.StackName() + "-" + *start),
		Retention:    awslogs.RetentionDays_ONE_MONTH, RemovalPolicy: f.removal(),
	})
}

// endedFunctions is how many runs a period may lose before the alarm reports it. A run ends early when a reader stops
// taking data, or when the view of a file takes too long. Lambda counts that as an error, and any client can cause it.
const endedFunctions = 50

// tolerated returns how many errors in a period raise the alarm.
func (f *function) tolerated() float64 {
	if f.streams {
		return endedFunctions
	}
	return 1
}

// alarm reports a metric that reaches a threshold. Missing data is fine, because a function without requests has no
// metrics.
func (f *function) alarm(id, description string, threshold float64, m awscloudwatch.Metric) {
	f.alarmOn(id, description, m, &awscloudwatch.CreateAlarmOptions{
		Threshold:         number(threshold),
		EvaluationPeriods: number(1),
		TreatMissingData:  awscloudwatch.TreatMissingData_NOT_BREACHING,
	})
}

// alarmOn makes an alarm that reports to the topic of the options, if there is one.
func (f *function) alarmOn(id, description string, m awscloudwatch.Metric, when *awscloudwatch.CreateAlarmOptions) {
	when.AlarmDescription = jsii.String(fmt.Sprintf("Vitrine, %s host: %s", f.name, description))
	a := m.CreateAlarm(f.stack, jsii.String(id), when)
	if topic := f.topic(); topic != nil {
		a.AddAlarmAction(awscloudwatchactions.NewSnsAction(topic))
	}
}

func sum() *awscloudwatch.MetricOptions {
	return &awscloudwatch.MetricOptions{
		Statistic: jsii.String("Sum"),
		Period:    awscdk.Duration_Minutes(number(alarmPeriod)),
	}
}
