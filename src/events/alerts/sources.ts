import type { Alert, Problem } from '../../model/alert.ts'
import type { QualityAlert } from '../../model/quality.ts'
import { CHANNEL_FAILURES } from '../../operating/health/alert-channels.ts'
import type { ThreadDeath } from '../../os/thread-deaths.ts'
import { quotedName } from '../../sending/submission/user-mail-text.ts'
import type { Store } from '../../storage/store.ts'
import type { Look } from './judge.ts'

/** Looks for problems of one sort, where they are due → what it found; [] if nothing is due. */
export type Source = (now: number, open: readonly Alert[]) => Promise<Look[]>

/** Sources that belong to the installation: only its leader looks. */
export function installationSources(deps: {
  store: Pick<Store, 'quality' | 'webhooks' | 'organizations' | 'nodes' | 'alerts' | 'users'>
  leads: () => boolean
  channels: readonly string[]
}): Source[] {
  const { store, leads, channels } = deps
  const ofLeader =
    (kinds: readonly Alert['kind'][], find: (now: number) => Promise<Problem[]>): Source =>
    async (now) => {
      if (!leads()) return []
      return [{ at: now, node: '', problems: await find(now), covers: ({ kind }) => kinds.includes(kind) }]
    }
  return [
    ofLeader(['quality'], () => qualityProblems(store)),
    ofLeader(['webhook_paused'], () => webhookProblems(store)),
    ofLeader(['sign_in_cleared'], (now) => clearedProblems(store, now)),
    ofLeader(['alert_channel'], () => channelProblems(store, channels)),
    async (now, open) => (leads() ? alertsOfEndedNodes(now, open, store) : []),
  ]
}

/** One problem for each domain: both of its rates. */
async function qualityProblems({ quality }: Pick<Store, 'quality'>): Promise<Problem[]> {
  const byDomain = Map.groupBy(await quality.firing(), ({ domain }) => domain)
  return [...byDomain].map(([domain, alerts]) => ({
    kind: 'quality',
    subject: domain,
    severity: 'warning',
    message: alerts.map(qualityWords).join('; '),
    advice: null,
  }))
}

const qualityWords = ({ metric, value, threshold, windowHours, affected, sent }: QualityAlert) =>
  `${metric === 'bounce_rate' ? 'bounce' : 'complaint'} rate ${percent(value)} in ${windowHours} hours (${affected} of ${sent}), above ${percent(threshold)}`

const percent = (rate: number) => `${Number((rate * 100).toPrecision(2))} %`

/** One problem for each organization, so that one with many webhooks causes one alert. */
async function webhookProblems({ webhooks, organizations }: Pick<Store, 'webhooks' | 'organizations'>) {
  const paused = await webhooks.pausedByServer(MOST_ORGANIZATIONS)
  return Promise.all(
    paused.map(async ({ organizationId, webhooks: count, reason }): Promise<Problem> => {
      const organization = await organizations.get(organizationId)
      const name = quotedName(organization?.name ?? null, organizationId)
      const [which, are] = count === 1 ? ['1 webhook', 'is'] : [`${count} webhooks`, 'are']
      const message = `${which} of the organization ${name} ${are} paused. ${reason}`
      return { kind: 'webhook_paused', subject: organizationId, severity: 'warning', message, advice: null }
    }),
  )
}

/** Accounts that somebody else may have made, and that got rights of their owner within the last day. */
async function clearedProblems({ users }: Pick<Store, 'users'>, now: number): Promise<Problem[]> {
  const cleared = await users.cleared(now - DAY_MS)
  return cleared.map(({ user: { id, email, invitedTo } }) => ({
    kind: 'sign_in_cleared',
    subject: email ?? id,
    severity: 'warning',
    message: `Password, passkeys, second factor and sessions of ${email ?? id} ended${invitedTo === null ? '' : `; the organization ${invitedTo} had invited this user`}`,
    advice: null,
  }))
}

/** Channels that fail are reported through the others. */
async function channelProblems({ alerts }: Pick<Store, 'alerts'>, names: readonly string[]): Promise<Problem[]> {
  const failing = (await alerts.channels()).filter(
    ({ channel, failures }) => names.includes(channel) && failures >= CHANNEL_FAILURES,
  )
  return failing.map(({ channel, lastError }) => ({
    kind: 'alert_channel',
    subject: channel,
    severity: 'critical',
    message: lastError ?? 'no answer',
    advice: null,
  }))
}

/** Nobody else looks at what a node saw that no longer runs. */
async function alertsOfEndedNodes(
  now: number,
  open: readonly Alert[],
  { nodes }: Pick<Store, 'nodes'>,
): Promise<Look[]> {
  const named = new Set(open.flatMap(({ node }) => node || []))
  if (named.size === 0) return []
  const running = new Set((await nodes.list()).flatMap(({ name, state }) => (state === 'ended' ? [] : name)))
  return [...named.difference(running)].map((node) => ({ at: now, node, problems: [], covers: () => true }))
}

/** Configured addresses of this node that destinations block. `states`: as the delivery engine of this process sees
 *  them. */
export function addressSource(
  node: string,
  states: () => readonly { address: string; rests: readonly { destination: string; rule: string }[] }[],
): Source {
  return async (now) => {
    const problems = states().flatMap(({ address, rests }): Problem[] => {
      if (rests.length === 0) return []
      const shown = rests.slice(0, MOST_DESTINATIONS).map(({ destination, rule }) => `${destination} (${rule})`)
      const more = rests.length > shown.length ? ` and ${rests.length - shown.length} more` : ''
      const message = `${address} is blocked by ${shown.join(', ')}${more}`
      return [{ kind: 'destination_block', subject: address, severity: 'warning', message, advice: null }]
    })
    return [{ at: now, node, problems, covers: ({ kind }) => kind === 'destination_block' }]
  }
}

/** Threads and processes of this node that ended unexpectedly within the last hour. Each was restarted, so a few are
 *  only a warning. */
export function threadSource(node: string, deaths: () => readonly ThreadDeath[]): Source {
  return async (now) => {
    const recent = Map.groupBy(
      deaths().filter(({ at }) => now - at < HOUR_MS),
      ({ pool }) => pool,
    )
    const problems = [...recent].map(([pool, died]): Problem => {
      const [reason = ''] = died.at(-1)?.error.split('\n') ?? []
      const times = died.length === 1 ? 'once' : `${died.length} times`
      const message = `It ended ${times} within an hour and was started again. The last reason: ${reason}`
      const severity = died.length < CRITICAL_DEATHS ? 'warning' : 'critical'
      return { kind: 'thread_died', subject: pool, severity, message, advice: null }
    })
    return [{ at: now, node, problems, covers: ({ kind }) => kind === 'thread_died' }]
  }
}

const HOUR_MS = 60 * 60_000
const DAY_MS = 86_400_000
/** In an hour. */
const CRITICAL_DEATHS = 3
const MOST_ORGANIZATIONS = 200
const MOST_DESTINATIONS = 5
