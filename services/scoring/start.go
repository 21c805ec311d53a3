package scoring

import (
	"context"

	"revarch/auth"
	"revarch/models"
	"revarch/services/jobs"
	"revarch/services/runs"
)

// Start starts scoring the caller's organization and returns its run; already tells that one was running, which is
// returned instead. Faults: Denied.
func Start(ctx context.Context, r *runs.Service, p auth.Principal) (run models.Run, already bool, err error) {
	if err := p.Require(auth.PermOperate); err != nil {
		return models.Run{}, false, err
	}
	return r.Start(ctx, p, runs.StartInput{Kind: models.KindScore, Subject: "accounts", WorkflowID: jobs.ScoreID(p.OrgID)})
}
