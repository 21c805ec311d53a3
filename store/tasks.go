package store

import (
	"fmt"
	"time"

	"github.com/google/uuid"
	"gorm.io/gorm"
	"gorm.io/gorm/clause"

	"revarch/fault"
	"revarch/models"
)

// TaskRow is a task with the name of its account.
type TaskRow struct {
	models.Task `gorm:"embedded"`
	AccountName *string
}

// TaskFilter selects tasks; zero fields select everything.
type TaskFilter struct {
	Assignee, Status, SourceType, Priority string
	AccountID                              *uuid.UUID
	Overdue                                bool
	Today                                  time.Time // the organization's day, for Overdue
}

// TaskPosition is a place in the order of tasks: due date ascending, those without one last, then id.
type TaskPosition struct {
	Due *time.Time
	ID  uuid.UUID
}

const taskOverdue = "(t.due_date < ?::date AND t.status NOT IN ('DONE', 'CANCELLED'))"

func (tx *Tx) tasks(f TaskFilter) *gorm.DB {
	q := tx.db.Table("tasks t").Where("t.org_id = ?", tx.org)
	for column, v := range map[string]string{"status": f.Status, "source_type": f.SourceType, "priority": f.Priority} {
		if v != "" {
			q = q.Where("t."+column+" = ?", v)
		}
	}
	if f.Assignee != "" {
		q = q.Where("lower(t.assignee) = lower(?)", f.Assignee)
	}
	if f.AccountID != nil {
		q = q.Where("t.account_id = ?", *f.AccountID)
	}
	if f.Overdue {
		q = q.Where(taskOverdue, f.Today)
	}
	return q
}

// Tasks lists up to limit tasks after a position; nil starts at the beginning.
func (tx *Tx) Tasks(f TaskFilter, after *TaskPosition, limit int) ([]TaskRow, error) {
	q := tx.tasks(f).Select("t.*, a.name AS account_name").
		Joins("LEFT JOIN accounts a ON a.org_id = t.org_id AND a.id = t.account_id").
		Order("t.due_date ASC NULLS LAST, t.id").Limit(limit)
	switch {
	case after == nil:
	case after.Due == nil:
		q = q.Where("t.due_date IS NULL AND t.id > ?", after.ID)
	default:
		q = q.Where("(t.due_date > ?::date OR t.due_date = ?::date AND t.id > ? OR t.due_date IS NULL)", after.Due, after.Due, after.ID)
	}
	var out []TaskRow
	if err := q.Scan(&out).Error; err != nil {
		return nil, fmt.Errorf("list tasks: %w", err)
	}
	return out, nil
}

// TaskCounts says how many of the selected tasks have each status, and how many are overdue.
func (tx *Tx) TaskCounts(f TaskFilter) (byStatus map[string]int64, overdue int64, err error) {
	var rows []struct {
		Status     string
		N, Overdue int64
	}
	if err := tx.tasks(f).Select("t.status, count(*) AS n, count(*) FILTER (WHERE "+taskOverdue+") AS overdue", f.Today).
		Group("t.status").Scan(&rows).Error; err != nil {
		return nil, 0, fmt.Errorf("count tasks: %w", err)
	}
	byStatus = map[string]int64{}
	for _, r := range rows {
		byStatus[r.Status] = r.N
		overdue += r.Overdue
	}
	return byStatus, overdue, nil
}

// LockTask loads a task and locks it until the transaction ends. Faults: NotFound.
func (tx *Tx) LockTask(id uuid.UUID) (models.Task, error) {
	var t models.Task
	err := tx.db.Clauses(clause.Locking{Strength: "UPDATE"}).Where("org_id = ? AND id = ?", tx.org, id).Take(&t).Error
	return t, notFound(err, "no task %s", id)
}

// CreateTask writes a new task.
func (tx *Tx) CreateTask(t *models.Task) error {
	t.OrgID = tx.org
	if err := tx.db.Create(t).Error; err != nil {
		return fmt.Errorf("create task: %w", err)
	}
	return nil
}

// SaveTask replaces what may change about a task.
func (tx *Tx) SaveTask(t *models.Task) error {
	err := tx.db.Model(&models.Task{}).Where("org_id = ? AND id = ?", tx.org, t.ID).
		Select("status", "assignee", "priority", "due_date", "version", "updated_at", "completed_at").Updates(t).Error
	if err != nil {
		return fmt.Errorf("save task: %w", err)
	}
	return nil
}

// LiveAccountName returns the name of an account that is not deleted. Faults: NotFound.
func (tx *Tx) LiveAccountName(id uuid.UUID) (string, error) {
	var names []string
	if err := tx.db.Raw("SELECT name FROM accounts WHERE org_id = ? AND id = ? AND deleted_at IS NULL", tx.org, id).Scan(&names).Error; err != nil {
		return "", fmt.Errorf("load account: %w", err)
	}
	if len(names) == 0 {
		return "", fault.New(fault.NotFound, "no account %s", id)
	}
	return names[0], nil
}

// AccountName returns the name of an account, deleted ones too; nil for none.
func (tx *Tx) AccountName(id *uuid.UUID) (*string, error) {
	if id == nil {
		return nil, nil
	}
	var names []string
	if err := tx.db.Raw("SELECT name FROM accounts WHERE org_id = ? AND id = ?", tx.org, *id).Scan(&names).Error; err != nil || len(names) == 0 {
		return nil, maybe(err, "load account")
	}
	return &names[0], nil
}
