import { Button, Modal, Select, TextInput } from '@mantine/core';
import { useDisclosure } from '@mantine/hooks';
import { useMutation, useQueryClient } from '@tanstack/react-query';
import { useState, type FormEvent } from 'react';
import { Link } from 'react-router';
import { api, ApiError } from '../api/client';
import type { Task, TaskPage } from '../api/types';
import { useMay } from '../app/session';
import { AccountPicker } from '../components/AccountPicker';
import { Empty, Missing, Note, Or, Page } from '../components/basics';
import { DataTable, type Column } from '../components/DataTable';
import { FilterSelect } from '../components/FilterSelect';
import { Icon } from '../components/icons';
import { SearchField } from '../components/SearchField';
import { TaskDue, TaskPriorityTag, TaskStatusField } from '../components/TaskRows';
import { useToasts } from '../components/toasts';
import { count, words } from '../lib/format';
import { useCursorList } from '../lib/list';
import { options, taskPriorities, taskSources, taskStatuses, useUpdateTask } from '../lib/tasks';
import { useUrlState } from '../lib/url';

export default function Tasks() {
  const { get, set } = useUrlState();
  const may = useMay('rep');
  const [creating, create] = useDisclosure(false);
  const update = useUpdateTask();
  const filters = { assignee: get('assignee'), status: get('status'), priority: get('priority'), source_type: get('source_type'), account_id: get('account_id') };
  const list = useCursorList<TaskPage, Task>('tasks', '/api/tasks', filters, (page) => page.tasks);
  const summary = list.first?.summary;
  const filtered = Object.values(filters).some(Boolean);
  const add = may && <Button leftSection={<Icon name="plus" />} onClick={create.open}>New task</Button>;
  return (
    <Page
      title="Tasks"
      about={summary ? `${count(summary.open)} open, ${count(summary.in_progress)} in progress, ${count(summary.overdue)} overdue, ${count(summary.done)} done.` : 'What people of this organization have to do.'}
      actions={add}
    >
      <DataTable
        name="Tasks"
        columns={columns}
        list={list}
        rowKey={(task) => task.task_id}
        rowName={(task) => task.title}
        filters={
          <>
            <FilterSelect label="Status" all="All statuses" choices={options(taskStatuses)} value={filters.status} onChange={(status) => set({ status })} />
            <FilterSelect label="Priority" all="All priorities" choices={options(taskPriorities)} value={filters.priority} onChange={(priority) => set({ priority })} />
            <FilterSelect label="Source" all="All sources" choices={options(taskSources)} value={filters.source_type} onChange={(source_type) => set({ source_type })} />
            <SearchField label="Assignee" value={filters.assignee} onChange={(assignee) => set({ assignee })} width={160} />
          </>
        }
        bulk={may ? (rows, clear) => (
          <Button variant="default" onClick={() => { rows.forEach((task) => update.mutate({ task, change: { status: 'DONE' } })); clear(); }}>Mark as done</Button>
        ) : undefined}
        empty={filtered
          ? <Empty title="No task matches these filters" action={<Button variant="default" onClick={() => set({ assignee: null, status: null, priority: null, source_type: null, account_id: null })}>Clear filters</Button>} />
          : <Empty title="No tasks yet" action={add}>Tasks come from people, signals and plays.</Empty>}
      />
      <Modal opened={creating} onClose={create.close} title="New task" closeButtonProps={{ 'aria-label': 'Close' }}>
        <NewTask done={create.close} />
      </Modal>
    </Page>
  );
}

const columns: Column<Task>[] = [
  { key: 'title', header: 'Task', fixed: true, cell: (task) => task.title },
  { key: 'status', header: 'Status', cell: (task) => <TaskStatusField task={task} /> },
  { key: 'priority', header: 'Priority', wide: true, cell: (task) => <TaskPriorityTag task={task} /> },
  { key: 'due', header: 'Due', cell: (task) => <TaskDue task={task} /> },
  { key: 'account', header: 'Account', wide: true, cell: (task) => (task.account_id ? <Link to={`/accounts/${task.account_id}`}>{task.account_name ?? 'Account'}</Link> : <Missing reason="For no account" />) },
  { key: 'assignee', header: 'Assignee', wide: true, cell: (task) => <Or value={task.assignee} reason="Nobody is assigned" /> },
  { key: 'source', header: 'Source', wide: true, cell: (task) => words(task.source_type) },
];

function NewTask({ done }: { done: () => void }) {
  const client = useQueryClient();
  const toasts = useToasts();
  const [title, setTitle] = useState('');
  const [account, setAccount] = useState<string | null>(null);
  const [assignee, setAssignee] = useState('');
  const [due, setDue] = useState('');
  const [priority, setPriority] = useState<string | null>('MEDIUM');
  const save = useMutation({
    mutationFn: () => api.post('/api/tasks', {
      title: title.trim(), account_id: account ?? undefined, assignee: assignee.trim() || undefined, due_date: due || undefined, priority: priority ?? undefined, source_type: 'manual',
    }),
    onSuccess: () => {
      toasts.good('The task was created.');
      void client.invalidateQueries({ queryKey: ['tasks'] });
      void client.invalidateQueries({ queryKey: ['account'] });
      done();
    },
  });
  const problem = save.error instanceof ApiError ? save.error : null;
  const submit = (event: FormEvent) => {
    event.preventDefault();
    save.mutate();
  };
  return (
    <form className="stack" onSubmit={submit}>
      {problem && problem.errors.length === 0 && <Note tone="bad">{problem.detail}</Note>}
      <TextInput label="Title" required value={title} onChange={(e) => setTitle(e.currentTarget.value)} error={problem?.fieldError('title')} data-autofocus maxLength={500} />
      <AccountPicker value={account} onChange={setAccount} error={problem?.fieldError('account_id')} />
      <TextInput label="Assignee" description="E-mail of a member" value={assignee} onChange={(e) => setAssignee(e.currentTarget.value)} error={problem?.fieldError('assignee')} />
      <div className="row" style={{ alignItems: 'flex-start' }}>
        <TextInput label="Due date" type="date" value={due} onChange={(e) => setDue(e.currentTarget.value)} error={problem?.fieldError('due_date')} />
        <Select label="Priority" data={options(taskPriorities)} value={priority} onChange={setPriority} error={problem?.fieldError('priority')} />
      </div>
      <div className="row" style={{ justifyContent: 'flex-end' }}>
        <Button variant="default" onClick={done}>Cancel</Button>
        <Button type="submit" loading={save.isPending}>Create task</Button>
      </div>
    </form>
  );
}
