import { get, type Json, type Paged } from '../../kit/api.ts'
import { domainState } from '../../kit/domain-state.ts'
import { ago, duration, msSince, number, percent } from '../../kit/format.ts'
import { useLoad } from '../../kit/load.ts'
import { withBreaks } from '../../kit/pieces.tsx'
import { may } from '../../kit/rights.ts'
import { href } from '../../kit/router.ts'
import { mode } from '../../kit/state.ts'
import { Chip } from '../../kit/status.tsx'
import { countsOf, type Problem } from '../health/problems.ts'
import { isOverdue } from '../queue-age.ts'

/** What needs somebody: domains that cannot send, limits that are exceeded, paused webhooks, and destinations that slow mail
 *  down. */
export interface Needs {
  needs: Need[]
  waiting: Waiting
}

/** Recipients whose mail waits for its next attempt. */
export interface Waiting {
  recipients: number
  /** Whether there are more than those that were read. */
  hasMore: boolean
}

interface Need {
  tone: 'bad' | 'warn'
  /** What it is about, the text behind it, and where to go. */
  name: string
  about: string
  link: string
  action: string
  /** Shown on hover. */
  detail?: string
}

/** Messages that are read; each has up to fifty recipients. */
const MOST_MESSAGES = 100
/** Destinations that are shown. */
const MOST_DESTINATIONS = 5

/** Loads what is wrong now. Test mail has only mail that waits. */
export const useNeeds = () =>
  useLoad(
    async (signal): Promise<Needs> => {
      const isLive = mode.value === 'live'
      const list = async (path: string, operation: string) =>
        isLive && may(operation) ? (await get<Paged>(path, { limit: 100 }, signal)).data : []
      const [deferred, domains, webhooks, quality, queues] = await Promise.all([
        get<Paged>('/v1/messages', { status: 'deferred', mode: mode.value, limit: MOST_MESSAGES }, signal),
        list('/v1/domains', 'domains_list'),
        list('/v1/webhooks', 'webhooks_list'),
        list('/v1/quality', 'quality_list'),
        isLive && may('queues_get') ? get('/v1/queues', {}, signal) : null,
      ])
      const waiting = deferred.data
        .flatMap(({ recipients }) => recipients)
        .filter(({ status }) => status === 'deferred')
      const needs = [
        ...domains.flatMap(needOfDomain),
        ...quality.flatMap(needsOfRates),
        ...webhooks.flatMap(needOfWebhook),
        ...needOfQueue(queues),
        ...needsOfDestinations(waiting),
      ]
      return {
        needs: needs.toSorted((one, other) => RANK[one.tone] - RANK[other.tone]),
        waiting: { recipients: waiting.length, hasMore: deferred.has_more },
      }
    },
    [],
    { everyMs: 20_000 },
  )

const RANK = { bad: 0, warn: 1 }

function needOfDomain(domain: Json): Need[] {
  const { word, tone, reason } = domainState(domain)
  if (tone === 'good' || tone === 'calm') return []
  const about = word === 'Sending' ? reason : `${word.toLowerCase()}: ${reason}`
  return [
    {
      tone: tone === 'bad' ? 'bad' : 'warn',
      name: domain.name,
      about,
      link: href(`/domains/${domain.id}`),
      action: 'Fix',
    },
  ]
}

function needsOfRates({ domain_id, domain, alerts, sending_stopped }: Json): Need[] {
  const firing = alerts.filter(({ state }: Json) => state === 'firing')
  return firing.map(({ metric, value, threshold, window_hours }: Json) => ({
    tone: 'bad',
    name: domain,
    about: `${metric === 'bounce_rate' ? 'hard bounces' : 'spam reports'} ${percent(value)} in ${window_hours} hours, limit ${percent(threshold)}${sending_stopped ? '; sending is stopped' : ''}`,
    link: href('/statistics', { domain_id, range: '24h' }),
    action: 'See',
  }))
}

function needOfWebhook({ id, url, status, disabled_reason }: Json): Need[] {
  if (status !== 'paused' || disabled_reason === null) return []
  return [
    {
      tone: 'warn',
      name: new URL(url).host,
      about: 'webhook is paused',
      detail: disabled_reason,
      link: href(`/webhooks/${id}`),
      action: 'Fix',
    },
  ]
}

/** Mail that should have been tried already, of all organizations. */
function needOfQueue(queues: Json | null): Need[] {
  const { due, oldest_due_at } = queues?.deliveries ?? { due: 0, oldest_due_at: null }
  if (oldest_due_at === null || !isOverdue(oldest_due_at)) return []
  const about = `${number(due)} ${due === 1 ? 'message is' : 'messages are'} overdue, the oldest by ${duration(msSince(oldest_due_at))}`
  return [{ tone: 'warn', name: 'Queue', about, link: href('/health'), action: 'See' }]
}

/** Recipients that wait → their domains, those with most first. */
function needsOfDestinations(waiting: Json[]): Need[] {
  const byDomain = Map.groupBy(waiting, ({ email }) => email.slice(email.lastIndexOf('@') + 1).toLowerCase())
  const most = [...byDomain].toSorted(([, one], [, other]) => other.length - one.length).slice(0, MOST_DESTINATIONS)
  return most.map(([name, recipients]) => {
    const next = recipients.flatMap(({ next_attempt_at }) => next_attempt_at ?? []).toSorted()[0]
    return {
      tone: 'warn',
      name,
      about: `${number(recipients.length)} waiting${next === undefined ? '' : `, retry ${ago(next)}`}`,
      detail: recipients.find(({ smtp_response }) => smtp_response)?.smtp_response ?? '',
      link: href('/messages', { status: 'deferred', q: name }),
      action: 'Why',
    }
  })
}

/** A row for each of them; nothing without any. */
export function NeedsYou({ of: needs }: { of: readonly Need[] }) {
  if (needs.length === 0) return null
  return (
    <section class="card stack" aria-labelledby="needs">
      <h2 id="needs">Needs you</h2>
      <ul class="needs">
        {needs.map(({ tone, name, about, link, action, detail }) => (
          <li key={`${name} ${about}`} title={detail}>
            <Chip word={tone === 'bad' ? 'Problem' : 'Warning'} tone={tone} />
            <span class="break">
              <strong>{withBreaks(name)}</strong> <span class="muted">{about}</span>
            </span>
            <a href={link} aria-label={`${action}: ${name}`}>
              {action} →
            </a>
          </li>
        ))}
      </ul>
    </section>
  )
}

/** The problems of the server that are not silenced in one line, as the page of its health counts them, and the worst one;
 *  nothing unless one of them has raised an alert. */
export function AlertStrip({ of: problems }: { of: readonly Problem[] }) {
  const loud = problems.filter(({ silencedUntil }) => silencedUntil === null)
  const [worst] = loud
  if (worst === undefined || loud.every(({ alertId }) => alertId === null)) return null
  const { object, sentence, isCritical } = worst
  return (
    <a class={`notice row apart strip ${isCritical ? 'bad' : 'warn'}`} href={href('/health')}>
      <span class="ellipsis">
        <strong>Server: {countsOf(loud)}</strong>{' '}
        {sentence.startsWith(`${object} `) ? sentence : `${object}: ${sentence}`}
      </span>
      <span class="nowrap">Health →</span>
    </a>
  )
}
