import { NativeSelect } from '@mantine/core';
import type { Task, TaskStatus } from '../api/types';
import { useMay } from '../app/session';
import { exact, words } from '../lib/format';
import { options, priorityTone, taskStatuses, useUpdateTask } from '../lib/tasks';
import { Missing, Or, Tag, Wide } from './basics';

export function TaskStatusField({ task }: { task: Task }) {
  const update = useUpdateTask();
  const may = useMay('rep');
  if (!may) return <span>{words(task.status)}</span>;
  return (
    <NativeSelect aria-label={`Status of ${task.title}`} size="xs" w={130} data={options(taskStatuses)} value={task.status} onChange={(e) => update.mutate({ task, change: { status: e.currentTarget.value as TaskStatus } })} />
  );
}

export function TaskPriorityTag({ task }: { task: Task }) {
  return task.priority ? <Tag tone={priorityTone[task.priority]}>{words(task.priority)}</Tag> : <Missing reason="No priority is set" />;
}

export function TaskDue({ task }: { task: Task }) {
  if (!task.due_date) return <Missing reason="No due date" />;
  return <span className="row nowrap">{exact(task.due_date)}{task.overdue && <Tag tone="bad">Overdue</Tag>}</span>;
}

/** Tasks of one account. */
export function TaskRows({ tasks }: { tasks: Task[] }) {
  return (
    <Wide label="Tasks">
      <table className="table" aria-label="Tasks">
        <thead><tr>{['Task', 'Status', 'Priority', 'Due', 'Assignee'].map((h) => <th key={h} scope="col">{h}</th>)}</tr></thead>
        <tbody>
          {tasks.map((task) => (
            <tr key={task.task_id}>
              <td>{task.title}</td>
              <td><TaskStatusField task={task} /></td>
              <td><TaskPriorityTag task={task} /></td>
              <td><TaskDue task={task} /></td>
              <td><Or value={task.assignee} reason="Nobody is assigned" /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </Wide>
  );
}
