import type { Json } from '../kit/api.ts'
import { ago, exact, number } from '../kit/format.ts'
import type { Loaded } from '../kit/load.ts'
import { ErrorNotice } from '../kit/pieces.tsx'
import { Chip } from '../kit/status.tsx'

/** Queue lengths over all organizations, and the age of the oldest due entry. */
export function Queues({ loaded: { data, error, reload } }: { loaded: Loaded<Json> }) {
  return (
    <section class="card stack" aria-labelledby="queues">
      <div>
        <h2 id="queues">Queue</h2>
        <p class="muted small">All organizations</p>
      </div>
      <ErrorNotice error={error} onRetry={reload} />
      {data && (
        <table class="plain">
          <caption class="hidden">Queue</caption>
          <thead>
            <tr>
              <th scope="col">
                <span class="hidden">Kind</span>
              </th>
              {COLUMNS.map((name) => (
                <th key={name} scope="col" class="num">
                  {name}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {QUEUES.map(([id, name]) => {
              const { due, later, held, oldest_due_at } = data[id]
              return (
                <tr key={id}>
                  <th scope="row">{name}</th>
                  <td class="num">{number(due)}</td>
                  <td class="num">{number(later)}</td>
                  <td class="num">{number(held)}</td>
                  <td class="num">
                    <Age since={oldest_due_at} />
                  </td>
                </tr>
              )
            })}
          </tbody>
        </table>
      )}
    </section>
  )
}

const COLUMNS = ['Due', 'Scheduled', 'Held', 'Oldest due']
const QUEUES = [
  ['deliveries', 'Messages'],
  ['webhook_deliveries', 'Webhooks'],
  ['inbound_deliveries', 'Inbound webhooks'],
] as const

/** Warns after five minutes: the server cannot keep up, or receivers are slow. */
function Age({ since }: { since: string | null }) {
  if (since === null) return <span class="muted">–</span>
  const isLong = Date.now() - Date.parse(since) > 300_000
  if (isLong) return <Chip word={ago(since)} tone="warn" />
  return <time title={exact(since)}>{ago(since)}</time>
}
