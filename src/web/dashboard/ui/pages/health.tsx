import { useState } from 'preact/hooks'
import { get, type Json, type Paged, post } from '../kit/api.ts'
import { ago, number } from '../kit/format.ts'
import { useLoad } from '../kit/load.ts'
import { ErrorNotice, Head, useBusy, withCode } from '../kit/pieces.tsx'
import { Chip, type Tone } from '../kit/status.tsx'
import { toast } from '../kit/toast.tsx'
import { checkName, GROUPS } from './health/check-names.ts'
import { ProblemList } from './health/problem-list.tsx'
import { problemsOf } from './health/problems.ts'
import { AlertChannels, useAlerts, useChecks } from './health-alerts.tsx'
import { Canaries, useCanaries } from './health-canary.tsx'
import { Nodes } from './health-nodes.tsx'
import { Queues } from './queues.tsx'

/** What is wrong with the server, one row per object, from its alerts and its health checks, which are those of `postrider
 *  doctor`; then canaries, queues, nodes and the alert channels. */
export default function HealthPage() {
  const { data, error, reload } = useChecks()
  const queues = useLoad((signal) => get('/v1/queues', {}, signal), [], { everyMs: 5_000 })
  const alerts = useAlerts()
  const canaries = useCanaries()
  const domains = useLoad(async (signal) => {
    const { data } = await get<Paged>('/v1/domains', { limit: 100 }, signal)
    return new Map(data.map(({ name, id }): [string, string] => [name, id]))
  }, [])
  const [latest, setLatest] = useState<Json>()
  const [isRunning, run] = useBusy(async () => {
    setLatest(await post('/v1/health-checks/run'))
    toast('Checks complete')
  })
  const found = newer(latest, data)
  const failed = [{ error, reload }, alerts].find((each) => each.error !== undefined)
  // Everything at once: a part that arrives later would move the others.
  const isLoading = [{ data: found, error }, queues, alerts, canaries, domains].some(
    (each) => (each.data ?? each.error) === undefined,
  )
  const button = (
    <button type="button" class="primary" disabled={isRunning} onClick={run}>
      {isRunning ? 'Running…' : 'Run checks'}
    </button>
  )
  return (
    <div class="stack">
      <Head name="Health" about={aboutOf(found)}>
        {button}
      </Head>
      <ErrorNotice error={failed?.error} onRetry={failed?.reload} />
      {isLoading && <div class="card skeleton-page" role="progressbar" aria-label="Loading checks" />}
      {!isLoading && found && alerts.data && (
        <ProblemList
          problems={problemsOf(found.checks, alerts.data.data, domains.data)}
          isChecked={found.checked_at !== null}
          onChange={alerts.reload}
        />
      )}
      {!isLoading && <Canaries loaded={canaries} />}
      {!isLoading && <Queues loaded={queues} />}
      {!isLoading && found?.checks.length > 0 && <Unproblematic checks={found.checks} />}
      {!isLoading && <Nodes />}
      {!isLoading && alerts.data && <AlertChannels of={alerts.data} reload={alerts.reload} />}
    </div>
  )
}

function aboutOf(found: Json): string {
  if (!found || found.checked_at === null) return 'Checks run a minute after the server starts, then every hour.'
  return `Last checked ${ago(found.checked_at)}.`
}

/** The newer of two results: the one that this page requested, or the latest of the server's schedule. */
function newer(one: Json, other: Json): Json {
  if (one === undefined || other === undefined) return one ?? other
  return Date.parse(other.checked_at ?? 0) > Date.parse(one.checked_at) ? other : one
}

const TONES: Record<string, Tone> = { pass: 'good', warn: 'warn', fail: 'bad', skip: 'quiet' }
const LABELS: Record<string, string> = { pass: 'OK', warn: 'Warning', fail: 'Failed', skip: 'Skipped' }

const ORDER = ['pass', 'skip']
const isProblem = ({ status }: Json) => status === 'fail' || status === 'warn'

/** Checks without a problem, one line each, by group. */
function Unproblematic({ checks }: { checks: Json[] }) {
  const others = checks.filter((check) => !isProblem(check))
  const skipped = others.filter(({ status }) => status === 'skip').length
  return (
    <details class="card passed">
      <summary>
        {number(others.length - skipped)} checks OK{skipped > 0 && `, ${number(skipped)} skipped`}
      </summary>
      <div class="stack">
        {groupsOf(others).map(([name, group]) => (
          <section key={name} class="stack tight" aria-label={name}>
            <h3>{name}</h3>
            <Checks checks={group} />
          </section>
        ))}
      </div>
    </details>
  )
}

function Checks({ checks }: { checks: Json[] }) {
  return (
    <ul class="findings checks">
      {checks.map(({ name, status, message, advice }) => (
        <li key={name}>
          <Chip word={LABELS[status] ?? status} tone={TONES[status]} />
          <div>
            <span class="break">
              <strong>{checkName(name)}</strong>: {message}
            </span>
            {advice && <p class="muted advice">{withCode(advice)}</p>}
          </div>
        </li>
      ))}
    </ul>
  )
}

const rankOf = ({ status }: Json) => ORDER.indexOf(status)

/** Checks by group, what passed before what was skipped. */
function groupsOf(checks: Json[]): [string, Json[]][] {
  const known = GROUPS.flatMap(([, names]) => names)
  const groups = GROUPS.map(([name, names]): [string, Json[]] => [
    name,
    checks.filter((check) => names.includes(check.name)),
  ])
  groups.push(['Other', checks.filter(({ name }) => !known.includes(name))])
  return groups
    .filter(([, all]) => all.length > 0)
    .map(([name, all]): [string, Json[]] => [name, all.toSorted((a, b) => rankOf(a) - rankOf(b))])
}
