import { post } from '../../kit/api.ts'
import { ago, number, when } from '../../kit/format.ts'
import { Menu, MenuItem } from '../../kit/menu.tsx'
import { withBreaks, withCode } from '../../kit/pieces.tsx'
import { may } from '../../kit/rights.ts'
import { href } from '../../kit/router.ts'
import { Chip } from '../../kit/status.tsx'
import { attempt, toast } from '../../kit/toast.tsx'
import { countsOf, type Problem } from './problems.ts'

/** The problems, one row each: its object, a sentence, since when, what to do, and a silence for its alert. Silenced ones are
 *  folded below the others. */
export function ProblemList({
  problems,
  isChecked,
  onChange,
}: {
  problems: readonly Problem[]
  /** Whether the server has made its checks. */
  isChecked: boolean
  onChange: () => void
}) {
  const loud = problems.filter(({ silencedUntil }) => silencedUntil === null)
  const silenced = problems.filter(({ silencedUntil }) => silencedUntil !== null)
  return (
    <section class="card stack" aria-labelledby="problems">
      <h2 id="problems">{loud.length === 0 && !isChecked ? 'No checks yet' : countsOf(loud) || 'Nothing needs you'}</h2>
      {loud.length > 0 && <Rows problems={loud} onChange={onChange} />}
      {silenced.length > 0 && (
        <details>
          <summary>{number(silenced.length)} silenced</summary>
          <Rows problems={silenced} onChange={onChange} />
        </details>
      )}
    </section>
  )
}

function Rows({ problems, onChange }: { problems: readonly Problem[]; onChange: () => void }) {
  return (
    <ul class="needs problems">
      {problems.map((problem) => (
        <Row key={problem.key} of={problem} onChange={onChange} />
      ))}
    </ul>
  )
}

function Row({ of: problem, onChange }: { of: Problem; onChange: () => void }) {
  const { isCritical, object, page, sentence, advice, since, silencedUntil } = problem
  const [word, tone] = isCritical ? (['Critical', 'bad'] as const) : (['Warning', 'warn'] as const)
  return (
    <li>
      <Chip word={silencedUntil === null ? word : 'Silenced'} tone={silencedUntil === null ? tone : 'quiet'} />
      <div class="break">
        <strong>{page === null ? object : <a href={href(...page)}>{withBreaks(object)}</a>}</strong>
        {sentence.startsWith(`${object} `) ? sentence.slice(object.length) : `: ${sentence}`}{' '}
        <span class="muted nowrap">{silencedUntil === null ? ago(since) : `until ${when(silencedUntil)}`}</span>
        {advice !== '' && <p class="muted advice">{withCode(advice)}</p>}
      </div>
      <div class="row">
        {page !== null && (
          <a href={href(...page)} aria-label={`Fix: ${object}`}>
            Fix →
          </a>
        )}
        {problem.alertId !== null && may('alerts_silence') && <Silence of={problem} onChange={onChange} />}
      </div>
    </li>
  )
}

const DAY_HOURS = 24

/** A menu with the lengths of a silence, or a button that ends it. */
function Silence({ of: { alertId, object, silencedUntil }, onChange }: { of: Problem; onChange: () => void }) {
  const silence = async (hours: number) => {
    const isDone = await attempt(() => post(`/v1/alerts/${alertId}/silence`, { hours }))
    onChange()
    return isDone
  }
  if (silencedUntil !== null)
    return (
      <button type="button" class="tiny" aria-label={`End silence of ${object}`} onClick={() => silence(0)}>
        End silence
      </button>
    )
  const silenceFor = async (hours: number, time: string) => {
    if (await silence(hours)) toast(`${object} silenced for ${time}`, () => silence(0))
  }
  return (
    <Menu name={`Silence ${object}`} className="tiny" label="Silence">
      <MenuItem onPress={() => silenceFor(DAY_HOURS, 'a day')}>For a day</MenuItem>
      <MenuItem onPress={() => silenceFor(7 * DAY_HOURS, 'a week')}>For a week</MenuItem>
    </Menu>
  )
}
