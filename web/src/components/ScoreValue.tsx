import type { ScoreModel } from '../api/types';
import { decimal } from '../lib/format';
import { modelName, scoreReason, levelOf } from '../lib/scores';
import { Bar, Missing } from './basics';

/** A score in a row: the number with a small bar. With onOpen it is the button that opens its decomposition. */
export function ScoreValue({ model, value, level: given, reason, of, onOpen }: { model: ScoreModel; value: number | null; level?: string | null; reason?: string | null; of: string; onOpen?: () => void }) {
  if (value === null) return <Missing reason={scoreReason(reason)} />;
  const level = levelOf(model, value, given);
  const text = decimal(value, 0);
  const bar = <Bar value={value / 100} tone={level.tone} />;
  return onOpen ? (
    <button type="button" className="score" title={`${level.word}: ${decimal(value)}`} onClick={onOpen}>
      <span><span className="sr">{modelName[model]} of {of}: </span>{text}</span>
      {bar}
      <span className="sr">, {level.word}. Show how it is made up</span>
    </button>
  ) : (
    <span className="score"><span>{text}</span>{bar}<span className="sr">{level.word}</span></span>
  );
}
