import { useMutation, useQueryClient, type InfiniteData } from '@tanstack/react-query';
import { api } from '../api/client';
import type { AccountDetail, Task, TaskPage, TaskPriority, TaskStatus } from '../api/types';
import type { Tone } from '../components/icons';
import { useToasts } from '../components/toasts';
import { words } from './format';

export const taskStatuses: TaskStatus[] = ['OPEN', 'IN_PROGRESS', 'BLOCKED', 'DONE', 'CANCELLED'];
export const taskPriorities: TaskPriority[] = ['URGENT', 'HIGH', 'MEDIUM', 'LOW'];
export const taskSources = ['manual', 'NBA', 'signal', 'play', 'MQL handoff'];
export const priorityTone: Record<TaskPriority, Tone> = { URGENT: 'bad', HIGH: 'warn', MEDIUM: 'info', LOW: 'none' };
export const options = (codes: string[]) => codes.map((value) => ({ value, label: words(value) }));

const closed = (status: TaskStatus) => status === 'DONE' || status === 'CANCELLED';

/** Changes a task at once on screen, and back again when the service refuses. */
export function useUpdateTask() {
  const client = useQueryClient();
  const toasts = useToasts();
  return useMutation({
    mutationFn: ({ task, change }: { task: Task; change: Partial<Pick<Task, 'status' | 'priority' | 'assignee' | 'due_date'>> }) =>
      api.patch(`/api/tasks/${task.task_id}`, change),
    onMutate: async ({ task, change }) => {
      await client.cancelQueries({ queryKey: ['tasks'] });
      const lists = client.getQueriesData<InfiniteData<TaskPage>>({ queryKey: ['tasks'] });
      const accounts = client.getQueriesData<AccountDetail>({ queryKey: ['account'] });
      const apply = (t: Task): Task => {
        if (t.task_id !== task.task_id) return t;
        const next = { ...t, ...change };
        return { ...next, overdue: t.overdue && !closed(next.status) };
      };
      for (const [key, data] of lists) {
        if (data) client.setQueryData(key, { ...data, pages: data.pages.map((p) => ({ ...p, tasks: p.tasks.map(apply) })) });
      }
      for (const [key, data] of accounts) {
        if (data) client.setQueryData(key, { ...data, tasks: data.tasks.map(apply) });
      }
      return { before: [...lists, ...accounts] as [readonly unknown[], unknown][] };
    },
    onError: (error, _, context) => {
      context?.before.forEach(([key, data]) => client.setQueryData(key, data));
      toasts.bad('The task was not changed', error);
    },
    onSettled: () => {
      void client.invalidateQueries({ queryKey: ['tasks'] });
      void client.invalidateQueries({ queryKey: ['account'] });
    },
  });
}
