import type { Tone } from '../components/icons';
import type { Readiness } from '../api/types';

export const levels: Record<Readiness['level'], { tone: Tone; text: string }> = {
  ready: { tone: 'good', text: 'Scores can be relied on.' },
  degraded: { tone: 'warn', text: 'Scores work, with gaps: mend the issues below to raise confidence.' },
  blocked: { tone: 'bad', text: 'Scores cannot be relied on until the issues below are mended.' },
};

export const issueName: Record<string, string> = {
  no_contacts: 'No contact with an e-mail or phone',
  no_recent_activity: 'No activity in 90 days',
  missing_segment: 'No segment',
  zero_arr: 'Customer without ARR',
  score_imbalance: 'Scores that contradict or rest on little data',
  negative_arr: 'Negative ARR',
};
