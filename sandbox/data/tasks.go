package data

import "time"

// tasks makes the activity of the last 180 days and what is still to do. The better things go the more there is, and
// an account at risk has not been spoken to for a while.
func (p *plan) tasks(contacts int, opps []Opportunity) []Task {
	r := p.rand("tasks")
	mean := p.g.cfg.TasksPerAccount
	share := 0.55
	if p.active {
		share = [...]float64{1.6, 1.2, 0.8}[p.temper]
	}
	out := make([]Task, 0, 8)
	quiet := [...]int{r.between(0, 10), r.between(3, 35), r.between(25, 110)}[p.temper]
	for range r.count(mean * share) {
		t := Task{Owner: p.owner, Contact: -1, Opportunity: -1, Priority: "Normal"}
		if contacts > 0 && r.chance(0.7) {
			t.Contact = r.IntN(contacts)
		}
		if len(opps) > 0 && r.chance(0.3) {
			t.Opportunity = r.IntN(len(opps))
		}
		if r.chance(0.12) {
			t.Priority = "High"
		}
		switch x := r.Float64(); {
		case x < 0.5:
			t.Kind, t.Subject = "Email", "Email: "+pick(r, emailTopics)
		case x < 0.8:
			t.Kind, t.Subject = "Call", pick(r, callTopics)
		default:
			t.Kind, t.Subject = "Task", pick(r, todoTopics)
		}
		p.schedule(r, &t, quiet)
		out = append(out, t)
	}
	return out
}

func (p *plan) schedule(r rng, t *Task, quiet int) {
	if r.chance(0.8) { // done
		due := p.day(-r.between(quiet, 180) - 1)
		t.Status, t.Due = "Completed", Some(due)
		t.Completed = Some(due.Add(time.Duration(r.between(9*3600, 17*3600)) * time.Second))
		t.Stamps = p.stamps(r, due.AddDate(0, 0, -6), due.AddDate(0, 0, 1))
		return
	}
	t.Status = pick(r, []string{"Not Started", "Not Started", "In Progress", "Waiting on someone else"})
	t.Due = blank(r, p.day(r.between(-12, 35)))
	t.Stamps = p.stamps(r, p.day(-40), p.day(0))
}
