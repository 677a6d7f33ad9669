package main

import (
	"github.com/aws/aws-cdk-go/awscdk/v2/awsbudgets"
	"github.com/aws/jsii-runtime-go"
)

// budget reports the account's monthly costs to the topic of the alarms. It does not limit them. It counts the whole
// account, because AWS can separate costs by tag only once the account has activated the tag for billing.
func (d *data) budget(o options) {
	if o.Budget == 0 {
		return
	}
	awsbudgets.NewCfnBudget(d.stack, jsii.String("Budget"), &awsbudgets.CfnBudgetProps{
		Budget: &awsbudgets.CfnBudget_BudgetDataProperty{
			BudgetType:  jsii.String("COST"),
			TimeUnit:    jsii.String("MONTHLY"),
			BudgetLimit: &awsbudgets.CfnBudget_SpendProperty{Amount: number(o.Budget), Unit: jsii.String("USD")},
		},
		NotificationsWithSubscribers: []any{
			o.overspent("ACTUAL", 80), o.overspent("ACTUAL", 100), o.overspent("FORECASTED", 100),
		},
	})
}

// overspent notifies the topic when costs of a kind, ACTUAL or FORECASTED, exceed a percentage of the budget.
func (o options) overspent(kind string, percent float64) *awsbudgets.CfnBudget_NotificationWithSubscribersProperty {
	return &awsbudgets.CfnBudget_NotificationWithSubscribersProperty{
		Notification: &awsbudgets.CfnBudget_NotificationProperty{
			NotificationType:   jsii.String(kind),
			ComparisonOperator: jsii.String("GREATER_THAN"),
			Threshold:          number(percent),
			ThresholdType:      jsii.String("PERCENTAGE"),
		},
		Subscribers: []any{&awsbudgets.CfnBudget_SubscriberProperty{
			SubscriptionType: jsii.String("SNS"), Address: jsii.String(o.AlarmTopic),
		}},
	}
}
