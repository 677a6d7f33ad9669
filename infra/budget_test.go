package main

import "testing"

func TestABudgetReportsToTheTopicOfTheAlarms(t *testing.T) {
	for name, d := range made {
		budgets := read(t, d.stackName("data")).of("AWS::Budgets::Budget")
		if name != "Named" {
			same(t, name+": budgets", len(budgets), 0)
			continue
		}
		if budgets["Budget"] == nil {
			t.Fatalf("%s has no budget", name)
		}
		p := budgets["Budget"].Properties
		same(t, "budget", p["Budget"], object{
			"BudgetLimit": object{"Amount": 250, "Unit": "USD"}, "BudgetType": "COST", "TimeUnit": "MONTHLY",
		})
		var got []any
		for _, n := range p["NotificationsWithSubscribers"].([]any) {
			of := at(t, n, "Notification").(object)
			got = append(got, []any{
				of["NotificationType"], of["Threshold"], of["ComparisonOperator"], of["ThresholdType"],
			})
			same(t, "who is told", at(t, n, "Subscribers"), []any{object{"Address": d.AlarmTopic, "SubscriptionType": "SNS"}})
		}
		same(t, "when", got, []any{
			[]any{"ACTUAL", 80, "GREATER_THAN", "PERCENTAGE"}, []any{"ACTUAL", 100, "GREATER_THAN", "PERCENTAGE"},
			[]any{"FORECASTED", 100, "GREATER_THAN", "PERCENTAGE"},
		})
	}
}
