import { Tabs } from '@mantine/core';
import { useQuery } from '@tanstack/react-query';
import { api } from '../api/client';
import type { ScoreModel, ScoringRules } from '../api/types';
import { Bar, Empty, Loading, Page, Panel, Problem, Tag, Wide } from '../components/basics';
import { ScoreNow } from '../components/ScoreNow';
import { decimal, plural, words } from '../lib/format';
import { formulaText, modelName, ruleName } from '../lib/scores';
import { useUrlState } from '../lib/url';

export default function Scoring() {
  const query = useQuery({ queryKey: ['scoring-rules'], queryFn: ({ signal }) => api.get<ScoringRules>('/api/scoring/rules', undefined, signal) });
  return (
    <Page title="Scoring" about="The rules behind every score: what they look at, when they fire and what they weigh." actions={<ScoreNow />}>
      {query.isPending && <Loading lines={8} />}
      {query.isError && <Problem what="The rules could not be loaded" error={query.error} retry={() => void query.refetch()} />}
      {query.data && <Models data={query.data} />}
    </Page>
  );
}

function Models({ data }: { data: ScoringRules }) {
  const { get, set } = useUrlState();
  const models = [...new Set(data.rules.map((r) => r.model))];
  const model = models.find((m) => m === get('model')) ?? models[0];
  if (!model) return <Empty title="No model is scored yet" />;
  return (
    <Tabs value={model} onChange={(value) => set({ model: value })} keepMounted={false}>
      <Tabs.List aria-label="Models">
        {models.map((m) => <Tabs.Tab key={m} value={m}>{modelName[m]} ({data.rules.filter((r) => r.model === m).length})</Tabs.Tab>)}
      </Tabs.List>
      {models.map((m) => (
        <Tabs.Panel key={m} value={m} pt="md">
          <div className="stack">
            <Weights model={m} data={data} />
            <Rules model={m} data={data} />
            <span className="dim">Model version <span className="mono">{data.model_version}</span></span>
          </div>
        </Tabs.Panel>
      ))}
    </Tabs>
  );
}

function Weights({ model, data }: { model: ScoreModel; data: ScoringRules }) {
  const weights = Object.entries(data.category_weights[model] ?? {});
  const most = Math.max(1, ...weights.map(([, w]) => w));
  return (
    <Panel title="Category weights">
      <ul className="list weights">
        {weights.map(([category, weight]) => (
          <li key={category}><span>{words(category)}</span><Bar value={weight / most} /><span className="end">{decimal(weight, 0)}%</span></li>
        ))}
      </ul>
    </Panel>
  );
}

function Rules({ model, data }: { model: ScoreModel; data: ScoringRules }) {
  const rules = data.rules.filter((r) => r.model === model);
  return (
    <Panel flush title={plural(rules.length, 'rule')}>
      <Wide label={`Rules of ${modelName[model]}`}>
        <table className="table" aria-label={`Rules of ${modelName[model]}`}>
          <thead><tr><th scope="col">Rule</th><th scope="col" className="hide-phone">Category</th><th scope="col">Fires when</th><th scope="col" className="hide-phone">Score from value</th><th scope="col" data-align="end">Weight</th></tr></thead>
          <tbody>
            {rules.map((r) => (
              <tr key={r.rule_id}>
                <td><div className="row">{ruleName(r.rule_id)} <span className="dim">{r.rule_id}</span>{!r.enabled && <Tag tone="none">Off</Tag>}{r.overridden && <Tag tone="info">Changed here</Tag>}</div><div className="dim mono">{r.expr}</div></td>
                <td className="hide-phone">{words(r.category)}</td>
                <td className="nowrap">{r.threshold}</td>
                <td className="hide-phone dim">{formulaText(r.score)}</td>
                <td data-align="end">{decimal(r.weight, 0)}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </Wide>
    </Panel>
  );
}
