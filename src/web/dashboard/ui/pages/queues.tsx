import type { Json } from '../kit/api.ts'
import { ago, exact, number } from '../kit/format.ts'
import type { Loaded } from '../kit/load.ts'
import { ErrorNotice } from '../kit/pieces.tsx'
import { Chip } from '../kit/status.tsx'
import { isOverdue } from './queue-age.ts'

/** Queue lengths over all organizations in one line, which opens to a row for each queue. */
export function Queues({ loaded: { data, error, reload } }: { loaded: Loaded<Json> }) {
  const oldest = data?.deliveries.oldest_due_at ?? null
  return (
    <>
      <ErrorNotice error={error} onRetry={reload} />
      {data && (
        <details class="card passed">
          <summary>
            {summaryOf(data)} {oldest !== null && isOverdue(oldest) && <Chip word={`due ${ago(oldest)}`} tone="warn" />}
          </summary>
          <div class="stack tight">
            <QueueTable of={data} />
            <p class="muted small">All organizations. Events of paused webhooks count as due.</p>
          </div>
        </details>
      )}
    </>
  )
}

/** `In the queue: 4 messages, 1 webhook event` */
function summaryOf(queues: Json): string {
  const parts = QUEUES.flatMap(([id, , noun]) => {
    const { due, later, held } = queues[id]
    const total = due + later + held
    return total === 0 ? [] : [`${number(total)} ${noun}${total === 1 ? '' : 's'}`]
  })
  return parts.length === 0 ? 'The queue is empty' : `In the queue: ${parts.join(', ')}`
}

function QueueTable({ of: queues }: { of: Json }) {
  return (
    <table class="plain cards">
      <caption class="hidden">Queue</caption>
      <thead>
        <tr>
          <th scope="col">Kind</th>
          {COLUMNS.map((name) => (
            <th key={name} scope="col" class="num">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {QUEUES.map(([id, name]) => {
          const { due, later, held, oldest_due_at: oldest } = queues[id]
          const values = [
            number(due),
            number(later),
            number(held),
            oldest === null ? '–' : <time title={exact(oldest)}>{ago(oldest)}</time>,
          ]
          return (
            <tr key={id}>
              <th scope="row">{name}</th>
              {values.map((value, at) => (
                <td key={COLUMNS[at]} data-label={COLUMNS[at]} class="num">
                  {value}
                </td>
              ))}
            </tr>
          )
        })}
      </tbody>
    </table>
  )
}

const COLUMNS = ['Due', 'Retry or scheduled', 'Held', 'Oldest due']
const QUEUES = [
  ['deliveries', 'Messages', 'message'],
  ['webhook_deliveries', 'Webhooks', 'webhook event'],
  ['inbound_deliveries', 'Inbound webhooks', 'inbound post'],
] as const
